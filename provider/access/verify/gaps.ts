import { urnParts } from "../documents/engineState";
import { inventoryGaps } from "../documents/inventoryGaps";
import { isGrantPart } from "../graph/accessKinds";
import type { Entity } from "../graph/model";
import { entityLabel } from "./compareExpected";
import { isWithin } from "../documents/inventoryScope";
import { isVerified } from "../report/expectedAccess";
import type { VerifySources } from "./sources";

/** Splits what the review expects: an object outside of the group of the inventory cannot be verified. */
export function splitByRoot<E extends Entity>(
  expected: ReadonlyMap<string, E>,
  root: string,
): { readonly inside: Map<string, E>; readonly outside: readonly E[] } {
  const inside = new Map<string, E>();
  const outside: E[] = [];
  for (const [key, entity] of expected) {
    const { uid, builtIn, kind } = entity;
    const isListed = uid === undefined || builtIn === true || isWithin(uid, root);
    // The subject and role of a grant may lie elsewhere; a grant itself may not.
    if (isListed || isGrantPart(kind)) {
      if (isListed || kind !== "Group") inside.set(key, entity);
    } else outside.push(entity);
  }
  return { inside, outside };
}

/** Why the verification is incomplete, a line each. */
export function describeGaps(
  { inventory, state }: VerifySources,
  root: string,
  outside: readonly Entity[],
): string[] {
  const elsewhere = (state?.resources ?? []).filter(
    ({ kind, id, external }) =>
      kind !== undefined && isVerified(kind) && !external && !isWithin(id ?? root, root),
  );
  const names = new Set([
    ...outside.map(entityLabel),
    ...elsewhere.map(({ kind, urn }) => `${kind} ${urnParts(urn).name}`),
  ]);
  return [
    ...inventoryGaps(inventory),
    ...((state?.pendingOperations ?? 0) > 0
      ? [
          `the update was interrupted: ${state?.pendingOperations} pending operations in the state; run pulumi up again`,
        ]
      : []),
    ...[...names]
      .sort()
      .map(
        (name) =>
          `${name} is outside of the group ${root}, so it was not verified: review and verify with an inventory of a group that contains it`,
      ),
  ];
}
