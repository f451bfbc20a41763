import type { Json } from "./json";
import { parseNumber } from "./json";
import { canonicalDuration, canonicalTimestamp } from "./time";

/**
 * A decoded message or map, keyed by JSON names. A field without presence is undefined when it has its zero value; int64
 * are decimal strings, enum values names (numbers when unknown).
 */
export interface Message {
  [name: string]: Value | undefined;
}
export type Value = string | number | boolean | Value[] | Message;

/** How the gateway reads and writes a value that is neither a message nor a list or map. */
export interface Scalar {
  readonly kind:
    "string" | "bool" | "int32" | "int64" | "timestamp" | "duration" | "bytes" | "fieldMask" | "enum";
  /** What a response has where nothing is set; null where unset is not the same as zero. */
  readonly zero: string | number | boolean | null;
  /** Undefined for what is refused, null for what is dropped. */
  fromJson(json: Json): Value | null | undefined;
  /** Undefined for what is refused; without it no query parameter can hold one. */
  fromQuery?(text: string): Value | undefined;
}

export type ItemType = Scalar | MessageType;

export type FieldType =
  | ItemType
  | { readonly kind: "list"; readonly item: ItemType }
  | { readonly kind: "map"; readonly key: Scalar; readonly item: ItemType };

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

export interface FieldSpec extends FieldFlags {
  readonly type: FieldType;
}

export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

export interface Field extends FieldSpec {
  /** Name in JSON. */
  readonly name: string;
  /** Name in inferred field masks; also accepted in requests. */
  readonly snake: string;
}

export interface MessageType {
  readonly kind: "message";
  readonly fields: readonly Field[];
  /** Both spellings of every field. */
  readonly byName: ReadonlyMap<string, Field>;
  /** One-ofs of which a stored resource has exactly one member. */
  readonly requiredOneofs: readonly string[];
}

export function messageType(specs: FieldSpecs, requiredOneofs: readonly string[] = []): MessageType {
  const fields = Object.entries(specs).map(([name, spec]) => ({ ...spec, name, snake: snakeCase(name) }));
  const byName = new Map<string, Field>();
  for (const field of fields) byName.set(field.name, field).set(field.snake, field);
  return { kind: "message", fields, byName, requiredOneofs };
}

const textOnly =
  (read: (text: string) => Value | undefined): Scalar["fromJson"] =>
  (json) =>
    typeof json === "string" ? read(json) : undefined;

/** A whole number as the gateway keeps it; undefined for any other number, and for one of more bits. */
function wholeNumber(number: Json | undefined, bits: 32 | 64): string | number | undefined {
  if (typeof number !== "bigint" && !(typeof number === "number" && Number.isInteger(number)))
    return undefined;
  const whole = BigInt(number);
  if (BigInt.asIntN(bits, whole) !== whole) return undefined;
  return bits === 32 ? Number(whole) : String(whole);
}

const builder =
  (type: FieldType) =>
  (flags: FieldFlags = {}): FieldSpec => ({ ...flags, type });

const integer = (kind: "int32" | "int64", bits: 32 | 64): Scalar => ({
  kind,
  zero: bits === 32 ? 0 : "0",
  // `12.0` and "12" are the number 12.
  fromJson: (json) => wholeNumber(typeof json === "string" ? parseNumber(json) : json, bits),
  fromQuery: (text) => (/^[+-]?[0-9]+$/.test(text) ? wholeNumber(BigInt(text), bits) : undefined),
});
const keys = {
  text: { kind: "string", zero: "", fromJson: textOnly((text) => text), fromQuery: (text) => text },
  int64: integer("int64", 64),
} as const satisfies Record<string, Scalar>;

export const text = builder(keys.text);
export const int64 = builder(keys.int64);
export const int32 = builder(integer("int32", 32));

export const bool = builder({
  kind: "bool",
  zero: false,
  fromJson: (json) => (typeof json === "boolean" ? json : undefined),
  fromQuery(text) {
    if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
    return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
  },
});

