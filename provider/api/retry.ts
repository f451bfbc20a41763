import pRetry from "p-retry";
import { ApiError, ConnectionError, isTooLarge } from "./errors";
import type { RateLimiter } from "./rateLimiter";

/** How often and how long requests are repeated. Times in milliseconds. */
export interface RetryPolicy {
  /** Repetitions after the first attempt. One that a server asked to come later does not count. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for; one that asks for more has refused. */
  readonly maxServerDelayMs: number;
  /** Nothing is repeated any more once this has passed since the first attempt. */
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

/** A message over 4 MiB, or access that was already requested: the same request gets the same response. */
function isFinalExhaustion(error: ApiError): boolean {
  return isTooLarge(error) || /already (been )?(asked|requested)/i.test(error.serverMessage);
}

/** Whether a server refused a request for the number of them. */
function isThrottled(error: unknown): boolean {
  return error instanceof ApiError && error.code === "RESOURCE_EXHAUSTED" && !isFinalExhaustion(error);
}

/**
 * Whether the same request may be sent again.
 * `isIdempotent`: doing it twice is the same as doing it once.
 */
export function mayRetry(error: unknown, isIdempotent: boolean): boolean {
  if (error instanceof ConnectionError) {
    return error.isTransient && (isIdempotent || error.outcome === "notSent");
  }
  if (!(error instanceof ApiError)) return false;
  if (error.code === "RESOURCE_EXHAUSTED") return !isFinalExhaustion(error);
  if (!isIdempotent) return false;
  return (
    error.code === "UNAVAILABLE" || error.code === "ABORTED" || (error.status >= 500 && error.status !== 501)
  );
}

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
  const sentAt = limiter.now();
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

/**
 * Runs a request, and repeats it by its meaning. `attempt` calls what it is given when it begins: the time
 * before the first one, spent in a queue, is no part of the bound.
 */
export async function withRetry<T>(
  attempt: (begins: () => void) => Promise<T>,
  isIdempotent: boolean,
  policy: RetryPolicy,
): Promise<T> {
  let begun: number | undefined;
  const begins = () => {
    begun ??= performance.now();
  };
  const hasTimeFor = (ms: number) =>
    performance.now() - (begun ?? performance.now()) + ms <= policy.maxTotalMs;
  return pRetry(() => attempt(begins), {
    retries: policy.maxRetries,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.maxDelayMs,
    factor: 2,
    randomize: true,
    // The limiter makes it wait, and the total bound ends it.
    shouldConsumeRetry: ({ error }) => !isThrottled(error) || requestedDelayMs(error, policy) === undefined,
    shouldRetry: ({ error }) =>
      mayRetry(error, isIdempotent) &&
      !(error instanceof ApiError && (error.retryAfterMs ?? 0) > policy.maxServerDelayMs) &&
      hasTimeFor(requestedDelayMs(error, policy) ?? 0),
  });
}
