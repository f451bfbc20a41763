import { withoutTrailing } from "../../api/withoutTrailing";

/** The nanoseconds of a duration such as `86400s`, `1.5s`, `24h` or `1h30m`; undefined if it is none. */
export function durationNanos(text: string): bigint | undefined {
  const unit: Record<string, bigint> = { h: 3_600_000_000_000n, m: 60_000_000_000n, s: 1_000_000_000n };
  const whole = /^(-?)((?:\d+(?:\.\d{1,9})?[hms])+)$/.exec(text);
  if (!whole) return undefined;
  const parts = [...(whole[2] ?? "").matchAll(/(\d+)(?:\.(\d+))?([hms])/gy)];
  const order = parts.map((part) => "hms".indexOf(part[3] ?? ""));
  if (order.some((rank, i) => i > 0 && rank <= (order[i - 1] ?? 0))) return undefined;
  let nanos = 0n;
  for (const [, integer = "0", fraction = "", letter = "s"] of parts) {
    const per = unit[letter] ?? 0n;
    nanos += BigInt(integer) * per + (BigInt(fraction.padEnd(9, "0")) * per) / 1_000_000_000n;
  }
  if (nanos > 315_576_000_000n * 1_000_000_000n) return undefined;
  return whole[1] === "-" ? -nanos : nanos;
}

/** Converts a duration to the only form that the API accepts: seconds with up to nine decimals. */
export function durationToWire(text: string): string {
  const nanos = durationNanos(text);
  if (nanos === undefined) return text;
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, "0");
  return `${sign}${size / 1_000_000_000n}${size % 1_000_000_000n === 0n ? "" : `.${withoutTrailing(fraction, "0")}`}s`;
}

const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** An RFC 3339 instant in nanoseconds since the epoch; undefined if the API would refuse it. */
export function timestampNanos(text: string): bigint | undefined {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-](\d{2}):(\d{2}))$/.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const days = DAYS_IN_MONTH[month - 1];
  if (year < 1 || days === undefined || day < 1 || day > days) return undefined;
  if (month === 2 && day === 29 && (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0)))
    return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 60 + offsetMinutes) * (match[8]?.startsWith("-") ? -60 : 60);
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  const seconds = BigInt(local.getTime() / 1000) - BigInt(offset);
  return seconds * 1_000_000_000n + BigInt((match[7] ?? "").padEnd(9, "0"));
}
