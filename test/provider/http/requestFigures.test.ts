import { apiErrorFrom } from "../../../provider/http/errors";
import { SharedCreates, SharedReads } from "../../../provider/http/sharing";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "../../../provider/http/client";
import { ROLE_BINDINGS } from "../../../provider/kinds/grants";
import { isQuick } from "../../support/properties";
import { GROUP_UID } from "../support/samples";
import { measureVirtually, runLanes, sleep } from "../support/virtualTime";

// Engines and servers in virtual time. The figures are exact: docs/development/requests.md quotes them.

const round = (figure: number): number => Math.round(figure * 100) / 100;

/** Requests that take a while, and their number. */
class SlowServer {
  requests = 0;

  constructor(private readonly latencyMs: number) {}

  async respond<T>(value: T): Promise<T> {
    this.requests += 1;
    await sleep(this.latencyMs);
    return value;
  }
}

describe("an engine that reads every binding of a refresh", () => {
  const uidOf = (n: number, parent = GROUP_UID): string => `${parent}/${n.toString(16).padStart(16, "0")}`;
  const childrenOf = (count: number, parent?: string): string[] =>
    Array.from({ length: count }, (_, n) => uidOf(n, parent));

  interface Refresh {
    readonly existing: readonly string[];
    readonly read?: readonly string[];
    readonly atOnce: number;
    readonly latencyMs: number;
    /** How long the engine takes for each resource that was read, one after the other. */
    readonly engineMs?: number;
  }

  async function refresh({ existing, read = existing, atOnce, latencyMs, engineMs = 2 }: Refresh) {
    const server = new SlowServer(latencyMs);
    const reads = new SharedReads({
      get: (_path, query = {}) => {
        const parent = query["uidp.children_of"];
        const wanted =
          parent === undefined
            ? (query["uidp.ids"] as string[])
            : existing.filter((uid) => uid.startsWith(`${String(parent)}/`));
        const start = Number(query["page_token"] ?? 0);
        const end = start + Number(query["page_size"]);
        return server.respond({
          roleBindings: wanted.slice(start, end).map((uid) => ({ uid })),
          nextPageToken: end < wanted.length ? String(end) : "",
        });
      },
      getResource: (_collection, uid) => server.respond({ uid }),
    });
    let engine = Promise.resolve();
    const ms = await measureVirtually(() =>
      runLanes(read.length, atOnce, async (index) => {
        await reads.read(ROLE_BINDINGS, read[index] ?? "");
        engine = engine.then(() => sleep(engineMs));
        await engine;
      }),
    );
    return { requests: server.requests, time: round(ms / (read.length * engineMs)) };
  }

  const teams = Array.from({ length: 10 }, (_, n) => childrenOf(10, uidOf(0x1000 + n))).flat();
  const large = childrenOf(5000);

  const refreshes: [string, Refresh, { requests: number; time: number }][] = [
    [
      "500 of one group",
      { existing: childrenOf(500), atOnce: 8, latencyMs: 20 },
      { requests: 15, time: 1.03 },
    ],
    ["100 of one group", { existing: childrenOf(100), atOnce: 8, latencyMs: 20 }, { requests: 5, time: 1.1 }],
    [
      "500, 64 at once",
      { existing: childrenOf(500), atOnce: 64, latencyMs: 100 },
      { requests: 15, time: 1.1 },
    ],
    ["10 of each of 10 groups", { existing: teams, atOnce: 8, latencyMs: 20 }, { requests: 50, time: 1.37 }],
    [
      "5,000 of one group, in 25 seconds",
      { existing: large, atOnce: 8, latencyMs: 20, engineMs: 5 },
      { requests: 279, time: 1 },
    ],
    [
      "23 among 5,000 of others",
      { existing: large, read: large.filter((_, n) => n % 210 === 199), atOnce: 8, latencyMs: 20 },
      { requests: 28, time: 2.83 },
    ],
  ];
  const few = refreshes.filter(([, { existing }]) => existing !== large);
  test.each(isQuick ? few : refreshes)("%s", async (_what, run, figures) => {
    expect(await refresh(run)).toEqual(figures);
  });
});

