import { startEmulator } from "../../../emulator";
import type { Emulator, EmulatorSettings } from "../../../emulator";
import { canonical } from "../../../provider/fields/equal";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { applyCreate, applyUpdate } from "../../../provider/fields/patch";
import { isObject } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { kinds } from "../../../provider/kinds";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import { isThorough, spreadOf } from "../../support/properties";
import {
  changeField,
  declared,
  ownOf,
  propertyPathOf,
  samples,
  surroundings,
  memberAt,
  withMember,
} from "../../support/samples";
import type { FieldCase, Sample } from "../../support/samples";
import { HandlerStack } from "../support/handlerStack";
import { specOf } from "../support/samples";
import { call } from "../../support/wire";

/** The values that a response contains, in one spelling; what the server chooses is left out. */
function visible(fields: Readonly<Record<string, FieldSpec>>, props: Props): Props {
  const returned = Object.entries(fields).filter(
    ([key, field]) =>
      !field.inputOnly && !field.secret && !field.normalized && (key === "audience" || !field.serverFilled),
  );
  return Object.fromEntries(
    returned
      .map(([key, field]): [string, Json | undefined] => {
        const value = props[key];
        return field.type === "object" && isObject(value)
          ? [key, visible(field.fields, value)]
          : [key, canonical(field, value)];
      })
      .filter(([, value]) => value !== undefined),
  );
}

/** Two changes of one object: by hand, and then by a program that does not know of the first. */
class TwoWriters {
  constructor(
    private readonly handlers: Handlers,
    private readonly sample: Sample,
    private readonly id: string,
    private readonly recorded: Props,
    private readonly inputs: Props,
  ) {}

  private async live(): Promise<Props> {
    const { inputs } = await this.handlers.read(this.id, {});
    if (inputs === undefined) throw new Error(`${this.sample.label} is gone`);
    return inputs;
  }

  /** What is predicted, and what the server then has; undefined where the server refuses one of the changes. */
  async run(byHand: Props, news: Props): Promise<{ predicted: unknown; held: unknown } | undefined> {
    const spec = specOf(this.sample.kind);
    const { fields } = spec;
    try {
      await this.handlers.update(this.id, this.recorded, byHand);
      const before = await this.live();
      const predicted = applyUpdate(spec, before, this.recorded, news);
      await this.handlers.update(this.id, this.recorded, news);
      return { predicted: visible(fields, predicted), held: visible(fields, await this.live()) };
    } catch {
      return undefined;
    } finally {
      const { props = {} } = await this.handlers.read(this.id, this.recorded);
      await this.handlers.update(this.id, props, this.inputs);
    }
  }
}

/** An end that is cleared is the server's to choose. */
const isChosenByServer = ({ path, to }: FieldCase): boolean => path.endsWith("Time") && to === null;

/** Kinds whose updates write fields of the object itself: a GroupAccess writes bindings. */
const written = samples.filter(({ kind, fields }) => kind !== "GroupAccess" && fields.length > 0);

test("a create fills in an audience from the issuer, but not beside a pattern for it", () => {
  const created = (more: Props) =>
    applyCreate(specOf("Identity"), { claimMatch: { issuer: "https://ci.example.com", ...more } })[
      "claimMatch"
    ];
  expect(created({})).toMatchObject({ audience: "ci.example.com" });
  expect(created({ audiencePattern: ".*" })).not.toHaveProperty("audience");
});

describe("an update beside a change by hand", () => {
  let emulator: Emulator;
  let stack: HandlerStack;

  beforeAll(async () => {
    emulator = await startEmulator();
    const all = written.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args)));
    stack = new HandlerStack(emulator, { ...surroundings, ...Object.fromEntries(all) });
  });
  afterAll(() => emulator.close());

  test.each(spreadOf(written, 3, 0).map((sample) => [sample.label, sample] as const))(
    "leaves %s as predicted, whether both change one field or two",
    async (label, sample) => {
      const args = declared(label, sample, sample.args)[label]?.args ?? {};
      const inputs = await stack.resolved(args);
      const handlers = stack.handlersOf(sample.kind);
      const { id, outs } = await handlers.create(inputs);
      const writers = new TwoWriters(handlers, sample, id, outs, inputs);
      const fields = sample.fields.filter((field) => !isChosenByServer(field));
      let compared = 0;
      for (const [i, byHand] of fields.entries()) {
        const others = isThorough ? fields : new Set([byHand, fields[(i + 1) % fields.length] ?? byHand]);
        for (const own of others) {
          const [theirs, news] = [
            await stack.resolved(changeField(args, byHand)),
            await stack.resolved(changeField(args, own)),
          ];
          const outcome = await writers.run(theirs, news);
          if (outcome === undefined) continue;
          compared += 1;
          const where = [propertyPathOf(byHand), propertyPathOf(own)];
          expect({ where, after: outcome.predicted }).toEqual({ where, after: outcome.held });
        }
      }
      // Where the server refuses all of them, nothing was compared.
      expect(compared).toBeGreaterThan(0);
    },
  );
});

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

/** A server that says less than the specification's samples, or reads masks in another way. */
interface Mode {
  readonly what: string;
  readonly settings: Partial<EmulatorSettings>;
  /** Which third of the fields is changed at it; all of them if not given. */
  readonly third?: number;
}

/** What a response leaves out, or leaves empty, is no change. */
const terse: readonly Mode[] = [
  { what: "leaves empty members out", settings: { omitEmpty: true }, third: 0 },
  { what: "answers a PATCH with the changed fields only", settings: { patchResponse: "partial" }, third: 1 },
  {
    what: "answers a PATCH with the changed values, all else empty",
    settings: { patchResponse: "sparse" },
    third: 2,
  },
  {
    what: "leaves out all that is empty or did not change",
    settings: { omitEmpty: true, patchResponse: "sparse" },
  },
];

const maskServers: readonly Mode[] = [
  { what: "refuses camelCase masks", settings: { maskSpelling: "snake" } },
  { what: "takes only the other names of camelCase masks", settings: { maskSpelling: "drop" } },
  { what: "ignores camelCase masks", settings: { maskSilent: true } },
];

describe.each(spreadOf([...terse, ...maskServers], 2, 0))("a server that $what", ({ settings, third }) => {
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

  test.each(spreadOf(samples, 4, 0).map((sample) => [sample.label, sample] as const))(
    "holds %s as declared: created, unchanged, changed, cleared and deleted",
    async (label, sample: Sample) => {
      const handlers = stack.handlersOf(sample.kind);
      const args = declared(label, sample, sample.args)[label]?.args ?? {};
      const inputs = await stack.resolved(args);
      const life = await Life.begin(handlers, inputs);
      emulator.clearRequests();
      await handlers.update("not asked", inputs, inputs);
      expect(emulator.requests).toEqual([]);
      for (const field of sample.fields.filter((_, i) => third === undefined || i % 3 === third)) {
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

const firstUpdates = [{ what: "takes camelCase masks", settings: {} }, ...maskServers].flatMap(
  ({ what, settings }) =>
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
  "a server that $what takes $to.path ($to.to) with $other.path",
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
