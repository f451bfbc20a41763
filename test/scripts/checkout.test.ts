import { rmSync, utimesSync } from "node:fs";
import path from "node:path";
import { evaluate, removeTemporaryFolders, temporaryFolder, writeFiles } from "./support";

afterAll(removeTemporaryFolders);

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

const dependencyProblem = (root: string) =>
  evaluate("lib/checkout.mjs", `m.dependencyProblem(${JSON.stringify(root)})`);
const buildProblem = (root: string) =>
  evaluate("lib/checkout.mjs", `m.buildProblem(${JSON.stringify(root)})`);

describe("dependencies", () => {
  test("an installation that matches the lockfile is accepted, however it was made", async () => {
    expect(await dependencyProblem(installedCheckout())).toBeNull();
  });

  const changes: [string, (root: string) => void, string][] = [
    [
      "no node_modules",
      (root) => rmSync(path.join(root, "node_modules"), { recursive: true }),
      "not installed",
    ],
    [
      "a changed lockfile",
      (root) =>
        writeFiles(root, {
          "package-lock.json": {
            packages: { ...lock.packages, "node_modules/a": { version: "1.0.1", integrity: "sha512-b" } },
          },
        }),
      "node_modules/a is not the locked one",
    ],
    [
      "a damaged lockfile",
      (root) => writeFiles(root, { "package-lock.json": "{" }),
      "package-lock.json cannot be read",
    ],
  ];
  test.each(changes)("%s is detected", async (_name, change, problem) => {
    const root = installedCheckout();
    change(root);
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
  test("a missing build is reported", async () => {
    expect(await buildProblem(installedCheckout())).toBe("not built");
  });

  test("a finished one is up to date, also when files are only touched", async () => {
    const root = installedCheckout();
    await build(root);
    utimesSync(path.join(root, "provider/index.ts"), new Date(), new Date());
    expect(await buildProblem(root)).toBeNull();
  });

  const changes: [string, (root: string) => void, string][] = [
    [
      "a changed source",
      (root) => writeFiles(root, { "provider/index.ts": "export { };" }),
      "sources changed",
    ],
    ["a source below emulator/", (root) => writeFiles(root, { "emulator/main.ts": "" }), "sources changed"],
    [
      "a renamed source",
      (root) => {
        rmSync(path.join(root, "provider/deep/one.ts"));
        writeFiles(root, { "provider/deep/other.ts": "export {};" });
      },
      "sources changed",
    ],
    ["other compiler options", (root) => writeFiles(root, { "tsconfig.json": { a: 1 } }), "sources changed"],
    ["a deleted output", (root) => rmSync(path.join(root, "dist"), { recursive: true }), "not built"],
    [
      "an output that something else wrote",
      (root) => writeFiles(root, { "dist/provider/index.js": "1;" }),
      "dist/ changed",
    ],
  ];
  test.each(changes)("%s is detected", async (_name, change, problem) => {
    const root = installedCheckout();
    await build(root);
    change(root);
    expect(await buildProblem(root)).toBe(problem);
  });

  test("an interrupted one is repeated", async () => {
    const root = installedCheckout();
    await build(root);
    await build(root, "", false);
    expect(await buildProblem(root)).toBe("the last build did not finish here");
  });

  test("a source edited while the compiler runs counts as changed", async () => {
    const root = installedCheckout();
    await build(root, `writeFileSync(${JSON.stringify(root)} + "/provider/index.ts", "1;");`);
    expect(await buildProblem(root)).toBe("sources changed");
  });
});
