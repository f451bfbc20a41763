import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { outcomeOf, RestrictedOrganisation, sampleDeclarations } from "../support/kindLife";
import { specs } from "../support/samples";
import { capabilities } from "../../../examples/least-privilege/capabilities";
import { main as adopt } from "../../../provider/cli/commands/adopt/adopt";
import { main as drift } from "../../../provider/cli/commands/drift";
import { main as inventory } from "../../../provider/cli/commands/inventory";
import { runCommand } from "../cli/support";
import { exportText } from "../../../scripts/lib/documents.cjs";
import { temporaryFolder } from "../../support/folders";
import { spreadOf } from "../../support/properties";
import { named } from "../../support/driftDocuments";

/* Each operation of each kind, with exactly the capabilities that its description names, and with one less. */

let emulator: Emulator;
let organisation: RestrictedOrganisation;

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  organisation = await RestrictedOrganisation.create(emulator);
});
afterAll(() => emulator.close());

/** Runs an operation without each of its capabilities in turn, which is refused, and then with all of them. */
async function withExactly<T>(needed: readonly string[], run: () => Promise<T>): Promise<T> {
  const { caller } = organisation;
  for (const left of needed) {
    await caller.holds(needed.filter((each) => each !== left));
    expect(`without ${left} it ${await outcomeOf(run())}`).toBe(`without ${left} it is refused`);
  }
  await caller.holds(needed);
  return run();
}

test.each(specs.map((spec) => [spec.kind, spec] as const))(
  "%s needs the capabilities that its description names, and no others",
  async (_kind, spec) => {
    const life = await organisation.prepare(spec);
    await life((operation, run) => withExactly(spec.capabilities?.[operation] ?? [], run));
  },
);

/** The fields whose setting needs capabilities besides those of their kind. */
const fieldsWithCapabilities = specs.flatMap((spec) =>
  Object.entries(spec.fields).flatMap(([key, { type, capabilities }]) =>
    capabilities === undefined ? [] : [[`${spec.kind}.${key}`, { spec, key, type, capabilities }] as const],
  ),
);

test("the fields with capabilities of their own are switches, which the next test turns on", () => {
  expect(fieldsWithCapabilities.map(([name, { type }]) => [name, type])).toEqual([
    ["IdentityProvider.scimEnabled", "boolean"],
  ]);
});

test.each(fieldsWithCapabilities)(
  "a change of %s needs the capabilities that the field names, and no others",
  async (_name, { spec, key, capabilities }) => {
    const update = await organisation.prepareUpdate(spec, { [key]: true });
    expect(await withExactly(capabilities, update)).toMatchObject({ [key]: true });
  },
);

const folder = temporaryFolder();

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
