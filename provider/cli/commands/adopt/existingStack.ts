import { urnParts } from "../../../access/documents/engineState";
import { parseStateExport } from "../../../access/documents/stateExport";
import { objectKey } from "../../../fields/identity";
import { printable } from "../../../http/errors";
import { UsageError } from "../../framework/exitCodes";
import { runPulumi } from "../../input/pulumi";
import { isEmptyFolder } from "./project";

/** What a stack contains. */
export interface ExistingStack {
  readonly exported?: string;
  readonly usedNames: ReadonlySet<string>;
  readonly managedKeys: ReadonlySet<string>;
}

/**
 * Reads what a stack contains.
 * @throws UsageError if there is no project yet.
 */
export async function readStack(out: string, stack: string): Promise<ExistingStack> {
  if (isEmptyFolder(out)) {
    throw new UsageError(
      "PP5011",
      `${printable(out, 200)} is empty: run adopt without --write-state first, then the commands that it prints`,
    );
  }
  const exported = await runPulumi(["stack", "export"], stack, out);
  const { resources } = parseStateExport(exported, `the export of stack ${stack}`);
  const own = resources.flatMap(({ kind, id, urn }) => (kind === undefined ? [] : [{ kind, id, urn }]));
  return {
    exported,
    usedNames: new Set(own.map(({ kind, urn }) => objectKey(kind, urnParts(urn).name))),
    managedKeys: new Set(own.flatMap(({ kind, id }) => (id === undefined ? [] : [objectKey(kind, id)]))),
  };
}
