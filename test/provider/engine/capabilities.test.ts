import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import type { FieldSpec, NeededCapabilities, Props, ResourceSpec } from "../../../provider/engine/spec";
import { capabilityNames } from "../../../provider/resources/capabilities";
import { RestrictedCaller } from "../../support/leastPrivilege";
import type { Declaration } from "../../support/engine";
import { declared, samples, surroundings, withMember } from "../../support/samples";
import type { Sample } from "../../support/samples";
import { HandlerStack } from "../support/handlerStack";
import { specs } from "../support/samples";

/* Each operation of each kind, with exactly the capabilities that its description names, and with one less. */

let emulator: Emulator;
let caller: RestrictedCaller;
let stack: HandlerStack;

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

const rootOf = (uid: unknown): string => (typeof uid === "string" ? (uid.split("/")[0] ?? "") : "");

const sampleOf = (kind: string): Sample => {
  const found = samples.find((sample) => sample.kind === kind);
  if (!found) throw new Error(`no sample of ${kind}`);
  return found;
};

/** A change of a field that stays in place. */
function changed(sample: Sample): Record<string, unknown> | undefined {
  const [field] = sample.fields.filter(({ without }) => without === undefined);
  if (field) return withMember(sample.args, field.property ?? field.path, field.to);
  if (sample.kind === "ScimToken") return { ...sample.args, rotate: "two" };
  return undefined;
}

interface Life {
  readonly spec: ResourceSpec;
  readonly inputs: Props;
  readonly changedInputs: Props | undefined;
}

const isRefused = (error: unknown): boolean => /PERMISSION_DENIED|CAP_[A-Z_]+ is needed/.test(String(error));

/** A GroupAccess that removes bindings of the caller, who must not lose its last role, and creates another one. */
function ownBindings({ spec, inputs }: Pick<Life, "spec" | "inputs">): Life {
  const bindings = inputs["bindings"] as Record<string, { identityUid: string; roleUid: string }>;
  const [read, write] = Object.values(bindings).map(({ roleUid }) => ({
    identityUid: caller.identity,
    roleUid,
  }));
  return {
    spec,
    inputs: { ...inputs, bindings: { read } },
    changedInputs: { ...inputs, bindings: { write } },
  };
}

/** Runs an operation without each of its capabilities in turn, which is refused, and then with all of them. */
async function withExactly<T>(needed: readonly string[], run: () => Promise<T>): Promise<T> {
  for (const left of needed) {
    await caller.holds(needed.filter((each) => each !== left));
    const outcome = await run().then(
      () => "is allowed",
      (error: unknown) => (isRefused(error) ? "is refused" : String(error)),
    );
    expect(`without ${left} it ${outcome}`).toBe(`without ${left} it is refused`);
  }
  await caller.holds(needed);
  return run();
}

async function live({ spec, inputs, changedInputs }: Life): Promise<void> {
  const handlers = new HandlerStack({ url: emulator.url, token: caller.token }, {}).handlersOf(spec.kind);
  const needed = spec.capabilities as NeededCapabilities;
  const { id, outs } = await withExactly(needed.create, () => handlers.create(inputs));
  let recorded = outs;
  if (changedInputs && needed.update) {
    recorded = await withExactly(needed.update, () => handlers.update(id, outs, changedInputs));
  }
  await withExactly(needed.delete, () => handlers.delete(id, recorded));
  // A group without bindings is read too, to tell it from a missing one.
  await withExactly(needed.read, () => handlers.read(id, recorded));
}

beforeEach(async () => {
  emulator.reset();
  const copies = specs.map(({ kind }) => sampleOf(kind)).map((each) => declared(each.label, each, each.args));
  const declarations = Object.fromEntries(copies.flatMap(Object.entries<Declaration>));
  stack = new HandlerStack(emulator, { ...surroundings, ...declarations });
  caller = await RestrictedCaller.below(emulator, (await stack.make("org")).id);
});

test.each(specs.map((spec) => [spec.kind, spec] as const))(
  "%s needs the capabilities that its description names, and no others",
  async (kind, spec) => {
    const sample = sampleOf(kind);
    const copy = (args: Record<string, unknown>) =>
      stack.resolved(declared(sample.label, sample, args)[sample.label]?.args ?? {});
    const inputs = await copy(sample.args);
    await caller.bind(rootOf(inputs["parentUid"]));
    const change = changed(sample);
    const changedInputs = change && (await copy(change));
    await live(kind === "GroupAccess" ? ownBindings({ spec, inputs }) : { spec, inputs, changedInputs });
  },
);

function namedIn(fields: Readonly<Record<string, FieldSpec>>): string[] {
  return Object.values(fields).flatMap((field) => field.capabilities ?? []);
}

test.each(specs.map((spec) => [spec.kind, spec] as const))(
  "%s names capabilities that exist",
  (_kind, spec) => {
    const named = [...Object.values(spec.capabilities ?? {}).flat(), ...namedIn(spec.fields)] as string[];
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !capabilityNames.includes(name.replace(/^CAP_/, "")))).toEqual([]);
  },
);
