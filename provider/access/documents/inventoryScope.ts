import type { Inventory } from "./inventory";

/** Whether a uid is a group or lies below it. */
export function isWithin(uid: string, root: string): boolean {
  return uid === root || uid.startsWith(`${root}/`);
}

/**
 * Whether an inventory contains every object of a kind at a uid: one that it lacks does not exist. What lies in no group is
 * listed with any root.
 */
export function listsObject(inventory: Inventory, kind: string, uid: string): boolean {
  const { root, kinds, refused, complete, asked } = inventory;
  if (refused.some((list) => list.kind === kind) || (!complete && refused.length === 0)) return false;
  if (asked?.some((object) => object.kind === kind && object.uid === uid) === true) return true;
  return kinds.includes(kind) && isWithin(uid, root);
}
