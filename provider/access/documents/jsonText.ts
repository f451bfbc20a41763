import type { ErrorObject, ValidateFunction } from "ajv";
import { CodedError } from "../../errors/codedError";
import { ownEffect } from "../../fields/fieldSpec";
import type { AccessEffect, FieldSpec } from "../../fields/fieldSpec";
import { isObject } from "../../fields/values";
import { innerField } from "../../fields/walk";
import { tryParseJson } from "../../text/plain";
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

/** The most bytes of a document. A resource has about 4,000 of them in a preview. */
const MOST_BYTES = 250_000_000;

/** Objects and arrays inside one another that are read. What the CLI writes has a tenth of that. */
export const MOST_LEVELS = 200;

/** @throws DocumentError where so many bytes are more than what is read. */
export function checkBytes(bytes: number, name: string): void {
  if (bytes <= MOST_BYTES) return;
  const [size, most] = [bytes, MOST_BYTES].map((each) => Math.ceil(each / 1_000_000));
  throw new DocumentError(
    "PP6009",
    `${name} has ${size} MB, and at most ${most} MB are read: split the stack, or take a part of the organisation`,
  );
}

/** The text: PowerShell writes UTF-16 where `>` is used. */
function decode(input: string | Uint8Array, name: string): string {
  if (typeof input === "string") return input;
  const encoding = input[0] === 0xff && input[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(input);
  } catch {
    // Each parser reads something else in the place of bytes that are not UTF-8.
    throw new DocumentError("PP6001", `${name} is not UTF-8: write it again`);
  }
}

/** The colons outside of strings: as many as the objects of a JSON text have members. */
function countColons(text: string): number {
  let colons = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') isInString = !isInString;
    else if (unit === "\\" && isInString) at += 1;
    else if (unit === ":" && !isInString) colons += 1;
  }
  return colons;
}

/** Counts the members of all objects in a value. @throws DocumentError for what other parsers read otherwise, or not at all. */
function countMembers(value: unknown, name: string, level = 0): number {
  // Each large number would equal each other one, and be null in a report.
  const odd =
    typeof value === "number" && !Number.isFinite(value)
      ? "has a number that is too large to be read"
      : typeof value === "string" && /\p{Surrogate}/u.test(value)
        ? "has half of a surrogate pair in a string"
        : level === MOST_LEVELS && typeof value === "object" && value !== null
          ? `is nested more than ${MOST_LEVELS} levels deep`
          : undefined;
  if (odd !== undefined) throw new DocumentError("PP6003", `${name} ${odd}: write it again`);
  if (value === null || typeof value !== "object") return 0;
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  let members = keys.length;
  for (const parts of [keys, Object.values(value) as unknown[]])
    for (const part of parts) members += countMembers(part, name, level + 1);
  return members;
}

/**
 * Reads an object of JSON that somebody may have cut off, or saved with a byte order mark. It refuses what other parsers read
 * otherwise: of a repeated key the engine merges the values, and JavaScript takes the last one.
 *
 * @param name what messages call it: a path.
 * @param expected what to give instead of a document that cannot be read.
 * @throws DocumentError in one line where it is no text, too long, empty, truncated, not JSON, or no object.
 */
