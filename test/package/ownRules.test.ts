import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { urn } from "../../provider/access/rules/ruleTesting";
import { acme, payments, pinned, uid } from "../support/access";
import { inventoryOf, same, state, step } from "../support/documents";
import { fileNameOf, folderWithPackage, isShell, programsOf, readPage } from "../support/pages";
import { run } from "../support/project";

/* The page about rules of one's own: its rule is written, run and tested as a reader does it, by Node itself. */

const page = readPage("docs/own-rules.md");
const EDITOR = uid("editor");
const CI = `${acme}/${"c".repeat(16)}`;
let folder: string;

const npx = (...args: string[]) =>
  run(join(folder, "node_modules", ".bin", "pulumi-platform"), args, { cwd: folder });

/** A pull request that binds editor in production. */
function writeDocuments(): void {
  const [production, ci] = [
    { parentUid: acme, name: "prod-eu" },
    { parentUid: acme, name: "ci", ...pinned },
  ];
  const binding = state(
    "RoleBinding",
    "ci-edits",
    { parentUid: payments, identityUid: CI, roleUid: EDITOR },
    {
      dependencies: { parentUid: [urn("Group", "prod-eu")], identityUid: [urn("Identity", "ci")] },
      sourcePosition: "project:///index.ts#32",
    },
  );
  const steps = [
    same(state("Group", "prod-eu", production, { id: payments, outputs: production })),
    same(state("Identity", "ci", ci, { id: CI, outputs: ci })),
    step("create", undefined, binding),
  ];
  writeFileSync(
    join(folder, "preview.json"),
    JSON.stringify({ steps, changeSummary: { same: 2, create: 1 } }),
  );
  const inventory = inventoryOf(
    acme,
    { kind: "Group", uid: acme, inputs: { name: "acme" } },
    { kind: "Group", uid: payments, inputs: production },
    { kind: "Identity", uid: CI, inputs: ci },
    { kind: "Role", uid: EDITOR, inputs: { name: "editor", capabilities: ["CAP_REPO_LIST"] }, builtIn: true },
  );
  const kinds = ["Group", "Identity", "Role", "RoleBinding"];
  const takenAt = new Date(Date.now() - 60_000).toISOString();
  writeFileSync(join(folder, "inventory.json"), JSON.stringify({ ...inventory, takenAt, kinds }));
}

beforeAll(() => {
  folder = folderWithPackage("own-rules");
  for (const program of programsOf(page, "js").slice(0, 2)) {
    writeFileSync(join(folder, fileNameOf(program)), program.text);
  }
  writeDocuments();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the commands of the page run, and print what it shows", async () => {
  const [review, test] = programsOf(page).filter(isShell);
  const env = {
    ...process.env,
    PATH: `${join(folder, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}`,
    NO_COLOR: "1",
  };
  const reviewed = await run("bash", ["-e", "-c", review?.text ?? ""], { cwd: folder, env });
  const [output] = page.fences.filter(({ language }) => language === "text");
  expect(reviewed.code).toBe(5);
  for (const line of output?.text.split("\n") ?? [])
    if (line !== "…") expect(reviewed.output).toContain(line);
  const tested = await run("bash", ["-e", "-c", test?.text ?? ""], { cwd: folder, env });
  expect([tested.code, tested.output]).toEqual([0, expect.stringMatching(/pass 2\n/)]);
  const rule = programsOf(page, "js")[0]?.text ?? "";
  writeFileSync(join(folder, "access-rules.mjs"), rule.replace("name?.startsWith", "none.startsWith"));
  const failed = await npx(
    "review",
    "preview.json",
    "--inventory",
    "inventory.json",
    "--rules",
    "access-rules.mjs",
    "-o",
    "json",
  );
  expect(failed.code).toBe(5);
  expect(failed.output).toContain("rule ACME1 of access-rules.mjs cannot judge this: TypeError: Cannot read");
  writeFileSync(join(folder, "access-rules.mjs"), rule);
});

test.each([
  [
    "needs a package that is not there",
    'import "no-such";',
    /rules\.mjs: imports a package that is not installed beside it; defineRule can be left out/,
  ],
  ["waits", "export default await [];", /rules\.mjs: must not await at its top level/],
  ["is no JavaScript", "export default [ {", /rules\.mjs: SyntaxError: /],
])("a file that %s ends the command in one line, with exit code 2", async (_how, text, message) => {
  writeFileSync(join(folder, "rules.mjs"), text);
  const { code, output } = await npx("explain", "--rules", "rules.mjs");
  expect([code, output]).toEqual([2, expect.stringMatching(message)]);
  expect(output.trim()).not.toContain("\n");
});

test("with a base, no package.json beside the rules gives the name of this package to other code", async () => {
  const git = (...args: string[]) => run("git", args, { cwd: folder });
  await git("init", "--quiet", "--initial-branch", "main");
  const rule = programsOf(page, "js")[0]?.text ?? "";
  writeFileSync(join(folder, "access-rules.mjs"), rule);
  writeFileSync(join(folder, "access-policy.yaml"), "allow: []\nrules: access-rules.mjs\n");
  await git("add", "access-policy.yaml", "access-rules.mjs");
  await git("-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "--quiet", "--message", "base");
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "pulumi-platform", exports: { "./access": "./evil.mjs" } }),
  );
  writeFileSync(
    join(folder, "evil.mjs"),
    "export const defineRule = (rule) => ({ ...rule, find: () => [] });\n",
  );
  const args = ["review", "preview.json", "--inventory", "inventory.json", "--policy", "access-policy.yaml"];
  const [own, ofBase] = [await npx(...args), await npx(...args, "--base-ref", "main")];
  expect([own.output.includes("ACME1"), ofBase.output.includes("ACME1")]).toEqual([false, true]);
});
