import { isUtf8 } from "node:buffer";
import type { ErrorObject, ValidateFunction } from "ajv";
import { CodedError } from "../../errors/codedError";
import { ownEffect } from "../../fields/fieldSpec";
import type { FieldSpec } from "../../fields/fieldSpec";
import { isObject } from "../../fields/values";
import { printable } from "../../text/printable";
import { didYouMean } from "../../text/suggestions";
import { urnParts } from "./engineState";
import { parseKind } from "./reviewable";
import { specs } from "./specs";

/** A document cannot be read: one line that says which, and what to give instead. */
export class DocumentError extends CodedError {
  override readonly name = "DocumentError";
  /** For the command line: what it was given is wrong. */
  readonly code = "USAGE";
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The most bytes of a document that is read part by part, and of a document or a part that is read at once. */
const MOST_BYTES = { inParts: 1_000_000_000, atOnce: 250_000_000 } as const;

/** @throws DocumentError where so many bytes are more than what is read. */
export function checkBytes(bytes: number, name: string, reading: keyof typeof MOST_BYTES): void {
  if (bytes <= MOST_BYTES[reading]) return;
  const [size, most] = [bytes, MOST_BYTES[reading]].map((each) => Math.ceil(each / 1_000_000));
  throw new DocumentError(
    "PP6009",
    `${name} has ${size} MB, and at most ${most} MB are read: split the stack, or take a part of the organisation`,
  );
}

/** The bytes as UTF-8 without a byte order mark: PowerShell writes UTF-16 where `>` is used. */
function utf8(input: string | Uint8Array): Buffer {
  if (typeof input === "string") return Buffer.from(input.startsWith("\ufeff") ? input.slice(1) : input);
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return Buffer.from(bytes.toString("utf16le", 2));
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3);
  return bytes;
}

/** The bytes of a document as text, whatever the shell that wrote them took for its encoding. */
function decodeText(input: string | Uint8Array): string {
  return utf8(input).toString("utf8");
}

/**
 * Checks what is given as a document: each parser reads something else in the place of bytes that are not UTF-8.
 *
 * @throws DocumentError where it is no text, or too long.
 */
function checkInput(input: unknown, name: string, reading: keyof typeof MOST_BYTES): void {
  if (typeof input !== "string" && !(input instanceof Uint8Array)) {
    throw new DocumentError("PP6001", `${name} is neither text nor bytes: give what the file contains`);
  }
  checkBytes(input.length, name, reading);
  if (!isUtf8(utf8(input))) throw new DocumentError("PP6001", `${name} is not UTF-8: write it again`);
}

/** The position after the string that begins at `start`; undefined where it does not end. */
function endOfString(bytes: Buffer, start: number): number | undefined {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return undefined;
}

/** The first key that an object has twice. */
function findRepeatedKey(bytes: Buffer, from: number, to: number): string | undefined {
  /** The keys of each open object; undefined of an array. */
  const open: (Set<unknown> | undefined)[] = [];
  let expectsKey = false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      expectsKey = byte === OPEN_BRACE;
      open.push(expectsKey ? new Set() : undefined);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      open.pop();
      expectsKey = false;
    } else if (byte === COMMA) {
      expectsKey = open[open.length - 1] !== undefined;
    } else if (byte === QUOTE) {
      const end = endOfString(bytes, at) ?? to;
      const keys = expectsKey ? open[open.length - 1] : undefined;
      if (keys !== undefined) {
        const text = bytes.toString("utf8", at, end);
        const key: unknown = text.includes("\\") ? JSON.parse(text) : text.slice(1, -1);
        if (keys.has(key)) return String(key);
        keys.add(key);
      }
      expectsKey = false;
      at = end - 1;
    }
  }
  return undefined;
}

/** Half of a surrogate pair, as `JSON.stringify` writes it. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** What may be a number that JavaScript reads as infinite. */
const LARGE_NUMBER = /\d[eE]\+?\d{3}|(?<!\d)\d{309}/;

function hasInfiniteNumber(document: unknown): boolean {
  const open = [document];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === "number" && !Number.isFinite(value)) return true;
    if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) open.push(member);
    }
  }
  return false;
}

