import { isWithin } from "../../../access/documents/inventory";
import type { Inventory } from "../../../access/documents/inventory";
import type { StateExport } from "../../../access/documents/stateExport";
import { aggregatedKinds } from "../../../access/drift/stateComparison";
import type { ChangedResources } from "../../../access/drift/stateComparison";
import { findDrift } from "../../../access/drift/drift";
import type { DriftRequest } from "../../../access/drift/drift";
import { organisationsOf } from "../../../access/documents/stateExport";
import type { DriftReport } from "../../../access/report/report";
import type { Client } from "../../../http/client";
import { takeInventory } from "../../../inventory/takeInventory";
import { ownVersion } from "../../../text/packageVersion";
import { isUidManaged } from "../../input/managedUids";

/** Reads what changed, and the objects that give it its names, below each root that it concerns. */
async function readInventories(
  client: Client,
  changed: ChangedResources,
  states: readonly StateExport[],
): Promise<Inventory[]> {
  const uidsToRead = changed.uidsToRead(states);
  const uidsToCompare = [...changed.uidsToCompare(uidsToRead)];
  const inventories: Inventory[] = [];
  for (const root of organisationsOf(states)) {
    const isBelow = (uid: string) => isWithin(uid, root);
    const onlyBelow = (byKind: ReadonlyMap<string, Iterable<string>>): Map<string, string[]> =>
      new Map([...byKind].map(([kind, uids]) => [kind, [...uids].filter(isBelow)]));
    if (!uidsToCompare.some(isBelow)) continue;
    inventories.push(
      await takeInventory(client, {
        root,
        kinds: ["Group", "Role", "Identity", ...aggregatedKinds(states)],
        additionalUids: onlyBelow(uidsToRead),
        parentsToList: onlyBelow(changed.parents),
        isRootOptional: isUidManaged(states, root),
        now: Date.now,
      }),
    );
  }
  return inventories;
}

/** Compares the resources that events name with what the states record. */
export async function reportChanges(
  client: Client,
  changed: ChangedResources,
  states: readonly StateExport[],
  { rules, ownRules, suppress }: Pick<DriftRequest, "rules" | "ownRules" | "suppress"> = {},
): Promise<DriftReport> {
  return findDrift({
    states,
    inventories: await readInventories(client, changed, states),
    onlyUids: changed.uidsToCompare(changed.uidsToRead(states)),
    actors: changed.actors,
    failOn: "any",
    now: Date.now(),
    version: ownVersion(),
    isPartial: true,
    rules,
    ownRules,
    suppress,
  });
}
