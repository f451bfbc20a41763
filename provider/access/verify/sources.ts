import type { Inventory } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import type { StateExport } from "../documents/stateExport";
import { entityOfObject } from "../graph/entities";
import { specs } from "../documents/specs";
import type { ExpectedAccess, ReviewReport } from "../report/report";
import { isComparable, writtenInputs } from "../report/expectedAccess";
import type { LiveEntity } from "./alignLive";

/** The documents of a verification. */
export interface VerifySources {
  /** The approved report of a review, as `parseReviewReport` reads it. */
  readonly review: ReviewReport;
  /** The organisation after the update. */
  readonly inventory: Inventory;
  /** What the stack records after the update: which uid each created resource has. */
  readonly state?: StateExport;
}

/** The report cannot say what existed before. */
export const NO_INVENTORY =
  "the report has no expected access: write it with review --inventory FILE --output json=FILE";

/** @throws DocumentError for an inventory that cannot show what the update has done: it is older than another document. */
function checkInventoryTime(
  { review, inventory, state }: VerifySources,
  { inventoryTime }: ExpectedAccess,
): void {
  const earlier = [
    ["the inventory of the review", inventoryTime],
    ["the report", review.provenance.time],
    ["the state", state?.time],
  ] as const;
  for (const [name, time] of earlier) {
    if (time === undefined || Date.parse(inventory.takenAt) > Date.parse(time)) continue;
    throw new DocumentError(
      "PP6004",
      `the inventory was taken at ${inventory.takenAt}, not after ${name} (${time}): take it after the update, and then verify`,
    );
  }
}

/** What the review expects. @throws DocumentError where the documents do not belong together. */
export function readExpected({ review, inventory, state }: VerifySources): ExpectedAccess {
  const { expected } = review;
  if (expected === undefined) {
    throw new DocumentError("PP6006", NO_INVENTORY);
  }
  if (inventory.root !== expected.root) {
    throw new DocumentError(
      "PP6004",
      `the inventory covers the group ${inventory.root}, and the report the group ${expected.root}: give --root, or an inventory, of ${expected.root}`,
    );
  }
  checkInventoryTime({ review, inventory, state }, expected);
  const [stack] = review.stacks;
  if (state?.stack !== undefined && stack !== undefined && state.stack !== stack) {
    throw new DocumentError(
      "PP6004",
      `the state is of stack ${state.stack}, and the report of stack ${stack}: give --stack or --state of ${stack}`,
    );
  }
  return expected;
}

/** The organisation as entities, with what the state records of each. */
export function liveEntities({ inventory, state }: VerifySources): Map<string, LiveEntity> {
  const recorded = new Map(
    (state?.resources ?? [])
      .filter(({ kind, id, external }) => kind !== undefined && id !== undefined && !external)
      .map((resource) => [`${resource.kind} ${resource.id}`, resource] as const),
  );
  const entities = new Map<string, LiveEntity>();
  for (const object of inventory.objects) {
    const { kind, uid, createTime } = object;
    const spec = specs[kind];
    if (spec === undefined) continue;
    const live = entityOfObject(object);
    const resource = recorded.get(`${kind} ${uid}`);
    entities.set(live.key, {
      ...live,
      inputs: writtenInputs(spec, live.inputs, (_key, field) => isComparable(field)),
      ...(createTime === undefined ? {} : { createTime }),
      ...(resource === undefined
        ? {}
        : {
            urn: resource.urn,
            location: resource.location,
            recordedOutputs: resource.outputs,
            declared: resource.inputs,
          }),
    });
  }
  return entities;
}
