import { rmSync, utimesSync } from "node:fs";
import path from "node:path";
import { evaluate, temporaryFolder, writeFiles } from "./support";

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
