// @ts-check
import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { excerpt, run } from "../lib/processes.mjs";
import { COLLECTIONS, compare, recordedIn } from "./compare.mjs";

const LATENCY_MS = 30;

/**
 * A process and all that it started: plugins lead groups of their own.
 * @param {number} leader
 * @returns {Promise<{ pid: number, args: string }[]>}
 */
async function familyOf(leader) {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  const all = stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .map((found) => ({ pid: Number(found?.[1]), parent: Number(found?.[2]), args: found?.[3] ?? "" }));
  const family = all.filter(({ pid }) => pid === leader);
  for (const { pid } of family) family.push(...all.filter(({ parent }) => parent === pid));
  return family;
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
 * A file backend puts its state in place whole, but not the attributes beside it: a kill in the middle of writing those
 * leaves an empty file, with which the CLI cannot load the state. Whether such a file had to be deleted.
 * @param {import("../demo/stack.mjs").Stack} stack
 */
function deleteTornAttributes(stack) {
  const folder = path.join(stack.backend, ".pulumi", "stacks");
  const torn = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => file.endsWith(".attrs") && statSync(file).size === 0);
  for (const file of torn) rmSync(file);
  return torn.length > 0;
}

/** Where each collection is. @param {string} collection */
const pathOf = (collection) =>
  ({ repos: "/registry/v2/repos", tags: "/registry/v2/tags", subscriptions: "/events/v2/subscriptions" })[
    collection
  ] ?? `/iam/v2/${collection}`;

/**
 * Whether an object at the server may be what a declaration makes: of its kind, and of its name where it has one.
 * @param {{ collection: string, resource: Record<string, any> }} orphan
 * @param {{ kind: string, args: Record<string, unknown> } | undefined} declaration
 */
function mayBe({ collection, resource }, declaration) {
  const kind = /** @type {keyof typeof COLLECTIONS} */ (declaration?.kind);
  return COLLECTIONS[kind] === collection && (resource["name"] ?? "") === (declaration?.args["name"] ?? "");
}

/**
 * Kills the engine with all it started, or the provider's process alone, in the middle of `up`; then does what
 * docs/failures.md says. What is at the server and in no state may be what was under way at that moment, and nothing else; once it
 * is deleted, the next `up` makes exactly what is declared.
 * @param {{ seed: number, emulator: any, stack: import("../demo/stack.mjs").Stack, declare: (resources: object) => void, declared: Record<string, any>, random: () => number, exported: (stack: any) => Promise<any> }} context
 * @returns {Promise<{ line: string, problems: string[] }>}
 */
export async function killDuring({ seed, emulator, stack, declare, declared, random, exported }) {
  const count = Object.keys(declared).length;
  const target = seed % 2 === 0 ? "engine" : "provider";
  const point = 1 + Math.floor(random() * count);
  declare(declared);
  emulator.settings({ latencyMs: LATENCY_MS });

  let leader = 0;
  let ended = false;
  const up = stack
    .pulumi(["up", "--yes", "--skip-preview", "--non-interactive"], { started: (pid) => (leader = pid) })
    .finally(() => (ended = true));
  while (!ended && emulator.requests.length < point) await sleep(2);
  for (const { pid, args } of await familyOf(leader)) {
    if (target === "engine" || args.includes("cmd/dynamic-provider")) kill(pid);
  }
  const killed = await up;
  // What was sent is still carried out.
  while (emulator.requests.some((/** @type {any} */ { durationMs }) => durationMs === undefined))
    await sleep(5);
  emulator.settings({ latencyMs: 0 });

  const torn = target === "engine" && deleteTornAttributes(stack);
  if (target === "engine") await stack.pulumi(["cancel", "--yes"]);
  /** @type {string[]} */
  const pending = ((await exported(stack)).deployment.pending_operations ?? []).map(
    (/** @type {any} */ { resource }) => String(resource.urn).split("::").at(-1),
  );
  const failed = [...killed.output.matchAll(/platform:\w+ \((\S+)\):/g)].map(([, name]) => name);
  const underWay = new Set([...pending, ...failed]);
  const { orphans } = compare({}, new Map(), emulator.state());
  const recorded = recordedIn(await exported(stack));
  const inState = new Set(
    [...recorded.values()].map(({ type, id }) => `${String(type).split(":").at(-1)} ${id}`),
  );
  const kindOf = (/** @type {string} */ collection) =>
    Object.entries(COLLECTIONS).find(([, each]) => each === collection)?.[0];
  const unknown = orphans.filter(
    ({ collection, resource }) => !inState.has(`${kindOf(collection)} ${resource["uid"]}`),
  );
  /** @type {string[]} */
  const problems = [];
  const send = async (/** @type {string} */ method, /** @type {string} */ target) => {
    const headers = { authorization: `Bearer ${emulator.token}`, "content-type": "application/json" };
    const { status } = await fetch(`${emulator.url}${target}`, { method, headers, body: "{}" });
    if (status !== 200) problems.push(`${method} ${target} responds with ${status}`);
  };
  for (const orphan of unknown) {
    const { collection, resource } = orphan;
    if (![...underWay].some((name) => mayBe(orphan, declared[String(name)]))) {
      problems.push(`what was not under way is in no state: ${collection} ${resource["uid"]}`);
    }
    await send("DELETE", `${pathOf(collection)}/${resource["uid"]}`);
  }
  for (const { uid, scim } of emulator.state()["identityProviders"] ?? []) {
    if (scim?.credentialState !== "CREDENTIAL_STATE_LIVE" || inState.has(`ScimToken ${uid}`)) continue;
    await send("POST", `/iam/v2/identityProviders/${uid}:revokeScimToken`);
  }

  const again = await stack.pulumi(["up", "--yes", "--skip-preview", "--non-interactive"]);
  const found = compare(declared, recordedIn(await exported(stack)), emulator.state());
  problems.push(...found.problems);
  problems.push(
    ...found.orphans.map(({ collection, resource }) => `too much: ${collection} ${resource["uid"]}`),
  );
  if (again.code !== 0) problems.push(`the next up ended with ${again.code}:\n${excerpt(again.output)}`);
  const line = `${target} killed after ${point} requests: ${underWay.size} under way, ${unknown.length} of them created and in no state${torn ? "; the attributes beside the state were torn" : ""}`;
  return { line, problems };
}
