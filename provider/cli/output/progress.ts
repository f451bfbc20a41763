/** Shows how far a run has come, on a terminal only: one line that is written over, and taken away at the end. */
export class Progress {
  private readonly counts = new Map<string, number>();
  private shownAt = 0;
  private isShown = false;

  constructor(
    private readonly title: string,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  /** How many there are of a thing by now. */
  readonly report = (what: string, count: number): void => {
    this.counts.set(what, count);
    const now = performance.now();
    if (!this.stream.isTTY || now - this.shownAt < 100) return;
    this.shownAt = now;
    this.isShown = true;
    const total = [...this.counts.values()].reduce((sum, each) => sum + each, 0);
    const line = `${this.title} ${total} (${what} ${count})`;
    this.stream.write(`\r\x1b[K${line.slice(0, (this.stream.columns || 80) - 1)}`);
  };

  done(): void {
    if (this.isShown) this.stream.write("\r\x1b[K");
  }
}
