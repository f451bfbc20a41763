import { createHash } from "node:crypto";
import type { Message } from "../gateway/descriptor";
import { newMessage } from "../gateway/descriptor";
import { invalidArgument } from "../gateway/status";
import type { KindTable, World } from "../tables/kindTable";
import type { Entry } from "./store";

const defaultPageSize = 50;
const maxPageSize = 200;
const tokenLifeMs = 3 * 24 * 3_600_000;
/** Makes every token hold `+` and `/`, so that a client that does not encode it in a query is found out. */
const tokenPrefix = Buffer.from([0xfb, 0xf0, 0x3f, 0xbf]);

interface Order {
  readonly text: string;
  /** What the column holds of an entry. */
  readonly key: (of: Entry) => SortKey;
  readonly compare: (one: Cursor, other: Cursor) => number;
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
  /** When it was made, in milliseconds since 1970. */
  readonly t: number;
  /** The last resource of the page: its uid, and what it is sorted by. */
  readonly u: string;
  readonly k: SortKey;
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
  world: World,
  request: Message,
  recorded: boolean,
  shown?: (entry: Entry) => boolean,
): Message {
  const pageSize = pageSizeOf(request);
  const skip = (request.skip ?? 0) as number;
  if (skip < 0) throw invalidArgument([{ field: "skip", description: "skip must not be negative" }]);
  const order = orderOf((request.orderBy ?? "") as string, table);
  const fingerprint = fingerprintOf(table, request, order);
  const token = readToken((request.pageToken ?? "") as string, fingerprint, world.now());

  const matching = select(table, world, request, order, shown);
  let start = token ? after(matching, { uid: token.u, key: token.k }, order) : 0;
  start += skip;
  const page = matching.slice(start, start + pageSize);
  const last = page.at(-1);
  const skipped = recorded ? skip + (token?.s ?? 0) : skip;

  const result = newMessage();
  result[table.collection] = page.map((entry) => world.answer(entry, "list"));
  if (last && start + pageSize < matching.length) {
    result.nextPageToken = writeToken({
      q: fingerprint,
      t: world.now(),
      u: last.uid,
      k: order.key(last),
      s: skipped,
    });
  }
  if (!recorded || table.alwaysCounted) result.totalCount = String(matching.length);
  result.skipped = skipped;
  return result;
}

function pageSizeOf(request: Message): number {
  const asked = (request.pageSize ?? 0) as number;
  if (asked < 0) throw invalidArgument([{ field: "pageSize", description: "pageSize must not be negative" }]);
  return asked === 0 ? defaultPageSize : Math.min(asked, maxPageSize);
}

// Numbers in texts count as numbers, so that version 1.10 follows 1.9.
const natural = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });
const text = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const textOf = (of: Entry, field: string): string => (of.value[field] ?? "") as string;

const columns: Readonly<Record<string, (of: Entry) => SortKey>> = {
  uid: ({ uid }) => uid,
  name: (of) => textOf(of, "name"),
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ updatedAt }) => updatedAt,
};

function compareKeys(one: SortKey, other: SortKey, column: string): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  const byText = text(String(one), String(other));
  return column === "version" ? natural.compare(String(one), String(other)) || byText : byText;
}

function orderOf(asked: string, table: KindTable): Order {
  const orderBy = asked === "" ? (table.defaultOrder ?? "uid") : asked;
  const [column = "", direction = "asc", ...more] = orderBy.trim().split(/ +/);
  const extra = table.columns ?? {};
  const field = Object.hasOwn(extra, column) ? extra[column] : undefined;
  const key =
    field !== undefined
      ? (of: Entry): SortKey => textOf(of, field)
      : Object.hasOwn(columns, column)
        ? columns[column]
        : undefined;
  if (!key || more.length > 0 || !["asc", "desc"].includes(direction)) {
    const sortable = [...Object.keys(columns), ...Object.keys(extra)].join(", ");
    throw invalidArgument([
      {
        field: "orderBy",
        description: `cannot order by ${JSON.stringify(orderBy)}; sortable are ${sortable}`,
      },
    ]);
  }
  const sign = direction === "desc" ? -1 : 1;
  return {
    text: `${column} ${direction}`,
    key,
    compare: (one, other) => sign * compareKeys(one.key, other.key, column) || text(one.uid, other.uid),
  };
}

function select(
  table: KindTable,
  world: World,
  request: Message,
  order: Order,
  shown?: (entry: Entry) => boolean,
): readonly Entry[] {
  const tests: ((entry: Entry) => boolean)[] = shown ? [shown] : [];
  const uidp = (table.unscoped ? {} : (request.uidp ?? {})) as {
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
  if (table.nameFilter && request.name !== undefined) {
    tests.push((entry) => textOf(entry, "name") === request.name);
  }
  const { rules } = table;
  if (rules?.listed) tests.push((entry) => rules.listed?.(entry, request) ?? true);
  for (const [name, match] of Object.entries(rules?.matches ?? {})) {
    const wanted = request[name];
    if (wanted !== undefined) tests.push((entry) => match(entry, wanted, world, request));
  }
  const { store } = world;
  const compare = (one: Entry, other: Entry): number =>
    order.compare({ uid: one.uid, key: order.key(one) }, { uid: other.uid, key: order.key(other) });
  const candidates = ids
    ? [...new Set(ids)]
        .map((uid) => store.find(table.kind, uid))
        .filter((entry) => entry !== undefined)
        .sort(compare)
    : store.inOrder(table.kind, order.text, compare);
  return tests.length === 0 ? candidates : candidates.filter((entry) => tests.every((test) => test(entry)));
}

/** Index of the first entry behind the cursor; the cursor's own resource may be gone by now. */
function after(entries: readonly Entry[], cursor: Cursor, order: Order): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle];
    if (entry && order.compare({ uid: entry.uid, key: order.key(entry) }, cursor) <= 0) low = middle + 1;
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
