import pLimit from "p-limit";
import type { TokenSource } from "./auth";
import { Batches } from "./batch";
import type { BatchMethod } from "./batch";
import { claimsOf } from "./claims";
import { ConnectionError, isTooLarge } from "./errors";
import { SharedReads } from "./reads";
import { RateLimiter } from "./rateLimiter";
import { ApiRecognition } from "./recognition";
import { defaultPolicy, withRateLimit, withRetry } from "./retry";
import type { RetryPolicy } from "./retry";
import { Transport } from "./transport";
import type { HttpResponse, Endpoint } from "./transport";
import { encodeUid } from "./uid";
import { WriteLog } from "./writes";

export interface ClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** For one attempt, from sending to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** Requests under way at once. */
  readonly maxConcurrency: number;
  readonly tokens: TokenSource;
  /** False: every read and every create has a request of its own. */
  readonly batching?: boolean;
  /** Takes one line a request: method, path, status, time, attempt. */
  readonly log?: (line: string) => void;
  /** Other waits than the default ones, for tests. */
  readonly policy?: Partial<RetryPolicy>;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
export type JsonObject = Record<string, unknown>;

export interface ListOptions {
  /** The member of the answer that holds the list; default: the last word of the path. */
  readonly member?: string;
  /** At most, and by default, 200. */
  readonly pageSize?: number;
  /** Tells objects apart, undefined nothing; default: by their uid. */
  readonly key?: (object: JsonObject) => unknown;
}

interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Doing it twice is the same as doing it once. */
  readonly isIdempotent: boolean;
}

const PAGE_SIZE = 200;
/** Pages may be empty before the last one; a restart brings the known ones once more beside these. */
const MAX_EMPTY_PAGES = 10;
/** Members of a list's response beside the list. */
const PAGE_MEMBERS: readonly string[] = ["nextPageToken", "totalCount", "skipped"];

function encodeQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const values = typeof value === "object" ? value : [String(value)];
    return values.map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(one)}`);
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The API in the words of messages. */
export function apiEndpoint(baseUrl: string): Endpoint {
  return { baseUrl, name: "the Platform API", setting: "platform:baseUrl (or PLATFORM_BASE_URL)" };
}

/** Requests to the API: one connection pool, one rate limiter, bounded concurrency, repeated by meaning. */
export class Client {
  private readonly transport: Transport;
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly rateLimiter = new RateLimiter();
  private readonly policy: RetryPolicy;
  private readonly learntRoots = new Set<string>();
  private readonly createdAt = new Map<string, number>();
  private readonly batches = new Batches(this);
  private readonly writes = new WriteLog();
  private readonly reads = new SharedReads(this);
  private readonly lists = new Map<string, Promise<JsonObject[]>>();
  private readonly recognition = new ApiRecognition();
  /** Whether this server took a change only without a mask, after it refused or ignored one with a name of several words. */
  infersMasks = false;
  /** The server's time in its last answer, and when that came by `performance.now()`. */
  private lastDate: { readonly date: number; readonly at: number } | undefined;

  constructor(private readonly options: ClientOptions) {
    this.transport = new Transport({
      ...options,
      ...apiEndpoint(options.baseUrl),
      maxSockets: options.maxConcurrency,
    });
    this.limit = pLimit(options.maxConcurrency);
    this.policy = { ...defaultPolicy, ...options.policy, maxRetries: options.maxRetries };
  }

  /** The server's time in milliseconds since the epoch, as far as its answers have told. */
  serverNow(): number {
    const { date, at } = this.lastDate ?? { date: Date.now(), at: performance.now() };
    return date + performance.now() - at;
  }

  get maxConcurrency(): number {
    return this.options.maxConcurrency;
  }

  /** Whom the token in use says that it stands for; undefined where it is no JWT. Not verified: the server does that. */
  async getCallerClaims(): Promise<{ issuer: string; subject: string } | undefined> {
    const { iss, sub } = claimsOf(await this.options.tokens.token()) ?? {};
    return typeof iss === "string" && typeof sub === "string" ? { issuer: iss, subject: sub } : undefined;
  }

  get(path: string, query?: Query): Promise<JsonObject> {
    return this.request({ method: "GET", path, query, isIdempotent: true });
  }

  /** A response whose members may all be left out: an empty one is an error at a server that nothing shows to be the API. */
  async getAllowingEmpty(path: string, query?: Query): Promise<JsonObject> {
    const response = await this.get(path, query);
    if (Object.keys(response).length === 0 && !(await this.isTheApi())) {
      throw this.unexpectedResponse({ method: "GET", path }, "its responses are empty");
    }
    return response;
  }

  /**
   * The list that a response holds under a name. It may be left out where it is empty, at a server
   * that has shown itself to be the API, and where the response holds nothing else that could be the list.
   */
  async extractList(path: string, response: JsonObject, member: string): Promise<unknown[]> {
    const items = response[member] ?? undefined;
    if (Array.isArray(items)) {
      this.recognition.noteList();
      return items as unknown[];
    }
    const isAlone = Object.keys(response).every((key) => key === member || PAGE_MEMBERS.includes(key));
    if (items === undefined && isAlone && (await this.isTheApi())) return [];
    throw this.unexpectedResponse({ method: "GET", path }, `its answer has no list "${member}"`);
  }

  async getResource(collection: string, uid: string): Promise<JsonObject> {
    return this.get(this.address(collection, uid));
  }

  /** One resource, answered together with others that are read at the same time; see `SharedReads.read`. */
  readShared(collection: string, uid: string, query?: Query): Promise<JsonObject> {
    return this.options.batching === false
      ? this.getResource(collection, uid)
      : this.reads.read(collection, uid, query);
  }

  /** When this client last wrote to a resource, by `performance.now()`; undefined where it did not, or long ago. */
  writtenAt(collection: string, uid: string): number | undefined {
    return this.writes.last(this.address(collection, uid), uid);
  }

  /** The path of a collection, a resource in it, or a part or method of that: `/readme`, `:verb`. */
  address(collection: string, uid: string | undefined, suffix = ""): string {
    return `${uid === undefined ? collection : `${collection}/${encodeUid(uid)}`}${suffix}`;
  }

  /** A POST that is not isIdempotent is sent again only where nothing can have happened. */
  post(
    path: string,
    body: unknown,
    { isIdempotent: isIdempotent }: { isIdempotent: boolean },
  ): Promise<JsonObject> {
    return this.request({ method: "POST", path, body, isIdempotent });
  }

  create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject> {
    return this.post(this.address(collection, parent), body, { isIdempotent: false });
  }

  /** Notes that this client has made a resource. */
  noteCreated(uid: string): void {
    this.createdAt.set(uid, performance.now());
  }

  /**
   * Has the token know a root group that this client made: rights on it may be in no token from before.
   * Once for each; for other groups nothing.
   */
  async refreshTokenFor(root: string): Promise<void> {
    if (!this.createdAt.has(root) || this.learntRoots.has(root)) return;
    this.learntRoots.add(root);
    await this.options.tokens.refresh();
  }

  /** Makes one resource, together with others that are made below its parent at the same time. */
  createShared(method: BatchMethod, parent: string, body: unknown): Promise<JsonObject> {
    return this.options.batching === false
      ? this.create(method.collection, parent, body)
      : this.batches.createOne(method, parent, body);
  }

  /** How long ago this client made a resource, in milliseconds; undefined if it did not. */
  timeSinceCreation(uid: string): number | undefined {
    const at = this.createdAt.get(uid);
    return at === undefined ? undefined : performance.now() - at;
  }

  /** Changes what the body holds; `mask` names the same paths, or is left out for the inferred one. */
  patch(
    collection: string,
    uid: string,
    body: unknown,
    mask: readonly string[] | undefined,
  ): Promise<JsonObject> {
    return this.patchAt(this.address(collection, uid), body, mask);
  }

  patchAt(path: string, body: unknown, mask: readonly string[] | undefined): Promise<JsonObject> {
    return this.request({
      method: "PATCH",
      path,
      query: mask ? { updateMask: mask.join(",") } : {},
      body,
      isIdempotent: true,
    });
  }

  async delete(collection: string, uid: string): Promise<void> {
    await this.request({ method: "DELETE", path: this.address(collection, uid), isIdempotent: true });
  }

  /**
   * All objects of a list, page by page. An expired token restarts a list without an error:
   * objects already seen are dropped. Pages that bring nothing new end in an error, once there
   * are more of them than a restart explains.
   */
  async *list(
    collection: string,
    query: Query = {},
    { member, pageSize = PAGE_SIZE, key = ({ uid }) => (uid === "" ? undefined : uid) }: ListOptions = {},
  ): AsyncGenerator<JsonObject> {
    const plural = member ?? collection.slice(collection.lastIndexOf("/") + 1);
    const seen = new Set<unknown>();
    const tokens = new Set<string>();
    let token: string | undefined;
    let requestWithRetry = 0;
    let pagesWithNews = 0;
    let pagesWithout = 0;
    let size = pageSize;
    for (;;) {
      let page: JsonObject;
      try {
        page = await this.get(collection, { ...query, page_size: size, page_token: token });
      } catch (error) {
        // The token tells where to go on, whatever the size; what comes twice is dropped.
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.ceil(size / 2);
        pagesWithNews *= 2;
        continue;
      }
      const items = await this.extractList(collection, page, plural);
      let isNews = false;
      for (const item of items) {
        if (item === null || typeof item !== "object") {
          throw this.unexpectedResponse(
            { method: "GET", path: collection },
            `its list "${plural}" holds no objects`,
          );
        }
        const object = item as JsonObject;
        const known = key(object);
        const identity = known ?? JSON.stringify(object);
        isNews ||= !seen.has(identity);
        if (known !== undefined && seen.has(known)) continue;
        seen.add(identity);
        yield object;
      }
      const next = page["nextPageToken"];
      token = typeof next === "string" && next !== "" ? next : undefined;
      if (token === undefined) return;
      pagesWithNews += isNews ? 1 : 0;
      pagesWithout = isNews ? 0 : pagesWithout + 1;
      // After a restart the same pages come again, by known tokens or by new ones.
      requestWithRetry = isNews || !tokens.has(token) ? 0 : requestWithRetry + 1;
      if (requestWithRetry > tokens.size || pagesWithout > pagesWithNews + MAX_EMPTY_PAGES) {
        const why = `its list goes in circles: ${pagesWithout} pages in a row held nothing new`;
        throw this.unexpectedResponse({ method: "GET", path: collection }, why);
      }
      tokens.add(token);
    }
  }

  /** A whole list, asked for once by all who want it in the same turn of the event loop. */
  listShared(collection: string, query: Query): Promise<JsonObject[]> {
    const key = `${collection}${encodeQuery(query)}`;
    const known = this.lists.get(key);
    if (known) return known;
    const whole = async () => {
      const items: JsonObject[] = [];
      for await (const item of this.list(collection, query)) items.push(item);
      return items;
    };
    const list = whole();
    this.lists.set(key, list);
    setImmediate(() => this.lists.delete(key));
    return list;
  }

  private async request(call: Call): Promise<JsonObject> {
    if (call.method === "GET") return this.repeated(call);
    try {
      const response = await this.repeated(call);
      this.writes.note(response["uid"]);
      return response;
    } finally {
      this.writes.note(call.path);
    }
  }

  private repeated(call: Call): Promise<JsonObject> {
    let attempt = 0;
    return withRetry(
      // Inside the limit: a request that waits for its turn must not be sent while the limiter pauses.
      (begins) =>
        this.limit(() => {
          begins();
          return withRateLimit(() => this.attempt(call, (attempt += 1)), this.policy, this.rateLimiter);
        }),
      call.isIdempotent,
      this.policy,
    );
  }

  private async attempt(call: Call, number: number): Promise<JsonObject> {
    const token = await this.options.tokens.token();
    let response = await this.send(call, token, number);
    if (response.status === 401 && (await this.options.tokens.renew(token))) {
      response = await this.send(call, await this.options.tokens.token(), number);
    }
    try {
      const body = this.transport.read(call, response);
      this.recognition.noteResponse(body);
      return body;
    } catch (error) {
      this.recognition.noteError(error);
      throw error;
    }
  }

  private isTheApi(): Promise<boolean> {
    return this.recognition.confirm((path, query) => this.get(path, query));
  }

  private async send(call: Call, token: string, attempt: number): Promise<HttpResponse> {
    const mask = call.query?.["updateMask"];
    const response = await this.transport.send({
      method: call.method,
      path: call.path,
      query: encodeQuery(call.query ?? {}),
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      headers: {
        Authorization: `Bearer ${token}`,
        ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      note: typeof mask === "string" ? ` mask=${mask}` : "",
      attempt,
    });
    const date = Date.parse(response.header("date") ?? "");
    if (!Number.isNaN(date)) this.lastDate = { date, at: performance.now() };
    return response;
  }

  private unexpectedResponse(call: Pick<Call, "method" | "path">, why: string): ConnectionError {
    return this.transport.unexpectedResponse(call, why);
  }
}

/** A uid of an answer, or an error: a 200 that is not this API is never taken as a resource. */
export function uidOf(response: JsonObject, what: string): string {
  const uid = response["uid"];
  if (typeof uid !== "string" || uid === "") {
    throw new ConnectionError(`${what}: the answer holds no uid`, "unknown", false);
  }
  return uid;
}
