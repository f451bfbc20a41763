import type { RecordedResource } from "../documents/engineState";
import { type Op, operations } from "../documents/operations";
import type { PreviewStep } from "../documents/preview";
import type { StateExport } from "../documents/stateExport";
import { revealConcealed } from "./concealed";
import type { ConcealedValue } from "./model";

/** All that is known of one urn, its steps taken together. */
export interface ResourcePlan {
  readonly urn: string;
  readonly op: Op;
  readonly before?: RecordedResource;
  readonly after?: RecordedResource;
  /** What the stack records, where the preview has refreshed it: `before` is then what the server has. */
  readonly unrefreshed?: RecordedResource;
  /** What is secret after the change and was not before: `after` has it as it was. */
  readonly concealed?: readonly ConcealedValue[];
  /** A create that writes all of the object, over what the server has. */
  readonly isOverwriting?: true;
  /** The paths that the engine found to differ, those of secrets too. */
  readonly differing?: readonly string[];
}
/**
 * One plan for each URN, from the steps of a preview. After a refresh the later step has the live values; what is left of
 * an earlier replacement belongs to no resource.
 */
export function planResources(
  steps: readonly PreviewStep[],
  recorded: StateExport | undefined,
): ResourcePlan[] {
  const plans = new Map<string, ResourcePlan>();
  for (const resource of recorded?.resources ?? []) {
    plans.set(resource.urn, { urn: resource.urn, op: "same", before: resource, after: resource });
  }
  const whole = new Set<string>();
  for (const { op: operation, urn, before, after, differing } of steps) {
    const op = operations.get(operation);
    // The old half of a replacement is marked for its delete; alone it is the rest of an earlier one.
    if (op === undefined || (op === "delete" && before?.pendingDelete === true)) continue;
    if (operation === "create-replacement" && whole.has(urn)) continue;
    if (operation === "replace") whole.add(urn);
    const earlier = plans.get(urn);
    const unrefreshed = operation === "refresh" ? before : earlier?.unrefreshed;
    plans.set(urn, {
      urn,
      op,
      // Deleted by hand, and made again: there is nothing before.
      before: op === "create" ? undefined : (before ?? earlier?.before),
      after: op === "delete" ? undefined : after,
      ...(differing === undefined ? {} : { differing }),
      ...(unrefreshed === undefined ? {} : { unrefreshed }),
    });
  }
  return revealConcealed([...plans.values()]);
}
