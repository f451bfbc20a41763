/** Scalars with a form of their own on the wire. int64 travels as a decimal string, times and durations as text. */
export type ScalarKind =
  "string" | "bool" | "int32" | "int64" | "timestamp" | "duration" | "bytes" | "fieldMask";

export interface EnumType {
  readonly zero: string;
  readonly numberOf: ReadonlyMap<string, number>;
  readonly nameOf: ReadonlyMap<number, string>;
}

export type ItemType =
  | { readonly kind: ScalarKind }
  | { readonly kind: "enum"; readonly type: EnumType }
  | { readonly kind: "message"; readonly type: MessageType };

export type FieldType =
  | ItemType
  | { readonly kind: "list"; readonly item: ItemType }
  | { readonly kind: "map"; readonly key: "string" | "int64"; readonly item: ItemType };

export interface FieldFlags {
  /** Name of the one-of that the field belongs to; its members are absent from answers when unset. */
  readonly oneof?: string;
  /** Has presence: told apart from its zero value, absent from answers when unset. */
  readonly optional?: boolean;
  /** Written by the service alone; a field mask that names it is not an error. */
  readonly outputOnly?: boolean;
  /** Can be set by a create only. */
  readonly immutable?: boolean;
  /** Must not be empty in a stored resource. */
  readonly required?: boolean;
  /** What a text, or each text of a list or map, must look like when it is not empty. */
  readonly format?: Format;
}

export interface Format {
  /** Completes "<field> …", for example `must be 12 digits`. */
  readonly rule: string;
  readonly accepts: (value: string) => boolean;
}

export interface Field extends FieldFlags {
  /** Name in answers. */
  readonly name: string;
  /** Name in inferred field masks; also accepted in requests. */
  readonly snake: string;
  readonly type: FieldType;
}

export interface MessageType {
  readonly fullName: string;
  readonly fields: readonly Field[];
  /** Both spellings of every field. */
  readonly byName: ReadonlyMap<string, Field>;
  /** One-ofs of which a stored resource has exactly one member. */
  readonly requiredOneofs: readonly string[];
}

/**
 * A decoded message or map: a record without prototype, keyed by answer names. What has no presence and
 * holds its zero value is absent; int64 are decimal strings, enum values names (numbers when unknown).
 */
export interface Message {
  [name: string]: Value | undefined;
}
export type Value = string | number | boolean | Value[] | Message;

export type FieldMaker = FieldFlags & { readonly type: FieldType };

const scalar =
  (kind: ScalarKind) =>
  (flags: FieldFlags = {}): FieldMaker => ({ ...flags, type: { kind } });

export const text = scalar("string");
export const bool = scalar("bool");
export const int32 = scalar("int32");
export const int64 = scalar("int64");
export const timestamp = scalar("timestamp");
export const duration = scalar("duration");
export const bytes = scalar("bytes");
export const fieldMask = scalar("fieldMask");

export const enumOf = (type: EnumType, flags: FieldFlags = {}): FieldMaker => ({
  ...flags,
  type: { kind: "enum", type },
});

export const object = (type: MessageType, flags: FieldFlags = {}): FieldMaker => ({
  ...flags,
  type: { kind: "message", type },
});

export const list = (of: FieldMaker, flags: FieldFlags = {}): FieldMaker => ({
  ...flags,
  type: { kind: "list", item: itemType(of) },
});

export const map = (
  of: FieldMaker,
  flags: FieldFlags = {},
  key: "string" | "int64" = "string",
): FieldMaker => ({
  ...flags,
  type: { kind: "map", key, item: itemType(of) },
});

function itemType(maker: FieldMaker): ItemType {
  if (maker.type.kind === "list" || maker.type.kind === "map") {
    throw new Error("a list or a map holds no list and no map");
  }
  return maker.type;
}

/** Values are numbered from 1 in the order given; 0 is `<prefix>_UNSPECIFIED`. */
export function enumType(prefix: string, values: string): EnumType {
  const names = values.split(" ").map((value) => `${prefix}_${value}`);
  return numberedEnum(
    `${prefix}_UNSPECIFIED`,
    names.map((name, index) => [name, index + 1]),
  );
}

export function numberedEnum(zero: string, values: readonly (readonly [string, number])[]): EnumType {
  const all = [[zero, 0] as const, ...values];
  return {
    zero,
    numberOf: new Map(all.map(([name, number]) => [name, number])),
    nameOf: new Map(all.map(([name, number]) => [number, name])),
  };
}

export function messageType(
  fullName: string,
  fields: Record<string, FieldMaker>,
  requiredOneofs: readonly string[] = [],
): MessageType {
  const described = Object.entries(fields).map(([name, maker]): Field => ({
    ...maker,
    name,
    snake: snakeCase(name),
  }));
  const byName = new Map<string, Field>();
  for (const field of described) {
    byName.set(field.name, field);
    byName.set(field.snake, field);
  }
  return { fullName, fields: described, byName, requiredOneofs };
}

export function snakeCase(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A record without prototype, so that a key such as `__proto__` is a key like any other. */
export function newMessage(): Message {
  return Object.create(null) as Message;
}

export function unset(message: Message, name: string): void {
  Reflect.deleteProperty(message, name);
}

export function isMessage(value: Value | undefined): value is Message {
  return typeof value === "object" && !Array.isArray(value);
}

export function copyValue<T extends Value>(value: T): T {
  if (Array.isArray(value)) return value.map(copyValue) as T;
  if (typeof value !== "object") return value;
  const copy = newMessage();
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copy[key] = copyValue(member);
  }
  return copy as T;
}
