import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { revealed, Stack, WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations } from "../support/engine";
import {
  changeField,
  declared,
  memberAt,
  nested,
  ownOf,
  propertyPathOf,
  samples,
  surroundings,
  withMember,
} from "../support/samples";
import type { FieldCase, Replacement, Sample } from "../support/samples";

/*
 * A resource for each field of each kind, so that three runs of the real engine change and clear them
 * all: one field each.
 */
interface Trial {
  readonly name: string;
  readonly sample: Sample;
  readonly field: FieldCase;
}

const trials: Trial[] = samples.flatMap((sample) =>
  sample.fields.map((field) => ({ name: `${sample.label}-${field.path}`, sample, field })),
);

/** A resource for each field that cannot be changed: the run that changes the others makes another of it. */
const exchanges = samples.flatMap((sample) =>
  (sample.replacements ?? []).map((replacement) => ({
    name: `${sample.label}=${replacement.property}`,
    sample,
    replacement,
  })),
);

function program(argsOf: (trial: Trial) => Record<string, unknown>, exchanged: boolean): Declarations {
  return {
    ...surroundings,
    ...Object.fromEntries(
      trials.flatMap((trial) => Object.entries(declared(trial.name, trial.sample, argsOf(trial)))),
    ),
    ...Object.fromEntries(
      exchanges.flatMap(({ name, sample, replacement }) =>
        Object.entries(declared(name, sample, exchanged ? replaced(sample, replacement) : sample.args)),
      ),
    ),
  };
}

function replaced({ args }: Sample, { property, to, without, also }: Replacement): Record<string, unknown> {
  const changed = { ...withMember(args, property, to), ...also };
  return without === undefined ? changed : withMember(changed, without, undefined);
}

/** One-of members and whole objects start from the sample; everything else is the sample itself. */
const before = ({ sample }: Trial): Record<string, unknown> => sample.args;

const changed = ({ sample, field }: Trial): Record<string, unknown> => changeField(sample.args, field);

function cleared(trial: Trial): Record<string, unknown> {
  return "empty" in trial.field
    ? withMember(changed(trial), propertyPathOf(trial.field), undefined)
    : changed(trial);
}

/** No mask is sent of what no response shows: the server then infers one, in snake case. */
const maskOf = ({ path, unseen }: FieldCase): string[] => [
  unseen ? path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : path,
];

describe("each field of each kind, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let uids: Record<string, string>;

  const updates = ({ name, sample: { writing } }: Trial) =>
    emulator.requests.filter(({ method, path }) =>
      writing
        ? method === writing.update.method &&
          path === writing.update.address.replace("${own}", uids[ownOf(name)] ?? "?")
        : method === "PATCH" && path.endsWith(`/${uids[name] ?? "?"}`),
    );
  const writes = () => emulator.requests.filter(({ method }) => method !== "GET");

  /** An object replaced as a whole is sent leaf by leaf. */
  const expectedUpdate = ({ field, sample }: Trial, value: unknown) => {
    const whole = sample.writing?.update.body;
    if (whole) return { updateMask: undefined, body: { ...whole, [field.path]: value } };
    const old = memberAt(sample.args, propertyPathOf(field));
    const isObject = (candidate: unknown): candidate is Record<string, unknown> =>
      candidate !== null && typeof candidate === "object" && !Array.isArray(candidate);
    if (!field.whole || !isObject(value) || !isObject(old)) {
      return { updateMask: maskOf(field), body: nested(field.path, value) };
    }
    return undefined;
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack({ url: emulator.url, token: emulator.token, env: WRITES_STATE_ONCE }).init();
    stack.declare(program(before, false));
    await stack.up();
    const ours = await stack.ours();
    uids = Object.fromEntries(Object.entries(ours).map(([name, { id }]) => [name, id ?? ""]));
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("creates every field as the program wrote it", async () => {
    const ours = await stack.ours();
    for (const trial of trials) {
      const inputs = ours[trial.name]?.inputs ?? {};
      for (const [key, value] of Object.entries(before(trial))) {
        if (typeof value === "string" && value.startsWith("${"))
          expect(inputs[key]).toBe(uids[value === "${own}" ? ownOf(trial.name) : value.slice(2, -1)]);
        else expect(revealed(inputs[key])).toEqual(value);
      }
    }
  });

  test("changes one field by one PATCH with exactly that field, or by one POST of the whole object", async () => {
    emulator.clearRequests();
    stack.declare(program(changed, true));
    await stack.up();
    for (const trial of trials) {
      const { name, field } = trial;
      const [patch, ...more] = updates(trial);
      expect({ name, more: more.length }).toEqual({ name, more: 0 });
      const value =
        typeof field.to === "string" && field.to.startsWith("${") ? uids[field.to.slice(2, -1)] : field.to;
      const expected = expectedUpdate(trial, value);
      if (expected) {
        expect({ name, updateMask: patch?.updateMask, body: patch?.body }).toEqual({ name, ...expected });
      } else {
        // The mask names leaves, and the body holds the same leaves.
        const paths = patch?.updateMask ?? [];
        expect(paths.length).toBeGreaterThan(0);
        expect(paths.every((path) => path.startsWith(`${field.path}.`))).toBe(true);
        expect(paths.every((path) => memberAt(patch?.body, path) !== undefined)).toBe(true);
      }
    }
    expect(writes()).toHaveLength(trials.length + 2 * exchanges.length);
  });

  test("replaces the resource for each immutable field", async () => {
    const ours = await stack.ours();
    const deleted = writes()
      .filter(({ method }) => method === "DELETE")
      .map(({ path }) => path);
    expect(exchanges.length).toBeGreaterThan(10);
    for (const { name, replacement } of exchanges) {
      const old = uids[name] ?? "?";
      expect({ name, same: ours[name]?.id === old }).toEqual({ name, same: false });
      expect({ name, gone: deleted.some((path) => path.endsWith(`/${old}`)) }).toEqual({ name, gone: true });
      const now = memberAt(revealed(ours[name]?.inputs), replacement.property);
      if (typeof replacement.to !== "string" || !replacement.to.startsWith("${"))
        expect({ name, now }).toEqual({ name, now: replacement.to });
    }
  });

  test("clears one field by one PATCH that names it and sends it empty, or by one POST of the whole object", async () => {
    emulator.clearRequests();
    stack.declare(program(cleared, true));
    await stack.up();
    const clearing = trials.filter(({ field }) => "empty" in field);
    for (const trial of clearing) {
      const { name, field, sample } = trial;
      const whole = sample.writing?.update.body;
      expect(updates(trial).map(({ updateMask, body }) => ({ name, updateMask, body }))).toEqual([
        whole
          ? { name, updateMask: undefined, body: { ...whole, [field.path]: field.empty } }
          : { name, updateMask: maskOf(field), body: nested(field.path, field.empty) },
      ]);
    }
    expect(writes()).toHaveLength(clearing.length);
    const run = await stack.pulumi(["preview", "--refresh", "--expect-no-changes"]);
    expect({ code: run.code, output: run.code === 0 ? "" : run.output }).toEqual({ code: 0, output: "" });
  });

  test("ends with an empty server", async () => {
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});
