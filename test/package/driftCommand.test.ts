import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { parseInventory } from "../../provider/access/documents/inventory";
import { main } from "../../provider/cli/commands/drift";
import { main as inventory } from "../../provider/cli/commands/inventory";
import { runCommand } from "../provider/cli/support";
import { randomOrganisation, small } from "../support/organisation";
import type { Organisation } from "../support/organisation";
import { temporaryFolder } from "../support/folders";
import { environmentOf } from "../support/wire";
import { exportText } from "../../scripts/lib/documents.cjs";

const folder = temporaryFolder();
let emulator: Emulator;
afterEach(() => emulator.clearFaults());

const environment = () => environmentOf(emulator);

/** Writes the export of a stack that manages all of an organisation. */
async function exportAll({ root }: Organisation, file: string): Promise<void> {
  const path = join(folder, "inventory.json");
  const listed = await runCommand(inventory, ["--root", root, "-o", `json=${path}`], environment());
  expect(listed).toMatchObject({ code: 0 });
  const own = parseInventory(readFileSync(path, "utf8"), path).objects.filter(({ builtIn }) => !builtIn);
  writeFileSync(file, exportText(own.map((object, i) => ({ ...object, name: String(i) }))));
}

const lists = () => emulator.requests.filter(({ query }) => query.includes("page_size"));

describe("drift never ends with 0 if something could not be checked:", () => {
  const refused = { status: 403, body: { code: 7, message: "no", details: [] } };
  const expired = { status: 401, body: { code: 16, message: "the token is expired", details: [] } };
  let state: string;
  const drift = (...more: string[]) => runCommand(main, ["--state", state, ...more], environment());

  beforeAll(async () => {
    const organisation = randomOrganisation(2, { ...small, bindings: 230 }, []);
    emulator = await startEmulator({ seed: organisation.seed });
    state = join(folder, "small.json");
    await exportAll(organisation, state);
  });
  afterAll(() => emulator.close());

  test("a list that is refused, fails or is truncated ends it with 4", async () => {
    emulator.clearRequests();
    expect(await drift("--exit-zero")).toMatchObject({ code: 0, stderr: "" });
    const paths = [...new Set(lists().map(({ path }) => path))].sort();
    expect(paths.length).toBeGreaterThanOrEqual(10);
    for (const path of paths) {
      for (const fault of [refused, { status: 500, body: "<html>" }, { truncate: 40 }]) {
        const handle = emulator.addFault({ path: new RegExp(`^${path}(\\?|$)`), ...fault });
        const { code, stderr } = await drift("--exit-zero");
        expect({ path, fault, code }).toEqual({ path, fault, code: 4 });
        expect(stderr).toContain("not compared");
        expect(handle.hits).toBeGreaterThan(0);
        handle.remove();
      }
    }
  });

  test.each([
    [
      "a second page that is refused makes it 4",
      { path: "/iam/v2/roleBindings", after: 1, ...refused },
      4,
      "not compared: PERMISSION_DENIED",
    ],
    ["a token that is expired makes it 3", expired, 3, "the token is expired"],
    [
      "a token that expires between two pages makes it 3",
      { path: "/iam/v2/roleBindings", after: 1, ...expired },
      3,
      "the token is expired",
    ],
    [
      "a group itself that cannot be read makes it 1",
      { path: "/iam/v2/groups/", status: 500, body: "<html>" },
      1,
      "/iam/v2/groups/",
    ],
  ])("%s", async (_what, fault, code, message) => {
    emulator.addFault(fault);
    const ended = await drift("--exit-zero");
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code,
      stderr: expect.stringContaining(message),
    });
    expect(
      ended.stderr
        .trim()
        .split("\n")
        .every((line) => line.startsWith("pulumi-platform: ")),
    ).toBe(true);
  });
});
