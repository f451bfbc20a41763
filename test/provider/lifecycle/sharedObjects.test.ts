import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../../emulator";
import { onSameObject } from "../../../provider/fields/resourceSpec";
import { ProgramRecord } from "../../../provider/lifecycle/context";
import type { PartialFailure } from "../../../provider/lifecycle/messages";
import type { Props } from "../../../provider/fields/values";
import { kinds } from "../../../provider/kinds";
import type { Declaration } from "../../support/engine";
import { ownOf, samples, surroundings } from "../../support/samples";
import type { Sample } from "../../support/samples";
import { startSeededEmulator } from "../support/seededEmulator";
import { clientOf, errorOf, tokensOf } from "../support/server";
import { specOf } from "../support/samples";
import { handlersAt } from "../support/handlerStack";

/* Two creates, or adoptions, of one process that would end with one object, against the emulator. */

let emulator: Emulator;
let idsOfSurroundings: Readonly<Record<string, string>>;
let ids: Record<string, string>;
let program: ProgramRecord;

beforeAll(async () => {
  ({ emulator, ids: idsOfSurroundings } = await startSeededEmulator(surroundings));
});
beforeEach(() => {
  emulator.reset();
  ids = { ...idsOfSurroundings };
  program = new ProgramRecord();
});
afterAll(() => emulator.close());

function handlers(kind: string) {
  const client = clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(emulator.token)) });
  return handlersAt(kind, client, { program });
}

function resolved(args: Record<string, unknown>, own: string): Props {
  const text = JSON.stringify(args).replaceAll("${own}", `\${${own}}`);
  return JSON.parse(text.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => ids[name] ?? "missing")) as Props;
}

async function make(name: string, { kind, args }: Declaration): Promise<void> {
  ids[name] = (await handlers(kind).create(resolved(args, ""))).id;
}

async function prepared({ label, own, args }: Sample): Promise<Props> {
  if (own) await make(ownOf(label), own);
  emulator.clearRequests();
  return resolved(args, ownOf(label));
}

/** One sample of each kind. */
const each = kinds.flatMap(({ spec }) => {
  const sample = samples.find(({ kind }) => kind === spec.kind);
  return sample ? [[spec.kind, sample] as const] : [];
});
const singular = each.filter(
  ([kind]) => specOf(kind).sharesParentUid === true || specOf(kind).identifiedBy !== undefined,
);
const others = each.filter((one) => !singular.includes(one));

describe.each(others)("two equal resources of the kind %s", (kind, sample) => {
  test("stay two if a server returns one uid for both", async () => {
    const inputs = await prepared(sample);
    const { id } = await handlers(kind).create(inputs);
    const held = Object.values(emulator.state())
      .flat()
      .find(({ uid }) => uid === id);
    emulator.addFault({ method: "POST", count: 1, status: 200, body: held, applied: true });
    const outcome = await handlers(kind)
      .create(inputs)
      .catch((error: unknown) => error as Partial<PartialFailure> & Error);
    // What is answered once is lost with the response; some names are taken once only.
    if (outcome instanceof Error && outcome.id === undefined) expect(outcome.message).toMatch(/creating/);
    else expect(outcome.id).not.toBe(id);
  });
});

test("the page of resources says what each kind does under a new name", () => {
  const page = readFileSync(join(__dirname, "../../../docs/resources.md"), "utf8");
  const [, table = ""] = page.split("## When a resource gets another name");
  const beginnings = {
    overwritten: "The new resource takes the object over",
    takenOverIfEqual: "The same where the object is equal",
    refused: "Refused",
    another: "A new object with a new uid",
  };
  for (const { spec } of kinds) {
    const [row] = table.split("\n").filter((line) => line.split("|")[1]?.includes(`\`${spec.kind}\``));
    expect([spec.kind, row?.split("|")[2]?.trim()]).toEqual([
      spec.kind,
      expect.stringMatching(new RegExp(`^${beginnings[onSameObject(spec)]}`)),
    ]);
  }
});

describe("a kind whose parent can have each object once", () => {
  const unique = each.filter(([kind]) => onSameObject(specOf(kind)) === "takenOverIfEqual");

  /** A later run: nothing of an earlier one is known. */
  const laterRun = (kind: string, lines: string[], program = new ProgramRecord()) => {
    const client = clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(emulator.token)) });
    return handlersAt(kind, client, { program, warn: (line) => lines.push(line) });
  };

  test.each(unique)("%s: adopts an equal object of another run, and says so", async (kind, sample) => {
    const inputs = await prepared(sample);
    const { id } = await handlers(kind).create(inputs);
    const lines: string[] = [];
    expect(await laterRun(kind, lines).create(inputs)).toMatchObject({ id });
    expect(lines).toEqual([expect.stringContaining(`${id} already exists and is equal, so it is adopted`)]);
  });

  test.each(unique)(
    "%s: refuses an object that another resource of the program manages",
    async (kind, sample) => {
      const inputs = await prepared(sample);
      const { id, outs } = await handlers(kind).create(inputs);
      const lines: string[] = [];
      const run = laterRun(kind, lines);
      run.check(inputs, inputs);
      run.diff(outs, inputs, id);
      const error = await errorOf(run.create(inputs));
      expect(error.message).toContain("ALREADY_EXISTS");
      expect(error.message).toContain('aliases: [{ name: "<old name>" }]');
      expect(lines).toEqual([]);
    },
  );
});
