// @ts-check
import { cruise } from "dependency-cruiser";

/*
 * The graph of imports in docs/architecture.md: one node a folder, and the files that join several folders.
 */

const START = "<!-- the import graph: written by npm run docs -->";
const END = "<!-- end of the import graph -->";

/** What is one node: `dynamic.ts` and the indexes import what their folders may not. */
const NODE =
  "^(provider/dynamic\\.ts|provider/access/index\\.ts|provider/access/[^/]+|provider/[^/]+|emulator)";

/** @typedef {ReadonlyMap<string, ReadonlySet<string>>} Graph The nodes that each node imports. */

/**
 * Reads the imports of the sources, types included.
 * @returns {Promise<Graph>}
 */
export async function readImports() {
  const { output } = await cruise(["provider", "emulator"], {
    collapse: NODE,
    includeOnly: "^(provider|emulator)/",
    tsPreCompilationDeps: true,
  });
  if (typeof output === "string") throw new Error("dependency-cruiser must return modules, not text");
  return new Map(
    output.modules.map(({ source, dependencies }) => [
      source,
      new Set(dependencies.map(({ resolved }) => resolved).filter((target) => target !== source)),
    ]),
  );
}

/**
 * The nodes that a node reaches. Keeps each in `known`.
 * @param {Graph} graph @param {string} node @param {readonly string[]} path
 * @param {Map<string, Set<string>>} known
 * @returns {ReadonlySet<string>} @throws Error where folders import each other in a circle.
 */
function findReachable(graph, node, path, known) {
  if (path.includes(node)) throw new Error(`circular imports: ${[...path, node].join(" → ")}`);
  const found = known.get(node);
  if (found) return found;
  /** @type {Set<string>} */
  const reachable = new Set();
  for (const target of graph.get(node) ?? []) {
    reachable.add(target);
    for (const further of findReachable(graph, target, [...path, node], known)) reachable.add(further);
  }
  known.set(node, reachable);
  return reachable;
}

/**
 * Leaves out each import that a longer path shows.
 * @param {Graph} graph
 * @returns {Map<string, string[]>}
 */
export function withoutImplied(graph) {
  /** @type {Map<string, Set<string>>} */
  const known = new Map();
  for (const node of graph.keys()) findReachable(graph, node, [], known);
  const isImplied = (/** @type {string} */ target, /** @type {ReadonlySet<string>} */ targets) =>
    [...targets].some((other) => known.get(other)?.has(target));
  return new Map(
    [...graph].map(([node, targets]) => [node, [...targets].filter((target) => !isImplied(target, targets))]),
  );
}

/** @param {string} node */
const shortName = (node) => node.replace(/^provider\//, "").replace(/^access\//, "");

/** @param {Graph} graph */
function renderGraph(graph) {
  const nodes = [...graph.keys()].sort();
  const idOf = (/** @type {string} */ node) => node.replaceAll(/\W/g, "_");
  const declare = (/** @type {string} */ node) => `${idOf(node)}["${shortName(node)}"]`;
  const isInAccess = (/** @type {string} */ node) => node.startsWith("provider/access/");
  const arrows = [...withoutImplied(graph)].flatMap(([node, targets]) =>
    targets.map((target) => `  ${idOf(node)} --> ${idOf(target)}`),
  );
  return [
    "```mermaid",
    "flowchart TD",
    ...nodes.filter((node) => !isInAccess(node)).map((node) => `  ${declare(node)}`),
    "  subgraph access",
    ...nodes.filter(isInAccess).map((node) => `    ${declare(node)}`),
    "  end",
    ...arrows.sort(),
    "```",
  ].join("\n");
}

/**
 * The page with the graph as it is now.
 * @param {string} page @param {Graph} graph
 */
export function withImportGraph(page, graph) {
  const [before = "", rest] = page.split(START);
  if (!rest?.includes(END)) throw new Error(`docs/architecture.md has lost the line ${START} or ${END}`);
  const imports = [...graph.values()].reduce((sum, targets) => sum + targets.size, 0);
  const summary = `${graph.size} folders and entries, ${imports} imports between them, and no circle.`;
  return `${before}${START}\n\n${summary}\n\n${renderGraph(graph)}\n\n${END}${rest.slice(rest.indexOf(END) + END.length)}`;
}
