import { aggregatedKind } from "../../fields/resourceSpec";
import { kinds } from "../../kinds";

const kindSpecs = kinds.map(({ spec }) => spec);

/** The kinds that an inventory can contain. A kind that aggregates others is contained as its members. */
export const inventoryKinds: readonly string[] = kindSpecs
  .filter((spec) => aggregatedKind(spec) === undefined)
  .map(({ kind }) => kind);

/** The kinds that an inventory contains by default. */
export const listedKinds: readonly string[] = kindSpecs
  .filter((spec) => spec.listing?.onDemand !== true && aggregatedKind(spec) === undefined)
  .map(({ kind }) => kind);
