import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { main } from "../../provider/cli/commands/adopt/adopt";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { ROOT, Stack } from "../support/engine";
import { CLIENT_SECRET, makeTerraformObjects, pulledState, terraformRows } from "../support/terraform";
import { temporaryFolder } from "../support/folders";

describe("adopt --from-terraform, through the real engine", () => {
  const folder = temporaryFolder();
  const out = join(folder, "organisation");
  const file = join(folder, "terraform.tfstate");
  let emulator: Emulator;
  let stack: Stack;
  let sent: number;

  const adopt = (...more: string[]): Promise<Ended> =>
    runCommand(main, ["--from-terraform", file, "--out", out, ...more], {
      ...stack.environment(),
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
    });

  beforeAll(async () => {
    emulator = await startEmulator();
    const rows = terraformRows(await makeTerraformObjects(emulator));
    writeFileSync(file, JSON.stringify(pulledState(rows)));
    sent = emulator.requests.length;
    stack = new Stack({ url: emulator.url, token: emulator.token, directory: out });
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("turns the objects that Terraform manages into a program and a state without changes, and writes nothing to the API", async () => {
    const first = await adopt();
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    symlinkSync(join(ROOT, "node_modules"), join(out, "node_modules"));
    await stack.init();
    const [, uid = ""] = /pulumi config set rootUid (\w+)\n/.exec(first.stdout) ?? [];
    await stack.succeed(["config", "set", "rootUid", uid]);
    await stack.succeed(["config", "set", "--secret", "loginClientSecret", CLIENT_SECRET]);

    const done = await adopt("--stack", "test", "--write-state");
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: "" });
    expect(done.stdout).toContain("15 resources are in the state of test");
    expect(done.stdout).toContain(
      `terraform state rm \\\n  'chainguard_account_associations.clouds' \\\n  'chainguard_account_associations.github' \\\n`,
    );
    expect(done.stdout).not.toContain("'chainguard_group_invite.ada'");

    await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
    await stack.up("--expect-no-changes");
    const writes = emulator.requests.slice(sent).filter(({ method }) => method !== "GET");
    expect(writes).toEqual([]);

    // A second run finds all of it managed, and still says what Terraform is to forget.
    const again = await adopt("--stack", "test", "--write-state", "--file", "again.ts");
    expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
    expect(again.stdout).toContain("there is nothing to adopt");
    expect(again.stdout).not.toContain("manages it already");
    expect(again.stdout.slice(again.stdout.indexOf("terraform state rm"))).toBe(
      done.stdout.slice(done.stdout.indexOf("terraform state rm")),
    );
  });
});
