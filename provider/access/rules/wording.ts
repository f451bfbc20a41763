import type { Entity } from "../graph/model";

/** Spells a kind in words: "identity provider". */
export function nounOf(kind: string): string {
  return kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** "identity ci-deployer". */
export function labelEntity({ kind, name, uid, urn }: Pick<Entity, "kind" | "name" | "uid" | "urn">): string {
  return `${nounOf(kind)} ${name ?? urn?.split("::").at(-1) ?? uid ?? "without a name"}`;
}

/** Joins the first items of a list, and says how many more there are. */
export function listFirst(items: readonly string[], maxItems = 6): string {
  const shown = items.slice(0, maxItems).join(", ");
  return items.length > maxItems ? `${shown} and ${items.length - maxItems} more` : shown;
}

/** Cuts a list of lines to what a reader takes in, and says how many more there are. */
export function limitLines(lines: readonly string[], maxLines = 20): string[] {
  return lines.length > maxLines
    ? [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more`]
    : [...lines];
}
