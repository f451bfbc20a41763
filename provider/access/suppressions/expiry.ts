const MONTHS = 3;

/**
 * The last day of new exceptions: the end of the third month from now, so that it changes once a month only.
 *
 * @param now milliseconds since the epoch.
 * @returns `2027-01-31`, in UTC.
 */
export function defaultExpiry(now: number): string {
  const today = new Date(now);
  const day = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + MONTHS + 1, 0));
  return day.toISOString().slice(0, 10);
}
