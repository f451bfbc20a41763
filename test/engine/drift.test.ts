import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import type { StateExport } from "../../provider/access/documents/stateExport";
import { brief, survey } from "../support/driftMatrix";
import type { Surveyed } from "../support/driftMatrix";
import { Stack } from "../support/engine";
import { declared, samples, surroundings } from "../support/samples";
import { call } from "../support/wire";

/*
 * One stack with every kind and every field, exported once; then the organisation is changed by hand, again and
 * again, and put back each time.
 */
describe("drift of every kind, through the real engine", () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-drift-"));
  let emulator: Emulator;
  let stack: Stack;
  let other: Stack;
  let on: Surveyed;

  const exported = async (of: Stack, name: string): Promise<StateExport> => {
    const { stdout } = await of.succeed(["stack", "export"]);
    writeFileSync(join(folder, name), stdout);
    return parseStateExport(stdout, name);
  };
  beforeAll(async () => {
    emulator = await startEmulator({ bindingResponse: "hydrated" });
    stack = await new Stack(emulator).init();
    stack.declare({
      ...surroundings,
      ...Object.fromEntries(
        samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
      ),
      ignoring: {
        kind: "Group",
        args: { parentUid: "${org}", name: "ignoring", description: "ignored" },
        options: { ignoreChanges: ["description"] },
      },
    });
    await stack.up();
    const ids = Object.fromEntries(
      Object.entries(await stack.ours()).map(([name, { id }]) => [name, id ?? ""]),
    );
    other = await new Stack(emulator).init();
    other.files({
      "index.js": `
        const platform = require("pulumi-platform");
        const org = platform.Group.get("org", "${ids["org"] ?? ""}");
        platform.Role.get("role", "${ids["role"] ?? ""}");
        new platform.Group("own", { parentUid: org.id, name: "own", description: "of the other stack" });
      `,
    });
    await other.up();
    on = {
      emulator,
      ids,
      states: [await exported(stack, "export-one.json"), await exported(other, "export-two.json")],
    };
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
    other.dispose();
    rmSync(folder, { recursive: true });
  });

  test("is empty in an unchanged organisation: every kind and field, secrets, synced repositories, two stacks, get", async () => {
    const report = await survey(on);
    expect(brief(report)).toEqual([]);
    expect(report).toMatchObject({ complete: true, incomplete: [], failing: 0 });
    expect(report.summary.compared).toBe(Object.keys(on.ids).length + 1);
  });

  test("a change that the program ignores is no drift", async () => {
    const address = `/iam/v2/groups/${on.ids["ignoring"] ?? ""}?updateMask=description`;
    await call(emulator, "PATCH", address, { description: "by hand" });
    const report = await survey(on);
    await call(emulator, "PATCH", address, { description: "ignored" });
    expect(brief(report)).toEqual([]);
  });
});
