// @ts-check
/*
 * Makes, refreshes and deletes stacks of resources of all kinds one after another, each with an engine and a provider
 * process of its own, against one emulator:
 *   node scripts/bench/manyStacks.mjs [stacks] [resources of each]
 * Fails where the emulator keeps a connection or a resource of a stack, or more memory than it had after the first few.
 */
import { fork } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { leftOf } from "../chaos/compare.mjs";
import { organisationOf } from "../chaos/organisation.mjs";
import { cleanEnvironment, Stack } from "../demo/stack.mjs";
import { excerpt, messageOf, onEarlyEnd, remove, withSignals } from "../lib/processes.mjs";
import { ensureReady, root } from "../setup.mjs";

const TOKEN = "token-of-many-stacks";
/** By then all code is compiled and all tables have their size. */
const SETTLED_AFTER = 4;
const MOST_GROWTH = 500_000;
const CLOSED_WITHIN_MS = 5000;

/**
 * @typedef {object} Answer What the emulator's process says of itself.
 * @property {string} url
 * @property {number} sockets
 * @property {number} heap Bytes after a collection of garbage.
 * @property {number} resident Bytes.
 * @property {number} requests Since it was last asked.
 * @property {string[]} left
 */

/** The emulator's process: responds to each message with its state and clears its logs, which only grow. */
async function serve() {
  const require = createRequire(import.meta.url);
  const { startEmulator } = require(path.join(root, "dist", "emulator", "index.js"));
  const emulator = await startEmulator({ token: TOKEN });
  const respond = () => {
    const requests = emulator.requests.length;
    const left = leftOf(emulator.state());
    emulator.clearRequests();
    emulator.clearEvents();
    const { gc } = /** @type {{ gc?: () => void }} */ (globalThis);
    if (gc === undefined) throw new Error("started without --expose-gc");
    gc();
    gc();
    const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const { heapUsed: heap, rss: resident } = process.memoryUsage();
    process.send?.({ url: emulator.url, sockets, heap, resident, requests, left });
  };
  process.on("message", respond);
  process.on("disconnect", () => process.exit());
  respond();
}

/** @param {string} text @param {string} what */
function wholeNumber(text, what) {
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new Error(`the number of ${what} must be a whole number, not "${text}"`);
  return Number(text);
}

/** @param {string[]} args */
async function main([stacks = "20", resources = "200"]) {
  const [count, size] = [wholeNumber(stacks, "stacks"), wholeNumber(resources, "resources")];
  const cli = await ensureReady();
  const emulator = fork(fileURLToPath(import.meta.url), ["serve"], { execArgv: ["--expose-gc"] });
  const stop = onEarlyEnd(() => void emulator.kill());
  /** @returns {Promise<Answer>} */
  const answered = () =>
    new Promise((resolve, reject) => {
      emulator.once("message", resolve);
      emulator.once("exit", (code) => reject(new Error(`the emulator ended with ${code}`)));
    });
  const ask = () => {
    emulator.send("?");
    return answered();
  };
  try {
    const { url } = await answered();
    /** @type {Answer[]} */
    const all = [];
    for (let seed = 1; seed <= count; seed += 1) {
      const began = Date.now();
      await runStack({ cli, url, declared: organisationOf(seed, size) });
      const took = `${((Date.now() - began) / 1000).toFixed(1)} s`;
      let now = await ask();
      const { requests, left } = now;
      // A process that has ended is seen by its connections' other ends a moment later.
      for (let waited = 0; now.sockets > 0 && waited < CLOSED_WITHIN_MS; waited += 100) {
        await sleep(100);
        now = await ask();
      }
      all.push(now);
      const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
      console.log(
        `stack ${seed}: ${took}, ${requests} requests, then ${now.sockets} sockets, heap ${megabytes(now.heap)}, ` +
          `resident ${megabytes(now.resident)}`,
      );
      if (left.length > 0) throw new Error(`the emulator keeps ${left.join(", ")}`);
      if (now.sockets > 0) throw new Error(`the emulator keeps ${now.sockets} connections`);
    }
    const settled = all[Math.min(SETTLED_AFTER, all.length - 1)]?.heap ?? NaN;
    const growth = (all.at(-1)?.heap ?? NaN) - settled;
    console.log(`heap after the last against that after stack ${SETTLED_AFTER + 1}: ${growth} bytes`);
    if (!(growth < MOST_GROWTH)) throw new Error(`the emulator keeps ${growth} bytes more`);
  } finally {
    stop();
  }
}

/** @param {{ cli: any, url: string, declared: object }} options */
async function runStack({ cli, url, declared }) {
  const folder = mkdtempSync(path.join(tmpdir(), "pulumi-platform-stacks-"));
  const discard = onEarlyEnd(() => remove(folder));
  try {
    const env = {
      ...cleanEnvironment(process.env),
      // The state on disk is not what is looked at.
      PULUMI_SKIP_CHECKPOINTS: "true",
    };
    const example = path.join(root, "scripts", "chaos", "program");
    const stack = new Stack({ folder, root, example, cli, env, token: TOKEN, url });
    writeFileSync(path.join(stack.program, "resources.json"), JSON.stringify(declared));
    const yes = ["--yes", "--skip-preview"];
    for (const args of [
      ["stack", "init", "one"],
      ["up", ...yes],
      ["refresh", ...yes],
      ["destroy", ...yes],
    ]) {
      const { code, output } = await stack.pulumi(args);
      if (code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${excerpt(output)}`);
    }
  } finally {
    discard();
  }
}

const args = process.argv.slice(2);
if (args[0] === "serve") await serve();
else {
  await withSignals(() => main(args)).catch((error) => {
    console.error(`many stacks: ${messageOf(error)}`);
    process.exitCode = 1;
  });
}
