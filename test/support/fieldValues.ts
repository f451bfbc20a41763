import { formats } from "../../provider/fields/formats";
import { equal } from "../../provider/fields/equal";
import type { FieldSpec, SecretSpec, StringSpec } from "../../provider/fields/fieldSpec";
import type { Json } from "../../provider/fields/values";

/*
 * Values of any field, from its description alone: a new kind, or a new format with its examples, needs nothing here.
 */

/** The n-th text of a field: an example of its format, or a word that its pattern takes. */
function textOf(field: StringSpec | SecretSpec, n: number): string | undefined {
  if (field.format !== undefined) return formats[field.format].examples[n];
  const words = [`value-${n}`, `value${n}`, String(n).padStart(12, "1"), `sha256:${String(n).repeat(64)}`];
  return words.find((word) => field.pattern?.regex.test(word) ?? true) ?? words[0];
}

/**
 * The n-th value of a field, from 0 on: no two are equal, and none means "not set". Undefined where there are not so many. A
 * server takes the first ones; of an enumeration the later are names that nobody knows.
 */
export function valueOf(field: FieldSpec, n: number): Json | undefined {
  switch (field.type) {
    case "string":
      return textOf(field, n);
    case "enum": {
      const names = field.known.filter((name) => name !== field.default);
      return `${field.prefix}${names[n] ?? `ANOTHER_${n}`}`;
    }
    case "boolean":
      return n === 0 ? true : undefined;
    case "integer":
      return n + 1;
    case "list": {
      const item = valueOf(field.items, n);
      return item === undefined ? undefined : [item];
    }
    case "map": {
      const value = valueOf(field.values, n);
      return value === undefined ? undefined : { "99": value };
    }
    case "object": {
      const members = Object.entries(field.fields).flatMap(([key, member]) => {
        const value = valueOf(member, n);
        return value === undefined ? [] : [[key, value] as const];
      });
      return members.length === 0 ? undefined : Object.fromEntries(members);
    }
  }
}

/** All different values of a field, at most so many. */
export const valuesOf = (field: FieldSpec, most: number): Json[] =>
  Array.from({ length: most }, (_, n) => valueOf(field, n)).filter((value) => value !== undefined);

/** A value of a field that is not equal to this one. */
export function otherValue(field: FieldSpec, value: Json | undefined): Json {
  if (field.type === "boolean") return !(value ?? false);
  const found = valuesOf(field, 9).find((each) => !equal(field, each, value));
  if (found === undefined)
    throw new Error(`a ${field.type} has no other value than ${JSON.stringify(value)}`);
  return found;
}
