/** Saves after changes: changes within a short time are saved together, and a large file less often. */
export class AutoSave {
  private timer: NodeJS.Timeout | undefined;
  private lastSaveMs = 0;

  /** @param save writes the file. @throws Error */
  constructor(private readonly save: () => void) {}

  schedule(): void {
    if (this.timer) return;
    this.timer = setTimeout(
      () => {
        try {
          this.saveNow();
        } catch {
          // The save at the end reports the error; a request must not fail because of it.
        }
      },
      10 + 4 * this.lastSaveMs,
    );
    this.timer.unref();
  }

  /** @throws Error */
  saveNow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const started = performance.now();
    this.save();
    this.lastSaveMs = performance.now() - started;
  }
}
