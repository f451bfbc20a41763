import type { Inventory } from "../documents/inventory";
import type { StateExport } from "../documents/stateExport";
import { entityOfObject } from "./entities";
import { graphOf } from "./grants";
import type { AccessGraph, Entity } from "./model";
import { planResources } from "./resourcePlan";
import { buildGraphs } from "./graphBuilder";

export function graphOfInventory(inventory: Inventory): AccessGraph {
  return graphOf(new Map(inventory.objects.map(entityOfObject).map((entity) => [entity.key, entity])));
}

export function graphOfState(recorded: StateExport): AccessGraph {
  return acceptUnverified(buildGraphs(planResources([], recorded), undefined).after);
}
/** Treats resources read with `.get` as verified, for graphs that answer queries and judge nothing. */
export function acceptUnverified({ entities }: AccessGraph): AccessGraph {
  return graphOf(
    new Map([...entities].map(([key, { assumed: _assumed, ...entity }]) => [key, entity as Entity])),
  );
}
