import type { ErrorObject, ValidateFunction } from "ajv";
import { printable } from "../../text/printable";
import { didYouMean } from "../../text/suggestions";
import { isObject } from "../../fields/values";

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
