import schema from "../../schema/report.schema.json";
import { printable } from "../api/errors";
import { isObject } from "../engine/values";
import { validatorOf } from "./jsonSchema";
import { DocumentError } from "./jsonText";
import { SCHEMA_VERSION } from "./report";
import type { Report } from "./report";

const findProblem = validatorOf(schema, "the report");

/**
 * Why a value is no report of the published form (`schema/report.schema.json`); undefined where it is one.
 * One line, safe to print: the report may come from a job that is not to be trusted.
 */
export function reportProblem(value: unknown): string | undefined {
  if (isObject(value) && typeof value["schemaVersion"] === "number") {
    const { schemaVersion } = value;
    if (schemaVersion !== SCHEMA_VERSION) {
      return `its schemaVersion is ${schemaVersion}, and this version of pulumi-platform reads ${SCHEMA_VERSION}: make the report again with this version`;
    }
  }
  return findProblem(value);
}

/**
 * Reads a report that a command wrote with `--output json`.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseReport(text: string, name: string): Report {
  const file = printable(name, 200);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new DocumentError(`${file} is truncated or invalid JSON`);
  }
  const problem = reportProblem(value);
  if (problem !== undefined) throw new DocumentError(`${file} is not a valid report: ${problem}`);
  return value as Report;
}
