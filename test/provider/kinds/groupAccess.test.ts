import { startEmulator } from "../../../emulator";
import type { Emulator, Fault } from "../../../emulator";
import { ProgramRecord } from "../../../provider/lifecycle/programRecord";
import type { Handlers } from "../../../provider/lifecycle/handlers";
import { PartialFailure } from "../../../provider/lifecycle/messages";
import type { Props } from "../../../provider/fields/values";
import { jwt } from "../../support/oidc";
import { call } from "../../support/wire";
import { clientOf, errorOf, tokensOf } from "../support/server";
import { handlersAt } from "../support/handlerStack";
import { specOf } from "../support/samples";

let emulator: Emulator;
let org: string;
let team: string;
/** Uids of identities and roles, by name. */
let uids: Record<string, string>;
let slept: number[];
let warned: string[];

const uidOf = (name: string): string => uids[name] ?? name;
const make = async (path: string, body: unknown): Promise<string> =>
  String((await call(emulator, "POST", path, body))["uid"]);
const grant = (who: string, role: string) => ({ identityUid: uidOf(who), roleUid: uidOf(role) });
const bindByHand = (who: string, role: string, at = team) =>
  make(`/iam/v2/roleBindings/${at}`, grant(who, role));

beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator.close());

/** An organisation with a team, in which nobody has access. */
async function begin(): Promise<void> {
  emulator.reset();
  emulator.clearFaults();
  slept = [];
  warned = [];
  org = await make("/iam/v2/groups", { name: "org" });
  team = await make(`/iam/v2/groups/${org}`, { name: "team" });
  uids = {};
  const { roles } = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
  for (const { name, uid } of roles as { name: string; uid: string }[]) uids[name] = uid;
  for (const name of ["alice", "bob", "carol"]) uids[name] = await identity(name);
  emulator.clearRequests();
}
beforeEach(begin);

function identity(name: string): Promise<string> {
  return make(`/iam/v2/identities/${org}`, {
    name,
    claimMatch: { issuer: "https://issuer.example.com", subject: name },
  });
}

/**
 * The handlers with the emulator's own token; to tell whose token it is, they are asked about a token that
 * names the caller.
 */
function handlers({
  caller,
  claims,
  beforePost,
  made = [],
  record = new ProgramRecord(),
}: {
  caller?: string;
  claims?: object;
  beforePost?: (count: number) => Promise<unknown>;
  /** The uids of groups that this run has made. */
  made?: readonly string[];
  record?: ProgramRecord;
} = {}): Handlers {
  const client = clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(emulator.token)) });
  const told = claims ?? (caller === undefined ? undefined : { iss: emulator.url, sub: uidOf(caller) });
  const of = clientOf(emulator, { tokens: tokensOf(() => Promise.resolve(told ? jwt(told) : "opaque")) });
  client.getCallerClaims = () => of.getCallerClaims();
  for (const uid of made) client.noteCreated(uid);
  if (beforePost) {
    const post = client.post.bind(client);
    let count = 0;
    client.post = async (...args) => {
      await beforePost((count += 1));
      return post(...args);
    };
  }
  return handlersAt("GroupAccess", client, {
    record,
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
    warn: (line) => warned.push(line),
  });
}

const inputs = (grants: Readonly<Record<string, readonly [string, string]>>, more: Props = {}): Props => ({
  parentUid: team,
  bindings: Object.fromEntries(
    Object.entries(grants).map(([label, [who, role]]) => [label, grant(who, role)]),
  ),
  ...more,
});

const nameOf = (uid: unknown): string =>
  Object.entries(uids).find(([, known]) => known === uid)?.[0] ?? String(uid);
const held = (): string[] =>
  (emulator.state()["roleBindings"] ?? [])
    .filter(({ uid }) => String(uid).startsWith(`${team}/`))
    .map(({ identityUid, roleUid }) => `${nameOf(identityUid)} ${nameOf(roleUid)}`)
    .sort();
const writes = () =>
  emulator.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
const batches = () =>
  emulator.requests
    .filter(({ path }) => path.endsWith(":batchCreate"))
    .map(({ body }) => (body as { requests: unknown[] }).requests.length);
