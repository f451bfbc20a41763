import { isObject } from "../../fields/values";
import { propertyPath, schemaProblems } from "./jsonSchema";

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
