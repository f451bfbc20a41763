import type { GrantChange } from "../../../graph/grant";
import { mermaid } from "../escape";
import { chooseName, nameSubject } from "../words";

/** Beyond this many nodes a picture says less than the table. */
const MOST_NODES = 40;

interface Node {
  readonly id: string;
  readonly line: string;
}

/**
 * The changed part of the access graph: who, by which role, reaches which group. Undefined where nothing
 * changes or where it would have more than 40 nodes.
 */
export function renderDiagram(changes: readonly GrantChange[]): string | undefined {
  if (changes.length === 0) return undefined;
  const nodes = new Map<string, Node>();
  // A key may have one name before the change and another after it: each row of the table has its own.
  const node = (kind: "s" | "g", key: string, label: string): string => {
    const named = JSON.stringify([kind, key, label]);
    const known = nodes.get(named);
    if (known !== undefined) return known.id;
    const id = `${kind}${nodes.size}`;
    const shape = kind === "s" ? `(["${mermaid(label)}"])` : `["${mermaid(label)}"]`;
    nodes.set(named, { id, line: `  ${id}${shape}` });
    return id;
  };
  const edges: string[] = [];
  const styles: string[] = [];
  for (const { change, grant } of changes) {
    const from = node("s", grant.subject.key, nameSubject(grant).displayName);
    const to = node("g", grant.group.key, grant.group.path);
    if (nodes.size > MOST_NODES) return undefined;
    const arrow = change === "lost" ? "-.->" : change === "gained" ? "==>" : "-->";
    styles.push(
      `  linkStyle ${edges.length} stroke:${change === "gained" || change === "widened" ? "#bc4c00" : "#1a7f37"}`,
    );
    edges.push(`  ${from} ${arrow}|"${mermaid(`${change} ${chooseName(grant.role)}`)}"| ${to}`);
  }
  return [
    "```mermaid",
    "graph LR",
    ...[...nodes.values()].map(({ line }) => line),
    ...edges,
    ...styles,
    "```",
  ].join("\n");
}
