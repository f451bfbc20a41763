// @ts-check
import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { excerpt, run } from "../lib/processes.mjs";
import { randomOf } from "../lib/random.cjs";
import { COLLECTIONS, compare, listProblems, listRecorded } from "./compare.mjs";
import { loadTables } from "./kinds.mjs";

const LATENCY_MS = 30;

/**
 * Lists a process and all that it started, directly or not: a plugin leads a process group of its own.
 * @param {number} leader
 * @returns {Promise<{ pid: number, args: string }[]>}
 */
async function listProcessTree(leader) {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  const all = stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .map((found) => ({ pid: Number(found?.[1]), parent: Number(found?.[2]), args: found?.[3] ?? "" }));
  const tree = all.filter(({ pid }) => pid === leader);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/**
 * Deletes empty attribute files of a file backend, and says whether there were any. It writes them without a rename, so a
 * kill leaves an empty one, with which the CLI cannot load the state.
 * @param {import("../lib/stack.mjs").Stack} stack
 */
function deleteTornAttributes(stack) {
  const folder = path.join(stack.backend, ".pulumi", "stacks");
  const torn = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => file.endsWith(".attrs") && statSync(file).size === 0);
  for (const file of torn) rmSync(file);
  return torn.length > 0;
}

/** Returns the path of a collection. @param {string} collection */
const findCollectionPath = (collection) =>
  `${loadTables().find((table) => table.collection === collection)?.prefix ?? ""}/${collection}`;

/**
 * Whether a declaration may have created an object at the server: both have the same kind and name.
 * @param {{ collection: string, resource: Record<string, any> }} orphan
 * @param {{ kind: string, args: Record<string, unknown> } | undefined} declaration
 */
function mayBeCreatedBy({ collection, resource }, declaration) {
  const isOfKind = COLLECTIONS[declaration?.kind ?? ""] === collection;
  return isOfKind && (resource["name"] ?? "") === (declaration?.args["name"] ?? "");
}

/**
 * @typedef {object} ChaosContext
 * @property {any} emulator
 * @property {import("../lib/stack.mjs").Stack} stack
 * @property {(resources: object) => void} declare Writes what the program declares.
 */

/**
 * Starts `up` and kills a part of it once the server has got so many requests.
 * @param {ChaosContext} context @param {"engine" | "provider"} target @param {number} point
 */
async function killUp({ emulator, stack }, target, point) {
  let leader = 0;
  let ended = false;
  const up = stack
    .pulumi(["up", "--yes", "--skip-preview", "--non-interactive"], { started: (pid) => (leader = pid) })
    .finally(() => (ended = true));
  while (!ended && emulator.requests.length < point) await sleep(2);
  for (const { pid, args } of await listProcessTree(leader)) {
    if (target === "engine" || args.includes("cmd/dynamic-provider")) kill(pid);
  }
  const { output } = await up;
  // What was sent is still carried out.
  while (emulator.requests.some((/** @type {any} */ { durationMs }) => durationMs === undefined))
    await sleep(5);
  return output;
}

/** The names of the resources that were under way. @param {any} state @param {string} output Of the killed run. */
function resourcesUnderWay(state, output) {
  const pending = (state.deployment.pending_operations ?? []).map((/** @type {any} */ { resource }) =>
    String(resource.urn).split("::").at(-1),
  );
  const failed = [...output.matchAll(/platform:\w+ \((\S+)\):/g)].map(([, name]) => name);
  return new Set([...pending, ...failed]);
}

/** The objects at the server that are in no state. @param {Map<string, Record<string, any>>} recorded @param {any} emulator */
function unrecordedObjects(recorded, emulator) {
  const inState = new Set(
    [...recorded.values()].map(({ type, id }) => `${String(type).split(":").at(-1)} ${id}`),
  );
  const findKind = (/** @type {string} */ collection) =>
    Object.entries(COLLECTIONS).find(([, candidate]) => candidate === collection)?.[0];
  const objects = compare({}, new Map(), emulator.state()).orphans.filter(
    ({ collection, resource }) => !inState.has(`${findKind(collection)} ${resource["uid"]}`),
  );
  const identityProviders = emulator.state()["identityProviders"] ?? [];
  const scimTokens = identityProviders.filter(
    (/** @type {any} */ { uid, scim }) =>
      scim?.credentialState === "CREDENTIAL_STATE_LIVE" && !inState.has(`ScimToken ${uid}`),
  );
  return { objects, scimTokens };
}

/**
 * Deletes what is in no state, as docs/failures.md says, and returns what went wrong.
 * @param {any} emulator @param {ReturnType<typeof unrecordedObjects>} unrecorded
 */
async function deleteUnrecorded(emulator, { objects, scimTokens }) {
  /** @type {string[]} */
  const problems = [];
  const send = async (/** @type {string} */ method, /** @type {string} */ target) => {
    const headers = { authorization: `Bearer ${emulator.token}`, "content-type": "application/json" };
    const { status } = await fetch(`${emulator.url}${target}`, { method, headers, body: "{}" });
    if (status !== 200) problems.push(`${method} ${target} responds with ${status}`);
  };
  for (const { collection, resource } of objects) {
    await send("DELETE", `${findCollectionPath(collection)}/${resource["uid"]}`);
  }
  for (const { uid } of scimTokens) await send("POST", `/iam/v2/identityProviders/${uid}:revokeScimToken`);
  return problems;
}

/**
 * Kills the engine with all it started, or the provider's process alone, in the middle of `up`; then does what
 * docs/failures.md says. What is at the server and in no state may be what was under way at that moment, and nothing else; once it
 * is deleted, the next `up` makes exactly what is declared.
 * @param {ChaosContext} context
 * @param {{ seed: number, declared: Record<string, any> }} options
 * @returns {Promise<{ summary: string, problems: string[] }>}
 */
export async function killDuring(context, { seed, declared }) {
  const { emulator, stack, declare } = context;
  const target = seed % 2 === 0 ? "engine" : "provider";
  const point = 1 + Math.floor(randomOf(seed)() * Object.keys(declared).length);
  declare(declared);
  emulator.settings({ latencyMs: LATENCY_MS });
  const output = await killUp(context, target, point);
  emulator.settings({ latencyMs: 0 });

  const torn = target === "engine" && deleteTornAttributes(stack);
  if (target === "engine") await stack.pulumi(["cancel", "--yes"]);
  const state = await stack.export();
  const underWay = resourcesUnderWay(state, output);
  const unrecorded = unrecordedObjects(listRecorded(state), emulator);
  const unexplained = unrecorded.objects
    .filter((orphan) => ![...underWay].some((name) => mayBeCreatedBy(orphan, declared[String(name)])))
    .map(
      ({ collection, resource }) => `what was not under way is in no state: ${collection} ${resource["uid"]}`,
    );
  const refused = await deleteUnrecorded(emulator, unrecorded);

  const again = await stack.pulumi(["up", "--yes", "--skip-preview", "--non-interactive"]);
  const found = listProblems(compare(declared, listRecorded(await stack.export()), emulator.state()));
  const failed = again.code === 0 ? [] : [`the next up ended with ${again.code}:\n${excerpt(again.output)}`];
  const summary = `${target} killed after ${point} requests: ${underWay.size} under way, ${unrecorded.objects.length} of them created and in no state${torn ? "; the attributes beside the state were torn" : ""}`;
  return { summary, problems: [...unexplained, ...refused, ...found, ...failed] };
}
