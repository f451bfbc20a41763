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

  constructor(
    /** Monotonic: a calendar clock that is set back would keep every request waiting. */
    readonly now: () => number = () => performance.now(),
  ) {}

  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.now() + ms);
  }

  /** Resolves when the next request may be sent. */
  async acquire(): Promise<void> {
    const wait = () => Math.max(this.pausedUntil, this.nextAt) - this.now();
    for (let ms = wait(); ms > 0; ms = wait()) await new Promise((resolve) => setTimeout(resolve, ms));
    const now = this.now();
    this.measuredFrom ??= now;
    // Timers fire late: the next request may be early by as much, at most by one interval.
    this.nextAt = Math.max(this.nextAt, now - this.intervalMs) + this.intervalMs;
  }

  /** The server took a request, whatever its response says. */
  onSuccess(): void {
    this.taken += 1;
    this.intervalMs *= this.now() - this.throttledAt > UNTHROTTLED_MS ? SPEED_UP_UNTHROTTLED : SPEED_UP;
    if (this.intervalMs < MIN_INTERVAL_MS) this.intervalMs = 0;
  }

  /**
   * The server refused a request because there were too many.
   *
   * @param sentAt when it was sent, by `now`
   * @param serverDelayMs how long the response asks to wait; after that time the server takes at least one
   */
  onThrottled(sentAt: number, serverDelayMs = 0): void {
    // Requests that were under way at the first refusal tell nothing new.
    if (sentAt <= this.throttledAt) return;
    const now = this.now();
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
