import { createHash } from "node:crypto";
import type { Message } from "../gateway/fields";
import { invalidField } from "../gateway/status";
import type { KindTable } from "../tables/kindTable";
import type { PlatformService } from "./platformService";
import type { Entry } from "./store";

const defaultPageSize = 50;
const maxPageSize = 200;
const tokenLifeMs = 3 * 24 * 3_600_000;
/** Makes every token hold `+` and `/`, so that a client that does not encode it in a query fails. */
const tokenPrefix = Buffer.from([0xfb, 0xf0, 0x3f, 0xbf]);

type SortKey = string | number;

/** A resource by what it is sorted by. */
interface Cursor {
  readonly uid: string;
  readonly key: SortKey;
}

interface Order {
  readonly text: string;
  /** The value of the column. */
  readonly key: (entry: Entry) => SortKey;
  readonly compare: (a: Cursor, b: Cursor) => number;
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
  isShown: (entry: Entry) => boolean = () => true,
): Message {
  const { pageSize: requestedSize = 0, skip = 0, orderBy = "", pageToken = "" } = request as PageRequest;
  if (requestedSize < 0) throw invalidField("pageSize", "pageSize must not be negative");
  if (skip < 0) throw invalidField("skip", "skip must not be negative");
  const order = parseOrder(orderBy, table);
  const fingerprint = fingerprintQuery(table, request, order);
  const token = readToken(pageToken, fingerprint, platform.now());

  const tests = testsOf(table, platform, request);
  const rows = [...platform.store.all(table.kind)]
    .filter((entry) => isShown(entry) && tests.every((test) => test(entry)))
    .map((entry) => ({ entry, uid: entry.uid, key: order.key(entry) }))
    .sort(order.compare);
  // The resource that the token names may have been deleted.
  const start = token
    ? rows.filter((row) => order.compare(row, { uid: token.u, key: token.k }) <= 0).length
    : 0;
  const size = requestedSize === 0 ? defaultPageSize : Math.min(requestedSize, maxPageSize);
  const end = start + skip + size;
  const page = rows.slice(start + skip, end);
  const last = page.at(-1);
  const skipped = matchesRecording ? skip + (token?.s ?? 0) : skip;
  const next: Token | undefined =
    last && end < rows.length
      ? { q: fingerprint, t: platform.now(), u: last.uid, k: last.key, s: skipped }
      : undefined;
  return {
    [table.collection]: page.map(({ entry }) => platform.toResponse(entry, "list")),
    nextPageToken: next && writeToken(next),
    totalCount: !matchesRecording || table.isAlwaysCounted ? String(rows.length) : undefined,
    skipped,
  };
}

interface PageRequest {
  readonly pageSize?: number;
  readonly skip?: number;
  readonly orderBy?: string;
  readonly pageToken?: string;
}

// Compares digits as numbers, so that version 1.10 follows 1.9.
const natural = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const textField =
  (field: string) =>
  ({ value }: Entry): string =>
    (value[field] ?? "") as string;

const columns: readonly (readonly [name: string, key: Order["key"]])[] = [
  ["uid", ({ uid }) => uid],
  ["name", textField("name")],
  ["created_at", ({ createdAt }) => createdAt],
  ["updated_at", ({ updatedAt }) => updatedAt],
];

function compareKeys(a: SortKey, b: SortKey, column: string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const byText = compareText(String(a), String(b));
  return column === "version" ? natural.compare(String(a), String(b)) || byText : byText;
}

function parseOrder(requested: string, table: KindTable): Order {
  const orderBy = requested === "" ? (table.defaultOrder ?? "uid") : requested;
  const [column = "", direction = "asc", ...more] = orderBy.trim().split(/ +/);
  const extra = Object.entries(table.columns ?? {}).map(([name, field]) => [name, textField(field)] as const);
  const sortable = new Map([...columns, ...extra]);
  const key = sortable.get(column);
  if (!key || more.length > 0 || !["asc", "desc"].includes(direction)) {
    const names = [...sortable.keys()].join(", ");
    throw invalidField("orderBy", `cannot order by ${JSON.stringify(orderBy)}; sortable are ${names}`);
  }
  const sign = direction === "desc" ? -1 : 1;
  return {
    text: `${column} ${direction}`,
    key,
    compare: (a, b) => sign * compareKeys(a.key, b.key, column) || compareText(a.uid, b.uid),
  };
}

/** What an entry must pass to be in the list. */
function testsOf(
  table: KindTable,
  platform: PlatformService,
  request: Message,
): ((entry: Entry) => boolean)[] {
  const tests: ((entry: Entry) => boolean)[] = [];
  const { ancestorsOf, descendantsOf, childrenOf, inRoot, ids } = (request.uidp ?? {}) as {
    ancestorsOf?: string;
    descendantsOf?: string;
    childrenOf?: string;
    inRoot?: boolean;
    ids?: string[];
  };
  if (ancestorsOf !== undefined) tests.push(({ uid }) => ancestorsOf.startsWith(`${uid}/`));
  if (descendantsOf !== undefined) tests.push(({ uid }) => uid.startsWith(`${descendantsOf}/`));
  if (childrenOf !== undefined) tests.push(({ parent }) => parent === childrenOf);
  if (inRoot) tests.push(({ parent }) => parent === "");
  if (ids) {
    const wanted = new Set(ids);
    tests.push(({ uid }) => wanted.has(uid));
  }
  if (table.hasNameFilter && request.name !== undefined) {
    const nameOf = textField("name");
    tests.push((entry) => nameOf(entry) === request.name);
  }
  if (table.isListed) tests.push((entry) => table.isListed?.(entry, request) ?? true);
  for (const [name, filter] of Object.entries(table.filters ?? {})) {
    const wanted = request[name];
    if (wanted !== undefined)
      tests.push((entry) => filter.matches?.(entry, wanted, request, platform) ?? true);
  }
  return tests;
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
