import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { main } from "../../provider/cli/adopt";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { ROOT, Stack } from "../support/engine";
import { builtInRoles, randomOrganisation, small } from "../support/organisation";
import { call } from "../support/wire";

describe("adopt, through the real engine", () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adopt-"));
  const out = join(folder, "adopted");
  let emulator: Emulator;
  let stack: Stack;
  let root: string;

  const adopt = (...more: string[]): Promise<Ended> =>
    runCommand(main, ["--root", root, "--out", out, ...more], {
      ...stack.environment(),
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
    });
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");

  beforeAll(async () => {
    const organisation = randomOrganisation(5, { ...small, bindings: 6 }, await builtInRoles());
    root = organisation.root;
    // A provider that cannot be without its secret.
    const [provider] = organisation.seed["identityProviders"] as { oidc: Record<string, unknown> }[];
    if (provider)
      provider.oidc = { issuer: "https://login.example.com", clientId: "x", clientSecret: "hush" };
    emulator = await startEmulator({ seed: organisation.seed });
    stack = new Stack({ url: emulator.url, token: emulator.token, directory: out });
  }, 30_000);

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
    rmSync(folder, { recursive: true });
  });

  test("writes a project, then the state that belongs to it; nothing is left to do, and nothing is written to the API", async () => {
    const first = await adopt();
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^\d+ resources are declared in .*index\.ts\n/);
    expect(first.stdout).toMatch(/GroupInvite .*\n +its code is answered once only, when it is made/);
    expect(first.stdout).toMatch(/to be set: pulumi config set --secret \w+ClientSecret\n/);
    expect(readdirSync(out).sort()).toEqual(["Pulumi.yaml", "index.ts", "package.json", "tsconfig.json"]);
    symlinkSync(join(ROOT, "node_modules"), join(out, "node_modules"));
    await stack.init();

    const unset = await adopt("--stack", "test", "--write-state");
    expect(unset.code).toBe(2);
    const [, key = ""] = /pulumi config set --secret (\w+)/.exec(unset.stderr) ?? [];
    await stack.succeed(["config", "set", "--secret", key, "hush"]);

    const done = await adopt("--stack", "test", "--write-state");
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /\d+ resources are in the state of test; as it was before: .*before-adopt\.json/,
    );
    await stack.succeed(["preview", "--expect-no-changes"]);
    await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
    await stack.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    expect(writes()).toEqual([]);
    expect(stack.everyByte()).not.toContain('"hush"');

    const before = readFileSync(join(out, "index.ts"), "utf8");
    const again = await adopt();
    expect(again.code).toBe(0);
    expect(readFileSync(join(out, "index.ts"), "utf8")).toBe(before);
  }, 240_000);

  test("adopts what was made since into the same stack, and leaves all else as it is", async () => {
    const name = { name: "made by hand", capabilities: ["CAP_REPO_LIST"] };
    const role = String((await call(emulator, "POST", `/iam/v2/roles/${root}`, name))["uid"]);
    const before = await stack.resources();
    const index = readFileSync(join(out, "index.ts"), "utf8");

    const apart = await adopt("--stack", "test", "--write-state", "--only", role);
    expect(apart.code).toBe(2);
    expect(apart.stderr).toContain('the preview makes no Role "made-by-hand"');
    expect(await stack.resources()).toEqual(before);

    appendFileSync(join(out, "index.ts"), '\nimport "./adopted";\n');
    emulator.clearRequests();
    const done = await adopt("--stack", "test", "--write-state", "--only", role);
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: "" });
    const after = await stack.resources();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ id }) => id)).toEqual([role]);
    expect(writes()).toEqual([]);
    expect(readFileSync(join(out, "index.ts"), "utf8").startsWith(index)).toBe(true);

    await call(emulator, "PATCH", `/iam/v2/roles/${role}?updateMask=capabilities`, {
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
    });
    const changed = await stack.pulumi(["preview", "--refresh", "--diff", "--expect-no-changes"]);
    expect(changed.code).not.toBe(0);
    expect(changed.output).toContain("CAP_TAG_LIST");
    const nothing = await adopt("--stack", "test", "--write-state", "--only", role);
    expect(nothing.stdout).toMatch(
      /^there is nothing to adopt\nleft out:\n.*\n +the stack manages it already/,
    );
  }, 180_000);
});
