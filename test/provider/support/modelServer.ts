import type { FieldSpec, OneOf } from "../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import type { Json, Props } from "../../../provider/fields/values";

/*
 * What a server of the API makes of a PATCH, told from the rules for masks and nothing else. It
 * reads the shape of a kind from its description, yet none of the code that builds a PATCH.
 */

interface Shape {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs: readonly OneOf[];
}

const isObject = (value: Json | undefined): value is Props =>
  value !== null && typeof value === "object" && !Array.isArray(value);

function fieldOnWire(shape: Shape, name: string): FieldSpec {
  const found = Object.entries(shape.fields).find(([key, field]) => (field.wire ?? key) === name);
  if (!found) throw new Error(`code 3: could not find field ${JSON.stringify(name)}`);
  return found[1];
}

const shapeOf = (field: FieldSpec): Shape =>
  field.type === "object" ? { fields: field.fields, oneOfs: field.oneOfs ?? [] } : { fields: {}, oneOfs: [] };

/** The mask that follows from the keys of a body, sorted. Objects are descended into; all else is one path. */
export function inferredMask(spec: ResourceSpec, body: Props): string[] {
  const paths = (shape: Shape, value: Props, prefix: string): string[] =>
    Object.entries(value).flatMap(([name, member]) => {
      const field = fieldOnWire(shape, name);
      if (field.type === "object" && isObject(member) && Object.keys(member).length > 0) {
        return paths(shapeOf(field), member, `${prefix}${name}.`);
      }
      return [`${prefix}${name}`];
    });
  return paths({ fields: spec.fields, oneOfs: spec.oneOfs ?? [] }, body, "").sort();
}

/** The resource after a PATCH: exactly the named paths are changed; named but empty or absent is cleared. */
export function patched(spec: ResourceSpec, held: Props, body: Props, mask: readonly string[]): Props {
  const result = structuredClone(held);
  for (const path of mask) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let shape: Shape = { fields: spec.fields, oneOfs: spec.oneOfs ?? [] };
    let target = result;
    let source: Json | undefined = body;
    for (const step of steps) {
      const field = fieldOnWire(shape, step);
      if (field.type !== "object") throw new Error(`code 3: ${path} goes into something that is no object`);
      takeChoice(shape, target, step);
      const inner = target[step];
      const next: Props = isObject(inner) ? inner : {};
      target[step] = next;
      target = next;
      source = isObject(source) ? source[step] : undefined;
      shape = shapeOf(field);
    }
    fieldOnWire(shape, last);
    takeChoice(shape, target, last);
    const value: Json | undefined =
      isObject(source) && Object.hasOwn(source, last) ? source[last] : undefined;
    if (value === undefined || value === null) Reflect.deleteProperty(target, last);
    else target[last] = value;
  }
  return result;
}

/** Setting a member of a one-of takes out the others. */
function takeChoice(shape: Shape, target: Props, name: string): void {
  for (const { members } of shape.oneOfs) {
    if (!members.includes(name)) continue;
    for (const member of members) if (member !== name) Reflect.deleteProperty(target, member);
  }
}

/** A resource on the wire with every spelling of one content made one: for comparing. */
export function settledForm(fields: Readonly<Record<string, FieldSpec>>, body: Props): Props {
  const entries = Object.entries(fields)
    .filter(([, field]) => !field.path)
    .map(([key, field]): [string, Json | undefined] => {
      const name = field.wire ?? key;
      return [name, formOf(field, body[name])];
    })
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function formOf(field: FieldSpec, value: Json | undefined): Json | undefined {
  if (value === undefined || value === null || value === false || value === "" || value === 0)
    return undefined;
  switch (field.type) {
    case "enum":
      return ["UNSPECIFIED", field.default ?? ""].some((name) => value === `${field.prefix}${name}`)
        ? undefined
        : value;
    case "string":
      return typeof value === "string" ? textForm(field.format, value) : value;
    case "list": {
      if (!Array.isArray(value)) return value;
      if (value.length === 0) return undefined;
      const items = value.map((item) => formOf(field.items, item) ?? "unset");
      return field.unordered ? [...new Set(items.map((item) => JSON.stringify(item)))].sort() : items;
    }
    case "map": {
      if (!isObject(value)) return value;
      const entries = Object.entries(value).map(([key, member]): [string, Json] => [
        key,
        formOf(field.values, member) ?? "unset",
      ]);
      return entries.length === 0 ? undefined : Object.fromEntries(entries);
    }
    case "object": {
      if (!isObject(value)) return value;
      const members = settledForm(field.fields, value);
      return Object.keys(members).length === 0 ? undefined : members;
    }
    default:
      return value;
  }
}

function textForm(format: string | undefined, text: string): Json {
  if (format === "timestamp") return new Date(text).getTime();
  if (format === "jwks") return sortedKeys(JSON.parse(text) as Json);
  return text;
}

function sortedKeys(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortedKeys(value[key])]),
  );
}
