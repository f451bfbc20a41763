import { containsSecret } from "./fieldSpec";
import type { FieldSpec } from "./fieldSpec";
import { isObject, ownMember } from "./values";
import type { Json } from "./values";

/*
 * The way through a value by its description: whether it has the type of its field, and which parts it has. Whoever looks
 * for something at any depth asks each part the same.
 */

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

/** Whose value it is: a program gives plain JSON, and the API may write numbers as text, and new names as numbers. */
type Writer = "program" | "api";

/** Whether it is a whole number, or the digits of one. */
function isDigits(value: Json): boolean {
  return typeof value === "string" ? /^-?\d+$/.test(value) : Number.isSafeInteger(value);
}

/** Whether a value has the type of its field; what is in it may have another. */
export function hasType(field: FieldSpec, value: Json, writer: Writer): boolean {
  switch (field.type) {
    case "string":
      if (writer === "api" && field.format === "int64") return isDigits(value);
      return typeof value === "string";
    case "enum":
      return typeof value === "string" || (writer === "api" && Number.isSafeInteger(value));
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      if (writer === "api") return isDigits(value) && Number.isSafeInteger(Number(value));
      return Number.isInteger(value) && Math.abs((value as number) + 0.5) < 2 ** 31;
    case "list":
      return Array.isArray(value);
    case "map":
    case "object":
      return isObject(value);
  }
}

/** The path of a member, as the engine writes it: `claims.sub`, `claims["acme.dev/team"]`. */
export function memberPath(path: string, key: string): string {
  const step = memberStep(key);
  return path === "" && step.startsWith(".") ? key : `${path}${step}`;
}

function memberStep(key: string): string {
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** The field of the items, of an entry or of a member; undefined where the description has none. */
export function innerField(outer: FieldSpec | undefined, key: string): FieldSpec | undefined {
  if (outer?.type === "list") return outer.items;
  if (outer?.type === "map") return outer.values;
  return outer?.type === "object" ? ownMember(outer.fields, key) : undefined;
}

/** An item of a list, an entry of a map, or a member of an object: an unset one too. */
export interface Part {
  readonly field: FieldSpec;
  readonly key: string;
  /** What follows the path of the whole: `[0]`, `.key`, `["a.b"]`. */
  readonly at: string;
  readonly value: Json | undefined;
}

/** The parts of a value; none where it has another type than its field. `nameOf` tells by what name a member is there. */
export function partsOf(
  field: FieldSpec,
  value: Json | undefined,
  nameOf: (key: string, member: FieldSpec) => string = (key) => key,
): Part[] {
  if (field.type === "list" && Array.isArray(value)) {
    return value.map((item, i) => ({ field: field.items, key: String(i), at: `[${i}]`, value: item }));
  }
  if (!isObject(value)) return [];
  if (field.type === "map") {
    return Object.entries(value).map(([key, entry]) => ({
      field: field.values,
      key,
      at: memberStep(key),
      value: entry,
    }));
  }
  if (field.type !== "object") return [];
  return Object.entries(field.fields).map(([key, member]) => {
    const name = nameOf(key, member);
    return { field: member, key, at: memberStep(name), value: ownMember(value, name) };
  });
}

/** A list, map or object of these parts, each replaced; a part that becomes undefined is left out. */
export function replaceParts(
  whole: FieldSpec,
  parts: readonly Part[],
  replace: (part: Part) => Json | undefined,
  nameOf: (key: string, member: FieldSpec) => string = (key) => key,
): Json {
  const entries = parts
    .map((part): [string, Json | undefined] => [
      whole.type === "object" ? nameOf(part.key, part.field) : part.key,
      replace(part),
    ])
    .filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return whole.type === "list" ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/**
 * Values with each secret among them replaced; what becomes undefined is left out. `inside` maps an object that has a secret in it,
 * which a program may know only later.
 */
export function mapSecrets(
  fields: Readonly<Record<string, FieldSpec>>,
  values: Readonly<Record<string, unknown>>,
  replace: (secret: unknown) => unknown,
  inside = (object: unknown, map: (object: unknown) => unknown): unknown => map(object),
): Record<string, unknown> {
  const entries = Object.entries(values).map(([key, value]): [string, unknown] => {
    const field = ownMember(fields, key);
    if (field === undefined || value === undefined || value === null || !containsSecret(field))
      return [key, value];
    if (field.type !== "object") return [key, replace(value)];
    const map = (object: unknown): unknown =>
      isObject(object) ? mapSecrets(field.fields, object, replace, inside) : object;
    return [key, inside(value, map)];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
