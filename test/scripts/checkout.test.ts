import { rmSync, utimesSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { evaluate, temporaryFolder, writeFiles, script, start, until } from "./support";

const packages = {
  "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
  "node_modules/example": { resolved: "examples/one", link: true },
};
const lock = {
  packages: {
    "": { name: "x" },
    "examples/one": { name: "example" },
    ...packages,
    "node_modules/other-platform": { version: "1.0.0", optional: true },
  },
};

function installedCheckout(): string {
  const root = temporaryFolder();
  writeFiles(root, {
    "package-lock.json": lock,
    "node_modules/.package-lock.json": { packages },
    "tsconfig.json": {},
    "tsconfig.build.json": { include: ["provider", "emulator"] },
    "provider/index.ts": "export {};",
    "provider/deep/one.ts": "export {};",
    "emulator/main.ts": "export {};",
  });
  return root;
}

/** A change of an installed checkout. */
type Change = (root: string) => void | Promise<void>;
const writing = (files: Record<string, unknown>) => (root: string) => writeFiles(root, files);
const removing = (name: string) => (root: string) => rmSync(path.join(root, name), { recursive: true });

const problemOf = (what: "dependency" | "build") => (root: string) =>
  evaluate("lib/checkout.mjs", `m.${what}Problem(${JSON.stringify(root)})`);
const [dependencyProblem, buildProblem] = [problemOf("dependency"), problemOf("build")];

describe("dependencies", () => {
  test("an installation that matches the lockfile is accepted, however it was made", async () => {
    expect(await dependencyProblem(installedCheckout())).toBeNull();
  });

  const newer = {
    packages: { ...lock.packages, "node_modules/a": { version: "1.0.1", integrity: "sha512-b" } },
  };
  test.each<[string, Change, string]>([
    ["no node_modules", removing("node_modules"), "not installed"],
    ["a changed lockfile", writing({ "package-lock.json": newer }), "node_modules/a is not the locked one"],
    ["a damaged lockfile", writing({ "package-lock.json": "{" }), "package-lock.json cannot be read"],
  ])("%s is detected", async (_name, change, problem) => {
    const root = installedCheckout();
    await change(root);
    expect(await dependencyProblem(root)).toBe(problem);
  });
});

/** Builds as set-up does: `during` runs where tsc would. */
async function build(root: string, during = "", finish = true): Promise<void> {
  const at = JSON.stringify(root);
  await evaluate(
    "lib/checkout.mjs",
    `(async () => {
      const { mkdirSync, writeFileSync } = await import("node:fs");
      const finish = m.beginBuild(${at});
      mkdirSync(${at} + "/dist/provider", { recursive: true });
      writeFileSync(${at} + "/dist/provider/index.js", "");
      ${during}
      ${finish ? "finish();" : ""}
    })()`,
  );
}

describe("build", () => {
  test("a finished one is up to date, also when files are only touched", async () => {
    const root = installedCheckout();
    await build(root);
    utimesSync(path.join(root, "provider/index.ts"), new Date(), new Date());
    expect(await buildProblem(root)).toBeNull();
  });

  test.each<[string, Change, string]>([
    ["a changed source", writing({ "provider/index.ts": "export { };" }), "sources changed"],
    ["a source below emulator/", writing({ "emulator/main.ts": "" }), "sources changed"],
    ["a deleted source", removing("provider/deep/one.ts"), "sources changed"],
    ["other compiler options", writing({ "tsconfig.json": { a: 1 } }), "sources changed"],
    ["a deleted output", removing("dist"), "not built"],
    ["an output that something else wrote", writing({ "dist/provider/index.js": "1;" }), "dist/ changed"],
    ["a build that did not end", (root) => build(root, "", false), "the last build did not finish here"],
  ])("%s is detected", async (_name, change, problem) => {
    const root = installedCheckout();
    await build(root);
    await change(root);
    expect(await buildProblem(root)).toBe(problem);
  });

  test("a source edited while the compiler runs counts as changed", async () => {
    const root = installedCheckout();
    await build(root, `writeFileSync(${JSON.stringify(root)} + "/provider/index.ts", "1;");`);
    expect(await buildProblem(root)).toBe("sources changed");
  });
});

/** A process that takes the lock, writes down that it came and went, and stays meanwhile. */
function holder(file: string, journal: string, body = "await sleep(100);") {
  return start(
    script(
      "lib/lock.mjs",
      `import { appendFileSync } from "node:fs";
       import { setTimeout as sleep } from "node:timers/promises";
       import { withSignals } from ${JSON.stringify(path.resolve(__dirname, "../../scripts/lib/processes.mjs"))};
       const note = (text) => appendFileSync(${JSON.stringify(journal)}, text + "\\n");
       await withSignals(() => m.withLock(${JSON.stringify(file)}, async () => {
         note("in");
         ${body}
         note("out");
       }, console.log));`,
    ),
  );
}

function files() {
  const folder = temporaryFolder();
  return { file: path.join(folder, "locks", "lock"), journal: path.join(folder, "journal") };
}

const lines = (journal: string) => readFileSync(journal, "utf8").trim().split("\n");
const isInside = (journal: string) => existsSync(journal) && lines(journal).at(-1) === "in";

test("only one process holds the lock at a time, and no file is left", async () => {
  const { file, journal } = files();
  const all = [1, 2, 3, 4].map(() => holder(file, journal));
  const codes = (await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code);
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(lines(journal)).toEqual(["in", "out", "in", "out", "in", "out", "in", "out"]);
  expect(existsSync(file)).toBe(false);
});

test("takes over the lock of a killed process", async () => {
  const { file, journal } = files();
  const one = holder(file, journal, "await sleep(20_000);");
  await until(() => isInside(journal), "it is inside");
  one.kill("SIGKILL");
  await one.ended;
  expect(existsSync(file)).toBe(true);
  expect((await holder(file, journal).ended).code).toBe(0);
  expect(lines(journal)).toEqual(["in", "in", "out"]);
  expect(existsSync(file)).toBe(false);
});
