const secondsSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
};

/** Seconds of processor time that this process spends in a function: a busy machine changes that little. */
export function cpuSeconds(run: () => void): number {
  const start = process.cpuUsage();
  run();
  return secondsSince(start);
}

/** Seconds of processor time that this process spends until work has ended. */
export async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  return secondsSince(start);
}
