import type { Entity } from "../graph/model";

/** The kind in words: "identity provider". */
export function nounOf(kind: string): string {
  return kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** "identity ci-deployer". */
export function labelOf({ kind, name, uid, urn }: Pick<Entity, "kind" | "name" | "uid" | "urn">): string {
  return `${nounOf(kind)} ${name ?? urn?.split("::").at(-1) ?? uid ?? "without a name"}`;
}

/** The first few of many, and how many more there are. */
export function listFirst(items: readonly string[], most = 6): string {
  const shown = items.slice(0, most).join(", ");
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

/** Lines for a report: not more than anybody reads. */
export function limitLines(lines: readonly string[], most = 20): string[] {
  return lines.length > most ? [...lines.slice(0, most), `and ${lines.length - most} more`] : [...lines];
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