export function parseJson(
  input: string | Uint8Array,
  name: string,
  expected = "write it again",
): Record<string, unknown> {
  if (typeof input !== "string" && !((input as unknown) instanceof Uint8Array)) {
    throw new DocumentError("PP6001", `${name} is neither text nor bytes: give what the file contains`);
  }
  checkBytes(input.length, name);
  // A byte order mark goes with the blanks.
  const text = decode(input, name).trim();
  const refuse = (problem: string, code: "PP6001" | "PP6003" = "PP6001"): never => {
    // It quotes nothing of the text: a path in a pull request may lead to a file that is none of our documents.
    throw new DocumentError(code, `${name} ${problem}`);
  };
  if (text === "") return refuse("is empty: did the command that should have written it fail?");
  if (text.startsWith("{") && !text.endsWith("}"))
    return refuse("ends in the middle: it was cut off; write it again");
  const value = tryParseJson(text);
  if (!isObject(value)) return refuse(`is not one object of JSON: ${expected}`);
  if (countMembers(value, name) === countColons(text)) return value;
  return refuse(
    "has a key twice in one object, so what it says depends on the reader: write it again",
    "PP6003",
  );
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

/** Characters of the path of a group. Whatever lies in the group repeats it. */
export const LONGEST_GROUP_PATH = 10_000;

export const formatCount = (number: number): string => number.toLocaleString("en-US");

/** Something is larger than what is read. @param advice what to write instead. */
export function overLimit(what: string, limit: string, advice: string): DocumentError {
  return new DocumentError("PP6009", `${what}, and at most ${limit} are read: ${advice}`);
}

function checkName(who: string, what: string, value: unknown): void {
  if (typeof value !== "string" || value.length <= LONGEST_NAME) return;
  throw overLimit(
    `${who}: ${what} has ${formatCount(value.length)} characters`,
    formatCount(LONGEST_NAME),
    "write a shorter one",
  );
}

/** A value, and what its description says of it. */
interface Described {
  readonly field: FieldSpec | undefined;
  /** What a field inside another one means for access, unless it says something else. */
  readonly effect: AccessEffect | undefined;
}

/** Whether a string chooses an object, or who may do what: the only others are texts, patterns and keys. */
function isNameLike({ field, effect }: Described, key: string): boolean {
  if (field?.type === "enum" || key === "name") return true;
  if (field?.type !== "string" || field.pattern !== undefined) return false;
  const isText = ["regex", "jwks", "rsaPublicKey"].includes(field.format ?? "");
  return !isText && effect !== undefined && effect !== "other";
}

function describeInner({ field: outer, effect }: Described, key: string): Described {
  const field = innerField(outer, key);
  return { field, effect: (field && ownEffect(field)) ?? effect };
}

/** Checks the names, keys and lengths in a value. @param keys those that lead to it. */
function checkSizes(who: string, value: unknown, described: Described, keys: readonly string[]): void {
  const path = () => keys.map((key) => printable(key, 80)).join(".") || "the arguments";
  if (typeof value === "string" && isNameLike(described, keys.at(-1) ?? "")) checkName(who, path(), value);
  if (value === null || typeof value !== "object") return;
  const isList = Array.isArray(value);
  const size = isList ? value.length : Object.keys(value).length;
  if (size > MOST_MEMBERS) {
    const what = `${path()} has ${formatCount(size)} ${isList ? "items" : "members"}`;
    throw overLimit(`${who}: ${what}`, formatCount(MOST_MEMBERS), "split the resource");
  }
  const above = keys.reduce((length, key) => length + key.length, 0);
  for (const [key, member] of Object.entries(value)) {
    const inner = isList ? keys : [...keys, key];
    // A path is repeated for each value below it.
    if (!isList && above + key.length > LONGEST_NAME) checkName(who, `a key of ${path()}`, inner.join("."));
    checkSizes(who, member, describeInner(described, key), inner);
  }
}

/** The members of a state that name other resources, and this one. */
const NAMES = ["urn", "type", "id", "parent", "provider", "deletedWith", "importID"];
const NAME_LIST: FieldSpec = { type: "list", items: { type: "string", access: "subject" } };
const NAME_LISTS: Readonly<Record<string, FieldSpec>> = {
  ignoreChanges: NAME_LIST,
  propertyDependencies: { type: "map", values: NAME_LIST },
};

/** What to call a resource in a message. */
export function labelOfUrn(urn: unknown): string {
  const { type, name } = urnParts(typeof urn === "string" ? urn : "");
  return (
    `${printable(type.slice(type.lastIndexOf(":") + 1), 80)} ${printable(name, 80)}`.trim() || "a resource"
  );
}

/** @throws DocumentError where the arguments of an object are over a limit. */
export function checkInputSizes(who: string, kind: string, inputs: unknown): void {
  const spec = specs[kind];
  if (spec === undefined) return;
  const fields = { ...spec.outputs, ...spec.fields };
  checkSizes(who, inputs, { field: { type: "object", fields }, effect: undefined }, []);
}

/** @throws DocumentError where one of these is too long. */
export function checkNameLengths(who: string, names: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(names)) checkName(who, key, value);
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
  const who = `${document}: ${labelOfUrn(urn)}`;
  checkNameLengths(who, Object.fromEntries(NAMES.map((key) => [key, state[key]])));
  for (const [key, field] of Object.entries(NAME_LISTS))
    checkSizes(who, state[key], { field, effect: undefined }, [key]);
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
  const word = String(value);
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

function wrongType(type: string, schema: ErrorSchema): string {
  const { errorMessage } = schema;
  // For a string the message names what it must contain.
  if (errorMessage !== undefined && type !== "string") return errorMessage;
  const names = type.split(",").map((each) => jsonTypeNames[each] ?? each);
  return `must be ${names.join(" or ")}`;
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
    // What one of several forms lacks is said with all of them.
    if (error.keyword === "required" && /\/(?:anyOf|oneOf)\/\d+\//.test(error.schemaPath)) continue;
    const keys = locateError(error);
    const place = JSON.stringify(keys);
    if (error.keyword === "if" || problems.has(place)) continue;
    const requirement = printable(describeRequirement(error), LONGEST_REQUIREMENT);
    problems.set(place, { keys, requirement, keyword: error.keyword });
  }
  // What is written and wrong comes before what is missing.
  const isAbsence = ({ keyword }: SchemaProblem): boolean => ABSENCES.includes(keyword);
  return [...problems.values()].sort((a, b) => Number(isAbsence(a)) - Number(isAbsence(b)));
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