/**
 * Refuses JSON that other parsers read otherwise. Of a repeated key the engine merges the values, and JavaScript takes
 * the last one.
 *
 * @param value what `JSON.parse` made of these bytes.
 * @throws DocumentError
 */
function checkUnambiguous(bytes: Buffer, value: unknown, name: string, from = 0, to = bytes.length): void {
  const key = findRepeatedKey(bytes, from, to);
  if (key !== undefined) {
    throw new DocumentError(
      "PP6003",
      `${name} has the key ${JSON.stringify(printable(key, 80))} twice in one object, so what it says depends on the reader: write it again`,
    );
  }
  const part = bytes.subarray(from, to);
  // Each of them would equal each other one, and be null in a report.
  if (LARGE_NUMBER.test(part.toString("latin1")) && hasInfiniteNumber(value)) {
    throw new DocumentError("PP6003", `${name} has a number that is too large to be read: write it again`);
  }
  const hasEscape = part.includes("\\ud") || part.includes("\\uD");
  if (hasEscape && LONE_SURROGATE.test(JSON.stringify(value))) {
    throw new DocumentError("PP6003", `${name} has half of a surrogate pair in a string: write it again`);
  }
}

/** Objects and arrays inside one another that are read. What the CLI writes has a tenth of that. */
export const MOST_LEVELS = 200;

/** What a reader is called with, for each part of a text. */
interface JsonHandlers {
  /** What the text is called in messages: a path, or "standard input". */
  readonly name: string;
  /** What to write instead of a document that is no object. */
  readonly expected: string;
  /** The array whose elements come one at a time, by the keys that lead to it: `["deployment", "resources"]`. */
  readonly array: readonly string[];
  readonly element: (value: unknown) => void;
  /** Called in place of `element` or `document` for one that has more than MOST_LEVELS levels. */
  readonly tooDeep: () => void;
  /** A whole document, after its elements; the array in it is empty. A text may hold several (NDJSON). */
  readonly document: (value: unknown) => void;
}

