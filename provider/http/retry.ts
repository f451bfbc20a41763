import { ApiError, isThrottled, mayRetry } from "./errors";
import pRetry from "p-retry";

/** An interval is measured over at least this time. */
const MIN_MEASURED_MS = 1000;
/** An interval is measured from at least this many requests, unless the server says how long to wait. */
const MIN_REQUESTS = 10;
/** Factor of the interval when the server throttles again. */
const SLOW_DOWN = 1.1;
/** Factors of the interval after each request that the server took; the second after a while without throttling. */
const SPEED_UP = 0.999;
const SPEED_UP_UNTHROTTLED = 0.98;
const UNTHROTTLED_MS = 5000;
/** A shorter interval is none. */
const MIN_INTERVAL_MS = 2;

/**
 * Holds back the requests of a client. None is sent while the server asks to wait; after the server has throttled
 * one, they are sent no faster than the server took them.
 */
export class RateLimiter {
  private pausedUntil = 0;
  private intervalMs = 0;
  private nextAt = 0;
  private throttledAt = -Infinity;
  private measuredFrom: number | undefined;
  /** Requests that the server took since `measuredFrom`. */
  private taken = 0;

  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + ms);
  }

  /** Resolves when the next request may be sent. */
  async acquire(): Promise<void> {
    const wait = () => Math.max(this.pausedUntil, this.nextAt) - performance.now();
    for (let ms = wait(); ms > 0; ms = wait()) await new Promise((resolve) => setTimeout(resolve, ms));
    const now = performance.now();
    this.measuredFrom ??= now;
    // Timers fire late: the next request may be early by as much, at most by one interval.
    this.nextAt = Math.max(this.nextAt, now - this.intervalMs) + this.intervalMs;
  }

  /** The server took a request, whatever its response says. */
  onSuccess(): void {
    this.taken += 1;
    this.intervalMs *=
      performance.now() - this.throttledAt > UNTHROTTLED_MS ? SPEED_UP_UNTHROTTLED : SPEED_UP;
    if (this.intervalMs < MIN_INTERVAL_MS) this.intervalMs = 0;
  }

  /**
   * The server refused a request because there were too many.
   *
   * @param sentAt when it was sent, by `performance.now()`
   * @param serverDelayMs how long the response asks to wait; after that time the server takes at least one
   */
  onThrottled(sentAt: number, serverDelayMs = 0): void {
    // Requests that were under way at the first refusal tell nothing new.
    if (sentAt <= this.throttledAt) return;
    const now = performance.now();
    const elapsed = Math.max(now - (this.measuredFrom ?? now), MIN_MEASURED_MS);
    const longest = serverDelayMs > 0 ? Math.min(serverDelayMs, MIN_MEASURED_MS) : undefined;
    if (this.taken >= (longest === undefined ? MIN_REQUESTS : 1)) {
      this.intervalMs = SLOW_DOWN * Math.min(elapsed / this.taken, longest ?? Infinity);
      this.taken = 0;
      this.measuredFrom = undefined;
    } else {
      this.intervalMs = this.intervalMs === 0 ? (longest ?? 0) : this.intervalMs * SLOW_DOWN;
    }
    this.throttledAt = now;
    this.nextAt = now + this.intervalMs;
  }
}

/** How often and how long requests are repeated. Times in milliseconds. */
export interface RetryPolicy {
  /** Repetitions after the first attempt. One that a server asked to come later does not count. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for; one that asks for more has refused. */
  readonly maxServerDelayMs: number;
  /** Nothing is repeated any more once this has passed since the request was made. */
  readonly maxTotalMs: number;
}

export const defaultPolicy: Omit<RetryPolicy, "maxRetries"> = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  maxServerDelayMs: 120_000,
  maxTotalMs: 300_000,
};

/** A shorter wait is not obeyed but counted as a failure, so that it is not repeated without an end. */
const MIN_SERVER_DELAY_MS = 10;

/** How long a response asks to wait, if that is within the limit of the policy. */
function requestedDelayMs(error: unknown, policy: RetryPolicy): number | undefined {
  const wait = error instanceof ApiError ? error.retryAfterMs : undefined;
  return wait !== undefined && wait >= MIN_SERVER_DELAY_MS && wait <= policy.maxServerDelayMs
    ? wait
    : undefined;
}

/**
 * Makes one attempt when the limiter allows it, and reports to the limiter how the server responded. An attempt without
 * a response of the server says nothing about the rate that it accepts.
 */
export async function withRateLimit<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  limiter: RateLimiter,
): Promise<T> {
  await limiter.acquire();
  const sentAt = performance.now();
  try {
    const response = await attempt();
    limiter.onSuccess();
    return response;
  } catch (error) {
    const wait = requestedDelayMs(error, policy);
    if (wait !== undefined) limiter.pauseFor(wait);
    if (isThrottled(error)) {
      limiter.onThrottled(sentAt, wait);
    } else if (error instanceof ApiError) {
      limiter.onSuccess();
    }
    throw error;
  }
}

/** Runs a request, and repeats it by its meaning. */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  isIdempotent: boolean,
  policy: RetryPolicy,
): Promise<T> {
  return pRetry(attempt, {
    retries: policy.maxRetries,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.maxDelayMs,
    maxRetryTime: policy.maxTotalMs,
    factor: 2,
    randomize: true,
    // The limiter makes it wait, and the total bound ends it.
    shouldConsumeRetry: ({ error }) => !isThrottled(error) || requestedDelayMs(error, policy) === undefined,
    shouldRetry: ({ error }) =>
      mayRetry(error, isIdempotent) &&
      !(error instanceof ApiError && (error.retryAfterMs ?? 0) > policy.maxServerDelayMs),
  });
}
