import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { urnParts } from "../../../access/documents/engineState";
import { listManaged, parseStateExport } from "../../../access/documents/stateExport";
import type { StateExport } from "../../../access/documents/stateExport";
import { objectKey } from "../../../fields/identity";
import { printable } from "../../../text/printable";
import { UsageError } from "../../framework/exitCodes";
import { findProjectFile } from "../../input/projectFiles";
import { runPulumi } from "../../input/pulumi";
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

/** What other stacks manage. @param patterns Files that `pulumi stack export` wrote. */
export async function readOtherStacks(patterns: readonly string[]): Promise<ExistingStack> {
  const states = await readStates(patterns, [], undefined);
  const managers = states.flatMap((state) =>
    managersIn(state, state.stack === undefined ? "another stack" : `stack ${printable(state.stack, 200)}`),
  );
  return { usedNames: new Set(), managers: new Map(managers) };
}

/**
 * Reads what a stack contains.
 * @throws UsageError if there is no project yet.
 */
export async function readStack(out: string, stack: string): Promise<ExistingStack> {
  const isEmpty = isEmptyFolder(out);
  if (isEmpty || findProjectFile(resolve(out)) === undefined) {
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
    usedNames: new Set(
      state.resources.flatMap(({ kind, urn }) =>
        kind === undefined ? [] : [objectKey(kind, urnParts(urn).name)],
      ),
    ),
    managers: new Map(managersIn(state, "the stack")),
  };
}
