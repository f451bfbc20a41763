import type { FieldSpec, Json, Props, ResourceSpec } from "../description";
import { isObject } from "../values/values";
import { normalizeBody } from "./decode";
import { wireName } from "./encode";

const TYPE_NAMES: Readonly<Record<FieldSpec["type"], string>> = {
  string: "a string",
  enum: "a name",
  boolean: "true or false",
  integer: "a whole number",
  list: "a list",
  map: "a map",
  object: "an object",
};

/** Finds the first value that does not have its field's type: its path, and the expected type. Every field accepts null. */
function findMismatch(spec: FieldSpec, path: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const wrong = `${path} is not ${TYPE_NAMES[spec.type]}`;
  switch (spec.type) {
    case "string":
      return typeof value === "string" ? undefined : wrong;
    // Values newer than the gateway are bare numbers.
    case "enum":
      return typeof value === "string" || Number.isInteger(value) ? undefined : wrong;
    case "boolean":
      return typeof value === "boolean" ? undefined : wrong;
    case "integer":
      return Number.isInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value))
        ? undefined
        : wrong;
    case "list":
      return Array.isArray(value)
        ? findFirstMismatch(value.map((item, index) => [spec.items, `${path}[${index}]`, item] as const))
        : wrong;
    case "map":
      return isObject(value)
        ? findFirstMismatch(
            Object.entries(value).map(([key, member]) => [spec.values, `${path}.${key}`, member] as const),
          )
        : wrong;
    case "object":
      return isObject(value) ? findMismatchInFields(spec.fields, `${path}.`, value) : wrong;
  }
}

function findFirstMismatch(
  values: readonly (readonly [spec: FieldSpec, path: string, value: Json | undefined])[],
): string | undefined {
  for (const one of values) {
    const wrong = findMismatch(...one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function findMismatchInFields(
  fields: Readonly<Record<string, FieldSpec>>,
  prefix: string,
  body: Props,
): string | undefined {
  return findFirstMismatch(
    Object.entries(fields).map(([key, field]) => {
      const name = wireName(key, field);
      return [field, `${prefix}${name}`, Object.hasOwn(body, name) ? body[name] : undefined] as const;
    }),
  );
}

/** The first value of a response that does not have the type of its field, as in `name is not a string`; undefined if there is none. */
export function findSchemaMismatch(spec: ResourceSpec, body: Props, uid: string): string | undefined {
  const normalized = normalizeBody(spec, body, uid);
  return (
    findMismatchInFields(spec.fields, "", normalized) ??
    findMismatchInFields(spec.outputs ?? {}, "", normalized)
  );
}
