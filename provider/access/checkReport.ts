import schema from "../../schema/report.schema.json";
import { printable } from "../api/errors";

/** The part of JSON Schema that the published form of a report is written in. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly pattern?: string;
}

const definitions: Readonly<Record<string, Schema>> = schema.definitions;

function resolved(at: Schema): Schema {
  if (at.$ref === undefined) return at;
  const found = definitions[at.$ref.replace("#/definitions/", "")];
  if (found === undefined) throw new Error(`the schema of reports has no ${at.$ref}`);
  return found;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function problemAt(value: unknown, given: Schema, path: string): string | undefined {
  const at = resolved(given);
  const where = path === "" ? "the report" : printable(path, 200);
  if ("const" in at && value !== at.const) return `${where} must be ${JSON.stringify(at.const)}`;
  if (at.enum !== undefined && !at.enum.includes(value)) {
    return `${where} must be one of ${at.enum.join(", ")}`;
  }
  if (at.type !== undefined && !hasType(value, at.type)) return `${where} must be of type ${at.type}`;
  if (typeof value === "number" && at.minimum !== undefined && value < at.minimum) {
    return `${where} must be ${at.minimum} or more`;
  }
  if (typeof value === "string" && at.pattern !== undefined && !new RegExp(at.pattern, "u").test(value)) {
    return `${where} must match ${at.pattern}`;
  }
  if (Array.isArray(value) && at.items !== undefined) {
    for (const [index, item] of value.entries()) {
      const problem = problemAt(item, at.items, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
  }
  if (!isObject(value)) return undefined;
  const missing = at.required?.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${where} lacks ${missing}`;
  for (const [key, inner] of Object.entries(value)) {
    const known =
      at.properties !== undefined && Object.hasOwn(at.properties, key) ? at.properties[key] : undefined;
    if (known === undefined) {
      if (at.additionalProperties !== false) continue;
      return `${where} has a member that no report has: ${printable(JSON.stringify(key), 100)}`;
    }
    const problem = problemAt(inner, known, path === "" ? key : `${path}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Why a value is no report of the published form (`schema/report.schema.json`); undefined where it is one.
 * One line, safe to print. For reports of others: of a job that is not to be trusted.
 */
export function reportProblem(value: unknown): string | undefined {
  return problemAt(value, schema, "");
}
