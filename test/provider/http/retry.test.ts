import { apiErrorFrom, ConnectionError, ConfigError, hasUnknownOutcome } from "../../../provider/http/errors";
import type { ApiError } from "../../../provider/http/errors";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "../../../provider/http/client";
import type { RetryPolicy } from "../../../provider/http/client";
import { detail, errorOf } from "../support/server";
import { measureVirtually, runLanes, sleep } from "../support/virtualTime";

const policy: RetryPolicy = {
  maxRetries: 3,
  firstDelayMs: 1,
  maxDelayMs: 2,
  maxServerDelayMs: 1000,
  maxTotalMs: 60_000,
};

function apiError(status: number, code?: number, message = "", retryAfter?: string): ApiError {
  const body = code === undefined ? undefined : { code, message, details: [] };
  const call = { method: "POST", path: "/x" };
  const header = (name: string) => (name === "retry-after" ? retryAfter : undefined);
  return apiErrorFrom(call, { status, body, now: 0, header });
}

const connection = (outcome: "notSent" | "unknown", isTransient: boolean) =>
  new ConnectionError("PP2103", "m", outcome, isTransient);

/**
 * Of each error whether a request is sent again for it (always, only one that may be repeated, or never), and whether it leaves
 * open that the request took effect.
 */
const cases: readonly (readonly [string, Error, "always" | "if repeatable" | "never", isOpen: boolean])[] = [
  ["429 of the API", apiError(429, 8), "always", false],
  ["429 of a proxy", apiError(429), "always", false],
  ["a request that was never sent", connection("notSent", true), "always", false],
  ["503 of the API", apiError(503, 14), "if repeatable", true],
  ["code 14 whatever the status", apiError(400, 14), "if repeatable", true],
  ["a conflict of writes", apiError(409, 10), "if repeatable", true],
  ["500 of the API", apiError(500, 13), "if repeatable", true],
  ["500 with a page", apiError(500), "if repeatable", true],
  ["502 with a page", apiError(502), "if repeatable", true],
  ["504 of the API", apiError(504, 4), "if repeatable", true],
  ["408 of a proxy", apiError(408), "if repeatable", true],
  ["an answer that was lost", connection("unknown", true), "if repeatable", true],
  [
    "a message that is too large",
    apiError(429, 8, "received message larger than max (5 vs. 4)"),
    "never",
    false,
  ],
  ["an object that exists", apiError(409, 6), "never", false],
  ["501", apiError(501, 12), "never", false],
  ["400", apiError(400, 3), "never", false],
  ["401", apiError(401, 16), "never", false],
  ["403", apiError(403, 7), "never", false],
  ["404", apiError(404, 5), "never", false],
  ["404 of a proxy", apiError(404), "never", false],
  ["a failed precondition", apiError(400, 9), "never", false],
  ["a host that does not exist", connection("notSent", false), "never", false],
  ["a request that the server cancelled", apiError(499, 1), "never", true],
  ["an answer of another service", connection("unknown", false), "never", true],
  ["a wrong setting", new ConfigError("PP2002", "m"), "never", false],
  ["a bug", new TypeError("m"), "never", false],
];

describe("which requests are repeated", () => {
  test.each(cases)("%s: as often as the error says", async (_name, error, isRepeated, isOpen) => {
    expect(hasUnknownOutcome(error)).toBe(isOpen);
    for (const [isRepeatable, attempts] of [
      [true, isRepeated === "never" ? 1 : 4],
      [false, isRepeated === "always" ? 4 : 1],
    ] as const) {
      const attempt = jest.fn(() => Promise.reject<unknown>(error));
      const thrown = await errorOf(withRetry(attempt, isRepeatable, policy));
      expect(thrown).toBe(error);
      expect(attempt).toHaveBeenCalledTimes(attempts);
    }
  });
});

