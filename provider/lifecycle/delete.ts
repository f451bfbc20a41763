import { isNotFound } from "../http/errors";
import { hasCode } from "../errors/codedError";
import { printable } from "../text/printable";
import { identityKey } from "../fields/identity";
import { aggregatedKind } from "../fields/resourceSpec";
import type { Dependents } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import type { KindContext } from "./context";
import { explain, handlerError, labelResource } from "./messages";

/** Most names that a message lists. */
const MAX_NAMES = 10;

/** Deletes the object of a resource, unless another resource of the program owns it by now. */
export async function deleteResource(kind: KindContext, id: string, olds: Props): Promise<void> {
  const { spec, program, host, mutex, client } = kind;
  const name = `${labelResource(spec, olds)} ${id}`;
  if (program.hasFailure) {
    throw handlerError(
      "PP4010",
      `${name} is not deleted, because another step of this run failed and may be about the same object: fix that step and run again`,
    );
  }
  if (isRetained(kind, id, olds)) {
    host.warn(
      `${name} stays: another resource of this program manages it now, so it is only removed from the state`,
    );
    return;
  }
  try {
    const ownDelete = spec.operations?.delete;
    await mutex.runExclusive(id, () =>
      ownDelete ? ownDelete(client(), id, olds, host) : client().delete(spec.collection, id),
    );
  } catch (error) {
    if (!isNotFound(error)) {
      const notes = hasCode(error, "FAILED_PRECONDITION") ? await describeDependents(kind, id) : [];
      throw explain(spec, `deleting ${name}`, error, notes);
    }
  }
}

/** Whether another resource of the program owns the same object. */
function isRetained({ spec, program }: KindContext, id: string, olds: Props): boolean {
  if (spec.retainedBy?.(olds).some((key) => program.isDeclared(key))) return true;
  // The delete of an aggregate keeps the parts that another resource declares.
  if (aggregatedKind(spec) !== undefined) return false;
  const identity = identityKey(spec, olds);
  return (identity !== undefined && program.isDeclared(identity)) || program.isOwned(spec.kind, id, olds);
}

/** A line for each list of what a refused delete would leave without a parent. */
async function describeDependents(kind: KindContext, id: string): Promise<string[]> {
  const notes: string[] = [];
  for (const dependents of kind.spec.deletion?.dependents ?? []) {
    try {
      const names = await listDependents(kind, id, dependents);
      if (names.length > 0) notes.push(`${dependents.noun}: ${names.join(", ")}`);
    } catch {
      notes.push(`${dependents.noun}: could not be listed`);
    }
  }
  return notes;
}

async function listDependents(
  { client }: KindContext,
  id: string,
  { collection, parameter }: Dependents,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, uid } of client().list(collection, { [parameter]: id })) {
    if (names.length === MAX_NAMES) return [...names, "…"];
    const quoted = typeof name === "string" && name !== "" ? `"${printable(name, 80)}" ` : "";
    names.push(`${quoted}${printable(String(uid))}`);
  }
  return names;
}