/** Reads one text byte by byte, and hands each element of the long array over as soon as it ends. */
class JsonReader {
  private readonly openBrackets: number[] = [];
  /** The last key of each level on the path to the array. */
  private readonly keys: string[] = [];
  private expectsKey = false;
  private hasDocument = false;
  private documentStart = -1;
  /** The document up to the bracket that opens the array; undefined before it. */
  private head: string | undefined;
  private tailStart = -1;
  /** The depth of the array's elements; -1 outside of the array. */
  private elementDepth = -1;
  private elementStart = -1;
  /** The most levels of the element, and of the document around it. */
  private elementLevels = 0;
  private documentLevels = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly handlers: JsonHandlers,
  ) {}

  read(): void {
    const { bytes, openBrackets } = this;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (isBlank(byte)) continue;
      if (openBrackets.length === 0) this.startDocument(byte, at);
      if (this.elementDepth === openBrackets.length) this.startOrEndElement(byte, at);
      at = this.readToken(byte, at);
    }
    if (openBrackets.length > 0) throw cutOff(this.handlers.name);
    if (!this.hasDocument) {
      throw new DocumentError(
        "PP6001",
        `${this.handlers.name} is empty: did the command that should have written it fail?`,
      );
    }
  }

  private startDocument(byte: number, at: number): void {
    if (byte !== OPEN_BRACE) throw notAnObject(this.bytes, at, this.handlers);
    this.documentStart = at;
    this.hasDocument = true;
  }

  private startOrEndElement(byte: number, at: number): void {
    if (byte !== COMMA && byte !== CLOSE_BRACKET) {
      if (this.elementStart < 0) this.elementStart = at;
      return;
    }
    if (this.elementStart < 0) return;
    if (this.elementLevels > MOST_LEVELS) this.handlers.tooDeep();
    else this.handlers.element(this.parse(this.elementStart, at));
    this.elementStart = -1;
    this.elementLevels = 0;
  }

  /** @returns the position of the token's last byte. */
  private readToken(byte: number, at: number): number {
    switch (byte) {
      case QUOTE:
        return this.skipString(at);
      case COLON:
        this.expectsKey = false;
        break;
      case COMMA:
        this.expectsKey = this.openBrackets[this.openBrackets.length - 1] === OPEN_BRACE;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        this.open(byte, at);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        this.close(byte, at);
        break;
    }
    return at;
  }

  /** Skips a string, and remembers a key on the path to the array. @returns the position of its last byte. */
  private skipString(at: number): number {
    const end = endOfString(this.bytes, at);
    if (end === undefined) throw cutOff(this.handlers.name);
    if (this.expectsKey && this.elementDepth < 0 && this.openBrackets.length <= this.handlers.array.length) {
      this.keys[this.openBrackets.length - 1] = String(this.parse(at, end));
    }
    return end - 1;
  }

  private isAtArray(): boolean {
    const { array } = this.handlers;
    return (
      this.openBrackets.length === array.length &&
      this.openBrackets.every((open) => open === OPEN_BRACE) &&
      array.every((key, index) => this.keys[index] === key)
    );
  }

  private open(byte: number, at: number): void {
    const { openBrackets } = this;
    const mayBeArray = byte === OPEN_BRACKET && this.elementDepth < 0 && this.head === undefined;
    if (mayBeArray && this.isAtArray()) {
      checkBytes(at - this.documentStart, `a part of ${this.handlers.name}`, "atOnce");
      this.elementDepth = openBrackets.length + 1;
      this.head = this.bytes.toString("utf8", this.documentStart, at + 1);
    }
    openBrackets.push(byte);
    if (this.elementDepth >= 0) this.elementLevels = Math.max(this.elementLevels, openBrackets.length);
    else this.documentLevels = Math.max(this.documentLevels, openBrackets.length);
    this.expectsKey = byte === OPEN_BRACE;
  }

  private close(byte: number, at: number): void {
    const { openBrackets } = this;
    const open = openBrackets.pop();
    if (open !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) {
      throw notJson(this.bytes, at, this.handlers.name);
    }
    this.expectsKey = false;
    if (this.elementDepth === openBrackets.length + 1) {
      this.elementDepth = -1;
      this.tailStart = at;
    }
    if (openBrackets.length === 0) this.endDocument(at);
  }

  private endDocument(at: number): void {
    const { bytes, head, handlers } = this;
    if (this.documentLevels > MOST_LEVELS) handlers.tooDeep();
    else if (head === undefined) handlers.document(this.parse(this.documentStart, at + 1));
    else {
      checkBytes(at - this.tailStart, `a part of ${handlers.name}`, "atOnce");
      const document = Buffer.concat([Buffer.from(head), bytes.subarray(this.tailStart, at + 1)]);
      const value = parseText(document.toString("utf8"), handlers.name);
      checkUnambiguous(document, value, handlers.name);
      handlers.document(value);
    }
    this.head = undefined;
    this.documentLevels = 0;
    this.keys.length = 0;
  }

  private parse(from: number, to: number): unknown {
    checkBytes(to - from, `a part of ${this.handlers.name}`, "atOnce");
    let value: unknown;
    try {
      value = JSON.parse(this.bytes.toString("utf8", from, to));
    } catch {
      throw notJson(this.bytes, from, this.handlers.name);
    }
    checkUnambiguous(this.bytes, value, this.handlers.name, from, to);
    return value;
  }
}

/**
 * Reads JSON of any size without ever holding more than one element of its long array as objects: a
 * preview of thousands of resources is hundreds of megabytes.
 *
 * @throws DocumentError where it is empty, truncated, or not JSON.
 */
export function readJson(input: string | Uint8Array, handlers: JsonHandlers): void {
  checkInput(input, handlers.name, "inParts");
  new JsonReader(utf8(input), handlers).read();
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError("PP6001", `${name} is not JSON: give what the CLI wrote with --json`);
  }
}

/** What a document that begins with something else than an object is. */
function notAnObject(bytes: Buffer, at: number, { name, expected }: JsonHandlers): DocumentError {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8", at));
  } catch {
    return notJson(bytes, at, name);
  }
  const what = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return new DocumentError("PP6002", `${name} is ${what}, not a JSON object: ${expected}`);
}