const inForce = (fault: Fault) => emulator.addFault(fault);
const refusal = { status: 403, body: { code: 7, message: "no", details: [] } };
const readLabels = async (olds: Props): Promise<string[]> =>
  Object.keys(((await handlers().read(team, olds)).inputs?.["bindings"] ?? {}) as object);

/** What a run that fails in part records. */
async function partial(run: Promise<unknown>): Promise<PartialFailure> {
  const error: Error = await errorOf(run);
  if (error instanceof PartialFailure) return error;
  throw error;
}

/** As many grants as wanted, each of its own. */
async function many(count: number): Promise<Record<string, readonly [string, string]>> {
  const grants: Record<string, readonly [string, string]> = {};
  const roles = Object.keys(uids).filter((name) => name.includes("."));
  for (let i = 0; Object.keys(grants).length < count; i += 1) {
    uids[`member ${i}`] = await identity(`member ${i}`);
    for (const role of roles.slice(0, count - Object.keys(grants).length)) {
      grants[`${i} ${role}`] = [`member ${i}`, role];
    }
  }
  emulator.clearRequests();
  return grants;
}

describe("creating the access of a group", () => {
  test("sends batches of 25, one first and the others at once", async () => {
    const wanted = inputs(await many(110));
    emulator.settings({ latencyMs: 200 });
    await expect(handlers().create(wanted)).resolves.toEqual({ id: team, outs: wanted });
    expect(batches()).toEqual([25, 25, 25, 25, 10]);
    expect(held()).toHaveLength(110);
    expect(emulator.requests).toHaveLength(6);
    expect(emulator.maxInFlight).toBe(4);
    const again = await handlers().read(team, wanted);
    expect(again).toEqual({ id: team, inputs: wanted, props: wanted });
    expect(warned).toEqual([]);
  });

  test("adopts existing bindings, also if a response has only uids or only whole objects", async () => {
    await bindByHand("alice", "viewer");
    for (const bindingResponse of ["flat", "hydrated", "both"] as const) {
      emulator.settings({ bindingResponse });
      emulator.clearRequests();
      await handlers().create(inputs({ a: ["alice", "viewer"] }));
      expect(writes()).toEqual([]);
    }
  });

  test("names the binding that a batch was refused for, and records the created ones", async () => {
    const grants = await many(60);
    const labels = Object.keys(grants);
    const wrong = labels[40] ?? "";
    grants[wrong] = ["0".repeat(40), "viewer"];
    const { id, message, properties } = await partial(handlers().create(inputs(grants)));
    expect(message).toContain(
      `creating binding ${JSON.stringify(wrong)} of group ${team}: INVALID_ARGUMENT (HTTP 400)`,
    );
    expect(message).toContain(`identityUid: identity "${"0".repeat(40)}" does not exist`);
    expect(id).toBe(team);
    const stored = Object.keys(properties["bindings"] as object);
    expect(stored).toHaveLength(held().length);
    expect(stored).toEqual(expect.arrayContaining(labels.slice(0, 25)));
    expect(stored).not.toContain(wrong);
    // The others of the refused batch are created.
    expect(held()).toHaveLength(59);

    grants[wrong] = ["alice", "viewer"];
    await expect(handlers().update(team, properties, inputs(grants))).resolves.toEqual(inputs(grants));
    expect(held()).toHaveLength(60);
  });

  test("below a new group waits until the group can be used", async () => {
    inForce({ path: ":batchCreate", ...refusal, count: 1 });
    inForce({ method: "POST", path: `/iam/v2/roleBindings/${team}`, ...refusal, count: 1 });
    await handlers({ made: [team] }).create(inputs({ a: ["alice", "viewer"] }));
    expect(slept).toEqual([2000]);
    expect(held()).toEqual(["alice viewer"]);
  });
});