describe("repeating", () => {
  test("ends if a server asks for too long a wait", async () => {
    const error = apiError(429, 8, "", "2");
    const attempt = jest.fn(() => Promise.reject<unknown>(error));
    expect(await errorOf(withRetry(attempt, true, policy))).toBe(error);
    expect(attempt).toHaveBeenCalledTimes(1);
    const longest = jest.fn(() => Promise.reject<unknown>(apiError(503, 14, "", "1")));
    await errorOf(withRetry(longest, true, policy));
    expect(longest).toHaveBeenCalledTimes(4);
  });

  test("after a rate limit does not count as an attempt, and ends at the total time limit", async () => {
    const attempt = jest.fn(async () => {
      await new Promise(setImmediate);
      throw apiError(429, 8, "", "0.02");
    });
    const short = { ...policy, maxTotalMs: 50 };
    expect(await errorOf(withRetry(attempt, false, short))).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(attempt.mock.calls.length).toBeGreaterThan(policy.maxRetries + 1);
    // Too short a wait to be one.
    const atOnce = jest.fn(() => Promise.reject<unknown>(apiError(429, 8, "", "0")));
    await errorOf(withRetry(atOnce, true, policy));
    expect(atOnce).toHaveBeenCalledTimes(4);
  });

  test("ends at the total time limit", async () => {
    const clock = jest.spyOn(performance, "now");
    try {
      let now = 0;
      clock.mockImplementation(() => now);
      const attempt = jest.fn(() => {
        now += 25_000;
        return Promise.reject<unknown>(apiError(503, 14));
      });
      await errorOf(withRetry(attempt, true, { ...policy, maxRetries: 20 }));
      expect(attempt).toHaveBeenCalledTimes(3);
    } finally {
      clock.mockRestore();
    }
  });

  test("waits by default half a second first and ten at most, and two minutes for a server", () => {
    expect(defaultPolicy).toEqual({
      firstDelayMs: 500,
      maxDelayMs: 10_000,
      maxServerDelayMs: 120_000,
      maxTotalMs: 300_000,
    });
  });
});

describe("the rate limiter", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  async function acquires(limiter: RateLimiter, ms: number): Promise<boolean> {
    let done = false;
    void limiter.acquire().then(() => (done = true));
    await jest.advanceTimersByTimeAsync(ms);
    return done;
  }

  test("pauses for the longest time that was asked", async () => {
    const limiter = new RateLimiter();
    limiter.pauseFor(1000);
    limiter.pauseFor(10);
    expect(await acquires(limiter, 999)).toBe(false);
    expect(await acquires(limiter, 1)).toBe(true);
  });

  test("holds back what waits already when the pause becomes longer", async () => {
    const limiter = new RateLimiter();
    limiter.pauseFor(1000);
    const first = acquires(limiter, 500);
    expect(await first).toBe(false);
    limiter.pauseFor(2000);
    expect(await acquires(limiter, 1999)).toBe(false);
    expect(await acquires(limiter, 1)).toBe(true);
  });

  test("pauses after a response that asks to wait, and after no other", async () => {
    const info = detail("RetryInfo", { retryDelay: "0.5s" });
    const call = { method: "GET", path: "/x" };
    const header = () => undefined;
    const asks = apiErrorFrom(call, { status: 429, body: { code: 8, details: [info] }, now: 0, header });
    const limiter = new RateLimiter();
    for (const error of [apiError(429, 8), apiError(429, 8, "", "2"), new Error("x")]) {
      expect(await errorOf(withRateLimit(() => Promise.reject(error), policy, limiter))).toBe(error);
      expect(await acquires(limiter, 0)).toBe(true);
    }
    await expect(withRateLimit(() => Promise.resolve("done"), policy, limiter)).resolves.toBe("done");
    expect(await errorOf(withRateLimit(() => Promise.reject(asks), policy, limiter))).toBe(asks);
    const next = jest.fn(() => Promise.resolve("next"));
    const waiting = withRateLimit(next, policy, limiter);
    await jest.advanceTimersByTimeAsync(499);
    expect(next).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    await expect(waiting).resolves.toBe("next");
  });

  test.each(cases)("speeds up after %s only if the server responded", async (_name, error) => {
    const limiter = new RateLimiter();
    const successes = jest.spyOn(limiter, "onSuccess");
    const throttles = jest.spyOn(limiter, "onThrottled");
    expect(await errorOf(withRateLimit(() => Promise.reject(error), policy, limiter))).toBe(error);
    const reported = successes.mock.calls.length + throttles.mock.calls.length;
    expect(reported).toBe(error.name === "ApiError" ? 1 : 0);
  });
});

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
