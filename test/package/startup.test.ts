import { basename, join } from "node:path";
import { ROOT } from "../support/engine";
import { run } from "../support/project";

/** What a program loads, and how much processor time that takes, in a process of its own. */
const PROBE = `
const start = process.cpuUsage();
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1000; };
require("@pulumi/pulumi");
const sdk = spent(start);
const before = new Set(Object.keys(require.cache));
const begun = process.cpuUsage();
require("pulumi-platform");
const ours = spent(begun);
const loaded = Object.keys(require.cache).filter((path) => !before.has(path));
console.log(JSON.stringify({ sdk, ours, loaded }));
`;

interface Start {
  /** Milliseconds of processor time. */
  readonly sdk: number;
  readonly ours: number;
  /** Paths of modules, without those that the engine's library had loaded. */
  readonly loaded: readonly string[];
}

/** What a program of Node prints as JSON, and nothing else. */
async function evaluate(program: string): Promise<unknown> {
  const { stdout, stderr } = await run(process.execPath, ["-e", program], { cwd: ROOT });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}
const start = async () => (await evaluate(PROBE)) as Start;

describe("a program that loads the package", () => {
  let starts: Start[];

  beforeAll(async () => {
    // One after another: each has the machine to itself.
    starts = [await start(), await start(), await start()];
  });

  test("loads no command line, no emulator, no HTTP and nothing of the engine's process", () => {
    const loaded = (starts[0]?.loaded ?? []).map((path) =>
      path.startsWith(join(ROOT, "dist")) ? path.slice(join(ROOT, "dist").length + 1) : path,
    );
    expect(loaded).toContain(join("provider", "index.js"));
    expect(loaded.filter((path) => path.includes("node_modules"))).toEqual([]);
    // Of the settings only their names, by which it tells of one that is misspelt.
    const others =
      /^emulator|^provider.(cli|access|events|settings.(?!definitions|environment)|inventory|dynamic|lifecycle.(?!messages)|http.(?!errors|query))/;
    expect(loaded.filter((path) => others.test(path))).toEqual([]);
  });

  test("loads it in a quarter of the time that Pulumi's library takes", () => {
    const ratio = Math.min(...starts.map((one) => one.ours / one.sdk));
    expect(ratio).toBeLessThan(0.25);
  });
});

test("the engine's process loads neither axios nor the code for proxies before its first request", async () => {
  const probe = `
    require("pulumi-platform/dynamic").RoleBinding;
    console.log(JSON.stringify(Object.keys(require.cache).map((path) => path.replaceAll("\\\\", "/"))));`;
  const loaded = (await evaluate(probe)) as string[];
  expect(loaded.filter((path) => path.includes("provider/http/transport"))).toHaveLength(1);
  const unwanted = /node_modules.(axios|https-proxy-agent)|http.tunnel|dist.(emulator|provider.cli)/;
  expect(loaded.filter((path) => unwanted.test(path))).toEqual([]);
});

/** Which modules are loaded for the documents that commands read, before and after one of each is read. */
const READING = `
const { parseInventory, parsePolicy, parseReviewReport } = require("pulumi-platform/access");
const loaded = () => Object.keys(require.cache).filter((path) => /node_modules.ajv|[.]validate[.]js$/.test(path));
const before = loaded();
for (const read of [() => parsePolicy("allow: []", "p"), () => parseInventory("{}", "i"), () => parseReviewReport("{}", "r")]) {
  try { read(); } catch (error) { if (!/is missing/.test(error.message)) throw error; }
}
console.log(JSON.stringify([before, loaded()]));
`;

test("a document is checked by code that the build compiled from its schema, loaded at its first use", async () => {
  const [before, after] = (await evaluate(READING)) as string[][];
  expect(before).toEqual([]);
  expect(after?.map((path) => basename(path)).sort()).toEqual([
    "access-policy.validate.js",
    "inventory.validate.js",
    "report.validate.js",
  ]);
});

/** What a process spends until it prints its first line, as the plugin does with its port. */
const untilFirstLine = (load: string) => `
process.stdout.write = () => {
  const { user, system } = process.cpuUsage();
  // The most that getrusage tells is also what the process had that started this one.
  const megabytes = process.memoryUsage().rss / 1024 ** 2;
  console.error(JSON.stringify({ milliseconds: (user + system) / 1000, megabytes }));
  process.exit();
};
${load}`;

test("the plugin starts in less than three times what Node with the library for gRPC takes, in 95 MB", async () => {
  const spent = async (load: string) => {
    const { stderr } = await run(process.execPath, ["-e", untilFirstLine(load)], { cwd: ROOT });
    return JSON.parse(stderr) as { readonly milliseconds: number; readonly megabytes: number };
  };
  const ratios = [];
  for (let round = 0; round < 3; round += 1) {
    const bare = await spent('require("@grpc/grpc-js"); process.stdout.write("0");');
    const plugin = await spent('require("./dist/plugin/main.js");');
    ratios.push(plugin.milliseconds / bare.milliseconds);
    expect(plugin.megabytes).toBeLessThan(95);
  }
  expect(Math.min(...ratios)).toBeLessThan(3);
});
