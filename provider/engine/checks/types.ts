import type { FieldSpec, Json } from "../description";
import { isObject } from "../values/values";

/** What a value of a type is called in messages. */
export const typeNames: Record<FieldSpec["type"], string> = {
  string: "a string",
  enum: "a string",
  boolean: "true or false",
  integer: "a whole number",
  list: "a list",
  map: "a map (an object of keys and values)",
  object: "an object",
};

export function describeType(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a string" : `the ${typeof value} ${value}`;
}

export function hasType(spec: FieldSpec, value: Json): boolean {
  switch (spec.type) {
    case "string":
    case "enum":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return typeof value === "number" && Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31;
    case "list":
      return Array.isArray(value);
    case "map":
    case "object":
      return isObject(value);
  }
}
