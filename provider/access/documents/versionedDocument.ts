import { isObject } from "../../engine/values/values";
import { propertyPath, schemaProblems } from "./jsonSchema";
import { DocumentError } from "./jsonText";

/** A document of ours that has a schema and a `schemaVersion`, and the version that is read. */
export interface DocumentForm {
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

/**
 * Reads JSON that somebody may have cut off, or saved with a byte order mark.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parseJson(text: string, name: string): unknown {
  if (text.trim() === "")
    throw new DocumentError("PP6001", `${name} is empty: did the command that should have written it fail?`);
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new DocumentError("PP6001", `${name} is truncated or invalid JSON`);
  }
}
