import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { capabilities } from "../../examples/least-privilege/capabilities";
import { main as adopt } from "../../provider/cli/commands/adopt/adopt";
import { main as drift } from "../../provider/cli/commands/drift";
import { main as inventory } from "../../provider/cli/commands/inventory";
import { runCommand } from "./cli/support";
import { RestrictedOrganisation, sampleDeclarations } from "./support/kindLife";
import { exportText } from "../../scripts/lib/documents.cjs";
import { temporaryFolder } from "../support/folders";
import { spreadOf } from "../support/properties";
import { named } from "../support/driftDocuments";

/*
 * The roles of examples/least-privilege: each job that only reads, with exactly its capabilities, and with one less. What
 * deploys holds those that its kinds name; `lifecycle/capabilities.test.ts` has each kind with exactly these.
 */

let emulator: Emulator;
let organisation: RestrictedOrganisation;
let folder: string;

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  folder = temporaryFolder();
  organisation = await RestrictedOrganisation.create(emulator);
});
afterAll(() => emulator.close());

async function run(main: typeof drift, argv: readonly string[]): Promise<number> {
  const env = { PLATFORM_BASE_URL: emulator.url, PLATFORM_TOKEN: organisation.caller.token };
  return (await runCommand(main, argv, { ...env, PLATFORM_MAX_RETRIES: "0" })).code;
}

/** A state of one resource of each kind that exists below the organisation. */
async function writeState(): Promise<string> {
  const objects = [];
  for (const [label, { kind }] of Object.entries(sampleDeclarations())) {
    const { id, inputs } = await organisation.stack.make(label);
    if (kind !== "GroupAccess") objects.push(named({ kind, uid: id, inputs }));
  }
  const file = join(folder, "state.json");
  writeFileSync(file, exportText(objects));
  return file;
}

const [COMPLETE, INCOMPLETE] = [0, 4];

async function holdsExactly(needed: readonly string[], job: () => Promise<number>): Promise<void> {
  for (const left of spreadOf(needed, 2, 0)) {
    await organisation.caller.holds(needed.filter((each) => each !== left));
    expect([left, await job()]).toEqual([left, INCOMPLETE]);
  }
  await organisation.caller.holds(needed);
  expect(await job()).toBe(COMPLETE);
}

// A list is refused to a caller who may list nowhere; whoever may list in a group below gets what is there.
const elsewhere = ["nowhere else", "in a group below"];

test.each(elsewhere)(
  "inventory and adopt need the capabilities of the role review, held %s",
  async (where) => {
    await writeState();
    const { org, caller } = organisation;
    if (where !== "nowhere else") await caller.holdsBelow(org, capabilities.review);
    await holdsExactly(capabilities.review, () => run(inventory, ["--root", org]));
    const out = ["--out", join(folder, "program"), "--force"];
    await holdsExactly(capabilities.review, () => run(adopt, ["--root", org, ...out]));
  },
);

test.each(spreadOf(elsewhere, 1, 1))(
  "drift needs the capabilities of the role drift, held %s",
  async (where) => {
    const { org, caller } = organisation;
    if (where !== "nowhere else") await caller.holdsBelow(org, capabilities.drift);
    const argv = ["--state", await writeState(), "--root", org, "--fail-on", "never"];
    await holdsExactly(capabilities.drift, () => run(drift, argv));
  },
);
