import type { DriftReport } from "../access/report/report";
import type { StateExport } from "../access/documents/stateExport";
import { printable } from "../api/errors";
import { logError, exitCodes } from "./command";
import { writeReport } from "./deliver";
import type { CommonOptions } from "./options";

/** What is read one by one: managed objects of kinds that are not listed. */
export function unlistedManagedUids(
  states: readonly StateExport[],
  kinds: readonly string[],
  root: string,
): Map<string, string[]> {
  const also = new Map<string, string[]>();
  for (const { kind, id, external } of states.flatMap(({ resources }) => resources)) {
    if (kind === undefined || id === undefined || external || kinds.includes(kind)) continue;
    if (id !== root && !id.startsWith(`${root}/`)) continue;
    also.set(kind, [...(also.get(kind) ?? []), id]);
  }
  return also;
}

/** Whether a stack manages what has this uid. */
export function isManaged(states: readonly StateExport[], uid: string): boolean {
  return states.some(({ resources }) =>
    resources.some(({ kind, id, external }) => kind !== undefined && id === uid && !external),
  );
}

/** Writes a report where it was asked for; answers the exit code. */
export async function finish(report: DriftReport, options: CommonOptions): Promise<number> {
  await writeReport(report, options);
  for (const line of report.incomplete) logError(`incomplete: ${printable(line)}`);
  const { clean, drift, incomplete } = exitCodes;
  if (report.failing > 0 && !options.exitZero) return drift;
  return report.complete ? clean : incomplete;
}
