import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { FieldSpec } from "../../provider/fields/fieldSpec";
import { kinds } from "../../provider/kinds";
import { spreadOf } from "../support/properties";
import { changeField, declared, ownOf, samples, surroundings } from "../support/samples";
import type { FieldCase } from "../support/samples";
import { HandlerStack } from "./support/handlerStack";

/* Servers that refuse camelCase field masks, or ignore them or parts of them: each field of each kind is changed all the same. */

const changes = samples
  .filter(({ writing }) => !writing)
  .flatMap((sample) =>
    sample.fields.map((field) => ({ name: `${sample.label}-${field.path}`, sample, field })),
  );

const isMultiWord = ({ field }: { field: FieldCase }): boolean => /[A-Z]/.test(field.path);

const servers = [
  ["refuses", { maskSpelling: "snake" }, 1],
  ["ignores", { maskSilent: true }, 2],
  ["takes only the other names of", { maskSpelling: "drop" }, 2],
] as const;

describe.each(spreadOf(servers, 1, 2))(
  "a server that %s camelCase masks",
  (_what, settings, moreRequests) => {
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
        const args = JSON.stringify(changeField(sample.args, field)).replaceAll(
          "${own}",
          `\${${ownOf(name)}}`,
        );
        const news = await stack.resolved(JSON.parse(args) as Record<string, unknown>);
        emulator.clearRequests();
        await expect(stack.handlersOf(sample.kind).update(id, outs, news)).resolves.toMatchObject(news);
        requests += emulator.requests.length;
      }
      expect(requests).toBe(changes.length + moreRequests);
    });
  },
);

/** Paths of the fields that a PATCH writes and no response shows. */
function inputOnlyPaths(fields: Readonly<Record<string, FieldSpec>>, prefix = ""): string[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    if (field.immutable || field.subresource || field.path) return [];
    if (field.inputOnly) return [`${prefix}${key}`];
    return field.type === "object" ? inputOnlyPaths(field.fields, `${prefix}${key}.`) : [];
  });
}

/** How the value that the server holds is told, of each field that no response shows. */
const heldValues: Record<string, (emulator: Emulator, uid: string) => unknown> = {
  "IdentityProvider.oidc.clientSecret": (emulator, uid) => emulator.clientSecret(uid),
};

const hidden = kinds
  .filter(({ spec }) => spec.operations?.update === undefined)
  .flatMap(({ spec }) => inputOnlyPaths(spec.fields).map((path) => ({ kind: spec.kind, path })));

test("of each field that no response shows, it is told here what the server holds", () => {
  expect(Object.keys(heldValues)).toEqual(hidden.map(({ kind, path }) => `${kind}.${path}`));
});

const firstUpdates = [["has no fault with", {}, 0] as const, ...servers].flatMap(([what, settings]) =>
  hidden.flatMap(({ kind, path }) =>
    samples
      .filter((sample) => sample.kind === kind)
      .flatMap((sample) => {
        const rotated = sample.fields.find((field) => field.path === path);
        if (rotated === undefined) throw new Error(`no sample changes ${kind}.${path}`);
        const cleared = { ...rotated, to: rotated.empty };
        return [
          { what, settings, sample, to: cleared, other: cleared },
          ...sample.fields.map((other) => ({ what, settings, sample, to: rotated, other })),
        ];
      }),
  ),
);

/* What no response shows is written by the very first update, alone or together with any other field. */
test.each(firstUpdates)(
  "a server that $what camelCase masks takes $to.path ($to.to) with $other.path",
  async ({ settings, sample, to, other }) => {
    const emulator = await startEmulator(settings);
    try {
      const stack = new HandlerStack(emulator, { ...surroundings, ...declared("it", sample, sample.args) });
      const { id, outs } = await stack.make("it");
      const args = JSON.stringify(changeField(changeField(sample.args, other), to)).replaceAll(
        "${own}",
        `\${${ownOf("it")}}`,
      );
      const news = await stack.resolved(JSON.parse(args) as Record<string, unknown>);
      await stack.handlersOf(sample.kind).update(id, outs, news);
      const held = heldValues[`${sample.kind}.${to.path}`]?.(emulator, id);
      expect(held ?? "").toBe(to.to);
      const whole = await stack.handlersOf(sample.kind).read(id, news);
      expect(whole.inputs).toMatchObject(news);
    } finally {
      await emulator.close();
    }
  },
);
