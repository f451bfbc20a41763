import type { FieldSpec, Json, Props, ResourceSpec } from "./description";
import { formats } from "./formats";
import { isObject, isSent } from "./values";

/** The name of a field on the wire. */
export function wireName(key: string, spec: FieldSpec): string {
  return spec.wire ?? key;
}

/** A value as it is sent: fields renamed, unset members left out. */
export function toWire(spec: FieldSpec, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  if (spec.type === "string" && spec.format !== undefined && typeof value === "string") {
    return formats[spec.format].toWire?.(value) ?? value;
  }
  if (spec.type === "list" && Array.isArray(value)) return value.map((item) => toWire(spec.items, item));
  if (spec.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, toWire(spec.values, member)]),
    );
  }
  if (spec.type === "object" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(spec.fields)
        .filter(([key, field]) => isSent(field, value[key]))
        .map(([key, field]) => [wireName(key, field), toWire(field, value[key])]),
    );
  }
  return value;
}

/** Returns the value that clears a field when the mask names it. */
export function emptyWireValue(spec: FieldSpec): Json {
  switch (spec.type) {
    case "string":
      return spec.format !== undefined && formats[spec.format].isNullable ? null : "";
    case "enum":
      return `${spec.prefix}UNSPECIFIED`;
    case "boolean":
      return spec.default ?? false;
    case "integer":
      return 0;
    case "list":
      return [];
    case "map":
      return {};
    case "object":
      return null;
  }
}

/** Builds the body of a create from the fields that the program set. */
export function buildCreateBody(spec: ResourceSpec, inputs: Props): Props {
  return Object.fromEntries(
    Object.entries(spec.fields)
      .filter(([key, field]) => !field.path && !field.subresource && isSent(field, inputs[key]))
      .map(([key, field]) => [wireName(key, field), toWire(field, inputs[key])]),
  );
}
