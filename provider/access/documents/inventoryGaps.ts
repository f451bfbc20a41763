import type { Inventory } from "./inventory";

/** Why an inventory does not list everything, a line each. */
export function inventoryGaps({ complete, refused }: Inventory): string[] {
  if (refused.length > 0) {
    return refused.map(
      ({ kind, code, errorCode }) =>
        `the inventory lacks ${kind}: the server refused its list, or a part of it (${code})` +
        (errorCode === undefined ? "" : ` (${errorCode})`),
    );
  }
  return complete ? [] : ["the inventory is not complete"];
}
