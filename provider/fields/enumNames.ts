import { suggest } from "../text/suggestions";
import { innerFields } from "./fieldSpec";
import type { FieldSpec } from "./fieldSpec";
import type { Json } from "./values";
import { partsOf } from "./walk";

/* Names of enumerations that this version does not know. They are legal, because the server's lists grow. */

/** A warning before the write and the error after it say the same. */
export const NAMES_ARE_DROPPED = "a server drops names that it does not know, without an error";

/** Whether a value of the field has a name of an enumeration in it. */
export function holdsNames(field: FieldSpec): boolean {
  return field.type === "enum" || innerFields(field).some(holdsNames);
}

/** What is to be said of each name that has the right form and is not known, in a value of any depth. */
export function adviseOnNames(field: FieldSpec, value: Json | undefined): string[] {
  if (field.type !== "enum")
    return partsOf(field, value).flatMap((part) => adviseOnNames(part.field, part.value));
  if (typeof value !== "string" || !new RegExp(`^${field.prefix}[A-Z0-9_]+$`).test(value)) return [];
  const known = field.known.map((name) => `${field.prefix}${name}`);
  return known.includes(value)
    ? []
    : [`${value} is not a name that this version knows: ${NAMES_ARE_DROPPED}${suggest(value, known)}`];
}
