/** A bucket that holds one second's worth of requests and drains steadily. */
export class RateLimiter {
  private level = 0;
  private at = 0;

  /** Returns 0 for a request within the limit, else the milliseconds to wait. `now` must be monotonic. */
  acquire(perSecond: number, now: number): number {
    if (perSecond <= 0) return 0;
    this.level = Math.max(0, this.level - ((now - this.at) * perSecond) / 1000);
    this.at = now;
    const over = this.level + 1 - Math.max(1, perSecond);
    if (over > 0) return Math.ceil((over * 1000) / perSecond);
    this.level += 1;
    return 0;
  }
}
