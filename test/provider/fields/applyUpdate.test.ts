import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { canonical } from "../../../provider/fields/equal";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { applyCreate, applyUpdate } from "../../../provider/fields/patch";
import { isObject } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import { isThorough, spreadOf } from "../../support/properties";
import { changeField, declared, propertyPathOf, samples, surroundings } from "../../support/samples";
import type { FieldCase, Sample } from "../../support/samples";
import { HandlerStack } from "../support/handlerStack";
import { specOf } from "../support/samples";

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

  test.each(spreadOf(written, 5, 0).map((sample) => [sample.label, sample] as const))(
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
