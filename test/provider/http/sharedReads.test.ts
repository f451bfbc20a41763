import type { Client, ClientOptions } from "../../../provider/http/client";
import { isNotFound } from "../../../provider/http/errors";
import { clientOf, failure, htmlPage, missing, promised, ScriptedServer } from "../support/server";
import type { Recorded, Reply } from "../support/server";
import { GROUP_UID } from "../support/samples";

let server: ScriptedServer;
// One for each test: pages that nobody waits for may still be asked for when a test has ended.
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.close());
afterEach(() => jest.restoreAllMocks());

const COLLECTION = "/iam/v2/roleBindings";
const uidOf = (n: number, parent = GROUP_UID): string => `${parent}/${n.toString(16).padStart(16, "0")}`;
const groupOf = (n: number): string => uidOf(0x1000 + n);

const isPage = ({ path }: Recorded): boolean => path === COLLECTION;
const kindOf = (request: Recorded): string => (isPage(request) ? "page" : "get");

/** Answers as the API does, from what is there. */
function holding(held: ReadonlySet<string>): (request: Recorded) => Reply {
  const sorted = [...held].sort();
  return (request) => {
    const { path, query } = request;
    if (!isPage(request)) {
      const uid = path.slice(COLLECTION.length + 1);
      return held.has(uid) ? { json: { uid, from: "get" } } : missing(uid);
    }
    const size = Number(query.get("page_size"));
    const there = sorted.filter((uid) => uid.startsWith(`${query.get("uidp.children_of")}/`));
    const start = Number(query.get("page_token") ?? 0);
    const end = start + size;
    return {
      json: {
        roleBindings: there.slice(start, end).map((uid) => ({ uid, from: "list" })),
        nextPageToken: end < there.length ? String(end) : "",
      },
    };
  };
}

function reading(options: Partial<ClientOptions> = {}) {
  const client = clientOf(server, options);
  return {
    client,
    read: (uid: string) => client.readShared(COLLECTION, uid),
    /** Reads in order, so many under way at once, as the engine does. */
    readAll: async (uids: readonly string[], parallel: number) => {
      const left = [...uids];
      const outcomes = new Map<string, PromiseSettledResult<Record<string, unknown>>>();
      await Promise.all(
        Array.from({ length: parallel }, async () => {
          for (let uid = left.shift(); uid !== undefined; uid = left.shift()) {
            const [outcome] = await Promise.allSettled([client.readShared(COLLECTION, uid)]);
            outcomes.set(uid, outcome);
          }
        }),
      );
      return outcomes;
    },
  };
}

const numbered = (count: number, parent?: string): string[] =>
  Array.from({ length: count }, (_, n) => uidOf(n, parent));

test("four reads below a parent are GETs, sent at once; the next ones share pages of its children", async () => {
  const gets = promised();
  const answer = holding(new Set(numbered(300)));
  server.script((request) => ({ ...answer(request), after: isPage(request) ? undefined : gets.promise }));
  const { read } = reading();
  const alone = numbered(4).map(read);
  await server.arrived(4);
  const others = [...numbered(8).slice(4), uidOf(299)].map(read);
  await expect(Promise.all(others.slice(0, 4))).resolves.toMatchObject(Array(4).fill({ from: "list" }));
  gets.keep();
  await expect(Promise.all(alone)).resolves.toMatchObject(Array(4).fill({ from: "get" }));
  // No page has shown it yet, and too few reads have come for another page.
  await expect(others[4]).resolves.toMatchObject({ uid: uidOf(299), from: "get" });
  expect(server.requests.map(kindOf)).toEqual(["get", "get", "get", "get", "page", "get"]);
  expect(Object.fromEntries(server.requests[4]?.query ?? [])).toEqual({
    "uidp.children_of": GROUP_UID,
    page_size: "200",
  });
});

test("a resource that pages omit is read alone: only a 404 with ResourceInfo means deleted", async () => {
  const hidden = uidOf(5);
  const answer = holding(new Set(numbered(5)));
  server.script((request) =>
    request.path.endsWith(hidden) ? { json: { uid: hidden, from: "get" } } : answer(request),
  );
  const { read } = reading();
  const [, , , , , shown, gone] = await Promise.allSettled([...numbered(5), hidden, uidOf(6)].map(read));
  expect(shown).toMatchObject({ status: "fulfilled", value: { from: "get" } });
  expect(gone?.status === "rejected" && isNotFound(gone.reason)).toBe(true);
});

test.each<[string, Reply]>([
  ["403", failure(7, "no")],
  ["a proxy's page", { status: 404, text: htmlPage }],
  ["another form", { json: { items: [] } }],
  ["objects of another form", { json: { roleBindings: [null, 5, { uid: 7 }] } }],
  ["a cut connection", { cut: "before" }],
])("a page that is refused (%s) falls back to single GETs, and none is tried again", async (_what, reply) => {
  const parents = [GROUP_UID, groupOf(1)];
  const uids = parents.flatMap((parent) => numbered(20, parent));
  const answer = holding(new Set(uids));
  server.script((request) => (isPage(request) ? reply : answer(request)));
  const outcomes = await reading().readAll(uids, 8);
  expect([...outcomes.values()].map(({ status }) => status)).toEqual(Array(40).fill("fulfilled"));
  expect(server.requests.map(kindOf).sort()).toEqual([...Array<string>(40).fill("get"), "page"]);
});

