// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { excerpt, run } from "../lib/processes.mjs";
import { compare, recordedIn } from "./compare.mjs";

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
 * Whether what the server holds besides is a copy of a resource in state: all that both tell is equal.
 * @param {Record<string, any>} orphan
 * @param {Record<string, any> | undefined} recorded
 */
function isCopy(orphan, recorded) {
  const { parentUid, ...outputs } = recorded?.["outputs"] ?? {};
  const keys = Object.keys(outputs).filter((key) => typeof outputs[key] === "string" && key in orphan);
  const parent = String(orphan["uid"]).split("/").slice(0, -1).join("/");
  return keys.length > 0 && (parentUid ?? "") === parent && keys.every((key) => orphan[key] === outputs[key]);
}

/**
 * Kills the engine with all it started, or the provider's process alone, in the middle of `up`; then does what the
 * README says, and looks what is there. A copy may be left of what was under way at that moment, and of nothing else.
 * @param {{ emulator: any, stack: import("../demo/stack.mjs").Stack, declare: (resources: object) => void, declared: Record<string, any>, random: () => number, exported: (stack: any) => Promise<any> }} around
 * @returns {Promise<{ line: string, problems: string[] }>}
 */
export async function killDuring({ emulator, stack, declare, declared, random, exported }) {
  const count = Object.keys(declared).length;
  const target = random() < 0.5 ? "engine" : "provider";
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

  if (target === "engine") await stack.pulumi(["cancel", "--yes"]);
  /** @type {string[]} */
  const pending = ((await exported(stack)).deployment.pending_operations ?? []).map(
    (/** @type {any} */ { resource }) => String(resource.urn).split("::").at(-1),
  );
  const failed = [...killed.output.matchAll(/platform:\w+ \((\S+)\):/g)].map(([, name]) => name);
  const again = await stack.pulumi(["up", "--yes", "--skip-preview", "--non-interactive"]);

  const recorded = recordedIn(await exported(stack));
  const { problems, orphans } = compare(declared, recorded, emulator.state());
  if (again.code !== 0) problems.push(`the next up ended with ${again.code}:\n${excerpt(again.output)}`);
  const underWay = new Set([...pending, ...failed]);
  for (const { collection, resource } of orphans) {
    const names = [...underWay].filter((name) => isCopy(resource, recorded.get(String(name))));
    if (names.length === 0)
      problems.push(`a copy of what was not under way: ${collection} ${resource["uid"]}`);
  }
  const line = `${target} killed after ${point} requests: ${underWay.size} under way, ${orphans.length} of them left a copy, which is named`;
  return { line, problems };
}
