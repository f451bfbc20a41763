import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { changeField, declared, ownOf, samples, surroundings } from "../support/samples";
import type { FieldCase } from "../support/samples";
import { HandlerStack } from "./support/handlerStack";

/* Servers that refuse camelCase field masks, or ignore them: each field of each kind is changed all the same. */

const changes = samples
  .filter(({ writing }) => !writing)
  .flatMap((sample) =>
    sample.fields.map((field) => ({ name: `${sample.label}-${field.path}`, sample, field })),
  );

const isMultiWord = ({ field }: { field: FieldCase }): boolean => /[A-Z]/.test(field.path);

describe.each([
  ["refuses", { maskSpelling: "snake" }, 1],
  ["ignores", { maskSilent: true }, 2],
] as const)("a server that %s camelCase masks", (_what, settings, moreRequests) => {
  let emulator: Emulator;
  let stack: HandlerStack;

  beforeAll(async () => {
    emulator = await startEmulator(settings);
    const all = changes.flatMap(({ name, sample }) => Object.entries(declared(name, sample, sample.args)));
    stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
  });
  afterAll(() => emulator.close());

  test(`takes every change of every field, in ${moreRequests} more than one request each`, async () => {
    expect(changes.filter(isMultiWord).length).toBeGreaterThan(10);
    let requests = 0;
    for (const { name, sample, field } of changes) {
      const { id, outs } = await stack.make(name);
      const args = JSON.stringify(changeField(sample.args, field)).replaceAll("${own}", `\${${ownOf(name)}}`);
      const news = await stack.resolved(JSON.parse(args) as Record<string, unknown>);
      emulator.clearRequests();
      await expect(stack.handlersOf(sample.kind).update(id, outs, news)).resolves.toMatchObject(news);
      requests += emulator.requests.length;
    }
    expect(requests).toBe(changes.length + moreRequests);
  });
});
