import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator, Fault } from "../../../emulator";
import { tokenSource } from "../../../provider/http/tokens";
import { AuthenticationError, ConfigError, ConnectionError } from "../../../provider/http/errors";
import { HandlerError, PartialFailure } from "../../../provider/lifecycle/messages";
import { aggregatedKind, createOnlyOutputs, onSameObject } from "../../../provider/fields/resourceSpec";
import type { Props } from "../../../provider/fields/values";
import { KeyedMutex } from "../../../provider/lifecycle/context";
import { ProgramRecord } from "../../../provider/lifecycle/programRecord";
import { kinds } from "../../../provider/kinds";
import { withUids } from "../../support/byHand";
import type { Declaration } from "../../support/engine";
import { ownOf, samples, surroundings } from "../../support/samples";
import type { Sample } from "../../support/samples";
import { startSeededEmulator } from "../support/seededEmulator";
import { clientOf, errorOf, htmlPage, tokensOf } from "../support/server";
import { specOf } from "../support/samples";
import { spreadOf } from "../../support/properties";
import { handlersAt } from "../support/handlerStack";

/** Every kind, with what a network and a server do to its requests, against the emulator over real sockets. */

let emulator: Emulator;
let idsOfSurroundings: Readonly<Record<string, string>>;
let ids: Record<string, string>;
let sleeps: number;
/** Runs when a handler waits, told how often it has. */
let onSleep: (count: number) => Promise<void>;

beforeAll(async () => {
  ({ emulator, ids: idsOfSurroundings } = await startSeededEmulator(surroundings));
});
beforeEach(() => {
  emulator.reset();
  ids = { ...idsOfSurroundings };
  sleeps = 0;
  onSleep = () => Promise.resolve();
});
afterAll(() => emulator.close());

function handlers(kind: string, maxRetries = 3, more: Parameters<typeof handlersAt>[2] = {}) {
  const client = clientOf(emulator, {
    maxRetries,
    tokens: tokenSource({ kind: "token", token: emulator.token, setting: "a test" }),
    policy: { firstDelayMs: 1, maxDelayMs: 2 },
    timeoutMs: 60_000,
  });
  const sleep = () => onSleep((sleeps += 1));
  return handlersAt(kind, client, { sleep, mutex: new KeyedMutex(), ...more });
}

function resolved(args: Record<string, unknown>, own: string): Props {
  return withUids(args, { ...ids, own: ids[own] ?? "missing" }) as Props;
}

async function make(name: string, { kind, args }: Declaration): Promise<void> {
  ids[name] = (await handlers(kind).create(resolved(args, ""))).id;
}

/** The arguments of a sample, with what it has for itself made. */
async function prepared({ label, own, args }: Sample): Promise<Props> {
  if (own) await make(ownOf(label), own);
  emulator.clearRequests();
  return resolved(args, ownOf(label));
}

/** All that the server holds; those that are parts of others as what they make of them. */
const held = () =>
  Object.values(emulator.state())
    .flat()
    .map((resource) => String(resource["uid"]))
    .sort();

const isOver = ({ kind }: Sample) => specOf(kind).operations?.takesOver === true;
const isSecret = ({ kind }: Sample) => createOnlyOutputs(specOf(kind)).length > 0;
/** The create of a sample; a readme's is a PATCH, and a token's goes to a method of its provider. */
const writes = (): number => emulator.requests.filter(({ method }) => method !== "GET").length;

const each = samples.map((sample, index) => [sample.label, sample, index] as const);
const lostOnes: readonly [string, Fault][] = [
  ["is cut", { close: "after" }],
  ["is a page with 200", { status: 200, body: htmlPage, applied: true }],
  ["is half of an object", { status: 200, body: '{"uid": "', applied: true }],
  ["is an empty object", { status: 200, body: {}, applied: true }],
  ["is about something else", { status: 200, body: { uid: "0".repeat(40), name: "x" }, applied: true }],
  ["is a proxy's", { status: 502, body: htmlPage, applied: true }],
];

/** The partial failure that a promise ends in. */
async function partial(promise: Promise<unknown>): Promise<PartialFailure> {
  const error: unknown = await errorOf(promise);
  if (error instanceof PartialFailure) return error;
  throw new Error(`no partial failure: ${String(error)}`);
}

/** A create of a sample, which must end with one resource in state and one at the server. */
async function expectOne(sample: Sample, inputs: Props, before: readonly string[]): Promise<void> {
  const creating = handlers(sample.kind).create(inputs);
  let id: string;
  if (isSecret(sample)) {
    const error = await partial(creating);
    expect(error).toMatchObject({ errorCode: "PP4003" });
    expect(error.message).toContain(
      "was lost, and that is returned only at creation: run again to replace it",
    );
    id = error.id;
    expect(handlers(sample.kind).diff(error.properties, inputs).changes).toBe(true);
  } else {
    ({ id } = await creating);
  }
  const isPart = specOf(sample.kind).sharesParentUid === true;
  const more = held().filter((uid) => !before.includes(uid));
  if (isPart) expect(id).toBe(inputs["parentUid"]);
  else expect(more).toEqual([id]);
  await expect(handlers(sample.kind).read(id, inputs)).resolves.toMatchObject({ id });
}

