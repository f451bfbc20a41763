import pRetry from "p-retry";
import { ApiError, ConnectionError } from "./errors";

/** How often and how long requests are repeated. Times in milliseconds. */
export interface RetryPolicy {
  /** Repetitions after the first attempt. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for; one that asks for more has refused. */
  readonly maxServerDelayMs: number;
}

export const defaultPolicy: Omit<RetryPolicy, "maxRetries"> = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  maxServerDelayMs: 120_000,
};

/** While a server asks to wait, no request goes out: one gate for all requests of a client. */
export class Gate {
  private openAt = 0;

  constructor(private readonly now: () => number = Date.now) {}

  closeFor(ms: number): void {
    this.openAt = Math.max(this.openAt, this.now() + ms);
  }

  async pass(): Promise<void> {
    for (let wait = this.openAt - this.now(); wait > 0; wait = this.openAt - this.now()) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** A message over 4 MiB, or access that was already asked for: the same request meets the same answer. */
function isFinalExhaustion(error: ApiError): boolean {
  return /larger than max|already (been )?(asked|requested)/i.test(error.serverMessage);
}

/**
 * Whether the same request may be sent again (contract, section 9).
 * `repeatable`: doing it twice is the same as doing it once.
 */
export function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (error instanceof ConnectionError) {
    return error.passing && (repeatable || error.outcome === "nothing");
  }
  if (!(error instanceof ApiError)) return false;
  if (error.code === "RESOURCE_EXHAUSTED") return !isFinalExhaustion(error);
  if (!repeatable) return false;
  return (
    error.code === "UNAVAILABLE" || error.code === "ABORTED" || (error.status >= 500 && error.status !== 501)
  );
}

/** Makes one attempt once the gate is open, and closes it for as long as the answer asks. */
export async function throughGate<T>(attempt: () => Promise<T>, policy: RetryPolicy, gate: Gate): Promise<T> {
  await gate.pass();
  try {
    return await attempt();
  } catch (error) {
    const wait = error instanceof ApiError ? error.retryAfterMs : undefined;
    if (wait !== undefined && wait <= policy.maxServerDelayMs) gate.closeFor(wait);
    throw error;
  }
}

/** Runs a request, and repeats it by its meaning. */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  repeatable: boolean,
  policy: RetryPolicy,
): Promise<T> {
  return pRetry(attempt, {
    retries: policy.maxRetries,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.maxDelayMs,
    factor: 2,
    randomize: true,
    shouldRetry: ({ error }) =>
      mayRepeat(error, repeatable) &&
      !(error instanceof ApiError && (error.retryAfterMs ?? 0) > policy.maxServerDelayMs),
  });
}
