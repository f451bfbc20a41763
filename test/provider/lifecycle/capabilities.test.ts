import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { outcomeOf, RestrictedOrganisation } from "../support/kindLife";
import { specs } from "../support/samples";

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
