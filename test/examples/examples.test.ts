import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import { clean, compile } from "../support/tools";
import type { Answered } from "../support/tools";

const examples = readdirSync(join(ROOT, "examples")).filter((name) =>
  ["Pulumi.yaml", "index.ts"].every((file) => existsSync(join(ROOT, "examples", name, file))),
);

/** Each run that checks the types of its program takes three seconds more: one test checks those of all. */
const UNCHECKED = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

let emulator: Emulator;
/** The examples as the compiler writes them: a run of JavaScript takes half of the processor time. */
let compiled: string;
let compilation: Answered;
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
  const config = { compilerOptions: { ...compilerOptions, ...written }, files };
  writeFileSync(join(compiled, "tsconfig.json"), JSON.stringify(config));
  compilation = compile(compiled);
});

afterAll(async () => {
  rmSync(compiled, { recursive: true });
  await emulator.close();
});

/** Runs as it is, for whoever begins with it. */
const FIRST = "getting-started";
const others = examples.filter((name) => name !== FIRST);

/** The other examples as one program, which has one resource of each name: that of the example goes before it. */
const together = (): Record<string, string> => ({
  ...Object.fromEntries(
    others.map((name) => {
      const text = readFileSync(join(compiled, name, "index.js"), "utf8");
      return [`${name}/index.js`, text.replace(/new [\w.]+\("/g, (call) => `${call}${name}-`)];
    }),
  ),
  "index.js": others.map((name) => `require("./${name}");\n`).join(""),
});

test("all examples compile with the options that each of them sets, for the oldest target of users", () => {
  expect(new Set(examples.map(optionsOf)).size).toBe(1);
  expect(compilation).toEqual(clean);
});

/** Creates what the program of a folder declares, finds no change, and destroys it. Returns the names of what it has created. */
async function live(folder: string, files: Record<string, string> = {}): Promise<string[]> {
  const stack = new Stack({ url: emulator.url, token: emulator.token, env: UNCHECKED });
  stack.copy(folder);
  stack.files(files);
  await stack.init();
  await stack.up();
  const created = Object.keys(stack.recorded());
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  await stack.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(Object.values(emulator.state()).flat()).toEqual([]);
  stack.dispose();
  return created;
}

test("the first example is created, shows no change, and is destroyed", async () => {
  expect(await live(join(ROOT, "examples", FIRST))).not.toEqual([]);
});

test("all other examples are created together, show no change, and are destroyed", async () => {
  const created = await live(compiled, together());
  for (const name of others) expect(created).toContainEqual(expect.stringMatching(`^${name}-`));
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
