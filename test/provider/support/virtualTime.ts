/** Waits in virtual time. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs work to its end with jest's fake timers, and returns how many milliseconds it took by their clock. */
export async function measureVirtually(work: () => Promise<unknown>): Promise<number> {
  jest.useFakeTimers();
  // Waits with jitter are as long in each run.
  jest.spyOn(Math, "random").mockReturnValue(0.5);
  try {
    const start = performance.now();
    let isDone = false as boolean;
    const running = work().finally(() => (isDone = true));
    running.catch(() => undefined);
    while (!isDone) await jest.advanceTimersToNextTimerAsync();
    await running;
    return performance.now() - start;
  } finally {
    jest.restoreAllMocks();
    jest.useRealTimers();
  }
}

/** Runs a task for each number below `count`, so many at once. */
export async function runLanes(
  count: number,
  atOnce: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await task(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
