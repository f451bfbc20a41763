import type { StateExport } from "../../access/documents/stateExport";

/** The managed objects below a group whose kinds are not listed, by kind: they are read one by one. */
export function unlistedManagedUids(
  states: readonly StateExport[],
  kinds: readonly string[],
  root: string,
): Map<string, string[]> {
  const uids = new Map<string, string[]>();
  for (const { kind, id, external } of states.flatMap(({ resources }) => resources)) {
    if (kind === undefined || id === undefined || external || kinds.includes(kind)) continue;
    if (id !== root && !id.startsWith(`${root}/`)) continue;
    addTo(uids, kind, id);
  }
  return uids;
}

/** Adds to the list of a key. */
export function addTo(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Whether a stack manages the object with this uid. */
export function isUidManaged(states: readonly StateExport[], uid: string): boolean {
  return states.some(({ resources }) =>
    resources.some(({ kind, id, external }) => kind !== undefined && id === uid && !external),
  );
}
