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

const DAY_MS = 86_400_000;

/** Days after which an inventory no longer counts as the live organisation. A nightly one is read for a day, or a weekend. */
const OLDEST_DAYS = 3;

/**
 * Why an inventory does not show what the server has now; undefined where it does.
 *
 * @param now milliseconds since the epoch.
 */
export function describeStaleness({ takenAt }: Inventory, now: number): string | undefined {
  const days = (now - Date.parse(takenAt)) / DAY_MS;
  if (days <= OLDEST_DAYS) return undefined;
  return `the inventory was taken ${Math.floor(days).toLocaleString("en-US")} days ago, at ${takenAt}, and what was changed at the server since is not seen: take it again (pulumi-platform inventory)`;
}