describe("an engine that writes its state before and after each create", () => {
  interface Creates {
    readonly count: number;
    readonly atOnce: number;
    readonly latencyMs: number;
    /** How long the engine writes when the state holds so many. */
    readonly writeMs: (held: number) => number;
  }

  /** Requests for each create, and the time as a multiple of what the engine writes. */
  async function create({ count, atOnce, latencyMs, writeMs }: Creates) {
    const server = new SlowServer(latencyMs);
    const batches = new SharedCreates({
      addressAdvice: "",
      post: (_path, body) => {
        const items = (body as { requests: unknown[] }).requests;
        return server.respond({ roleBindings: items.map((_, index) => ({ uid: `new-${index}` })) });
      },
      create: () => server.respond({ uid: "new" }),
    });
    let written = 0;
    let held = 0;
    let state = Promise.resolve();
    const write = () => {
      const ms = writeMs(held);
      written += ms;
      state = state.then(() => sleep(ms));
      return state;
    };
    const ms = await measureVirtually(() =>
      runLanes(count, atOnce, async () => {
        held += 1;
        await write();
        await batches.createOne(ROLE_BINDINGS, GROUP_UID, {});
        await write();
      }),
    );
    return { requests: round(server.requests / count), time: round(ms / written) };
  }

  const growing = (held: number) => 2 + held * 0.15;
  const even = (ms: number) => () => ms;
  const usual = { atOnce: 8, latencyMs: 20, writeMs: growing };

  test.each<[string, Creates, { requests: number; time: number }]>([
    ["500", { ...usual, count: 500 }, { requests: 0.38, time: 1 }],
    ["100", { ...usual, count: 100 }, { requests: 0.15, time: 1.32 }],
    ["500, of a slower server", { ...usual, count: 500, latencyMs: 200 }, { requests: 0.49, time: 1.08 }],
    [
      "200, of a server that takes most of the time",
      { count: 200, atOnce: 8, latencyMs: 100, writeMs: even(1) },
      { requests: 0.13, time: 13.06 },
    ],
    ["500, 64 at once", { ...usual, count: 500, atOnce: 64, latencyMs: 100 }, { requests: 0.37, time: 0.99 }],
    [
      "20, one after the other",
      { count: 20, atOnce: 1, latencyMs: 5, writeMs: even(5) },
      { requests: 1, time: 11.5 },
    ],
  ])("%s", async (_what, run, figures) => {
    expect(await create(run)).toEqual(figures);
  });
});

describe("a server that limits the requests of a second", () => {
  interface Limit {
    readonly perSecond: number;
    /** Requests that it takes at once after a pause. */
    readonly burst: number;
    /** What it asks to wait, in seconds, where so many seconds would do. */
    readonly asks: (seconds: number) => number | undefined;
    /** A request that it refuses counts too. */
    readonly countsRefused?: boolean;
  }

  const refusal = (seconds: number | undefined) =>
    apiErrorFrom(
      { method: "POST", path: "/x" },
      {
        status: 429,
        body: { code: 8, message: "slow down", details: [] },
        now: 0,
        header: (name) => (name === "retry-after" && seconds !== undefined ? String(seconds) : undefined),
      },
    );

  /** A bucket that drains steadily. */
  function limitedBy({ perSecond, burst, asks, countsRefused }: Limit, server: SlowServer) {
    let level = 0;
    let at = performance.now();
    return async () => {
      const now = performance.now();
      level = Math.max(0, level - ((now - at) * perSecond) / 1000);
      at = now;
      const over = level + 1 - burst;
      if (over <= 0 || countsRefused) level = Math.min(level + 1, 2 * burst);
      await server.respond(undefined);
      if (over > 0) throw refusal(asks(over / perSecond));
    };
  }

  /** Sent requests for each that was taken, and the time as a multiple of the least possible. */
  async function send(count: number, limit: Limit) {
    const server = new SlowServer(20);
    const policy = { ...defaultPolicy, maxRetries: 5 };
    let failed = 0;
    const ms = await measureVirtually(() => {
      const limiter = new RateLimiter();
      const request = limitedBy(limit, server);
      return runLanes(count, 8, async () => {
        await withRetry(() => withRateLimit(request, policy, limiter), true, policy).catch(
          () => (failed += 1),
        );
      });
    });
    const least = ((count - limit.burst) / limit.perSecond) * 1000;
    return { requests: round(server.requests / count), time: round(ms / least), failed };
  }

  const exactly = (seconds: number) => seconds;
  const wholeSeconds = (seconds: number) => Math.ceil(seconds);
  const nothing = () => undefined;

  test.each<[string, number, Limit, { requests: number; time: number }]>([
    [
      "50, and says how long to wait",
      500,
      { perSecond: 50, burst: 50, asks: exactly },
      { requests: 1.02, time: 1.01 },
    ],
    [
      "50, counts refused requests too, and says how long to wait",
      500,
      { perSecond: 50, burst: 50, asks: exactly, countsRefused: true },
      { requests: 1.04, time: 1.05 },
    ],
    [
      "50, of which 5 at once, and asks for whole seconds",
      500,
      { perSecond: 50, burst: 5, asks: wholeSeconds },
      { requests: 1.02, time: 3.5 },
    ],
    [
      "50, of which 5 at once, and says nothing",
      500,
      { perSecond: 50, burst: 5, asks: nothing },
      { requests: 1.03, time: 1.11 },
    ],
    [
      "4, and asks for whole seconds",
      100,
      { perSecond: 4, burst: 8, asks: wholeSeconds },
      { requests: 1.15, time: 1.04 },
    ],
  ])("takes %s", async (_what, count, limit, figures) => {
    expect(await send(count, limit)).toEqual({ ...figures, failed: 0 });
  });
});