/** A kind that is made of others looks for those itself, and sends what is missing. */
const isResent = (sample: Sample): boolean =>
  isOver(sample) && aggregatedKind(specOf(sample.kind)) === undefined;

describe.each(each)("a create of %s whose response", (_label, sample, index) => {
  // What writes over what is there is simply sent again, unless what it got is none of the API's.
  const lost = isOver(sample) ? lostOnes.filter(([name]) => /cut|proxy|half/.test(name)) : lostOnes;
  test.each(spreadOf(lost, 2, index))("%s creates one resource", async (_name, fault) => {
    const inputs = await prepared(sample);
    const before = held();
    emulator.addFault({ method: sample.writing?.create ?? "POST", count: 1, ...fault });
    await expectOne(sample, inputs, before);
    expect(writes()).toBe(isResent(sample) ? 2 : 1);
  });

  test("is lost, and that takes effect after the first lookup, creates one resource", async () => {
    const inputs = await prepared(sample);
    const before = held();
    const method = sample.writing?.create ?? "POST";
    emulator.addFault({ method, count: 1, close: "after", effectAfterMs: 5 });
    // A kind that is made of others looks once before it sends what is missing.
    const lastLook = aggregatedKind(specOf(sample.kind)) === undefined ? 2 : 1;
    onSleep = async (count) => {
      const lost = emulator.requests.find((request) => request.method === method);
      while (count === lastLook && lost?.rpc === undefined) await new Promise(setImmediate);
    };
    // Without an effect yet: the first look comes at once.
    await expectOne(sample, inputs, before);
    expect(writes()).toBe(isResent(sample) ? 2 : 1);
  });
});

describe.each(each)("a create of %s", (_label, sample) => {
  test("that is refused after it was sent again is looked for once more", async () => {
    if (isOver(sample)) return;
    const inputs = await prepared(sample);
    const before = held();
    emulator.addFault({ method: "POST", count: 1, close: "before" });
    emulator.addFault({
      method: "POST",
      count: 1,
      status: 409,
      body: { code: 6, message: "exists", details: [] },
      applied: true,
    });
    await expectOne(sample, inputs, before);
  });
});

const foreign: readonly [string, unknown][] = [
  ["a page", htmlPage],
  ["a list", []],
  ["null", "null"],
  ["an empty object", {}],
  ["an object of another API", { id: 7, login: "octocat", items: [] }],
  ["a resource with another uid", { uid: `${"1".repeat(40)}/${"2".repeat(16)}`, name: "other" }],
];

/** An answer about the resource, in which each field has a type that is not its own. */
function misshapen(sample: Sample, id: string): Record<string, unknown> {
  const { fields, outputs } = specOf(sample.kind);
  const wrong = Object.entries({ ...fields, ...outputs })
    .filter(([, { path, subresource }]) => !path && !subresource)
    .map(([key, { wire = key, type }]): [string, unknown] => [
      wire,
      type === "object" || type === "map" ? "text" : { not: "it" },
    ]);
  // Where what a program sets is told by another object.
  return { uid: id, scim: "not an object", ...Object.fromEntries(wrong) };
}

describe.each(each)("a 200 that is not about %s", (_label, sample) => {
  // Terms are a list; so is what a page with its shape would be.
  const isList = sample.kind === "TermsAcceptance";

  test("is never the result of a read", async () => {
    const inputs = await prepared(sample);
    const { id } = await handlers(sample.kind).create(inputs);
    const bodies = [...foreign.map(([, body]) => body), ...(isList ? [] : [misshapen(sample, id)])];
    for (const body of bodies) {
      emulator.addFault({ status: 200, body });
      const error = await errorOf(handlers(sample.kind, 0).read(id, inputs));
      expect(error).toBeInstanceOf(HandlerError);
      expect(error.message).not.toContain("<html>");
      emulator.clearFaults();
    }
    await expect(handlers(sample.kind).read(id, inputs)).resolves.toMatchObject({ id });
  });
});