describe("a lost response", () => {
  test("looks for the bindings, and creates none twice", async () => {
    const wanted = inputs(await many(60));
    inForce({ path: ":batchCreate", close: "after", count: 2 });
    await expect(handlers().create(wanted)).resolves.toEqual({ id: team, outs: wanted });
    expect(held()).toHaveLength(60);
    expect(new Set(held()).size).toBe(60);
    expect(slept).toEqual([500, 500]);
    // What is there is listed before, and after each lost response.
    expect(emulator.requests.filter(({ method }) => method === "GET")).toHaveLength(3);
  });

  test("leaves a binding that appears after it was sent again: both are deleted with the grant", async () => {
    inForce({ path: ":batchCreate", close: "before", count: 1 });
    const late = handlers({
      beforePost: (count) => (count === 2 ? bindByHand("alice", "viewer") : Promise.resolve()),
    });
    const wanted = inputs({ a: ["alice", "viewer"], b: ["bob", "viewer"] });
    await late.create(wanted);
    expect(batches()).toEqual([2, 2]);
    // Nobody can tell which of the two another program has in its state.
    expect(writes().filter((line) => line.startsWith("DELETE"))).toEqual([]);
    expect(held()).toEqual(["alice viewer", "alice viewer", "bob viewer"]);
    expect(await readLabels(wanted)).toEqual(["a", "b"]);
    await handlers().delete(team, wanted);
    expect(held()).toEqual([]);
  });

  test("beside a refused binding is not sent again: the run fails, and the next one creates the rest", async () => {
    const grants = await many(60);
    const wrong = Object.keys(grants)[55] ?? "";
    grants[wrong] = ["0".repeat(40), "viewer"];
    inForce({ path: ":batchCreate", close: "before", after: 1, count: 1 });
    const { properties } = await partial(handlers().create(inputs(grants)));
    expect(held()).toHaveLength(60 - 25 - 1);
    grants[wrong] = ["alice", "viewer"];
    await handlers().update(team, properties, inputs(grants));
    expect(held()).toHaveLength(60);
  });

  test("that cannot be looked for says so, and the next run adopts what exists", async () => {
    inForce({ method: "POST", path: `/iam/v2/roleBindings/${team}`, close: "after", count: 1 });
    inForce({ method: "GET", path: "/iam/v2/roleBindings", after: 1, status: 500, body: "" });
    const wanted = inputs({ a: ["alice", "viewer"] });
    expect((await errorOf(handlers().create(wanted))).message).toMatch(
      /a response was lost .* the search for what was created failed .* run again: bindings that exist are not created twice$/,
    );
    emulator.clearFaults();
    await handlers().create(wanted);
    expect(held()).toEqual(["alice viewer"]);
  });
});

describe("reading the access of a group", () => {
  test("shows other bindings by their names, under stable and unique labels", async () => {
    await bindByHand("alice", "viewer");
    await bindByHand("bob", "viewer");
    const olds = inputs({ "alice views": ["alice", "viewer"] });
    expect(await readLabels(olds)).toEqual(["alice views", "unmanaged: bob as viewer"]);
    uids["bob two"] = await identity("bob");
    await bindByHand("bob two", "viewer");
    const { inputs: first } = await handlers().read(team, olds);
    const labels = Object.keys(first?.["bindings"] as object);
    expect(labels).toHaveLength(3);
    expect(
      labels.filter((label) => /^unmanaged: bob as viewer( \([0-9a-f]{8}\))?$/.test(label)),
    ).toHaveLength(2);
    // One of them gone, the other keeps the label that it had.
    const [, kept] = Object.entries(first?.["bindings"] as Record<string, Props>).filter(
      ([label]) => label !== "alice views",
    );
    for (const { uid, identityUid } of emulator.state()["roleBindings"] ?? []) {
      if (identityUid !== kept?.[1]["identityUid"] && identityUid !== uids["alice"]) {
        await call(emulator, "DELETE", `/iam/v2/roleBindings/${String(uid)}`);
      }
    }
    expect(await readLabels(first ?? {})).toEqual(["alice views", kept?.[0]]);
  });

  test("by uid alone returns every binding, under a label that a program may have", async () => {
    await bindByHand("alice", "viewer");
    expect(await readLabels({})).toEqual(["alice as viewer"]);
  });

  test("leaves out bindings that ignore matches by identity, role or whole name, never the program's", async () => {
    await bindByHand("alice", "viewer");
    await bindByHand("bob", "editor");
    await bindByHand("carol", "owner");
    // A server that filters nothing shows those of other groups.
    await bindByHand("alice", "owner", org);
    inForce({ path: "/iam/v2/roleBindings", body: await call(emulator, "GET", "/iam/v2/roleBindings") });
    const own = inputs({ a: ["alice", "viewer"] });
    const shown = (ignore: Props) => readLabels({ ...own, ignore });
    expect(await shown({ identityUids: [uidOf("bob")], roleUids: [uidOf("owner")] })).toEqual(["a"]);
    expect(await shown({ namePatterns: [".* as (owner|viewer)"] })).toEqual([
      "a",
      "unmanaged: bob as editor",
    ]);
    expect(await shown({ namePatterns: ["bob", "carol as own"] })).toHaveLength(3);
  });
});

