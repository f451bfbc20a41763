import { closest, distance } from "fastest-levenshtein";
import type { FieldSpec, Json } from "../description";
import { isObject } from "../values/values";

/** Longer words are not compared: none of them is a spelling mistake, and the comparison takes time. */
const LONGEST_WORD = 100;

/** The known word that was probably meant; undefined where none is near. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length > LONGEST_WORD) return undefined;
  const near = closest(word, known);
  return distance(word, near) <= Math.max(2, Math.floor(word.length / 4)) ? near : undefined;
}

export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_WORD ? `${text.slice(0, LONGEST_WORD)}…` : text);
}

export function suggest(word: string, known: readonly string[]): string {
  const meant = didYouMean(word, known);
  return meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
}

/** Whether a value of the field has a name of an enumeration in it. */
export function holdsNames(field: FieldSpec): boolean {
  switch (field.type) {
    case "object":
      return Object.values(field.fields).some(holdsNames);
    case "list":
      return holdsNames(field.items);
    case "map":
      return holdsNames(field.values);
    default:
      return field.type === "enum";
  }
}

/** Warnings of names of enumerations that have the right form and are not known, in a value of any depth. */
export function adviseOnNames(field: FieldSpec, value: Json | undefined): string[] {
  switch (field.type) {
    case "enum": {
      if (typeof value !== "string" || !new RegExp(`^${field.prefix}[A-Z0-9_]+$`).test(value)) return [];
      const names = field.known.map((name) => `${field.prefix}${name}`);
      if (names.includes(value)) return [];
      return [
        `${value} is not a name that this version knows: a server that does not know it drops it, and the update fails${suggest(value, names)}`,
      ];
    }
    case "list":
      return Array.isArray(value) ? value.flatMap((item) => adviseOnNames(field.items, item)) : [];
    case "map":
      return isObject(value)
        ? Object.values(value).flatMap((item) => adviseOnNames(field.values, item as Json))
        : [];
    case "object":
      return isObject(value)
        ? Object.entries(field.fields).flatMap(([key, inner]) => adviseOnNames(inner, value[key] as Json))
        : [];
    default:
      return [];
  }
}
