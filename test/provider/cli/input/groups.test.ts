import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { describeGroups, listRootGroups, resolveGroup } from "../../../../provider/cli/input/groups";
import { main as adopt } from "../../../../provider/cli/commands/adopt/adopt";
import { main as drift } from "../../../../provider/cli/commands/drift";
import { main as inventory } from "../../../../provider/cli/commands/inventory";
import { main as watch } from "../../../../provider/cli/commands/watch/watch";
import { clientOf } from "../../support/server";
import { call, environmentOf } from "../../../support/wire";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const folder = temporaryFolder();
const state = join(folder, "state.json");

describe("a group that a flag names", () => {
  let emulator: Emulator;
  let acme: string;
  const below: string[] = [];

  const make = async (below: string, name: string): Promise<string> =>
    String((await call(emulator, "POST", `/iam/v2/groups${below}`, { name }))["uid"]);

  beforeAll(async () => {
    writeFileSync(state, JSON.stringify({ version: 3, deployment: { resources: [] } }));
    emulator = await startEmulator();
    acme = await make("", "acme");
    const beta = await make("", "beta");
    below.push(await make(`/${acme}`, "team"), await make(`/${beta}`, "team"));
  });
  afterAll(async () => {
    await emulator.close();
  });

  const resolve = (text: string): Promise<string> => resolveGroup(clientOf(emulator), text, "--root");

  test("is found by its uid, without a request, and by its name", async () => {
    emulator.clearRequests();
    expect(await resolve(acme)).toBe(acme);
    expect(emulator.requests).toHaveLength(0);
    expect(await resolve("acme")).toBe(acme);
  });

  test("is found by its path, as reports write it", async () => {
    expect([await resolve("acme / team"), await resolve("beta / team")]).toEqual(below);
    await expect(resolve("acme / none")).rejects.toMatchObject({ errorCode: "PP5008" });
  });

  test("is refused with candidates where several have the name, or none", async () => {
    const ambiguous = await resolve("team").catch((error: unknown) => error);
    expect(ambiguous).toMatchObject({
      code: "USAGE",
      errorCode: "PP5014",
      message: expect.stringContaining("names several groups"),
    });
    for (const uid of below) expect((ambiguous as Error).message).toContain(`team (${uid})`);
    await expect(resolve("Acme")).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringMatching(
        /^--root: no group has the uid, name or path "Acme"; the root groups are .*acme \(/,
      ),
    });
  });

  test("the root groups are those without a parent, or else the highest that the credential sees", async () => {
    const names = async () => (await listRootGroups(clientOf(emulator))).map(({ name }) => name).sort();
    expect(await names()).toEqual(["acme", "beta"]);
    // The list of groups without a parent, then the list of all.
    emulator.addFault({ path: "/iam/v2/groups", body: { groups: [] }, count: 1 });
    expect(await names()).toEqual(["acme", "beta"]);
    emulator.addFault({ path: "/iam/v2/groups", body: { groups: [] }, count: 3 });
    await expect(resolve("Acme")).rejects.toThrow("; the credential can see no group");
  });

  test("of many groups the first ten are listed", () => {
    const groups = Array.from({ length: 12 }, (_, index) => ({ uid: String(index), name: "" }));
    expect(describeGroups(groups)).toMatch(/^no name \(0\), .*no name \(9\), and 2 more$/);
  });

  /** `watch` reads its groups before it listens, and ends where it cannot: here, where the emulator does. */
  const listening = () => ["--issuer", emulator.url, "--listen", new URL(emulator.url).host];

  test.each([
    ["inventory", inventory, "--root", () => ["-o", "json"], 0, ""],
    ["drift", drift, "--root", () => ["--state", state], 7, ""],
    ["adopt", adopt, "--root", () => ["--out", join(folder, "adopted")], 0, ""],
    ["watch", watch, "--group", () => ["--state", state, ...listening()], 2, "cannot listen"],
  ])("%s takes a name, and lists candidates where it is unknown", async (_, main, flag, flags, code, end) => {
    const env = environmentOf(emulator);
    const unknown = await runCommand(main, [...flags(), flag, "nobody"], env);
    expect(unknown).toMatchObject(ending(2, new RegExp(`${flag}: no group .*acme \\(${acme}\\)`)));
    expect(await runCommand(main, [...flags(), flag, "beta"], env)).toMatchObject(ending(code, end));
  });
});
