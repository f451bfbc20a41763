import { innerFields } from "../description";
import type { FieldSpec, Json } from "../description";
import { isObject } from "../values/values";

/** A name of an enumeration that this version does not know, and those that it knows. */
export interface UnknownName {
  readonly name: string;
  readonly known: readonly string[];
}

/** Whether a value of the field has a name of an enumeration in it. */
export function holdsNames(field: FieldSpec): boolean {
  return field.type === "enum" || innerFields(field).some(holdsNames);
}

/** The names of enumerations that have the right form and are not known, in a value of any depth. */
export function unknownNames(field: FieldSpec, value: Json | undefined): UnknownName[] {
  switch (field.type) {
    case "enum": {
      if (typeof value !== "string" || !new RegExp(`^${field.prefix}[A-Z0-9_]+$`).test(value)) return [];
      const known = field.known.map((name) => `${field.prefix}${name}`);
      return known.includes(value) ? [] : [{ name: value, known }];
    }
    case "list":
      return Array.isArray(value) ? value.flatMap((item) => unknownNames(field.items, item)) : [];
    case "map":
      return isObject(value)
        ? Object.values(value).flatMap((item) => unknownNames(field.values, item as Json))
        : [];
    case "object":
      return isObject(value)
        ? Object.entries(field.fields).flatMap(([key, inner]) => unknownNames(inner, value[key] as Json))
        : [];
    default:
      return [];
  }
}
