import { listManaged } from "../../access/documents/stateExport";
import { addTo } from "../../fields/values";
import { isWithin } from "../../access/documents/inventory";
import type { StateExport } from "../../access/documents/stateExport";

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
