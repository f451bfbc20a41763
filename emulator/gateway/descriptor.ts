/** Scalars with their own JSON form. int64 is a decimal string, timestamps and durations are strings. */
export type ScalarKind =
  "string" | "bool" | "int32" | "int64" | "timestamp" | "duration" | "bytes" | "fieldMask";

export interface EnumType {
  readonly zero: string;
  readonly numberByName: ReadonlyMap<string, number>;
  readonly nameByNumber: ReadonlyMap<number, string>;
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
  /** Name of the one-of that the field belongs to; its members are absent from responses when unset. */
  readonly oneof?: string;
  /** Has presence: unset is not its zero value, and it is absent from responses when unset. */
  readonly optional?: boolean;
  /** Written by the service alone; a field mask that names it is not an error. */
  readonly outputOnly?: boolean;
  /** Can be set by a create only. */
  readonly immutable?: boolean;
  /** Must not be empty in a stored resource. */
  readonly required?: boolean;
  /** The format of a string, or of each string of a list or map, that is not empty. */
  readonly format?: Format;
}

export interface Format {
  /** Completes "<field> …", for example `must be 12 digits`. */
  readonly requirement: string;
  readonly accepts: (value: string) => boolean;
}

export interface Field extends FieldFlags {
  /** Name in JSON. */
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
 * A decoded message or map: a record without prototype, keyed by JSON names. A field without presence is absent when it
 * has its zero value; int64 are decimal strings, enum values names (numbers when unknown).
 */
export interface Message {
  [name: string]: Value | undefined;
}
export type Value = string | number | boolean | Value[] | Message;

export type FieldSpec = FieldFlags & { readonly type: FieldType };

const scalar =
  (kind: ScalarKind) =>
  (flags: FieldFlags = {}): FieldSpec => ({ ...flags, type: { kind } });

export const text = scalar("string");
export const bool = scalar("bool");
export const int32 = scalar("int32");
export const int64 = scalar("int64");
export const timestamp = scalar("timestamp");
export const duration = scalar("duration");
export const bytes = scalar("bytes");
export const fieldMask = scalar("fieldMask");

export const enumOf = (type: EnumType, flags: FieldFlags = {}): FieldSpec => ({
  ...flags,
  type: { kind: "enum", type },
});

export const object = (type: MessageType, flags: FieldFlags = {}): FieldSpec => ({
  ...flags,
  type: { kind: "message", type },
});

export const list = (of: FieldSpec, flags: FieldFlags = {}): FieldSpec => ({
  ...flags,
  type: { kind: "list", item: itemType(of) },
});

export const map = (
  of: FieldSpec,
  flags: FieldFlags = {},
  key: "string" | "int64" = "string",
): FieldSpec => ({
  ...flags,
  type: { kind: "map", key, item: itemType(of) },
});

function itemType(maker: FieldSpec): ItemType {
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
    numberByName: new Map(all.map(([name, number]) => [name, number])),
    nameByNumber: new Map(all.map(([name, number]) => [number, name])),
  };
}

export function messageType(
  fullName: string,
  fields: Record<string, FieldSpec>,
  requiredOneofs: readonly string[] = [],
): MessageType {
  const namedFields = Object.entries(fields).map(([name, maker]): Field => ({
    ...maker,
    name,
    snake: snakeCase(name),
  }));
  const byName = new Map<string, Field>();
  for (const field of namedFields) {
    byName.set(field.name, field);
    byName.set(field.snake, field);
  }
  return { fullName, fields: namedFields, byName, requiredOneofs };
}

export function snakeCase(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A record without prototype, so that a key such as `__proto__` is a key like any other. */
export function newMessage(): Message {
  return Object.create(null) as Message;
}

export function clearField(message: Message, name: string): void {
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
