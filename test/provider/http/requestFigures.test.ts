import { apiErrorFrom } from "../../../provider/http/errors";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "../../../provider/http/client";
import { measureVirtually, runLanes, sleep } from "../support/virtualTime";

// A server in virtual time. The figures are exact: docs/development/requests.md quotes them.

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