export const timestamp = builder({
  kind: "timestamp",
  zero: null,
  fromJson: textOnly(canonicalTimestamp),
  fromQuery: canonicalTimestamp,
});

export const duration = builder({ kind: "duration", zero: null, fromJson: textOnly(canonicalDuration) });

export const bytes = builder({
  kind: "bytes",
  zero: "",
  fromJson: textOnly((text) =>
    /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, "base64").toString("base64") : undefined,
  ),
});

/** Paths in camelCase in JSON, in snake_case where the service reads them. */
export const fieldMask = builder({
  kind: "fieldMask",
  zero: null,
  fromJson: textOnly((text) => {
    const paths = text === "" ? [] : text.split(",");
    const isValid = paths.every((path) => /^[A-Za-z0-9]+(\.[A-Za-z0-9]+)*$/.test(path));
    return isValid ? paths.map(snakeCase) : undefined;
  }),
});

/** Values are numbered from 1 in the order given; 0 is `<prefix>_UNSPECIFIED`. */
export function enumeration(prefix: string, values: string, flags: FieldFlags = {}): FieldSpec {
  const names = values.split(" ").map((value) => `${prefix}_${value}`);
  return numberedEnumeration(
    `${prefix}_UNSPECIFIED`,
    names.map((name, index) => [name, index + 1]),
    flags,
  );
}

export function numberedEnumeration(
  zero: string,
  values: readonly (readonly [name: string, number: number])[],
  flags: FieldFlags = {},
): FieldSpec {
  const all = [[zero, 0] as const, ...values];
  const names = new Set(all.map(([name]) => name));
  const nameByNumber = new Map(all.map(([name, number]) => [number, name]));
  return {
    ...flags,
    type: {
      kind: "enum",
      zero,
      fromJson(json) {
        if (typeof json === "string") return names.has(json) ? json : null;
        const number = wholeNumber(json, 32) as number | undefined;
        return number === undefined ? undefined : (nameByNumber.get(number) ?? number);
      },
      fromQuery(text) {
        if (names.has(text)) return text;
        return /^[+-]?[0-9]+$/.test(text) ? nameByNumber.get(Number(text)) : undefined;
      },
    },
  };
}

export function object(of: MessageType | FieldSpecs, flags: FieldFlags = {}): FieldSpec {
  return { ...flags, type: isMessageType(of) ? of : messageType(of) };
}

function isMessageType(of: MessageType | FieldSpecs): of is MessageType {
  return of.kind === "message";
}

export function list(of: FieldSpec, flags: FieldFlags = {}): FieldSpec {
  return { ...flags, type: { kind: "list", item: itemType(of) } };
}

export function map(of: FieldSpec, flags: FieldFlags = {}, key: "text" | "int64" = "text"): FieldSpec {
  return { ...flags, type: { kind: "map", key: keys[key], item: itemType(of) } };
}

function itemType({ type }: FieldSpec): ItemType {
  if (type.kind === "list" || type.kind === "map")
    throw new Error("a list or a map holds no list and no map");
  return type;
}

/** Unset is not the same as zero. */
export function hasPresence({ oneof, optional }: FieldFlags): boolean {
  return oneof !== undefined || optional === true;
}

/** What a response has where the field is not set. */
export function zeroOf(type: FieldType): unknown {
  if (type.kind === "list") return [];
  if (type.kind === "map") return {};
  return type.kind === "message" ? null : type.zero;
}

/** Whether a value is the same as nothing, apart from presence. A message that is set is not, whatever it holds. */
export function isZero(value: Value, type: FieldType): boolean {
  if (type.kind === "list" || type.kind === "map") return Object.keys(value).length === 0;
  return type.kind !== "message" && value === type.zero;
}

export function snakeCase(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isMessage(value: Value | undefined): value is Message {
  return typeof value === "object" && !Array.isArray(value);
}
