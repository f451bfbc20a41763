import { describeFindings } from "./counts";
import { json } from "./render/escape";
import { byteLength } from "./render/sizeLimits";
import type { Finding } from "../review/finding";
import type { Report } from "./report";

/** How many bytes of JSON a report may have, and of HTML its page. Nobody reads more of one change. */
const MOST_BYTES_OF_REPORT: Readonly<Record<Report["command"], number>> = {
  review: 20_000_000,
  drift: 100_000_000,
  verify: 100_000_000,
};

/** What the lists may have of that: the rest is for what `verify` compares, which is never cut. */
const LISTS_SHARE = 0.8;

const inMegabytes = (bytes: number): string => `${bytes / 1_000_000} MB`;

/** The lists that can be as long as somebody likes: what they are called, and their weight where all are too long. */
const LISTS: Readonly<Record<string, readonly [what: string, weight: number]>> = {
  findings: ["findings", 8],
  suppressed: ["accepted findings", 3],
  differences: ["differences", 5],
  grants: ["changed grants", 5],
  acceptedGrants: ["accepted grants", 2],
  unannounced: ["grants that were not announced", 4],
  missing: ["grants that are missing", 4],
  groups: ["groups", 2],
  trust: ["changes of trust", 2],
  unresolved: ["lines about what is not resolved", 1],
  incomplete: ["lines about what is not checked", 1],
  unrelated: ["unrelated changes", 1],
  unused: ["unused entries of the policy file", 1],
  expired: ["expired entries of the policy file", 1],
  changed: ["changes of the policy file", 1],
  standing: ["assertions that were broken before", 1],
};

const ADVICE: Readonly<Record<Report["command"], string>> = {
  review: "split the change into smaller ones",
  drift: "look at a part of the organisation: --root",
  verify: "look at what has changed, and verify again",
};

/** A list of a report, and the bytes of its items as far as they are of interest. */
interface SizedList {
  readonly key: string;
  readonly items: readonly unknown[];
  readonly sizes: readonly number[];
  readonly bytes: number;
}

function measure(key: string, items: readonly unknown[], mostBytes: number): SizedList {
  const sizes: number[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = byteLength(json({ list: [item] }));
    sizes.push(size);
    bytes += size;
    if (bytes > mostBytes) break;
  }
  return { key, items, sizes, bytes };
}

const weightOf = ({ key }: SizedList): number => LISTS[key]?.[1] ?? 0;

/** How many bytes each of the lists that do not fit may have. A list leaves to the others what it does not need. */
function divide(lists: readonly SizedList[], mostBytes: number): Map<string, number> {
  let [open, left] = [lists, mostBytes];
  for (;;) {
    const weight = open.reduce((sum, list) => sum + weightOf(list), 0);
    const shareOf = (list: SizedList): number => (left * weightOf(list)) / weight;
    const fitting = open.filter((list) => list.bytes <= shareOf(list));
    if (fitting.length === 0) return new Map(open.map((list) => [list.key, shareOf(list)]));
    left -= fitting.reduce((sum, { bytes }) => sum + bytes, 0);
    open = open.filter((list) => !fitting.includes(list));
  }
}

/** The first items, which are the worst, up to so many bytes. */
function firstOf({ items, sizes }: SizedList, mostBytes: number): readonly unknown[] {
  let left = mostBytes;
  const end = sizes.findIndex((size) => (left -= size) < 0);
  return end < 0 ? items : items.slice(0, end);
}

/**
 * A report of at most so many bytes of JSON, but for what `verify` compares. It counts all that there is, and says in
 * `incomplete` what it does not list.
 */
export function fitReport<R extends Report>(
  report: R,
  bytes = MOST_BYTES_OF_REPORT[report.command],
  [what, advice]: readonly [string, string] = [
    `the report would have more than ${inMegabytes(bytes)}`,
    ADVICE[report.command],
  ],
): R {
  const { policy } = report;
  const mostBytes = bytes * LISTS_SHARE;
  const lists = Object.keys(LISTS).flatMap((key) => {
    const items: unknown = Reflect.get(report, key) ?? Reflect.get(policy, key);
    return Array.isArray(items) ? [measure(key, items, mostBytes)] : [];
  });
  const cut: string[] = [];
  const kept = new Map<string, readonly unknown[]>();
  const allowed = divide(lists, mostBytes);
  for (const list of lists) {
    const { key, items } = list;
    const first = firstOf(list, allowed.get(key) ?? Infinity);
    const left = items.slice(first.length);
    if (left.length === 0) continue;
    kept.set(key, first);
    const weights = key === "findings" ? ` (${describeFindings(left as Finding[])})` : "";
    cut.push(`${left.length} of ${items.length} ${LISTS[key]?.[0] ?? key}${weights}`);
  }
  if (cut.length === 0) return report;
  const replaced = <T extends object>(lists: T): T =>
    Object.fromEntries(Object.entries(lists).map(([key, value]) => [key, kept.get(key) ?? value])) as T;
  const fitted = { ...replaced(report), policy: replaced(policy), complete: false };
  const why = `${what}, so it counts and does not list ${cut.join(", ")}: ${advice}`;
  return { ...fitted, incomplete: [...fitted.incomplete, why] };
}

/**
 * A form of a report of at most as many bytes as its JSON may have. Some letters of names are longer in a form, and names
 * are in it more often.
 */
export function fitForm(
  report: Report,
  what: string,
  render: (fitted: Report) => string,
  mostBytes = MOST_BYTES_OF_REPORT[report.command],
): string {
  const why = [`${what} would have more than ${inMegabytes(mostBytes)}`, "the JSON has more of it"] as const;
  let text = render(report);
  let bytes = mostBytes;
  for (let size = byteLength(text); size > mostBytes && bytes > 0; size = byteLength(text)) {
    bytes = Math.floor((bytes * mostBytes * 0.9) / size);
    text = render(fitReport(report, bytes, why));
  }
  return text;
}
