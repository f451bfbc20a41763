import type { Inventory } from "../documents/inventory";
import type { Comparison } from "../review/comparison";
import type { Finding } from "../review/finding";
import type { SuppressionResult, Rules } from "../report/reviewReport";
import type { OwnRule } from "../rules/ownRules";
import type { StateExport } from "../documents/stateExport";

/** Which findings decide the exit code. */
export const driftThresholds = ["any", "widened", "unmanaged", "never"] as const;
export type DriftThreshold = (typeof driftThresholds)[number];

/** The input of a drift run. */
export interface DriftRequest {
  /** What each stack records. Without any, `since` is compared. */
  readonly states: readonly StateExport[];
  /** The live organisation: one document for each root. */
  readonly inventories: readonly Inventory[];
  /** Older inventories of the same roots: they date a difference. */
  readonly since?: readonly Inventory[];
  readonly failOn: DriftThreshold;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly version: string;
  /** The risk rules; none run without them. */
  readonly rules?: Rules;
  /** Those of them that are the organisation's own, for the report. */
  readonly ownRules?: readonly OwnRule[];
  /** Restricts the run to these uids. */
  readonly onlyUids?: ReadonlySet<string>;
  /** Who changed the object of a uid. */
  readonly actors?: ReadonlyMap<string, string>;
  /** Whether resources below other groups are left out on purpose, and do not make the run incomplete. */
  readonly isPartial?: boolean;
  /** Applies the policy file. `isComplete`: everything was compared. */
  readonly suppress?: (
    findings: readonly Finding[],
    isComplete: boolean,
    comparison: Comparison,
  ) => SuppressionResult;
}
