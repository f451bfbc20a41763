import type { StateExport } from "../documents/stateExport";

/** The organisations that states manage something of: the uids of their root groups, sorted. */
export function organisationsOf(states: readonly StateExport[]): string[] {
  const uids = states.flatMap(({ resources }) =>
    resources.flatMap(({ kind, id, external }) =>
      kind === undefined || id === undefined || external ? [] : [id],
    ),
  );
  return [...new Set(uids.map((uid) => uid.split("/")[0] ?? uid))].sort();
}
