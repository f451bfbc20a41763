import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import type { Run } from "../support/engine";
import { run } from "../support/project";

const examples = readdirSync(join(ROOT, "examples")).filter((name) =>
  ["Pulumi.yaml", "index.ts"].every((file) => existsSync(join(ROOT, "examples", name, file))),
);

/** Each run that checks the types of its program takes three seconds more: one test checks those of all. */
const UNCHECKED = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

let emulator: Emulator;
/** The examples as the compiler writes them: a run of JavaScript takes half of the processor time. */
let compiled: string;
let compilation: Run;
const optionsOf = (name: string): string =>
  readFileSync(join(ROOT, "examples", name, "tsconfig.json"), "utf8");

beforeAll(async () => {
  emulator = await startEmulator();
  compiled = mkdtempSync(join(ROOT, ".cache", "examples-"));
  const { compilerOptions } = JSON.parse(optionsOf("getting-started")) as { compilerOptions: object };
  // What is pasted into a program that exists is compiled for ES2020: Pulumi's own default, and that of `pulumi new`.
  const written = { target: "ES2020", noEmit: false, rootDir: join(ROOT, "examples"), outDir: compiled };
  const ofCi = ["github", "gitlab"].map((host) => join("ci", `identities-${host}.ts`));
  const main = examples.map((name) => join(name, "index.ts"));
  const files = [...main, ...ofCi].map((file) => join(ROOT, "examples", file));
  const config = join(compiled, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...compilerOptions, ...written }, files }));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  compilation = await run(process.execPath, [compiler, "-p", config], { cwd: ROOT });
});

afterAll(async () => {
  rmSync(compiled, { recursive: true });
  await emulator.close();
});

const JAVASCRIPT = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";

/** A stack of an example. The first one runs as it is, for whoever begins with it. */
async function prepare(name: string): Promise<Stack> {
  const stack = new Stack({ url: emulator.url, token: emulator.token, env: UNCHECKED });
  stack.copy(join(ROOT, "examples", name));
  if (name === "getting-started") return await stack.init();
  stack.copy(join(compiled, name));
  const read = (file: string) => readFileSync(join(stack.directory, file), "utf8");
  stack.files({
    "Pulumi.yaml": read("Pulumi.yaml").replace(/^runtime: nodejs\n/m, JAVASCRIPT),
    "package.json": read("package.json").replace('"index.ts"', '"index.js"'),
  });
  return await stack.init();
}

test("all examples compile with the options that each of them sets, for the oldest target of users", () => {
  expect(new Set(examples.map(optionsOf)).size).toBe(1);
  expect(compilation).toMatchObject({ code: 0, output: "" });
});

test.each(examples)("the example %s is created, shows no change, and is destroyed", async (name) => {
  const stack = await prepare(name);
  await stack.up();
  expect(Object.keys(stack.recorded()).length).toBeGreaterThan(0);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  await stack.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(Object.values(emulator.state()).flat()).toEqual([]);
  stack.dispose();
});

test("the project file of the repository names the first example", async () => {
  const stack = new Stack(emulator);
  cpSync(join(ROOT, "Pulumi.yaml"), join(stack.directory, "Pulumi.yaml"));
  cpSync(join(ROOT, "examples"), join(stack.directory, "examples"), { recursive: true });
  await stack.init();
  const { stdout } = await stack.succeed(["preview", "--json"], UNCHECKED);
  const { steps } = JSON.parse(stdout) as { steps: { urn: string }[] };
  const types = steps.map(({ urn }) => urn.split("::")[2]);
  expect(types).toContain("pulumi-nodejs:dynamic/platform:Group");
  stack.dispose();
});
