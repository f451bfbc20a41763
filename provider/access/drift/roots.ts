import { listManaged } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";

/** The organisations that states manage something of: the uids of their root groups, sorted. */
export function organisationsOf(states: readonly StateExport[]): string[] {
  return [...new Set(states.flatMap(listManaged).map(({ id }) => id.split("/")[0] ?? id))].sort();
}