/** It quotes nothing of the text: a path in a pull request may lead to a file that is none of our documents. */
function notJson(bytes: Buffer, at: number, name: string): DocumentError {
  const line = bytes.subarray(0, at).reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 1);
  return new DocumentError(
    "PP6001",
    `${name} is not JSON (line ${line}): give what the CLI wrote to standard output with --json`,
  );
}

function cutOff(name: string): DocumentError {
  return new DocumentError("PP6001", `${name} ends in the middle: it was cut off; write it again`);
}

/** Hostile JSON may be deeper than the stack of any recursion. */
function isTooDeep(document: unknown): boolean {
  const open: { readonly value: unknown; readonly level: number }[] = [{ value: document, level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next;
    if (value === null || typeof value !== "object") continue;
    if (level >= MOST_LEVELS) return true;
    for (const member of Object.values(value)) open.push({ value: member, level: level + 1 });
  }
  return false;
}

/** A document with more than MOST_LEVELS levels. @param advice what to give instead. */
export function tooDeepError(name: string, advice: string): DocumentError {
  return new DocumentError("PP6003", `${name} is nested more than ${MOST_LEVELS} levels deep: ${advice}`);
}

/**
 * Reads JSON that somebody may have cut off, or saved with a byte order mark.
 *
 * @param name what messages call it: a path.
 * @param advice what to give instead of a document that cannot be read.
 * @throws DocumentError in one line.
 */
export function parseJson(input: string | Uint8Array, name: string, advice?: string): unknown {
  checkInput(input, name, "atOnce");
  const text = decodeText(input);
  if (text.trim() === "") {
    const what = advice ?? "did the command that should have written it fail?";
    throw new DocumentError("PP6001", `${name} is empty: ${what}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const what = advice === undefined ? "" : `: ${advice}`;
    throw new DocumentError("PP6001", `${name} is truncated or invalid JSON${what}`);
  }
  if (isTooDeep(value)) throw tooDeepError(name, advice ?? "write it again");
  checkUnambiguous(Buffer.from(text), value, name);
  return value;
}

/*
 * The sizes that are read. Whoever writes a program chooses names, keys and references, and a report repeats each of them
 * wherever something refers to it.
 */

/** Characters of a name, of a key, of a reference and of a URN. */
export const LONGEST_NAME = 4_000;

/** Items of a list, and members of an object, in the arguments of one resource. */
const MOST_MEMBERS = 10_000;

/** Groups above one another. */
export const MOST_GROUP_LEVELS = 100;

const count = (number: number): string => number.toLocaleString("en-US");

/** Something is larger than what is read. @param advice what to write instead. */
export function overLimit(what: string, limit: string, advice: string): DocumentError {
  return new DocumentError("PP6009", `${what}, and at most ${limit} are read: ${advice}`);
}

/** Whether a string chooses an object, or who may do what: the only others are texts, patterns and keys. */
function isNameLike(field: FieldSpec | undefined, key: string): boolean {
  if (field?.type === "enum" || key === "name") return true;
  if (field?.type !== "string" || field.pattern !== undefined) return false;
  const isText = ["regex", "jwks", "rsaPublicKey"].includes(field.format ?? "");
  const effect = ownEffect(field);
  return !isText && effect !== undefined && effect !== "other";
}

/** Where a value stands, and what its description says of it. */
interface Place {
  /** The keys that lead to it. */
  readonly keys: readonly string[];
  readonly field: FieldSpec | undefined;
}

/** Finds what is over a limit in the parts of one document. */
class SizeCheck {
  constructor(private readonly who: string) {}

  checkName(value: unknown, what: () => string): void {
    if (typeof value !== "string" || value.length <= LONGEST_NAME) return;
    throw overLimit(
      `${this.who}: ${what()} has ${count(value.length)} characters`,
      count(LONGEST_NAME),
      "write a shorter one",
    );
  }

  checkValue(value: unknown, { keys, field }: Place): void {
    const path = () => keys.map((key) => printable(key, 80)).join(".") || "the arguments";
    if (typeof value === "string") {
      if (isNameLike(field, keys.at(-1) ?? "")) this.checkName(value, path);
      return;
    }
    if (value === null || typeof value !== "object") return;
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    const size = names?.length ?? (value as readonly unknown[]).length;
    if (size > MOST_MEMBERS) {
      const what = `${path()} has ${count(size)} ${names === undefined ? "items" : "members"}`;
      throw overLimit(`${this.who}: ${what}`, count(MOST_MEMBERS), "split the resource");
    }
    if (names === undefined) {
      const items = field?.type === "list" ? withAccessOf(field.items, field) : undefined;
      for (const item of value as readonly unknown[]) this.checkValue(item, { keys, field: items });
      return;
    }
    const above = keys.reduce((length, key) => length + key.length, 0);
    for (const name of names) {
      // A path is repeated for each value below it.
      if (above + name.length > LONGEST_NAME)
        this.checkName([...keys, name].join("."), () => `a key of ${path()}`);
      this.checkValue((value as Readonly<Record<string, unknown>>)[name], {
        keys: [...keys, name],
        field: memberOf(field, name),
      });
    }
  }
}

/** What the description of an object or a map says of a member. */
function memberOf(field: FieldSpec | undefined, name: string): FieldSpec | undefined {
  if (field?.type === "map") return withAccessOf(field.values, field);
  if (field?.type !== "object" || !Object.hasOwn(field.fields, name)) return undefined;
  const inner = field.fields[name];
  return inner && withAccessOf(inner, field);
}

/** A field inside another one has its effect, unless it says another. */
function withAccessOf(inner: FieldSpec, outer: FieldSpec): FieldSpec {
  const access = inner.access ?? outer.access;
  return access === undefined || inner.harmless !== undefined ? inner : { ...inner, access };
}

/** The members of a state that name other resources, and this one. */
const NAMES = ["urn", "type", "id", "parent", "provider", "deletedWith", "importID"];
const NAME_LIST: FieldSpec = { type: "list", items: { type: "string", access: "subject" } };
const NAME_LISTS: Readonly<Record<string, FieldSpec>> = {
  ignoreChanges: NAME_LIST,
  propertyDependencies: { type: "map", values: NAME_LIST },
};

/** What to call a resource in a message. */
function labelOf(urn: unknown): string {
  const { type, name } = urnParts(typeof urn === "string" ? urn : "");
  return (
    `${printable(type.slice(type.lastIndexOf(":") + 1), 80)} ${printable(name, 80)}`.trim() || "a resource"
  );
}

/** @throws DocumentError where the arguments of an object are over a limit. */
export function checkInputSizes(who: string, kind: string, inputs: unknown): void {
  const spec = specs[kind];
  if (spec === undefined) return;
  const fields: Readonly<Record<string, FieldSpec>> = { ...spec.outputs, ...spec.fields };
  new SizeCheck(who).checkValue(inputs, { keys: [], field: { type: "object", fields } });
}

/** @throws DocumentError where one of these is too long. */
export function checkNameLengths(who: string, names: Readonly<Record<string, unknown>>): void {
  const check = new SizeCheck(who);
  for (const [key, value] of Object.entries(names)) check.checkName(value, () => key);
}

/**
 * Checks a resource of a state as the engine writes it. Of one of another package only the names count.
 *
 * @param document what messages call it.
 * @throws DocumentError
 */
export function checkResourceSize(state: unknown, document: string): void {
  if (!isObject(state)) return;
  const { urn, type } = state;
  const who = `${document}: ${labelOf(urn)}`;
  checkNameLengths(who, Object.fromEntries(NAMES.map((key) => [key, state[key]])));
  for (const [key, field] of Object.entries(NAME_LISTS)) {
    new SizeCheck(who).checkValue(state[key], { keys: [key], field });
  }
  const kind = typeof type === "string" ? parseKind(type) : undefined;
  if (kind === undefined) return;
  checkInputSizes(who, kind, state["inputs"]);
  checkInputSizes(who, kind, state["outputs"]);
}

const LONGEST_PATH = 200;
const LONGEST_REQUIREMENT = 300;
const LONGEST_VALUE = 80;

/* eslint-disable @typescript-eslint/no-require-imports -- Loaded at the first use: no other command waits for them. */
const validators = {
  report: () => require("../../../schema/report.validate.js") as ValidateFunction,
  inventory: () => require("../../../schema/inventory.validate.js") as ValidateFunction,
  "access-policy": () => require("../../../schema/access-policy.validate.js") as ValidateFunction,
};
const policySchema = () => require("../../../schema/access-policy.schema.json") as FormSchema;
/* eslint-enable @typescript-eslint/no-require-imports */

/** A document that has a schema: `schema/<name>.schema.json`. */
type SchemaName = keyof typeof validators;

/** One mismatch between a value and a schema. */
export interface SchemaProblem {
  /** The keys that lead to what is wrong; also to a key that is missing. */
  readonly keys: readonly string[];
  /** What is required there, as a predicate: "must be a string". Bounded, and safe to print. */
  readonly requirement: string;
  /** The keyword of the schema. */
  readonly keyword: string;
}

/** The parts of a schema that messages use. */
interface ErrorSchema {
  readonly errorMessage?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly errorMessage?: string }>>;
  readonly definitions?: Readonly<Record<string, { properties?: Record<string, { const?: string }> }>>;
}

/** The parts of a schema that say of what form a value is. */
interface FormSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly items?: FormSchema;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly additionalProperties?: FormSchema | false;
  readonly definitions?: Readonly<Record<string, FormSchema>>;
}

/** A policy that fits its schema, with a list of one for each text that stands where a list of texts may. */
export function withLists(
  value: unknown,
  schema = policySchema(),
  { definitions } = policySchema(),
): unknown {
  const { type, items, properties, additionalProperties } =
    definitions?.[schema.$ref?.replace("#/definitions/", "") ?? ""] ?? schema;
  if (typeof value === "string") return Array.isArray(type) ? [value] : value;
  if (Array.isArray(value)) return value.map((each) => withLists(each, items));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    const form = properties?.[key] ?? (additionalProperties || undefined);
    return [key, form === undefined ? member : withLists(member, form)] as const;
  });
  return Object.fromEntries(members);
}

const jsonTypeNames: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a string",
};

const quoted = (value: unknown): string => printable(JSON.stringify(value), LONGEST_VALUE);

function unknownProperty(key: string, { properties = {} }: ErrorSchema): string {
  const known = Object.keys(properties);
  const near = didYouMean(key, known);
  return `is an unknown property; ${near === undefined ? `known are ${known.join(", ")}` : `did you mean "${near}"?`}`;
}

function missingProperty(key: string, { properties, errorMessage }: ErrorSchema): string {
  const own = properties?.[key]?.errorMessage;
  const why = own === undefined ? errorMessage : `it ${own}`;
  return why === undefined ? "is missing" : `is missing: ${why}`;
}

function unknownValue(value: unknown, allowed: readonly string[]): string {
  const word = typeof value === "string" ? value : "";
  const near = allowed.find((name) => name.toLowerCase() === word.toLowerCase()) ?? didYouMean(word, allowed);
  if (near !== undefined) return `is ${quoted(value)}, which is unknown; did you mean "${near}"?`;
  const list = allowed.join(", ");
  // The end of a long list may be cut off: the value comes first then.
  return allowed.length > 10
    ? `is ${quoted(value)}, which is unknown; known are ${list}`
    : `must be one of ${list}, not ${quoted(value)}`;
}

/** The values of the property that selects the member of a union. */
function unionTags({ definitions = {} }: ErrorSchema, tag: string): string[] {
  return Object.values(definitions).flatMap(({ properties }) => properties?.[tag]?.const ?? []);
}

function wrongText(data: unknown, requirement: string): string {
  return typeof data === "string" && data.trim() !== "" ? `${requirement}, not ${quoted(data)}` : requirement;
}

function wrongType(type: string, { errorMessage, required = [] }: ErrorSchema): string {
  // For a string the message names what it must contain.
  if (errorMessage !== undefined && type !== "string") return errorMessage;
  const few = type === "object" && required.length > 0 && required.length < 4;
  return `must be ${jsonTypeNames[type] ?? type}${few ? ` with ${required.join(", ")}` : ""}`;
}

/** What a value must be, by the keyword of the schema that it breaks. */
function describeRequirement({
  keyword,
  params,
  message = "is wrong",
  data,
  parentSchema,
}: ErrorObject): string {
  const schema = (parentSchema ?? {}) as ErrorSchema;
  const { errorMessage } = schema;
  const param = (name: string): unknown => Reflect.get(params, name);
  switch (keyword) {
    case "additionalProperties":
      return unknownProperty(String(param("additionalProperty")), schema);
    case "required":
      return missingProperty(String(param("missingProperty")), schema);
    case "type":
      return wrongType(String(param("type")), schema);
    case "enum":
      return unknownValue(data, [param("allowedValues")].flat().map(String));
    case "const":
      return `must be ${JSON.stringify(param("allowedValue"))}`;
    case "minimum":
      return `must be ${String(param("limit"))} or more`;
    case "maxLength":
      return `must have at most ${String(param("limit"))} characters`;
    case "minLength":
      return "must not be empty";
    case "pattern":
      return wrongText(data, errorMessage ?? `must match ${String(param("pattern"))}`);
    case "discriminator":
      return `must be one of ${unionTags(schema, String(param("tag"))).join(", ")}`;
    default:
      return errorMessage ?? message;
  }
}

/** The keys to the value of an error, and to the property that it is about. */
function locateError({ instancePath, keyword, params }: ErrorObject): string[] {
  const keys = instancePath.split("/").slice(1);
  const above = keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const param = {
    required: "missingProperty",
    additionalProperties: "additionalProperty",
    discriminator: "tag",
  }[keyword];
  return param === undefined ? above : [...above, String(Reflect.get(params, param))];
}

/** Keys as a program would write them: `findings[0].severity`. Safe to print. */
export function propertyPath(keys: readonly string[]): string {
  const path = keys.map((key) => {
    if (/^\d+$/.test(key)) return `[${key}]`;
    return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return printable(path.join("").replace(/^\./, ""), LONGEST_PATH);
}

/** The keywords of a schema that ask for a property. */
const ABSENCES = ["required", "oneOf", "anyOf"];

const isMisspelling = ({ keyword, params, parentSchema }: ErrorObject): boolean =>
  keyword === "additionalProperties" &&
  didYouMean(
    String(Reflect.get(params, "additionalProperty")),
    Object.keys((parentSchema as ErrorSchema | undefined)?.properties ?? {}),
  ) !== undefined;

/** Finds the mismatches between a value and a schema, at most one for each place. */
export function schemaProblems(name: SchemaName, value: unknown): SchemaProblem[] {
  const validate = validators[name]();
  if (validate(value)) return [];
  const problems = new Map<string, SchemaProblem>();
  const errors = validate.errors ?? [];
  // Where a property is misspelt, what is missing beside it is mostly that one: its own message says so.
  const misspelt = new Set(errors.filter(isMisspelling).map(({ instancePath }) => instancePath));
  for (const error of errors) {
    if (misspelt.has(error.instancePath) && ABSENCES.includes(error.keyword)) continue;
    const keys = locateError(error);
    const place = JSON.stringify(keys);
    if (error.keyword === "if" || problems.has(place)) continue;
    const requirement = printable(describeRequirement(error), LONGEST_REQUIREMENT);
    problems.set(place, { keys, requirement, keyword: error.keyword });
  }
  return [...problems.values()];
}

/** A document of ours that has a schema and a `schemaVersion`, and the version that is read. */
interface DocumentForm {
  readonly name: "report" | "inventory";
  readonly version: number;
}

/** Why a value is not a document of a form; undefined where it is one. One line, safe to print. */
export function documentProblem(value: unknown, { name, version }: DocumentForm): string | undefined {
  if (isObject(value) && typeof value["schemaVersion"] === "number" && value["schemaVersion"] !== version) {
    return `its schemaVersion is ${value["schemaVersion"]}, and this version of pulumi-platform reads ${version}: make the ${name} again with this version`;
  }
  const [problem] = schemaProblems(name, value);
  if (problem === undefined) return undefined;
  return `${propertyPath(problem.keys) || `the ${name}`} ${problem.requirement}`;
}
