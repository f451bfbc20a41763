import { startEmulator } from "../../../emulator";
import type { Emulator, EmulatorSettings } from "../../../emulator";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import type { Props } from "../../../provider/fields/values";
import { isQuick, spreadOf } from "../../support/properties";
import {
  changeField,
  declared,
  memberAt,
  propertyPathOf,
  samples,
  surroundings,
  withMember,
} from "../../support/samples";
import type { Sample } from "../../support/samples";
import { call } from "../../support/wire";
import { HandlerStack } from "../support/handlerStack";
import { specOf } from "../support/samples";

/** A resource that must be what was last written, and nothing else, whatever the responses left out. */
class Life {
  private constructor(
    private readonly handlers: Handlers,
    private readonly id: string,
    private outs: Props,
  ) {}

  static async begin(handlers: Handlers, inputs: Props): Promise<Life> {
    const { id, outs } = await handlers.create(inputs);
    const life = new Life(handlers, id, outs);
    await life.isExactly(inputs);
    return life;
  }

  async become(news: Props): Promise<Props> {
    this.outs = await this.handlers.update(this.id, this.outs, news);
    return this.isExactly(news);
  }

  async end(): Promise<boolean> {
    await this.handlers.delete(this.id, this.outs);
    return (await this.handlers.read(this.id, this.outs)).id === undefined;
  }

  private async isExactly(inputs: Props): Promise<Props> {
    const unchanged = { changes: false, replaces: [] };
    expect(this.handlers.diff(this.outs, inputs)).toMatchObject(unchanged);
    const seen = await this.handlers.read(this.id, this.outs);
    expect(seen.id).toBe(this.id);
    expect(this.handlers.diff(seen.props ?? {}, inputs)).toMatchObject(unchanged);
    // A code that only the create has told is among the outputs; without it the resource would be replaced.
    const outputs = Object.entries(seen.props ?? {}).filter(([key]) => !(key in inputs));
    const recorded = { ...Object.fromEntries(outputs), ...seen.inputs };
    expect(this.handlers.diff(recorded, inputs)).toMatchObject(unchanged);
    // A refresh that finds no change writes nothing new into the state.
    expect(seen.props).toEqual(this.outs);
    return seen.inputs ?? {};
  }
}

/** Servers that say less than the specification's samples: what a response leaves out, or leaves empty, is no change. */
const modes: readonly (readonly [name: string, settings: Partial<EmulatorSettings>, index: number])[] = [
  ["leaves empty members out", { omitEmpty: true }, 0],
  ["answers a PATCH with the changed fields only", { patchResponse: "partial" }, 1],
  ["answers a PATCH with the changed values, all else empty", { patchResponse: "sparse" }, 2],
  ["leaves out all that is empty or did not change", { omitEmpty: true, patchResponse: "sparse" }, 3],
];
// The last mode has all that the others have, so those share the fields.
const others = modes.length - 1;

describe.each(isQuick ? modes.slice(-1) : modes)("a server that %s", (_name, settings, mode) => {
  let emulator: Emulator;
  let stack: HandlerStack;

  beforeAll(async () => {
    emulator = await startEmulator(settings);
    const all = samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
    stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
  });
  afterAll(() => emulator.close());

  /** What an identity provider needs before SCIM may be switched on. */
  async function bindOwners(groupUid: string): Promise<void> {
    const { roles } = await call(emulator, "GET", "/iam/v2/roles?name=owner");
    for (const name of ["someone", "other"]) {
      const identityUid = (await stack.make(name)).id;
      const roleUid = (roles as { uid: string }[])[0]?.uid;
      await call(emulator, "POST", `/iam/v2/roleBindings/${groupUid}`, { identityUid, roleUid });
    }
  }

  test.each(spreadOf(samples, 6, 0).map((sample) => [sample.label, sample] as const))(
    "holds %s as declared: created, unchanged, changed, cleared and deleted",
    async (label, sample: Sample) => {
      const handlers = stack.handlersOf(sample.kind);
      const args = declared(label, sample, sample.args)[label]?.args ?? {};
      const inputs = await stack.resolved(args);
      const life = await Life.begin(handlers, inputs);
      emulator.clearRequests();
      await handlers.update("not asked", inputs, inputs);
      expect(emulator.requests).toEqual([]);
      for (const field of sample.fields.filter((_, i) => mode === others || i % others === mode)) {
        const news = await stack.resolved(changeField(args, field));
        const seen = await life.become(news);
        expect(memberAt(seen, propertyPathOf(field))).toEqual(memberAt(news, propertyPathOf(field)));
        if ("empty" in field) await life.become(withMember(news, propertyPathOf(field), undefined) as Props);
        await life.become(inputs);
      }
      if (label === "provider") await bindOwners(inputs["parentUid"] as string);
      for (const update of sample.updates ?? []) {
        await life.become(await stack.resolved({ ...args, ...update }));
      }
      if (!sample.permanent) await life.become(inputs);
      expect(await life.end()).toBe(specOf(sample.kind).kind !== "GroupAccess" && !sample.permanent);
    },
  );
});