describe("changing the access of a group", () => {
  test("keeps bindings that no refresh has shown", async () => {
    const olds = inputs({ a: ["alice", "viewer"] });
    await handlers().create(olds);
    await bindByHand("bob", "viewer");
    await handlers().update(team, olds, inputs({ c: ["carol", "viewer"] }));
    expect(held()).toEqual(["bob viewer", "carol viewer"]);
    expect(warned).toEqual([
      expect.stringContaining(" holds a binding that its GroupAccess does not declare: bob as v"),
    ]);
  });

  test("keeps what ignore matches now, though a refresh has shown it", async () => {
    await bindByHand("bob", "viewer");
    const own = inputs({});
    const { inputs: shown } = await handlers().read(team, own);
    await handlers().update(team, shown ?? {}, { ...own, ignore: { identityUids: [uidOf("bob")] } });
    expect(held()).toEqual(["bob viewer"]);
    await handlers().update(team, shown ?? {}, own);
    expect(held()).toEqual([]);
  });

  test("adopts a binding that was created by hand, without a request", async () => {
    await bindByHand("bob", "viewer");
    const { inputs: shown } = await handlers().read(team, inputs({}));
    emulator.clearRequests();
    const news = inputs({ b: ["bob", "viewer"] });
    await expect(handlers().update(team, shown ?? {}, news)).resolves.toEqual(news);
    expect(emulator.requests).toEqual([]);
  });

  test("leaves a binding that a RoleBinding of the program has by now", async () => {
    const olds = inputs({ a: ["alice", "viewer"], b: ["bob", "viewer"] });
    await handlers().create(olds);
    const record = new ProgramRecord();
    const bindings = (emulator.state()["roleBindings"] ?? []) as { uid: string; identityUid: string }[];
    const own = bindings.find(({ identityUid }) => identityUid === uidOf("alice"));
    record.claim(specOf("RoleBinding"), own?.uid ?? "", "grant");
    await handlers({ record }).update(team, olds, inputs({}));
    expect(held()).toEqual(["alice viewer"]);
  });

  test("deletes nothing if a create fails", async () => {
    const olds = inputs({ a: ["alice", "viewer"] });
    await handlers().create(olds);
    const news = inputs({ a: ["alice", "0".repeat(40)], b: ["bob", "viewer"] });
    expect((await errorOf(handlers().update(team, olds, news))).message).toContain('creating binding "a"');
    expect(held()).toContain("alice viewer");
  });

  test("that fails half way records the old and the new, and finishes later", async () => {
    const olds = inputs({ a: ["alice", "viewer"], b: ["bob", "viewer"] });
    await handlers().create(olds);
    const news = inputs({ a: ["alice", "editor"] });
    inForce({ method: "DELETE", after: 1, ...refusal });
    const { properties } = await partial(handlers().update(team, olds, news));
    const stored = Object.values(properties["bindings"] as Record<string, Props>);
    expect(
      stored.map(({ identityUid, roleUid }) => `${nameOf(identityUid)} ${nameOf(roleUid)}`).sort(),
    ).toEqual(held());
    expect(held()).toHaveLength(2);
    emulator.clearFaults();
    await expect(handlers().update(team, properties, news)).resolves.toEqual(news);
    expect(held()).toEqual(["alice editor"]);
  });

  test("that fails for several reasons names each of them", async () => {
    const olds = inputs({ a: ["alice", "viewer"], b: ["bob", "viewer"] });
    await handlers().create(olds);
    inForce({ method: "DELETE", count: 1, ...refusal });
    inForce({ method: "DELETE", count: 1, status: 400, body: { code: 3, message: "bad", details: [] } });
    const error = await errorOf(handlers().update(team, olds, inputs({ c: ["alice", "editor"] })));
    expect(error).toMatchObject({ errorCode: "PP4012" });
    const failures = error.message.split("\n").filter((line) => line.startsWith("deleting binding"));
    expect(failures).toEqual([expect.stringContaining("403"), expect.stringContaining("400")]);
    expect(held()).toEqual(["alice editor", "alice viewer", "bob viewer"]);
  });
});