describe("writes", () => {
  test("of two stacks to one resource are not mixed silently: the later one reports what it found", async () => {
    const inputs: Props = { parentUid: ids["org"], name: "team", description: "one" };
    const { id, outs } = await handlers("Group").create(inputs);
    await handlers("Group").update(id, outs, { ...inputs, description: "of another stack" });
    const error = await partial(handlers("Group").update(id, outs, { ...inputs, name: "crew" }));
    expect(error.message).toBe(
      `group "crew" ${id}: updated, but someone else changed description (the server has "of another stack") since the last run: run again to restore what the program sets, unless another stack manages it too`,
    );
    const { properties } = error;
    // What others wrote is not recorded, so that drift finds it: the next run writes what differs from nothing.
    expect(properties).toEqual({ ...inputs, name: "crew", description: null });
    await expect(handlers("Group").update(id, properties, { ...inputs, name: "crew" })).resolves.toEqual({
      ...inputs,
      name: "crew",
    });
  });

  test("that follow a create that could not be read first read it", async () => {
    const inputs: Props = { parentUid: ids["org"], name: "team", description: "one" };
    emulator.addFault({ method: "POST", status: 200, body: {}, applied: true, count: 1 });
    const { id } = await handlers("Group").create(inputs);
    emulator.addFault({
      method: "POST",
      status: 200,
      applied: true,
      count: 1,
      body: { uid: `${ids["org"] ?? ""}/${"a".repeat(16)}` },
    });
    emulator.addFault({
      method: "GET",
      status: 403,
      body: { code: 7, message: "no", details: [] },
      count: 1,
    });
    const error = await partial(handlers("Group").create({ ...inputs, name: "other" }));
    expect(error.message).toMatch(/^group "other" was created as .*, but reading it back failed: .*HTTP 403/);
    expect(error.properties).toMatchObject({ ...inputs, name: "other", __unconfirmed: true });
    // As if it had been made so: what state holds was never confirmed.
    const olds = { ...error.properties, name: "something else" };
    emulator.clearRequests();
    await expect(handlers("Group").update(id, olds, inputs)).resolves.toEqual(inputs);
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
  });
});

describe("below a new root group", () => {
  const denied: Fault = { method: "POST", status: 403, body: { code: 7, message: "not yet", details: [] } };
  const refreshedBy = (refresh: () => Promise<void>) =>
    clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(emulator.token), { refresh }) });

  test("the token is exchanged once more before the create is repeated", async () => {
    const order: string[] = [];
    const refresh = jest.fn(() => {
      order.push("exchange");
      return Promise.resolve();
    });
    const groups = handlersAt("Group", refreshedBy(refresh), {
      sleep: (ms) => {
        order.push(String(ms));
        return Promise.resolve();
      },
    });
    const root = await groups.create({ name: "fresh" });
    emulator.addFault({ ...denied, count: 2 });
    const team = await groups.create({ parentUid: root.id, name: "team" });
    emulator.addFault({ ...denied, count: 1 });
    await groups.create({ parentUid: team.id, name: "below" });
    expect(order).toEqual(["exchange", "2000", "4000", "2000"]);
    emulator.addFault({ ...denied, count: 1 });
    // Not made by this run: the rights there are known.
    const elsewhere = handlers("Group").create({ parentUid: ids["org"], name: "elsewhere" });
    expect((await errorOf(elsewhere)).message).toContain("PERMISSION_DENIED");
    emulator.addFault({ ...denied, count: 1 });
    // A root has no group above.
    expect((await errorOf(groups.create({ name: "another" }))).message).toContain("PERMISSION_DENIED");
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  test.each([
    new ConnectionError("PP2101", "the token issuer: connection refused", "notSent", true),
    new AuthenticationError("PP2009", "exchanging the OIDC token: expired"),
    new ConfigError("PP2007", "the file that PLATFORM_OIDC_TOKEN_FILE names is gone", "CREDENTIAL"),
  ])("the token in use is kept where no new one can be had: %s", async (error) => {
    const refresh = jest.fn(() => Promise.resolve()).mockRejectedValueOnce(error);
    const warned: string[] = [];
    const groups = handlersAt("Group", refreshedBy(refresh), { warn: (line) => warned.push(line) });
    const root = await groups.create({ name: "fresh" });
    emulator.addFault({ ...denied, count: 3 });
    await groups.create({ parentUid: root.id, name: "team" });
    expect(warned).toEqual([
      `creating group "team" below ${root.id}: the token in use is kept, since no new one could be had: ${error.message}`,
    ]);
    // The next wait exchanged anew; later ones had nothing to learn.
    expect(refresh).toHaveBeenCalledTimes(2);
  });
});

/** One sample of each kind. */
const ofKinds = kinds.flatMap(({ spec }) => {
  const sample = samples.find(({ kind }) => kind === spec.kind);
  return sample ? [[spec.kind, sample] as const] : [];
});
const singular = ofKinds.filter(
  ([kind]) => specOf(kind).sharesParentUid === true || specOf(kind).identifiedBy !== undefined,
);
const others = ofKinds.filter((one) => !singular.includes(one));

describe.each(others)("two equal resources of the kind %s", (kind, sample) => {
  test("stay two if a server returns one uid for both", async () => {
    const inputs = await prepared(sample);
    const record = new ProgramRecord();
    const { id } = await handlers(kind, 0, { record }).create(inputs);
    const body = Object.values(emulator.state())
      .flat()
      .find(({ uid }) => uid === id);
    emulator.addFault({ method: "POST", count: 1, status: 200, body, applied: true });
    const outcome = await handlers(kind, 0, { record })
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
    takenOver: "The new resource takes the object over",
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
  const unique = ofKinds.filter(([kind]) => onSameObject(specOf(kind)) === "takenOverIfEqual");

  /** A later run: nothing of an earlier one is known. */
  const laterRun = (kind: string, lines: string[]) =>
    handlers(kind, 0, { record: new ProgramRecord(), warn: (line) => lines.push(line) });

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
