import type { ClientOptions } from "../../../provider/http/client";
import { hasCode, isNotFound } from "../../../provider/http/errors";
import { clientOf, errorOf, failure, htmlPage, missing, ScriptedServer } from "../support/server";
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

/** A promise that a test keeps. */
function promised(): { readonly promise: Promise<void>; keep: () => void } {
  let keep = (): void => undefined;
  const promise = new Promise<void>((resolve) => (keep = resolve));
  return { promise, keep: () => keep() };
}

const arrived = async (count: number): Promise<void> => {
  while (server.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
};

const idsOf = ({ query }: Recorded): string[] => query.getAll("uidp.ids");
const isList = ({ path }: Recorded): boolean => path === COLLECTION;
const isPage = ({ query }: Recorded): boolean => query.has("uidp.children_of");
const kindOf = (request: Recorded): string =>
  isPage(request) ? "page" : isList(request) ? `list of ${idsOf(request).length}` : "get";

/** Answers as the API does, from what is there. */
function holding(held: ReadonlySet<string>): (request: Recorded) => Reply {
  const sorted = [...held].sort();
  return (request) => {
    const { path, query } = request;
    if (!isList(request)) {
      const uid = path.slice(COLLECTION.length + 1);
      return held.has(uid) ? { json: { uid, from: "get" } } : missing(uid);
    }
    const size = Number(query.get("page_size"));
    const parent = query.get("uidp.children_of");
    const wanted = parent === null ? idsOf(request) : sorted.filter((uid) => uid.startsWith(`${parent}/`));
    const there = wanted.filter((uid) => held.has(uid));
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

test("a single read is a GET, sent at once", async () => {
  server.script(holding(new Set([uidOf(1)])));
  const { read } = reading();
  await expect(read(uidOf(1))).resolves.toEqual({ uid: uidOf(1), from: "get" });
  await read(uidOf(1));
  expect(server.requests.map(kindOf)).toEqual(["get", "get"]);
});

test("reads that arrive together, or while a request is under way, share a list", async () => {
  const first = promised();
  const answer = holding(new Set(numbered(8)));
  server.script((request) => ({ ...answer(request), after: isList(request) ? undefined : first.promise }));
  const { read } = reading();
  const alone = read(uidOf(7));
  await arrived(1);
  const reads = numbered(7).map(read);
  first.keep();
  expect((await Promise.all([...reads, alone])).map(({ uid }) => uid)).toEqual(numbered(8));
  expect(server.requests.map(kindOf).slice(0, 2)).toEqual(["get", "list of 7"]);
  expect(server.requests[1]?.query.get("page_size")).toBe("200");
});

test("two concurrent reads of a resource send one request", async () => {
  server.script(holding(new Set(numbered(3))));
  const { read } = reading();
  const both = await Promise.all([read(uidOf(2)), read(uidOf(2))]);
  expect(both.map(({ uid }) => uid)).toEqual([uidOf(2), uidOf(2)]);
  await Promise.all([read(uidOf(0)), read(uidOf(1)), read(uidOf(1))]);
  expect(server.requests.map(kindOf)).toEqual(["get", "list of 2"]);
});

test("a resource that a list omits is read alone: only a 404 with ResourceInfo means deleted", async () => {
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
  ["400", failure(3, "no")],
  ["501", failure(12, "Method Not Allowed")],
  ["500", failure(13, "broken")],
  ["a proxy's page", { status: 404, text: htmlPage }],
  ["another form", { json: { items: [] } }],
  ["a message that is too large", failure(8, "grpc: received message larger than max (5 vs. 4)")],
])("a list that is refused (%s) falls back to single GETs, and is not tried again", async (_what, reply) => {
  const answer = holding(new Set(numbered(20)));
  server.script((request) => (isList(request) ? reply : answer(request)));
  const { readAll } = reading();
  const outcomes = await readAll(numbered(20), 8);
  expect([...outcomes.values()].map(({ status }) => status)).toEqual(Array(20).fill("fulfilled"));
  expect(server.requests.filter(isList)).toHaveLength(1);
  expect(server.requests).toHaveLength(21);
});

test("an invalid uid is not put into the query of other reads", async () => {
  server.script(holding(new Set(numbered(6))));
  const { read } = reading();
  const outcomes = await Promise.allSettled([...numbered(5), "../roles", "x&y", uidOf(5)].map(read));
  expect(outcomes.map(({ status }) => status === "rejected")).toEqual([
    ...Array<boolean>(5).fill(false),
    true,
    true,
    false,
  ]);
  expect(server.requests.flatMap(idsOf)).toEqual(numbered(6));
});

test("an error of a GET behind a list is that resource's own", async () => {
  const answer = holding(new Set(numbered(4)));
  server.script((request) => (request.path.endsWith(uidOf(9)) ? failure(7, "no") : answer(request)));
  const { read } = reading();
  const outcomes = await Promise.allSettled([...numbered(4), uidOf(9)].map(read));
  expect(outcomes.map(({ status }) => status)).toEqual([...Array<string>(4).fill("fulfilled"), "rejected"]);
  const [last] = outcomes.slice(-1);
  expect(last?.status === "rejected" && hasCode(last.reason, "PERMISSION_DENIED")).toBe(true);
});

test.each<[string, Reply, string]>([
  ["a refused token", failure(16, "no"), "UNAUTHENTICATED"],
  ["a limit of requests", failure(8, "slow down"), "RESOURCE_EXHAUSTED"],
  ["a cut connection", { cut: "before" }, "the connection was reset"],
])("%s fails all reads that share a list, without further requests", async (_what, reply, message) => {
  const answer = holding(new Set(numbered(6)));
  server.script((request) => (isList(request) ? reply : answer(request)));
  const { read } = reading();
  const outcomes = await Promise.allSettled(numbered(6).map(read));
  for (const outcome of outcomes) {
    expect(outcome.status === "rejected" && (outcome.reason as Error).message).toContain(message);
  }
  expect(server.requests.map(kindOf)).toEqual(["list of 6"]);
});

test("slow responses delay other reads only briefly", async () => {
  const others = promised();
  const answer = holding(new Set(numbered(10)));
  server.script((request, count) => ({ ...answer(request), after: count < 1 ? others.promise : undefined }));
  const { read } = reading();
  const reads = numbered(2).map(read);
  await arrived(1);
  reads.push(...numbered(10).slice(2).map(read));
  expect((await Promise.all(reads.slice(2))).map(({ uid }) => uid)).toEqual(numbered(10).slice(2));
  others.keep();
  expect((await Promise.all(reads)).map(({ uid }) => uid)).toEqual(numbered(10));
});

test("requests without a response time out", async () => {
  server.script(() => ({ silent: true }));
  const { read } = reading({ timeoutMs: 80 });
  for (const stuck of numbered(2).map(read))
    expect((await errorOf(stuck)).message).toContain("no response in time");
});

test("an address stays short enough for any proxy", async () => {
  const deep = `${GROUP_UID}${"/00000000000000ff".repeat(6)}`;
  server.script(holding(new Set(numbered(300, deep))));
  const { readAll } = reading();
  await readAll(numbered(300, deep), 300);
  const lengths = server.requests.map(({ path, rawQuery }) => path.length + rawQuery.length);
  expect(Math.max(...lengths)).toBeLessThan(6200);
  expect(server.requests.length).toBeLessThan(30);
});

describe("the children of one parent", () => {
  test.each([
    [8, 0.06],
    [64, 0.04],
  ])("500 of them, read %d at once, take at most %f requests each", async (parallel, most) => {
    server.script(holding(new Set(numbered(500))));
    const outcomes = await reading().readAll(numbered(500), parallel);
    for (const [uid, outcome] of outcomes) {
      expect(outcome).toMatchObject({ status: "fulfilled", value: { uid } });
    }
    expect(outcomes.size).toBe(500);
    expect(server.requests.length).toBeLessThanOrEqual(500 * most);
  });

  test("a few reads of very many children load few pages", async () => {
    server.script(holding(new Set(numbered(5000))));
    const some = Array.from({ length: 24 }, (_, n) => uidOf(n * 200 + 199));
    await reading().readAll(some, 8);
    expect(server.requests.filter(isPage).length).toBeLessThanOrEqual(6);
    expect(server.requests.length).toBeLessThanOrEqual(some.length);
  });

  test("refused pages delay no read", async () => {
    const answer = holding(new Set(numbered(100)));
    server.script((request) => (isPage(request) ? failure(7, "no") : answer(request)));
    const outcomes = await reading().readAll(numbered(100), 8);
    expect([...outcomes.values()].every(({ status }) => status === "fulfilled")).toBe(true);
    expect(server.requests.filter(isPage)).toHaveLength(1);
  });

  test("a page without a response delays no read", async () => {
    const answer = holding(new Set(numbered(60)));
    server.script((request) => (isPage(request) ? { silent: true } : answer(request)));
    const outcomes = await reading({ timeoutMs: 20_000 }).readAll(numbered(60), 8);
    expect(outcomes.size).toBe(60);
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

  test("never older than the client's own last write", async () => {
    const { client, read } = await walked();
    const answer = holding(new Set(numbered(200)));
    server.script((request) => (request.method === "GET" ? answer(request) : { json: {} }));
    await client.patch(COLLECTION, uidOf(60), { roleUid: "r" }, ["roleUid"]);
    await client.delete(COLLECTION, uidOf(61));
    await client.post(`${COLLECTION}/${uidOf(62)}:verb`, {}, { isIdempotent: true });
    server.script((request) => (request.method === "GET" ? answer(request) : { json: { uid: uidOf(63) } }));
    await client.create(COLLECTION, GROUP_UID, {});
    server.script(() => failure(13, "broken"));
    await errorOf(client.patch(COLLECTION, uidOf(64), { roleUid: "r" }, ["roleUid"]));
    server.script(answer);
    for (const n of [60, 61, 62, 63, 64])
      await expect(read(uidOf(n))).resolves.toMatchObject({ from: "get" });
    await expect(read(uidOf(65))).resolves.toMatchObject({ from: "list" });
  });

  test("a list that was under way during a write is not used for the written resource", async () => {
    const list = promised();
    const answer = holding(new Set(numbered(4)));
    server.script((request) =>
      request.method === "GET"
        ? { ...answer(request), after: isList(request) ? list.promise : undefined }
        : { json: {} },
    );
    const { client, read } = reading();
    const reads = numbered(4).map(read);
    await arrived(1);
    await client.patch(COLLECTION, uidOf(3), { roleUid: "r" }, ["roleUid"]);
    list.keep();
    await expect(reads[2]).resolves.toMatchObject({ from: "list" });
    await expect(reads[3]).resolves.toMatchObject({ from: "get" });
  });
});

describe("never more requests than resources", () => {
  test.each([1, 8, 64])("where each has its own parent, %d at once", async (parallel) => {
    const uids = Array.from({ length: 100 }, (_, n) => uidOf(1, groupOf(n)));
    server.script(holding(new Set(uids)));
    await reading().readAll(uids, parallel);
    expect(server.requests.length).toBeLessThanOrEqual(100);
    expect(server.requests.filter(isPage)).toHaveLength(0);
  });

  test.each([3, 10, 40])("where each parent has %d children", async (children) => {
    const uids = Array.from({ length: 10 }, (_, n) => numbered(children, groupOf(n))).flat();
    server.script(holding(new Set(uids)));
    await reading().readAll(uids, 8);
    expect(server.requests.length).toBeLessThanOrEqual(uids.length / 2);
  });

  test("where half of them are deleted", async () => {
    server.script(holding(new Set(numbered(200).filter((_, n) => n % 2 === 0))));
    const outcomes = await reading().readAll(numbered(200), 8);
    expect([...outcomes.values()].filter(({ status }) => status === "rejected")).toHaveLength(100);
    expect(server.requests.length).toBeLessThanOrEqual(200);
  });

  test("where all are deleted, except for the list that finds that", async () => {
    server.script(holding(new Set()));
    await reading().readAll(numbered(100), 8);
    expect(server.requests.length).toBeLessThanOrEqual(101);
  });

  test("where the server does not select by uid, but for one list", async () => {
    const answer = holding(new Set(numbered(100)));
    const others = { json: { roleBindings: numbered(200, groupOf(1)).map((uid) => ({ uid })) } };
    server.script((request) => (isList(request) ? others : answer(request)));
    const outcomes = await reading().readAll(numbered(100), 8);
    for (const [uid, outcome] of outcomes) expect(outcome).toMatchObject({ value: { uid, from: "get" } });
    expect(server.requests.length).toBeLessThanOrEqual(101);
  });

  test("without batching: one each", async () => {
    server.script(holding(new Set(numbered(30))));
    await reading({ batching: false }).readAll(numbered(30), 8);
    expect(server.requests.map(kindOf)).toEqual(Array(30).fill("get"));
  });
});