describe("the caller's own rights", () => {
  const message = async (
    before: Readonly<Record<string, readonly [string, string]>>,
    after: Readonly<Record<string, readonly [string, string]>>,
    options: Parameters<typeof handlers>[0] & { more?: Props },
  ): Promise<string | undefined> => {
    const olds = inputs(before);
    await handlers().create(olds);
    emulator.clearRequests();
    const there = held();
    try {
      await handlers(options).update(team, olds, inputs(after, options.more));
      return undefined;
    } catch (error) {
      expect(held()).toEqual(there);
      expect(writes()).toEqual([]);
      return (error as Error).message;
    }
  };

  test("are not removed: the message names binding, right and caller", async () => {
    expect(await message({ me: ["alice", "owner"] }, {}, { caller: "alice" })).toBe(
      `removing binding "me" of group ${team}: it takes CAP_IAM_ROLE_BINDINGS_CREATE and CAP_IAM_ROLE_BINDINGS_DELETE from the caller itself (${uidOf("alice")}); nothing was changed: keep such a binding there or above, let another identity do it, or set allowSelfRemoval to true`,
    );
  });

  test("are not taken for none where the address of a role is wrong", async () => {
    inForce({
      method: "GET",
      path: "/iam/v2/roles/",
      status: 404,
      body: { code: 5, message: "Not Found", details: [] },
    });
    expect(await message({ me: ["alice", "viewer"] }, {}, { caller: "alice" })).toContain(
      "no such API endpoint",
    );
  });

  test("are kept by another binding there or above", async () => {
    const caller = "alice";
    await bindByHand("alice", "limited_owner", org);
    expect(await message({ me: ["alice", "owner"] }, {}, { caller })).toContain(
      "it takes CAP_IAM_ROLE_BINDINGS_DELETE from",
    );
    await bindByHand("alice", "owner", org);
    expect(await message({ me: ["alice", "owner"] }, {}, { caller })).toBeUndefined();
    const both = { me: ["alice", "owner"], too: ["alice", "viewer"] } as const;
    expect(await message(both, { me: ["alice", "owner"] }, { caller })).toBeUndefined();
  });

  test("are those of a person whom the token names by issuer and subject", async () => {
    const claims = { iss: "https://issuer.example.com", sub: "alice" };
    const { uid } = await call(
      emulator,
      "GET",
      "/iam/v2/identities:lookupIdentity?issuer=https%3A%2F%2Fissuer.example.com&subject=alice",
    );
    uids["person"] = String(uid);
    expect(await message({ me: ["person", "owner"] }, {}, { claims })).toContain("from the caller itself");
  });

  test.each<[string, readonly [string, string], string | undefined, Props]>([
    ["where that is allowed", ["alice", "owner"], "alice", { allowSelfRemoval: true }],
    ["of others", ["bob", "owner"], "alice", {}],
    ["where they give no right to manage bindings", ["bob", "viewer"], "bob", {}],
    ["where the token does not say who the caller is", ["bob", "owner"], undefined, {}],
  ])("may be removed %s", async (_what, grant, caller, more) => {
    expect(await message({ b: grant }, {}, { caller, more })).toBeUndefined();
  });

  test("stop a delete too, which says how to go on", async () => {
    const olds = inputs({ me: ["alice", "owner"] });
    await handlers().create(olds);
    const error = await errorOf(handlers({ caller: "alice" }).delete(team, olds));
    expect(error).toMatchObject({ errorCode: "PP4011" });
    expect(error.message).toMatch(
      /or set allowSelfRemoval to true: on the GroupAccess that takes its place, or on this one in an up before$/,
    );
    await handlers({ caller: "alice" }).delete(team, { ...olds, allowSelfRemoval: true });
    expect(held()).toEqual([]);
  });
});

