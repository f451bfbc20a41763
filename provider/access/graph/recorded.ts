import { isUnknown } from "../../fields/values";
import { SECRET_MASK } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import type { Entities, Entity } from "./model";
import type { Inventory } from "../documents/inventory";
import { listsObject } from "../documents/inventoryScope";
import type { Preview } from "../documents/preview";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";

/** What an import shows as the state before is what the program's own provider read. */
const IMPORT = /^import/;

function toRecordedEntity(kind: string, uid: string, inputs: Entity["inputs"]): Entity {
  const { name } = inputs;
  const isName = typeof name === "string" && name !== "" && name !== SECRET_MASK && !isUnknown(name);
  return { key: uid, kind, uid, ...(isName ? { name } : {}), inputs, unresolved: [], secretPaths: [] };
}

/**
 * The objects that exist before a change, by uid. What an inventory lists is as it says; an exported state, and then the old
 * states of a preview, describe what no inventory lists. Nothing here comes from the program under review.
 */
export function recordedObjects(
  preview: Preview,
  before: StateExport | undefined,
  inventory: Inventory | undefined,
): Entities {
  const objects = new Map<string, Entity>();
  const add = (kind: string | undefined, uid: string | undefined, inputs: Entity["inputs"]): void => {
    const spec = specs[kind ?? ""];
    if (kind === undefined || uid === undefined || spec === undefined || spec.sharesParentUid) return;
    if (!objects.has(uid)) objects.set(uid, toRecordedEntity(kind, uid, inputs));
  };
  const addResource = ({ kind, id, inputs, outputs }: RecordedResource): void => {
    // What an inventory would contain, and does not, does not exist.
    if (inventory !== undefined && listsObject(inventory, kind ?? "", id ?? "")) return;
    // A state records no inputs of a resource that `.get` read.
    add(kind, id, Object.keys(inputs).length > 0 ? inputs : outputs);
  };
  for (const { kind, uid, inputs } of inventory?.objects ?? []) add(kind, uid, inputs);
  for (const resource of before?.resources ?? []) addResource(resource);
  for (const { op, before: old } of preview.steps) if (old && !IMPORT.test(op)) addResource(old);
  return objects;
}
