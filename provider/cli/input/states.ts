import { isWithin, inventoryKinds, listedKinds } from "../../access/documents/inventory";
import { parseStateExport, listManaged } from "../../access/documents/stateExport";
import type { StateExport } from "../../access/documents/stateExport";
import { addTo } from "../../fields/values";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { PulumiError, runPulumi, STACK_NOT_FOUND } from "./pulumi";
import { matchingFiles, readBytes } from "./readFiles";

/** Exports a stack. An export with secrets is never written to a file, and never part of a message. */
async function exportStack(stack: string, cwd: string | undefined, withSecrets: boolean): Promise<string> {
  const args = ["stack", "export"];
  try {
    return await runPulumi(withSecrets ? [...args, "--show-secrets"] : args, stack, cwd);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    if (error.exitCode === STACK_NOT_FOUND) {
      throw new UsageError(
        "PP5008",
        `--stack ${printable(stack, 100)}: stack not found; pulumi stack ls lists those of the project`,
      );
    }
    // Without the stack's key the secrets stay encrypted; the report names what was then not compared.
    if (withSecrets) return exportStack(stack, cwd, false);
    throw error;
  }
}

/** @throws UsageError where two exports are of one stack: each of its resources would seem to be managed twice. */
function requireOneOfEach(states: readonly StateExport[]): void {
  const given = new Set<string>();
  for (const state of states) {
    const keys = listManaged(state).map(({ urn, id }) => JSON.stringify([urn, id]));
    if (keys.some((key) => given.has(key))) {
      const name = printable(state.stack ?? "", 200);
      throw new UsageError("PP6004", `two exports of stack ${name} are given: leave one of them out`);
    }
    for (const key of keys) given.add(key);
  }
}

/**
 * Reads what files and stacks record, each file and each stack once.
 *
 * @param options `withSecrets`: keeps the plain text of secrets in memory, where a document has it.
 * @throws DocumentError, UsageError, PulumiError
 */
export async function readStates(
  patterns: readonly string[],
  stacks: readonly string[],
  cwd: string | undefined,
  options: { readonly withSecrets?: boolean } = {},
): Promise<StateExport[]> {
  const states: StateExport[] = [];
  const files = patterns.flatMap((pattern) => matchingFiles(pattern, "--state"));
  for (const file of new Set(files)) {
    const bytes = readBytes(file, `--state names ${printable(file, 200)}, which cannot be read`);
    states.push(parseStateExport(bytes, file, options));
  }
  for (const stack of new Set(stacks)) {
    const text = await exportStack(stack, cwd, options.withSecrets === true);
    states.push(parseStateExport(text, `the export of stack ${stack}`, options));
  }
  requireOneOfEach(states);
  return states;
}

/** The managed objects below a group whose kinds are not listed, by kind: they are read one by one. */
export function unlistedManagedUids(
  states: readonly StateExport[],
  kinds: readonly string[],
  root: string,
): Map<string, string[]> {
  const uids = new Map<string, string[]>();
  for (const { kind, id } of states.flatMap(listManaged)) {
    if (!kinds.includes(kind) && isWithin(id, root)) addTo(uids, kind, id);
  }
  return uids;
}

/** Whether a stack manages the object with this uid. */
export function isUidManaged(states: readonly StateExport[], uid: string): boolean {
  return states.some((state) => listManaged(state).some(({ id }) => id === uid));
}

/** The kinds that `--types` names; `+KIND` adds to the default ones. @throws UsageError */
export function readKinds(values: readonly string[]): readonly string[] {
  const words = values.flatMap((text) => text.split(",")).map((word) => word.trim());
  if (words.length === 0) return listedKinds;
  for (const word of words) {
    if (!inventoryKinds.includes(word.replace(/^\+/, ""))) {
      throw new UsageError(
        "PP5008",
        `--types must name kinds of ${inventoryKinds.join(", ")}, not "${printable(word, 80)}"`,
      );
    }
  }
  const added = words.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const exact = words.filter((word) => !word.startsWith("+"));
  return [...new Set([...(exact.length === 0 ? listedKinds : exact), ...added])];
}
