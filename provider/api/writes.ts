/** Longer than any response is kept. */
const REMEMBERED_MS = 60_000;

/** When this client last wrote to what. Times are those of `performance.now()`. */
export class WriteLog {
  /** The time of the last write by uid or path, oldest first. */
  private readonly at = new Map<string, number>();

  /** A write to a resource has ended, well or not: its uid, or its path, a method after it left out. */
  note(resource: unknown): void {
    if (typeof resource !== "string") return;
    const now = performance.now();
    const verb = resource.indexOf(":", resource.lastIndexOf("/") + 1);
    const name = verb < 0 ? resource : resource.slice(0, verb);
    this.at.delete(name);
    this.at.set(name, now);
    for (const [oldest, time] of this.at) {
      if (now - time <= REMEMBERED_MS) break;
      this.at.delete(oldest);
    }
  }

  /** The last write to what has any of these names. */
  last(...names: readonly string[]): number | undefined {
    const times = names.flatMap((name) => this.at.get(name) ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}