test("what is no uid is not put into a query", async () => {
  server.script(holding(new Set(numbered(6))));
  const { read } = reading();
  const outcomes = await Promise.allSettled([...numbered(5), "../roles", "x&y", "x/y", uidOf(5)].map(read));
  expect(outcomes.map(({ status }) => status === "rejected")).toEqual([
    ...Array<boolean>(5).fill(false),
    ...Array<boolean>(3).fill(true),
    false,
  ]);
  expect(server.requests.filter(isPage)).toHaveLength(1);
});

describe("the children of one parent", () => {
  test("a page without a response delays reads by at most a second", async () => {
    const answer = holding(new Set(numbered(60)));
    server.script((request) => (isPage(request) ? { silent: true } : answer(request)));
    const outcomes = await reading({ timeoutMs: 20_000 }).readAll(numbered(60), 8);
    expect(server.requests.filter(isPage)).toHaveLength(1);
    expect([...outcomes.values()].every(({ status }) => status === "fulfilled")).toBe(true);
  });

  test("a second read sends a new request: a cached response is used once", async () => {
    server.script(holding(new Set(numbered(100))));
    const { readAll, read } = reading();
    await readAll(numbered(100), 8);
    const before = server.requests.length;
    await expect(read(uidOf(99))).resolves.toEqual({ uid: uidOf(99), from: "get" });
    expect(server.requests.length).toBe(before + 1);
  });
});

describe("how old a cached response may be", () => {
  /** Has the children of the parent held: 40 of 200 are read, the pages are there. */
  async function walked() {
    server.script(holding(new Set(numbered(200))));
    const shared = reading();
    await shared.readAll(numbered(40), 8);
    expect(server.requests.some(isPage)).toBe(true);
    server.requests.length = 0;
    return shared;
  }

  test("ten seconds at most", async () => {
    const { read } = await walked();
    await expect(read(uidOf(50))).resolves.toEqual({ uid: uidOf(50), from: "list" });
    expect(server.requests).toHaveLength(0);
    const now = performance.now();
    jest.spyOn(performance, "now").mockImplementation(() => now + 10_001);
    await expect(read(uidOf(51))).resolves.toEqual({ uid: uidOf(51), from: "get" });
  });

  test.each<[string, (client: Client) => Promise<unknown>, Reply]>([
    [
      "update",
      (client) => client.patchAt(client.resourcePath(COLLECTION, uidOf(60)), { roleUid: "r" }, ["roleUid"]),
      { json: {} },
    ],
    ["create", (client) => client.create(COLLECTION, GROUP_UID, {}), { json: { uid: uidOf(60) } }],
    ["method", (client) => client.post(`${COLLECTION}/x:verb`, {}, { isIdempotent: true }), { json: {} }],
    [
      "update that fails",
      (client) => client.patchAt(client.resourcePath(COLLECTION, uidOf(60)), {}, []).catch(() => undefined),
      failure(13, "broken"),
    ],
  ])("never older than the client's own last write: %s", async (_what, write, reply) => {
    const { client, read } = await walked();
    const answer = holding(new Set(numbered(200)));
    server.script((request) => (request.method === "GET" ? answer(request) : reply));
    await write(client);
    await expect(read(uidOf(60))).resolves.toEqual({ uid: uidOf(60), from: "get" });
  });

  test("a page that was under way during a write is not used", async () => {
    const page = promised();
    const answer = holding(new Set(numbered(8)));
    server.script((request) =>
      request.method === "GET"
        ? { ...answer(request), after: isPage(request) ? page.promise : undefined }
        : { json: {} },
    );
    const { client, read } = reading();
    const reads = numbered(8).map(read);
    await server.arrived(5);
    await client.patchAt(client.resourcePath(COLLECTION, uidOf(7)), { roleUid: "r" }, ["roleUid"]);
    page.keep();
    await expect(reads[7]).resolves.toMatchObject({ from: "get" });
  });
});

describe("the number of requests", () => {
  test("where the server does not select by parent: one each, and one page", async () => {
    const answer = holding(new Set(numbered(100)));
    const others = { json: { roleBindings: numbered(200, groupOf(1)).map((uid) => ({ uid })) } };
    server.script((request) => (isPage(request) ? others : answer(request)));
    const outcomes = await reading().readAll(numbered(100), 8);
    for (const [uid, outcome] of outcomes) expect(outcome).toMatchObject({ value: { uid, from: "get" } });
    expect(server.requests).toHaveLength(101);
  });

  test("without batching: one each", async () => {
    server.script(holding(new Set(numbered(30))));
    await reading({ batching: false }).readAll(numbered(30), 8);
    expect(server.requests.map(kindOf)).toEqual(Array(30).fill("get"));
  });
});
