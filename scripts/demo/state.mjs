// @ts-check
import { readParentUid } from "./server.mjs";
import { paint, print, signed } from "./terminal.mjs";

/**
 * @typedef {import("./drift.mjs").Difference} Difference
 * @typedef {import("./server.mjs").Request} Request
 * @typedef {import("./server.mjs").State} State
 */

/**
 * @template T
 * @param {T[] | undefined} list
 * @param {(item: T) => boolean} predicate
 */
export function findOnly(list, predicate) {
  const found = (list ?? []).filter(predicate);
  if (found.length !== 1 || found[0] === undefined) throw new Error("the example no longer fits the demo");
  return found[0];
}

/** @param {import("./server.mjs").Resource[]} resources @param {string} name */
export function findUidByName(resources, name) {
  return resources.find((resource) => resource.name === name)?.uid;
}

/** @param {unknown} value @param {string} path @returns {unknown} */
export function valueAt(value, path) {
  return path.split(".").reduce((inner, key) => /** @type {any} */ (inner)?.[key], value);
}

/** @param {unknown} value */
export function text(value) {
  return value === undefined ? "not set" : JSON.stringify(value);
}

/** As in `3 GET, 1 POST`. @param {Request[]} requests */
export function countMethods(requests) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { method } of requests) counts.set(method, (counts.get(method) ?? 0) + 1);
  return [...counts].map(([method, count]) => `${count} ${method}`).join(", ") || "none";
}

/** @param {import("./stack.mjs").Change[]} changes */
export function printChanges(changes) {
  const width = Math.max(30, ...changes.map(({ name }) => name.length));
  for (const { sign, kind, name, verb, diff } of changes) {
    const fields = diff === "" ? "" : paint("dim", `  ${diff}`);
    signed(sign, `${kind.padEnd(13)} ${name.padEnd(width)} ${verb}${fields}`);
  }
}

/** @param {Difference} difference */
export function printDifference({ path, from, to }) {
  const arrow = `${paint("red", text(from))} → ${paint("green", text(to))}`;
  print(`  ${path}: ${arrow}`);
}

/** The groups with what is in each. @param {State} state */
export function printTree(state) {
  /** @param {string} uid @param {string} prefix @param {string} branch */
  const visit = (uid, prefix, branch) => {
    const group = state.groups?.find((candidate) => candidate.uid === uid);
    const inside = [
      ...within(state.identities, uid).map(({ name }) => `identity ${name}`),
      ...within(state.roles, uid).map(({ name }) => `role ${name}`),
      ...within(state.repos, uid).map(({ name }) => `repo ${name}`),
      ...within(state.subscriptions, uid).map(() => "a subscription"),
      ...within(state.roleBindings, uid).map(({ identity, role }) => `${identity.name} holds ${role.name}`),
    ];
    const name = String(group?.name).padEnd(14 - prefix.length - branch.length);
    print(`${paint("dim", prefix + branch)}${paint("bold", name)} ${inside.join(", ")}`);
    const children = within(state.groups, uid);
    const deeper = prefix + (branch === "├─ " ? "│  " : branch === "" ? "" : "   ");
    for (const [index, child] of children.entries()) {
      visit(child.uid, deeper, index === children.length - 1 ? "└─ " : "├─ ");
    }
  };
  for (const root of within(state.groups, "")) visit(root.uid, "", "");
}

/** @param {import("./server.mjs").Resource[] | undefined} resources @param {string} parent */
function within(resources, parent) {
  return (resources ?? []).filter((resource) => readParentUid(resource) === parent);
}
