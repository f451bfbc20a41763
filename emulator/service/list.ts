import { createHash } from "node:crypto";
import type { Message } from "../gateway/descriptor";
import { newMessage } from "../gateway/descriptor";
import { invalidArgument } from "../gateway/status";
import type { KindTable } from "../tables/kindTable";
import type { Entry, Store } from "./store";

const defaultPageSize = 50;
const maxPageSize = 200;
const tokenLifeMs = 3 * 24 * 3_600_000;
/** Makes every token hold `+` and `/`, so that a client that does not encode it in a query is found out. */
const tokenPrefix = Buffer.from([0xfb, 0xf0, 0x3f, 0xbf]);

interface Order {
  readonly text: string;
  readonly compare: (one: Entry | Cursor, other: Entry | Cursor) => number;
}

/** The last resource of a page, by what it is sorted by. */
interface Cursor {
  readonly uid: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly value: Message;
}

interface Token {
  /** Fingerprint of the query that the token belongs to. */
  readonly q: string;
  /** When it was made, in milliseconds since 1970. */
  readonly t: number;
  readonly u: string;
  readonly c: number;
  readonly m: number;
  readonly n: string;
  /** Results skipped on the pages before. */
  readonly s: number;
}

/**
 * One page of a list: contract, section 4.
 *
 * @throws StatusError code 3 for negative numbers, unknown orders and tokens of another query.
 */
export function listPage(
  table: KindTable,
  store: Store,
  request: Message,
  now: number,
  recorded: boolean,
  answer: (entry: Entry) => Message,
): Message {
  const pageSize = pageSizeOf(request);
  const skip = (request.skip ?? 0) as number;
  if (skip < 0) throw invalidArgument([{ field: "skip", description: "skip must not be negative" }]);
  const order = orderOf((request.orderBy ?? "") as string);
  const fingerprint = fingerprintOf(table, request, order);
  const token = readToken((request.pageToken ?? "") as string, fingerprint, now);

  const matching = select(table, store, request, order);
  let start = token ? after(matching, tokenCursor(token), order) : 0;
  start += skip;
  const page = matching.slice(start, start + pageSize);
  const last = page.at(-1);
  const skipped = recorded ? skip + (token?.s ?? 0) : skip;

  const result = newMessage();
  result[table.collection] = page.map(answer);
  if (last && start + pageSize < matching.length) {
    result.nextPageToken = writeToken({
      q: fingerprint,
      t: now,
      u: last.uid,
      c: last.createdAt,
      m: last.updatedAt,
      n: (last.value.name ?? "") as string,
      s: skipped,
    });
  }
  if (!recorded) result.totalCount = String(matching.length);
  result.skipped = skipped;
  return result;
}

function pageSizeOf(request: Message): number {
  const asked = (request.pageSize ?? 0) as number;
  if (asked < 0) throw invalidArgument([{ field: "pageSize", description: "pageSize must not be negative" }]);
  return asked === 0 ? defaultPageSize : Math.min(asked, maxPageSize);
}

const text = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const nameOf = (of: Entry | Cursor): string => (of.value.name ?? "") as string;

const columns: Readonly<Record<string, Order["compare"]>> = {
  uid: () => 0,
  name: (one, other) => text(nameOf(one), nameOf(other)),
  created_at: (one, other) => one.createdAt - other.createdAt,
  updated_at: (one, other) => one.updatedAt - other.updatedAt,
};

function orderOf(orderBy: string): Order {
  const [column = "", direction = "asc", ...more] = orderBy === "" ? ["uid"] : orderBy.trim().split(/ +/);
  const byColumn = Object.hasOwn(columns, column) ? columns[column] : undefined;
  if (!byColumn || more.length > 0 || !["asc", "desc"].includes(direction)) {
    const sortable = Object.keys(columns).join(", ");
    throw invalidArgument([
      {
        field: "orderBy",
        description: `cannot order by ${JSON.stringify(orderBy)}; sortable are ${sortable}`,
      },
    ]);
  }
  const sign = direction === "desc" ? -1 : 1;
  const uidSign = column === "uid" ? sign : 1;
  return {
    text: `${column} ${direction}`,
    compare: (one, other) => sign * byColumn(one, other) || uidSign * text(one.uid, other.uid),
  };
}

function select(table: KindTable, store: Store, request: Message, order: Order): readonly Entry[] {
  const tests: ((entry: Entry) => boolean)[] = [];
  const uidp = (request.uidp ?? {}) as {
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
  if (table.nameFilter && request.name !== undefined) tests.push((entry) => nameOf(entry) === request.name);
  for (const [name, matches] of Object.entries(table.rules?.matches ?? {})) {
    const wanted = request[name];
    if (wanted !== undefined) tests.push((entry) => matches(entry, wanted));
  }
  const candidates = ids
    ? [...new Set(ids)]
        .map((uid) => store.find(table.kind, uid))
        .filter((entry) => entry !== undefined)
        .sort(order.compare)
    : store.inOrder(table.kind, order.text, order.compare);
  return tests.length === 0 ? candidates : candidates.filter((entry) => tests.every((test) => test(entry)));
}

/** Index of the first entry behind the cursor; the cursor's own resource may be gone by now. */
function after(entries: readonly Entry[], cursor: Cursor, order: Order): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry && order.compare(entry, cursor) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fingerprintOf(table: KindTable, request: Message, order: Order): string {
  const query: Record<string, unknown> = { ...request, orderBy: order.text, kind: table.kind };
  for (const name of ["pageSize", "pageToken", "skip"]) query[name] = null;
  const canonical = JSON.stringify(Object.entries(query).sort(([one], [other]) => text(one, other)));
  return createHash("sha1").update(canonical).digest("base64url").slice(0, 12);
}

function writeToken(token: Token): string {
  return Buffer.concat([tokenPrefix, Buffer.from(JSON.stringify(token))]).toString("base64");
}

/** Undefined for the first page, and for a token past its life: the list then restarts. */
function readToken(value: string, fingerprint: string, now: number): Token | undefined {
  if (value === "") return undefined;
  const token = decodeToken(value);
  if (token?.q !== fingerprint) {
    throw invalidArgument([{ field: "pageToken", description: "pageToken is not one of this query" }]);
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

function tokenCursor(token: Token): Cursor {
  const value = newMessage();
  value.name = token.n;
  return { uid: token.u, createdAt: token.c, updatedAt: token.m, value };
}
