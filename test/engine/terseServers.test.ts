import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations } from "../support/engine";
import { terseModes } from "../support/modes";
import { changeField, declared, propertyPathOf, samples, surroundings, withMember } from "../support/samples";
import type { Sample } from "../support/samples";

/** A sample with all fields changed that may be changed together. */
function changed({ fields, args }: Sample): Record<string, unknown> {
  return fields
    .filter(({ without, whole }) => without === undefined && whole === undefined)
    .reduce(changeField, args);
}

/** A sample without all fields that may be cleared. */
function cleared({ fields, args }: Sample): Record<string, unknown> {
  return fields
    .filter((field) => "empty" in field && !field.whole && !field.without)
    .reduce((all, field) => withMember(all, propertyPathOf(field), undefined), args);
}

const program = (argsOf: (sample: Sample) => Record<string, unknown>): Declarations => ({
  ...surroundings,
  ...Object.fromEntries(
    samples.flatMap((sample) => Object.entries(declared(sample.label, sample, argsOf(sample)))),
  ),
});

describe.each(terseModes.slice(-1))("a server that %s, through the real engine", (_name, settings) => {
  let emulator: Emulator;
  let stack: Stack;

  beforeAll(async () => {
    emulator = await startEmulator(settings);
    stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("holds every kind as the program declares it: created, changed, cleared and destroyed", async () => {
    for (const argsOf of [({ args }: Sample) => args, changed, cleared]) {
      stack.declare(program(argsOf));
      await stack.up();
      // A refresh without changes leaves the state of the update, which the preview then compares.
      await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
      await stack.succeed(["preview", "--expect-no-changes"]);
    }
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});
