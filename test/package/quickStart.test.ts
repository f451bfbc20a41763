import { join } from "node:path";
import { ROOT } from "../support/engine";
import { endChildren, run } from "../support/project";

afterAll(() => endChildren());

test("the commands of docs/quick-start.md run as they stand, up to the first review", async () => {
  const { PULUMI_PLATFORM_CLI_DIR = "" } = process.env;
  // The time limit of the script is that of its own runs: a machine that runs tests may be busy.
  const { code, stdout, output } = await run(
    process.execPath,
    [join(ROOT, "scripts", "firstReview.mjs"), "--seconds", "3600"],
    { cwd: ROOT, env: { PULUMI_PLATFORM_CLI_DIR } },
  );
  expect({ code, output }).toMatchObject({ code: 0 });
  // doctor, up and review, each by what only it prints.
  expect(stdout).toMatch(/^ok +groups +acme \([0-9a-f]{40}\)$/m);
  expect(stdout).toMatch(/platform:RoleBinding +deployer-views-team +created/);
  expect(stdout).toContain("GitHub Actions of acme/first, branch main gains owner at acme / first-team");
});
