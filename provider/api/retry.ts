import pRetry from "p-retry";
import { ApiError, ConnectionError, isTooLarge } from "./errors";

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

/** A pace is measured over no less than this time, and from so many answers where no wait that was asked for bounds it. */
const SECOND_MS = 1000;
const ENOUGH_ANSWERS = 10;
/** After a refusal at a known pace: slower at once. After each answer: faster, and more so after a while without one. */
const SLOWER = 1.1;
const FASTER = 0.999;
const MUCH_FASTER = 0.98;
const LONG_MS = 5000;
/** At more requests a second than this there is no pace to keep. */
const SMALLEST_GAP_MS = 2;
/** A shorter wait than this is none: it is not obeyed over and over, but counted like any other failure. */
const SHORTEST_WAIT_MS = 10;

/**
 * One for all requests of a client. While a server asks to wait, none goes out; once it has refused some for
 * their number, they go out no faster than it took them.
 */
export class Gate {
  private openAt = 0;
  private gapMs = 0;
  private nextAt = 0;
  private refusedAt = -Infinity;
  private measuredFrom: number | undefined;
  private taken = 0;

  constructor(
    /** Monotonic: a calendar clock that is set back would keep every request waiting. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  closeFor(ms: number): void {
    this.openAt = Math.max(this.openAt, this.now() + ms);
  }

  async pass(): Promise<void> {
    const wait = () => Math.max(this.openAt, this.nextAt) - this.now();
    for (let ms = wait(); ms > 0; ms = wait()) await new Promise((resolve) => setTimeout(resolve, ms));
    const now = this.now();
    this.measuredFrom ??= now;
    // Timers are late: what was lost by that is made up for, one gap at most.
    this.nextAt = Math.max(this.nextAt, now - this.gapMs) + this.gapMs;
  }

  /** The server took a request. */
  took(): void {
    this.taken += 1;
    this.gapMs *= this.now() - this.refusedAt > LONG_MS ? MUCH_FASTER : FASTER;
    if (this.gapMs < SMALLEST_GAP_MS) this.gapMs = 0;
  }

  /**
   * The server refused a request for the number of them.
   *
   * @param sentAt when it went out, by this gate's clock
   * @param askedMs how long the answer asks to wait, if it does: time for one more, at least
   */
  refused(sentAt: number, askedMs = 0): void {
    // What was under way when the first refusal came tells nothing new.
    if (sentAt <= this.refusedAt) return;
    const now = this.now();
    const elapsed = now - (this.measuredFrom ?? now);
    const asked = askedMs > 0 ? Math.min(askedMs, SECOND_MS) : undefined;
    if (this.taken >= (asked === undefined ? ENOUGH_ANSWERS : 1)) {
      this.gapMs = SLOWER * Math.min(Math.max(elapsed, SECOND_MS) / this.taken, asked ?? Infinity);
      this.taken = 0;
      this.measuredFrom = undefined;
    } else {
      this.gapMs = this.gapMs === 0 ? (asked ?? 0) : this.gapMs * SLOWER;
    }
    this.refusedAt = now;
    this.nextAt = now + this.gapMs;
  }

  /** The time by the clock of this gate. */
  time(): number {
    return this.now();
  }
}

/** A message over 4 MiB, or access that was already asked for: the same request meets the same answer. */
function isFinalExhaustion(error: ApiError): boolean {
  return isTooLarge(error) || /already (been )?(asked|requested)/i.test(error.serverMessage);
}

/** Whether a server refused a request for the number of them. */
function isLimit(error: unknown): boolean {
  return error instanceof ApiError && error.code === "RESOURCE_EXHAUSTED" && !isFinalExhaustion(error);
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

/** How long an answer asks to wait, if that is not longer than anybody may ask. */
function askedDelay(error: unknown, policy: RetryPolicy): number | undefined {
  const wait = error instanceof ApiError ? error.retryAfterMs : undefined;
  return wait !== undefined && wait >= SHORTEST_WAIT_MS && wait <= policy.maxServerDelayMs ? wait : undefined;
}

/** Makes one attempt once the gate is open, and closes it for as long as the answer asks. */
export async function throughGate<T>(attempt: () => Promise<T>, policy: RetryPolicy, gate: Gate): Promise<T> {
  await gate.pass();
  const sentAt = gate.time();
  try {
    const answer = await attempt();
    gate.took();
    return answer;
  } catch (error) {
    const wait = askedDelay(error, policy);
    if (wait !== undefined) gate.closeFor(wait);
    if (isLimit(error)) {
      gate.refused(sentAt, wait);
    } else {
      gate.took();
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
  repeatable: boolean,
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
    // The gate makes it wait, and the total bound ends it.
    shouldConsumeRetry: ({ error }) => !isLimit(error) || askedDelay(error, policy) === undefined,
    shouldRetry: ({ error }) =>
      mayRepeat(error, repeatable) &&
      !(error instanceof ApiError && (error.retryAfterMs ?? 0) > policy.maxServerDelayMs) &&
      hasTimeFor(askedDelay(error, policy) ?? 0),
  });
}
