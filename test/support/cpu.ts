/** Seconds of processor time that this process spends in a function: a busy machine changes that little. */
export function cpuSeconds(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}
