import { apiErrorFrom } from "../../../provider/http/errors";
import { SharedCreates, SharedReads } from "../../../provider/http/sharing";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "../../../provider/http/client";
import { ROLE_BINDINGS } from "../../../provider/kinds/bindingKinds";
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

  /** @param engineMs How long the engine takes for each resource that was read, one after the other. */
  async function refresh(
    existing: readonly string[],
    read: readonly string[],
    atOnce: number,
    latencyMs: number,
    engineMs: number,
  ) {
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

  const among = large.filter((_, n) => n % 210 === 199);

  const refreshes = [
    ["500 of one group", childrenOf(500), childrenOf(500), 8, 20, 2, 15, 1.03],
    ["100 of one group", childrenOf(100), childrenOf(100), 8, 20, 2, 5, 1.1],
    ["500, 64 at once", childrenOf(500), childrenOf(500), 64, 100, 2, 15, 1.1],
    ["10 of each of 10 groups", teams, teams, 8, 20, 2, 50, 1.37],
    ["5,000 of one group, in 25 seconds", large, large, 8, 20, 5, 279, 1],
    ["23 among 5,000 of others", large, among, 8, 20, 2, 28, 2.83],
  ] as const;
  const few = refreshes.filter(([, existing]) => existing !== large);
  test.each(isQuick ? few : refreshes)(
    "%s",
    async (_what, existing, read, atOnce, latencyMs, engineMs, requests, time) => {
      expect(await refresh(existing, read, atOnce, latencyMs, engineMs)).toEqual({ requests, time });
    },
  );
});

describe("an engine that writes its state before and after each create", () => {
  /**
   * Requests for each create, and the time as a multiple of what the engine writes.
   * @param writeMs How long the engine writes when the state holds so many.
   */
  async function create(count: number, atOnce: number, latencyMs: number, writeMs: (held: number) => number) {
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

  test.each([
    ["500", 500, 8, 20, growing, 0.38, 1],
    ["100", 100, 8, 20, growing, 0.15, 1.32],
    ["500, of a slower server", 500, 8, 200, growing, 0.49, 1.08],
    ["200, of a server that takes most of the time", 200, 8, 100, even(1), 0.13, 13.06],
    ["500, 64 at once", 500, 64, 100, growing, 0.37, 0.99],
    ["20, one after the other", 20, 1, 5, even(5), 1, 11.5],
  ] as const)("%s", async (_what, count, atOnce, latencyMs, writeMs, requests, time) => {
    expect(await create(count, atOnce, latencyMs, writeMs)).toEqual({ requests, time });
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
    readonly countsRefused: boolean;
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

  test.each([
    ["50, and says how long to wait", 500, 50, 50, exactly, false, 1.02, 1.01],
    ["50, counts refused requests too, and says how long to wait", 500, 50, 50, exactly, true, 1.04, 1.05],
    ["50, of which 5 at once, and asks for whole seconds", 500, 50, 5, wholeSeconds, false, 1.02, 3.5],
    ["50, of which 5 at once, and says nothing", 500, 50, 5, nothing, false, 1.03, 1.11],
    ["4, and asks for whole seconds", 100, 4, 8, wholeSeconds, false, 1.15, 1.04],
  ] as const)("takes %s", async (_what, count, perSecond, burst, asks, countsRefused, requests, time) => {
    const limit = { perSecond, burst, asks, countsRefused };
    expect(await send(count, limit)).toEqual({ requests, time, failed: 0 });
  });
});
