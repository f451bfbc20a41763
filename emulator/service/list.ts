import { createHash } from "node:crypto";
import type { Message } from "../gateway/fields";
import { newMessage } from "../gateway/fields";
import { invalidField } from "../gateway/status";
import type { KindTable } from "../tables/kindTable";
import type { PlatformService } from "./platformService";
import type { Entry } from "./store";

const defaultPageSize = 50;
const maxPageSize = 200;
const tokenLifeMs = 3 * 24 * 3_600_000;
/** Makes every token hold `+` and `/`, so that a client that does not encode it in a query fails. */
const tokenPrefix = Buffer.from([0xfb, 0xf0, 0x3f, 0xbf]);

interface Order {
  readonly text: string;
  /** The value of the column. */
  readonly key: (entry: Entry) => SortKey;
  readonly compare: (a: Cursor, b: Cursor) => number;
}

type SortKey = string | number;

/** A resource by what it is sorted by. */
interface Cursor {
  readonly uid: string;
  readonly key: SortKey;
}

interface Token {
  /** Fingerprint of the query that the token belongs to. */
  readonly q: string;
  /** Time of creation, in milliseconds since 1970. */
  readonly t: number;
  /** The last resource of the page: its uid, and what it is sorted by. */
  readonly u: string;
  readonly k: SortKey;
  /** Results skipped on the pages before. */
  readonly s: number;
}

/**
 * Returns one page of a list.
 *
 * @throws StatusError code 3 for negative numbers, unknown orders and tokens of another query.
 */
export function listPage(
  table: KindTable,
  platform: PlatformService,
  request: Message,
  matchesRecording: boolean,
  shown?: (entry: Entry) => boolean,
): Message {
  const pageSize = readPageSize(request);
  const skip = (request.skip ?? 0) as number;
  if (skip < 0) throw invalidField("skip", "skip must not be negative");
  const order = parseOrder((request.orderBy ?? "") as string, table);
  const fingerprint = fingerprintQuery(table, request, order);
  const token = readToken((request.pageToken ?? "") as string, fingerprint, platform.now());

  const matching = selectEntries(table, platform, request, order, shown);
  let start = token ? findIndexAfter(matching, { uid: token.u, key: token.k }, order) : 0;
  start += skip;
  const page = matching.slice(start, start + pageSize);
  const last = page.at(-1);
  const skipped = matchesRecording ? skip + (token?.s ?? 0) : skip;

  const result = newMessage();
  result[table.collection] = page.map((entry) => platform.toResponse(entry, "list"));
  if (last && start + pageSize < matching.length) {
    result.nextPageToken = writeToken({
      q: fingerprint,
      t: platform.now(),
      u: last.uid,
      k: order.key(last),
      s: skipped,
    });
  }
  if (!matchesRecording || table.isAlwaysCounted) result.totalCount = String(matching.length);
  result.skipped = skipped;
  return result;
}

function readPageSize(request: Message): number {
  const requested = (request.pageSize ?? 0) as number;
  if (requested < 0) throw invalidField("pageSize", "pageSize must not be negative");
  return requested === 0 ? defaultPageSize : Math.min(requested, maxPageSize);
}

// Compares digits as numbers, so that version 1.10 follows 1.9.
const natural = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const readTextField = (entry: Entry, field: string): string => (entry.value[field] ?? "") as string;

const columns: Readonly<Record<string, (entry: Entry) => SortKey>> = {
  uid: ({ uid }) => uid,
  name: (entry) => readTextField(entry, "name"),
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ updatedAt }) => updatedAt,
};

function compareKeys(a: SortKey, b: SortKey, column: string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const byText = compareText(String(a), String(b));
  return column === "version" ? natural.compare(String(a), String(b)) || byText : byText;
}

