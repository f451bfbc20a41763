import { readFileSync, writeFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { evaluate, projectRoot, start, temporaryFolder } from "./support";
import type { Ended } from "./support";

/*
 * A kind that no API has, written as CONTRIBUTING.md says: a set of networks, an enumeration with a default of the server, an
 * end and a nested object. The test of the guide adds it to a copy of this checkout.
 */

const FIXTURE = path.join(__dirname, "../fixtures/newKind");

const NEW_FILES = [
  "provider/kinds/networkPolicy.ts",
  "emulator/tables/networkPolicy.ts",
  "examples/reference/resources/networkPolicy.ts",
];

const numbers = Object.fromEntries(
  ["CREATE", "UPDATE", "LIST", "DELETE"].map((verb, i) => [`CAP_IAM_NETWORK_POLICIES_${verb}`, 20_001 + i]),
);

/** Changes one file of a checkout. */
function editFile(root: string, file: string, edit: (text: string) => string): void {
  const before = readFileSync(path.join(root, file), "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`the edit of ${file} changes nothing`);
  writeFileSync(path.join(root, file), after);
}

/** Writes by hand all that a kind needs, into a checkout; answers the files. */
function writeNewKind(root: string): string[] {
  const fixture = (file: string): string => readFileSync(path.join(FIXTURE, `${file}.txt`), "utf8");
  for (const file of NEW_FILES) writeFileSync(path.join(root, file), fixture(file));
  const samples = "test/support/samples/access.ts";
  editFile(root, samples, (text) => text.replace(/\];\n$/, () => `${fixture("sample")}];\n`));
  const lookups = "provider/lookups/ofKinds.ts";
  editFile(root, lookups, (text) => text + fixture("lookups"));
  const capabilities = "emulator/data/capabilities.json";
  editFile(
    root,
    capabilities,
    (text) => `${JSON.stringify({ ...(JSON.parse(text) as object), ...numbers }, null, 2)}\n`,
  );
  // What the guide asks for a kind with a list of its own: one line in the kind of its parent.
  const dependent =
    '{ collection: "/iam/v2/networkPolicies", noun: "network policies in it", parameter: "uidp.children_of" }';
  editFile(root, "provider/kinds/group.ts", (text) =>
    text.replace("dependents: [", `dependents: [${dependent},`),
  );
  return [...NEW_FILES, samples, lookups, capabilities];
}

/* The guide to add a kind, followed in a copy of this checkout; and what somebody forgets there. */

test("the lists of kinds, tables and capabilities equal the output of npm run docs", async () => {
  const lists = (await evaluate("kindLists.mjs", `m.kindLists(${JSON.stringify(projectRoot)})`)) as [
    string,
    string,
  ][];
  expect(lists.map(([file]) => file)).toEqual([
    "provider/kinds/exports.ts",
    "provider/native/index.ts",
    "emulator/tables/exports.ts",
    "provider/kinds/capabilities.ts",
  ]);
  for (const [file, text] of lists)
    expect([file, readFileSync(path.join(projectRoot, file), "utf8")]).toEqual([file, text]);
});

describe("a kind that is written by the guide", () => {
  const folder = temporaryFolder();
  let byHand: string[];

  /** Runs a program of Node in the copy. */
  const run = (script: string, ...args: string[]): Promise<Ended> => {
    const body = `process.chdir(${JSON.stringify(folder)});
      process.env.PULUMI_PLATFORM_TESTS = "all";
      const { status } = require("node:child_process").spawnSync(process.execPath, ${JSON.stringify([script, ...args])}, { stdio: "inherit" });
      process.exit(status ?? 1);`;
    return start(["-e", body]).ended;
  };

  /** The unit tests that `check:kind` runs, or those of some files; all that they print. */
  async function runTests(
    options: readonly string[],
    files?: string,
  ): Promise<{ code: number; printed: string }> {
    const own = (await evaluate("checkKind.mjs", 'm.unitTestsOf("NetworkPolicy")')) as string[];
    const before = own.slice(0, own.indexOf("--testPathPatterns"));
    const args = files === undefined ? own : [...before, "--testPathPatterns", files];
    const jest = ["node_modules/jest/bin/jest.js", "--ci", "--maxWorkers=1"] as const;
    const { code, stdout, stderr } = await run(...jest, ...options, ...args);
    return { code, printed: `${stdout}${stderr}` };
  }

  beforeAll(async () => {
    await evaluate(
      "lib/files.mjs",
      `m.copyCheckout(${JSON.stringify(projectRoot)}, ${JSON.stringify(folder)})`,
    );
    symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"), "junction");
    byHand = writeNewKind(folder);
    for (const script of ["kindLists", "build", "docs"]) {
      expect(await run(`scripts/${script}.mjs`)).toMatchObject({ code: 0, stderr: "" });
    }
  });

  test("takes six files", () => {
    expect(byHand).toHaveLength(6);
    const lines = byHand
      .slice(0, 3)
      .map((file) => readFileSync(path.join(folder, file), "utf8").split("\n").length);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(150);
  });

  test("fails only at the snapshots that nobody has read", async () => {
    const unread = await runTests([]);
    const failed = [...unread.printed.matchAll(/^ {2}● (.*)$/gm)].map(([, title]) => title);
    expect([...new Set(failed)].sort()).toEqual([
      "reading what the server holds › NetworkPolicy: what the program did not set shows only where it is security relevant",
    ]);
    expect(unread.printed).toContain("New snapshot was not written");
    const read = await runTests(["-u"], "provider/fields/wire");
    expect([read.code, read.printed]).toEqual([0, expect.stringContaining("1 snapshot written")]);
  });
});
