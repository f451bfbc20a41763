import type { ApiError } from "../../../provider/http/errors";
import { apiErrorFrom, ConnectionError, ConfigError, mayRetry } from "../../../provider/http/errors";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "../../../provider/http/client";
import type { RetryPolicy } from "../../../provider/http/client";
import { detail, errorOf } from "../support/server";

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

interface Case {
  readonly name: string;
  readonly error: Error;
  /** Whether a request that may be repeated is, and one that must not be. */
  readonly isIdempotent: boolean;
  readonly once: boolean;
}

const cases: readonly Case[] = [
  { name: "429 of the API", error: apiError(429, 8), isIdempotent: true, once: true },
  { name: "429 of a proxy", error: apiError(429), isIdempotent: true, once: true },
  {
    name: "a message that is too large",
    error: apiError(429, 8, "grpc: received message larger than max (5000000 vs. 4194304)"),
    isIdempotent: false,
    once: false,
  },
  {
    name: "access that was already asked for",
    error: apiError(429, 8, "access was already requested"),
    isIdempotent: false,
    once: false,
  },
  { name: "503 of the API", error: apiError(503, 14), isIdempotent: true, once: false },
  { name: "code 14 whatever the status", error: apiError(400, 14), isIdempotent: true, once: false },
  { name: "a conflict of writes", error: apiError(409, 10), isIdempotent: true, once: false },
  { name: "an object that exists", error: apiError(409, 6), isIdempotent: false, once: false },
  { name: "500 of the API", error: apiError(500, 13), isIdempotent: true, once: false },
  { name: "500 with a page", error: apiError(500), isIdempotent: true, once: false },
  { name: "502 with a page", error: apiError(502), isIdempotent: true, once: false },
  { name: "503 with a page", error: apiError(503), isIdempotent: true, once: false },
  { name: "504 with a page", error: apiError(504), isIdempotent: true, once: false },
  { name: "504 of the API", error: apiError(504, 4), isIdempotent: true, once: false },
  { name: "408 of a proxy", error: apiError(408), isIdempotent: true, once: false },
  { name: "501", error: apiError(501, 12), isIdempotent: false, once: false },
  { name: "400", error: apiError(400, 3), isIdempotent: false, once: false },
  { name: "401", error: apiError(401, 16), isIdempotent: false, once: false },
  { name: "403", error: apiError(403, 7), isIdempotent: false, once: false },
  { name: "404", error: apiError(404, 5), isIdempotent: false, once: false },
  { name: "404 of a proxy", error: apiError(404), isIdempotent: false, once: false },
  { name: "a failed precondition", error: apiError(400, 9), isIdempotent: false, once: false },
  {
    name: "a request that was never sent",
    error: new ConnectionError("PP2103", "m", "notSent", true),
    isIdempotent: true,
    once: true,
  },
  {
    name: "an answer that was lost",
    error: new ConnectionError("PP2103", "m", "unknown", true),
    isIdempotent: true,
    once: false,
  },
  {
    name: "a host that does not exist",
    error: new ConnectionError("PP2103", "m", "notSent", false),
    isIdempotent: false,
    once: false,
  },
  {
    name: "an answer of another service",
    error: new ConnectionError("PP2103", "m", "unknown", false),
    isIdempotent: false,
    once: false,
  },
  { name: "a wrong setting", error: new ConfigError("PP2002", "m"), isIdempotent: false, once: false },
  { name: "a bug", error: new TypeError("m"), isIdempotent: false, once: false },
];

describe("which requests are repeated", () => {
  test.each(cases)("$name: as often as the error says", async ({ error, isIdempotent, once }) => {
    for (const [isRepeatable, attempts] of [
      [true, isIdempotent ? 4 : 1],
      [false, once ? 4 : 1],
    ] as const) {
      const attempt = jest.fn(() => Promise.reject<unknown>(error));
      const thrown = await errorOf(withRetry(attempt, isRepeatable, policy));
      expect(thrown).toBe(error);
      expect(attempt).toHaveBeenCalledTimes(attempts);
    }
  });

  test("a successful response is not repeated", () => {
    for (const other of [undefined, null, "x", { code: "UNAVAILABLE" }])
      expect(mayRetry(other, true)).toBe(false);
  });
});

describe("repeating", () => {
  test("ends with the first success", async () => {
    const attempt = jest
      .fn<Promise<string>, []>()
      .mockRejectedValueOnce(apiError(503, 14))
      .mockRejectedValueOnce(new ConnectionError("PP2103", "m", "unknown", true))
      .mockResolvedValue("done");
    await expect(withRetry(attempt, true, policy)).resolves.toBe("done");
    expect(attempt).toHaveBeenCalledTimes(3);
  });

  test("ends with the first error that is final", async () => {
    const final = apiError(403, 7);
    const attempt = jest
      .fn<Promise<string>, []>()
      .mockRejectedValueOnce(apiError(503, 14))
      .mockRejectedValue(final);
    expect(await errorOf(withRetry(attempt, true, policy))).toBe(final);
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  test("does not happen if it is switched off", async () => {
    const attempt = jest.fn(() => Promise.reject<unknown>(apiError(503, 14)));
    await errorOf(withRetry(attempt, true, { ...policy, maxRetries: 0 }));
    expect(attempt).toHaveBeenCalledTimes(1);
  });

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

  test("sends no request during a pause, and each after it", async () => {
    const limiter = new RateLimiter();
    limiter.pauseFor(1000);
    expect(await acquires(limiter, 999)).toBe(false);
    expect(await acquires(limiter, 1)).toBe(true);
  });

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

  test.each(cases)("speeds up after $name only if the server responded", async ({ error }) => {
    const limiter = new RateLimiter();
    const successes = jest.spyOn(limiter, "onSuccess");
    const throttles = jest.spyOn(limiter, "onThrottled");
    expect(await errorOf(withRateLimit(() => Promise.reject(error), policy, limiter))).toBe(error);
    const reported = successes.mock.calls.length + throttles.mock.calls.length;
    expect(reported).toBe(error.name === "ApiError" ? 1 : 0);
  });
});