function parseOrder(requested: string, table: KindTable): Order {
  const orderBy = requested === "" ? (table.defaultOrder ?? "uid") : requested;
  const [column = "", direction = "asc", ...more] = orderBy.trim().split(/ +/);
  const extra = table.columns ?? {};
  const field = Object.hasOwn(extra, column) ? extra[column] : undefined;
  const key =
    field !== undefined
      ? (entry: Entry): SortKey => readTextField(entry, field)
      : Object.hasOwn(columns, column)
        ? columns[column]
        : undefined;
  if (!key || more.length > 0 || !["asc", "desc"].includes(direction)) {
    const sortable = [...Object.keys(columns), ...Object.keys(extra)].join(", ");
    throw invalidField("orderBy", `cannot order by ${JSON.stringify(orderBy)}; sortable are ${sortable}`);
  }
  const sign = direction === "desc" ? -1 : 1;
  return {
    text: `${column} ${direction}`,
    key,
    compare: (a, b) => sign * compareKeys(a.key, b.key, column) || compareText(a.uid, b.uid),
  };
}

function selectEntries(
  table: KindTable,
  platform: PlatformService,
  request: Message,
  order: Order,
  shown?: (entry: Entry) => boolean,
): readonly Entry[] {
  const tests: ((entry: Entry) => boolean)[] = shown ? [shown] : [];
  const uidp = (table.isUnscoped ? {} : (request.uidp ?? {})) as {
    ancestorsOf?: string;
    descendantsOf?: string;
    childrenOf?: string;
    inRoot?: boolean;
    ids?: string[];
  };
  const { ancestorsOf, descendantsOf, childrenOf, inRoot, ids } = uidp;
  if (ancestorsOf !== undefined) tests.push((entry) => ancestorsOf.startsWith(`${entry.uid}/`));
  if (descendantsOf !== undefined) tests.push((entry) => entry.uid.startsWith(`${descendantsOf}/`));
  if (childrenOf !== undefined) tests.push((entry) => entry.parent === childrenOf);
  if (inRoot) tests.push((entry) => entry.parent === "");
  if (table.hasNameFilter && request.name !== undefined) {
    tests.push((entry) => readTextField(entry, "name") === request.name);
  }
  if (table.isListed) tests.push((entry) => table.isListed?.(entry, request) ?? true);
  for (const [name, match] of Object.entries(table.matches ?? {})) {
    const filterValue = request[name];
    if (filterValue !== undefined) tests.push((entry) => match(entry, filterValue, platform, request));
  }
  const { store } = platform;
  const compare = (a: Entry, b: Entry): number =>
    order.compare({ uid: a.uid, key: order.key(a) }, { uid: b.uid, key: order.key(b) });
  const candidates = ids
    ? [...new Set(ids)]
        .map((uid) => store.find(table.kind, uid))
        .filter((entry) => entry !== undefined)
        .sort(compare)
    : store.listSorted(table.kind, order.text, compare);
  return tests.length === 0 ? candidates : candidates.filter((entry) => tests.every((test) => test(entry)));
}

/** Index of the first entry after the cursor, whose own resource may have been deleted. */
function findIndexAfter(entries: readonly Entry[], cursor: Cursor, order: Order): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry && order.compare({ uid: entry.uid, key: order.key(entry) }, cursor) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fingerprintQuery(table: KindTable, request: Message, order: Order): string {
  const query: Record<string, unknown> = { ...request, orderBy: order.text, kind: table.kind };
  for (const name of ["pageSize", "pageToken", "skip"]) query[name] = null;
  const canonical = JSON.stringify(Object.entries(query).sort(([a], [b]) => compareText(a, b)));
  return createHash("sha1").update(canonical).digest("base64url").slice(0, 12);
}

function writeToken(token: Token): string {
  return Buffer.concat([tokenPrefix, Buffer.from(JSON.stringify(token))]).toString("base64");
}

/** Undefined for the first page, and for an expired token: the list then restarts. */
function readToken(value: string, fingerprint: string, now: number): Token | undefined {
  if (value === "") return undefined;
  const token = decodeToken(value);
  if (token?.q !== fingerprint) {
    throw invalidField("pageToken", "pageToken is not one of this query");
  }
  return now - token.t > tokenLifeMs ? undefined : token;
}

function decodeToken(value: string): Token | undefined {
  const bytes = Buffer.from(value, "base64");
  if (bytes.toString("base64") !== value || !bytes.subarray(0, 4).equals(tokenPrefix)) return undefined;
  try {
    return JSON.parse(bytes.subarray(4).toString("utf8")) as Token;
  } catch {
    return undefined;
  }
}
