import { join } from "node:path";
import { ROOT } from "../support/engine";
import { run } from "../support/project";

/** What a program loads, and how long that takes, in a process of its own. */
const PROBE = `
const started = performance.now();
require("@pulumi/pulumi");
const sdk = performance.now() - started;
const before = new Set(Object.keys(require.cache));
const begun = performance.now();
require("pulumi-platform");
const ours = performance.now() - begun;
const loaded = Object.keys(require.cache).filter((path) => !before.has(path));
console.log(JSON.stringify({ sdk, ours, loaded }));
`;

interface Start {
  /** Milliseconds. */
  readonly sdk: number;
  readonly ours: number;
  /** Paths of modules, without those that the engine's library had loaded. */
  readonly loaded: readonly string[];
}

async function start(): Promise<Start> {
  const { stdout, stderr } = await run(process.execPath, ["-e", PROBE], { cwd: ROOT });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Start;
}

describe("a program that loads the package", () => {
  let starts: Start[];

  beforeAll(async () => {
    // One after another: each has the machine to itself.
    starts = [await start(), await start(), await start()];
  }, 60_000);

  test("loads no command line, no emulator, no HTTP and nothing of the engine's process", () => {
    const loaded = (starts[0]?.loaded ?? []).map((path) =>
      path.startsWith(join(ROOT, "dist")) ? path.slice(join(ROOT, "dist").length + 1) : path,
    );
    expect(loaded).toContain(join("provider", "index.js"));
    expect(loaded.filter((path) => path.includes("node_modules"))).toEqual([]);
    const others =
      /^emulator|^provider.(cli|access|events)|engine.(handlers|dynamic|check|formats)|api.(client|auth|retry)/;
    expect(loaded.filter((path) => others.test(path))).toEqual([]);
  });

  test("waits for it less than 150 ms, and a small part of what the engine's library takes", () => {
    const ours = Math.min(...starts.map((one) => one.ours));
    const ratio = Math.min(...starts.map((one) => one.ours / one.sdk));
    expect(ours).toBeLessThan(150);
    expect(ratio).toBeLessThan(0.25);
  });
});
