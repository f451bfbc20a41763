import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/engine";
import { readPage } from "../support/pages";
import { endChildren, run } from "../support/project";

afterAll(() => endChildren());

test("the commands of docs/quick-start.md run as they stand, with an emulator as the reader's own API", async () => {
  const { PULUMI_PLATFORM_CLI_DIR = "" } = process.env;
  // The time limit of the script is that of its own runs: a machine that runs tests may be busy.
  const { code, stdout, output } = await run(
    process.execPath,
    [join(ROOT, "scripts", "firstReview.mjs"), "--seconds", "3600"],
    { cwd: ROOT, env: { PULUMI_PLATFORM_CLI_DIR } },
  );
  expect({ code, output }).toMatchObject({ code: 0 });
  // doctor, init, up, review and the second init, each by what only it prints.
  expect(stdout).toMatch(/^ok +groups +acme \([0-9a-f]{40}\)$/m);
  expect(stdout).toMatch(/^wrote index\.ts$/m);
  expect(stdout).toMatch(/^wrote \.github\/workflows\/access-review\.yml$/m);
  expect(stdout).toMatch(
    /cp \S+\.tgz \. && npm install \S+ {3}# pulumi-platform is outside of the repository/,
  );
  expect(stdout).toMatch(/platform:RoleBinding +deployer-views-team +created/);
  const [shown] = readPage("README.md").fences.filter(({ language }) => language === "text");
  const lines = shown?.text.trimEnd().split("\n") ?? [];
  expect(lines).toContain("GitHub Actions of acme/first, branch main gains owner at acme / first-team");
  for (const line of lines) expect(stdout.split("\n")).toContain(line);
});

test("pulumi new accepts the template", async () => {
  const { PULUMI_PLATFORM_CLI_DIR = "" } = process.env;
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-new-"));
  const template = join(ROOT, "templates", "typescript");
  const args = ["new", template, "--dir", folder, "--generate-only", "--yes", "--offline", "--name", "first"];
  const env = { PULUMI_HOME: join(folder, "home"), PULUMI_SKIP_UPDATE_CHECK: "true" };
  const { code, output } = await run(join(PULUMI_PLATFORM_CLI_DIR, "pulumi"), args, { cwd: folder, env });
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "Pulumi.yaml"), "utf8")).toContain("name: first\n");
  expect(readFileSync(join(folder, "index.ts"), "utf8")).toBe(
    readFileSync(join(template, "index.ts"), "utf8"),
  );
  rmSync(folder, { recursive: true, force: true });
});
