import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { urnParts } from "../../../access/documents/engineState";
import { listManaged, parseStateExport } from "../../../access/documents/stateExport";
import type { StateExport } from "../../../access/documents/stateExport";
import { objectKey } from "../../../fields/resourceSpec";
import { printable } from "../../../text/printable";
import { UsageError } from "../../framework/exitCodes";
import { findProjectFile } from "../../input/projectFiles";
import { runPulumi } from "../../input/pulumi";
import { readProjectName } from "../../input/backend";
import { readStates } from "../../input/states";
import { isEmptyFolder } from "./project";

/** What a stack contains. */
export interface ExistingStack {
  readonly exported?: string;
  readonly usedNames: ReadonlySet<string>;
  /** What is not to be adopted again, and which stack manages it. */
  readonly managers: ReadonlyMap<string, string>;
}

/** What a stack manages, by kind and uid, each with the stack. */
const managersIn = (state: StateExport, manager: string): [string, string][] =>
  listManaged(state).map(({ kind, id }) => [objectKey(kind, id), manager]);

/** The names that resources of a state have. @param project only those of this project. */
const resourceNamesIn = ({ resources }: StateExport, project?: string): string[] =>
  resources.flatMap(({ kind, urn }) => {
    const parts = urnParts(urn);
    return kind === undefined || (project ?? parts.project) !== parts.project
      ? []
      : [objectKey(kind, parts.name)];
  });

/**
 * What other stacks manage, and the names that the program in the folder gives to some of it: all stacks of a project
 * share its program.
 *
 * @param patterns Files that `pulumi stack export` wrote.
 */
export async function readOtherStacks(patterns: readonly string[], out: string): Promise<ExistingStack> {
  const project = isEmptyFolder(out) ? undefined : readProjectName(out);
  const states = await readStates(patterns, [], undefined);
  const managers = states.flatMap((state) =>
    managersIn(state, state.stack === undefined ? "another stack" : `stack ${printable(state.stack, 200)}`),
  );
  const usedNames = project === undefined ? [] : states.flatMap((state) => resourceNamesIn(state, project));
  return { usedNames: new Set(usedNames), managers: new Map(managers) };
}

/**
 * Reads what a stack contains; undefined where there is no project yet, and none is required.
 * @throws UsageError if there is no project, and the state is to be written.
 */
export async function readStack(
  out: string,
  stack: string,
  isRequired: boolean,
): Promise<ExistingStack | undefined> {
  const isEmpty = isEmptyFolder(out);
  if (isEmpty || findProjectFile(resolve(out)) === undefined) {
    if (!isRequired) return undefined;
    const what = !existsSync(out) ? "does not exist" : isEmpty ? "is empty" : "holds no Pulumi project";
    throw new UsageError(
      "PP5011",
      `${printable(out, 200)} ${what}: run adopt without --write-state first, then the commands that it prints; or name the folder of a program`,
    );
  }
  const exported = await runPulumi(["stack", "export"], stack, out);
  const state = parseStateExport(exported, `the export of stack ${stack}`);
  return {
    exported,
    usedNames: new Set(resourceNamesIn(state)),
    managers: new Map(managersIn(state, "the stack")),
  };
}
