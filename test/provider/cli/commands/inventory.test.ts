import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { parseInventory } from "../../../../provider/access/documents/inventory";
import { main } from "../../../../provider/cli/commands/inventory";
import { randomOrganisation, small } from "../../../support/organisation";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";
import { environmentOf } from "../../../support/wire";

describe("pulumi-platform inventory", () => {
  const folder = temporaryFolder();
  const { root, seed } = randomOrganisation(11, small, []);
  let emulator: Emulator;

  const run = (argv: readonly string[], env: Record<string, string> = {}) =>
    runCommand(main, argv, { ...environmentOf(emulator), ...env });

  beforeAll(async () => {
    emulator = await startEmulator({ seed });
  });
  afterEach(() => emulator.clearFaults());
  afterAll(async () => {
    await emulator.close();
  });

  test("prints the number of objects, and writes the document to a file", async () => {
    const path = join(folder, "inv.json");
    const { code, stdout, stderr } = await run(["--root", root, "-o", "text", "-o", `json=${path}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^${root} at 20`));
    expect(stdout).toMatch(/ {2}RoleBinding +10\n/);
    const kinds = stdout.match(/^ {2}[A-Z]\w+/gm) ?? [];
    expect(kinds).toEqual([...kinds].sort());
    expect(stdout).toMatch(/and 19 built-in roles\nthe token does not say whose it is, so nobody can tell/);
    expect(parseInventory(readFileSync(path, "utf8"), "inv.json")).toMatchObject({ root, complete: true });
  });

  test("ends with 4 and names a list that is refused", async () => {
    const body = { code: 7, message: "no\u001b[2J" };
    emulator.addFault({ path: "/iam/v2/roleBindings", status: 403, body });
    const { code, stdout, stderr } = await run(["--root", root, "-o", "json"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ complete: false });
    expect(stderr).toMatch(/RoleBinding at [0-9a-f]{40} was not read: PERMISSION_DENIED: \P{Cc}+\n$/u);
  });

  test.each([
    [["--root", root], { PLATFORM_TOKEN: "wrong" }, 3, "UNAUTHENTICATED"],
    [["--root", root], { PLATFORM_BASE_URL: "" }, 2, "the address of the API is missing"],
    [["--root", root], { PLATFORM_BASE_URL: "http://127.0.0.1:1" }, 1, "ECONNREFUSED"],
    [["--root", "0".repeat(40)], {}, 1, "there is no group with the uid 0000"],
    [[], {}, 2, "--root is missing"],
    [["--root", root, "--types", "Rle"], {}, 2, "--types must name kinds of Group, Identity, Role"],
  ])("%j with %j ends with %i", async (argv, env, expected, message) => {
    const ended = await run(argv, env);
    expect(ended).toMatchObject(ending(expected, message));
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });
});
