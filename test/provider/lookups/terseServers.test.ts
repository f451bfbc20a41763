import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { declared, samples, surroundings } from "../../support/samples";
import { HandlerStack } from "../support/handlerStack";
import { lookups } from "../support/lookups";
import type { LookupRow } from "../support/lookups";
import { ProgramContext } from "../support/program";
import { errorOf } from "../support/server";

/* What every lookup answers where the server leaves empty members out, and where it is no server of the API. */

const context = new ProgramContext().install();

describe.each([
  ["with one of each kind", true],
  ["without anything", false],
])("of an organisation %s", (_name, isFull) => {
  let emulator: Emulator;

  beforeAll(async () => {
    emulator = await startEmulator();
    if (!isFull) return;
    const all = samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
    const stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
    for (const { label } of samples) await stack.make(label);
  });
  afterAll(() => emulator.close());

  /** Arguments with the uid of something that is there. */
  function argumentsOf({ request, always, cases }: LookupRow): Record<string, unknown> {
    const args: Record<string, unknown> = { ...always?.[0], ...cases[0]?.[0] };
    const collection = /\/v2\/(\w+)/.exec(request)?.[1] ?? "";
    const uid = emulator.state()[collection]?.[0]?.["uid"];
    for (const key of ["uid", "repoUid"]) if (key in args && uid !== undefined) args[key] = uid;
    return args;
  }

  test.each(lookups.map((row) => [row.operation, row] as const))(
    "%s is the same whether empty members are left out or not",
    async (_operation, row) => {
      const args = argumentsOf(row);
      // A connection of its own each: nothing before shows that the server is the API.
      const ask = async (omitEmpty: boolean): Promise<unknown> => {
        emulator.settings({ omitEmpty });
        context.configure({
          "platform:baseUrl": emulator.url,
          "platform:token": emulator.token,
          "platform:maxConcurrency": String(2 + Number(omitEmpty) + 2 * lookups.indexOf(row)),
        });
        return row.call(args as never).catch((error: unknown) => String(error));
      };
      const whole = await ask(false);
      expect(withoutRawEmpties(await ask(true))).toEqual(withoutRawEmpties(whole));
    },
  );
});

test.each([
  ["answers {} to everything", { json: {} }],
  ["answers nothing with 200", { text: "" }],
  ["knows no such address", { status: 404, json: { code: 5, message: "Not Found", details: [] } }],
])("a server that %s never looks like an empty organisation", async (_name, reply) => {
  context.server.script(() => reply);
  const lists = lookups.filter(({ answer }) => Object.values(answer ?? {}).some(Array.isArray));
  expect(lists.length).toBeGreaterThan(15);
  for (const [index, row] of lists.entries()) {
    context.configure({ "platform:maxConcurrency": String(index + 2) });
    const error = await errorOf(row.call(argumentsFor(row) as never));
    expect(error.message).toMatch(/is not the Platform API|check platform:baseUrl|no such|NOT_FOUND/);
  }
});

/** The content of an event is the API's own JSON, as it came. */
function withoutRawEmpties(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      key === "content" && member !== null && typeof member === "object"
        ? Object.fromEntries(Object.entries(member).filter(([, inner]) => inner !== ""))
        : member,
    ),
  );
}

function argumentsFor({ always, cases }: LookupRow): object {
  return { ...always?.[0], ...cases[0]?.[0] };
}