test.each<[string, Props, boolean]>([
  ["lets the caller lose its own bindings", { allowSelfRemoval: true }, true],
  ["of another group allows nothing here", { allowSelfRemoval: true, parentUid: "other" }, false],
  ["allows nothing unless it says so", {}, false],
])("the GroupAccess that takes the place of one with another name %s", async (_what, more, isAllowed) => {
  const olds = inputs({ me: ["alice", "owner"], b: ["bob", "viewer"] });
  await handlers().create(olds);
  const elsewhere = more["parentUid"] && {
    parentUid: await make(`/iam/v2/groups/${org}`, { name: "other" }),
  };
  const news = inputs({ b: ["bob", "viewer"] }, { ...more, ...elsewhere });
  const run = handlers({ caller: "alice", record: new ProgramRecord() });
  run.check({}, news);
  await run.create(news);
  const deleting = run.delete(team, olds);
  if (isAllowed) await deleting;
  else expect(await errorOf(deleting)).toMatchObject({ errorCode: "PP4011" });
  expect(held()).toEqual(isAllowed ? ["bob viewer"] : ["alice owner", "bob viewer"]);
});

describe("deleting the access of a group", () => {
  test("of a deleted group succeeds", async () => {
    const gone = `${org}/${"0".repeat(16)}`;
    await handlers().delete(gone, { ...inputs({ a: ["alice", "viewer"] }), parentUid: gone });
    expect(writes()).toEqual([]);
  });
});

describe("destroying after a run that failed at any of its requests", () => {
  const NOBODYS = "carol registry.pull";
  const olds = () =>
    inputs({ deployer: ["alice", "viewer"], reader: ["bob", "viewer"], ops: ["bob", "owner"] });
  /** A label that goes to another grant, labels that are exchanged, one that is gone, and a new one. */
  const news = () =>
    inputs({
      deployer: ["carol", "viewer"],
      reader: ["bob", "owner"],
      "deployer (replaced)": ["bob", "editor"],
    });
  const failures: readonly (readonly [string, Fault])[] = [
    ["is refused", { ...refusal, count: 1 }],
    ["is lost, as all after it are", { close: "before" }],
    ["takes effect without a response", { close: "after", count: 1 }],
    ["takes effect without a response, as all after it do", { close: "after" }],
  ];
  type Run = () => Promise<Props>;
  const allowed = () => ({ ...news(), allowSelfRemoval: true });
  const runs: readonly (readonly [string, boolean, Run])[] = [
    ["a create", false, async () => (await handlers().create(allowed())).outs],
    ["an update", true, () => handlers().update(team, olds(), allowed())],
  ];

  /** What the engine records of a run: its outputs, those of a partial failure, or what was recorded before. */
  async function recordedBy(run: Run, before: Props | undefined): Promise<Props | undefined> {
    try {
      return await run();
    } catch (error) {
      return error instanceof PartialFailure ? error.properties : before;
    }
  }

  async function prepare(isUpdate: boolean): Promise<void> {
    await begin();
    if (isUpdate) await handlers().create(olds());
    await bindByHand("carol", "registry.pull");
    emulator.clearRequests();
  }

  const cases = runs.flatMap(([run, isUpdate, action]) =>
    failures.flatMap(([failure, fault]) =>
      [false, true].map((refreshes) => ({ run, failure, fault, action, isUpdate, refreshes })),
    ),
  );

  test.each(cases)(
    "leaves nothing that the resource made, and takes nothing else: $run, a request of which $failure, refreshed: $refreshes",
    async ({ fault, action, isUpdate, refreshes }) => {
      await prepare(isUpdate);
      await action();
      const requests = emulator.requests.length;
      expect(requests).toBeGreaterThan(1);
      for (let after = 0; after < requests; after += 1) {
        await prepare(isUpdate);
        inForce({ ...fault, after });
        let recorded = await recordedBy(action, isUpdate ? olds() : undefined);
        emulator.clearFaults();
        if (refreshes && recorded) recorded = (await handlers().read(team, recorded)).props;
        if (recorded) await handlers().delete(team, { ...recorded, allowSelfRemoval: true });
        expect({ after, held: held() }).toEqual({ after, held: [NOBODYS] });
      }
    },
  );
});
