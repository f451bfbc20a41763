import { encodeUid } from "../text/uid";
import { ConnectionError, isTooLarge } from "./errors";
import { encodeQuery } from "./query";
import type { Query } from "./query";
import { Requester } from "./requester";
import type { Call, ClientOptions, JsonObject } from "./requester";
import { SharedCreates, SharedReads } from "./sharing";
import type { BatchMethod } from "./sharing";
import { decodeClaims } from "./tokenClaims";

/** Longer than any response is kept. */
const REMEMBERED_MS = 60_000;

/** When this client last wrote to what. Times are those of `performance.now()`. */
export class WriteLog {
  /** The time of the last write by uid or path, oldest first. */
  private readonly at = new Map<string, number>();

  /** A write to a resource has ended, well or not: its uid, or its path, a method after it left out. */
  note(resource: unknown): void {
    if (typeof resource !== "string") return;
    const now = performance.now();
    const verb = resource.indexOf(":", resource.lastIndexOf("/") + 1);
    const name = verb < 0 ? resource : resource.slice(0, verb);
    this.at.delete(name);
    this.at.set(name, now);
    for (const [oldest, time] of this.at) {
      if (now - time <= REMEMBERED_MS) break;
      this.at.delete(oldest);
    }
  }

  /** The last write to what has any of these names. */
  last(...names: readonly string[]): number | undefined {
    const times = names.flatMap((name) => this.at.get(name) ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}

export { apiEndpoint } from "./requester";
export type { Query } from "./query";
export type { ClientOptions, JsonObject } from "./requester";

/** Members of a list's response beside the list. */
const PAGE_MEMBERS: readonly string[] = ["nextPageToken", "totalCount", "skipped"];

export interface ListOptions {
  /** The member of the response that holds the list; default: the last word of the path. */
  readonly member?: string;
  /** At most, and by default, 200. */
  readonly pageSize?: number;
  /** Tells objects apart, undefined nothing; default: by their uid. */
  readonly key?: (object: JsonObject) => unknown;
}

const PAGE_SIZE = 200;
/** Pages may be empty before the last one, or repeat objects, but not many in a row. */
const MAX_PAGES_WITHOUT_NEWS = 10;

/** The methods of the API: reads and creates that come together share requests. */
export class Client {
  private readonly requester: Requester;
  private readonly learntRoots = new Set<string>();
  private readonly createdAt = new Map<string, number>();
  private readonly creates = new SharedCreates(this);
  private readonly writes = new WriteLog();
  private readonly reads = new SharedReads(this);
  private readonly lists = new Map<string, Promise<JsonObject[]>>();
  /** Whether this server took a change only without a mask, after it refused or ignored one with a name of several words. */
  infersMasks = false;

  constructor(private readonly options: ClientOptions) {
    this.requester = new Requester(options);
  }

  /** The server's time in milliseconds since the epoch, by its last response. */
  serverNow(): number {
    return this.requester.serverNow();
  }

  get maxConcurrency(): number {
    return this.options.maxConcurrency;
  }

  /** Whom the token in use says that it stands for; undefined where it is no JWT. Not verified: the server does that. */
  async getCallerClaims(): Promise<{ issuer: string; subject: string } | undefined> {
    const { iss, sub } = decodeClaims(await this.options.tokens.token()) ?? {};
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
    if (Array.isArray(items)) return items as unknown[];
    const isAlone = Object.keys(response).every((key) => key === member || PAGE_MEMBERS.includes(key));
    if (items === undefined && isAlone && (await this.isTheApi())) return [];
    throw this.unexpectedResponse({ method: "GET", path }, `its response has no list "${member}"`);
  }

  async getResource(collection: string, uid: string): Promise<JsonObject> {
    return this.get(this.address(collection, uid));
  }

  /** One resource, read together with others that are read at the same time; see `SharedReads.read`. */
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
  post(path: string, body: unknown, { isIdempotent }: { isIdempotent: boolean }): Promise<JsonObject> {
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
   * Once for each; for other groups nothing. @throws what the exchange throws; the token in use is kept, and another call
   * exchanges again
   */
  async refreshTokenFor(root: string): Promise<void> {
    if (!this.createdAt.has(root) || this.learntRoots.has(root)) return;
    this.learntRoots.add(root);
    try {
      await this.options.tokens.refresh();
    } catch (error) {
      this.learntRoots.delete(root);
      throw error;
    }
  }

  /** Makes one resource, together with others that are made below its parent at the same time. */
  createShared(method: BatchMethod, parent: string, body: unknown): Promise<JsonObject> {
    return this.options.batching === false
      ? this.create(method.collection, parent, body)
      : this.creates.createOne(method, parent, body);
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
   * All objects of a list, page by page. An expired token restarts a list without an error, so objects that were seen are
   * dropped. A list of which many pages in a row hold nothing new ends in an error.
   */
  async *list(collection: string, query: Query = {}, options: ListOptions = {}): AsyncGenerator<JsonObject> {
    const plural = options.member ?? collection.slice(collection.lastIndexOf("/") + 1);
    const wrongList = (why: string) =>
      this.unexpectedResponse({ method: "GET", path: collection }, `its list ${why}`);
    const key = options.key ?? (({ uid }: JsonObject) => (uid === "" ? undefined : uid));
    const seen = new Set<unknown>();
    let pagesWithoutNews = 0;
    let token: string | undefined;
    let size = options.pageSize ?? PAGE_SIZE;
    for (;;) {
      let page: JsonObject;
      try {
        page = await this.get(collection, { ...query, page_size: size, page_token: token });
      } catch (error) {
        // The token says where to continue, whatever the size; what comes twice is dropped.
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.ceil(size / 2);
        continue;
      }
      const seenBefore = seen.size;
      for (const item of await this.extractList(collection, page, plural)) {
        if (item === null || typeof item !== "object") throw wrongList(`"${plural}" contains no objects`);
        const object = item as JsonObject;
        const known = key(object);
        const isRepeated = known !== undefined && seen.has(known);
        seen.add(known ?? JSON.stringify(object));
        if (!isRepeated) yield object;
      }
      const { nextPageToken: next } = page;
      if (typeof next !== "string" || next === "") return;
      token = next;
      pagesWithoutNews = seen.size > seenBefore ? 0 : pagesWithoutNews + 1;
      if (pagesWithoutNews > MAX_PAGES_WITHOUT_NEWS) {
        throw wrongList(`does not end: ${pagesWithoutNews} pages in a row contained nothing new`);
      }
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
    if (call.method === "GET") return this.requester.request(call);
    try {
      const response = await this.requester.request(call);
      this.writes.note(response["uid"]);
      return response;
    } finally {
      this.writes.note(call.path);
    }
  }

  /** Asks for the built-in roles where no response has shown it yet: they always exist, and a refusal shows it too. */
  private async isTheApi(): Promise<boolean> {
    const { recognition } = this.requester;
    if (!recognition.isRecognized) await this.get("/iam/v2/roles", { page_size: 1 }).catch(() => undefined);
    return recognition.isRecognized;
  }

  private unexpectedResponse(call: Pick<Call, "method" | "path">, why: string): ConnectionError {
    return this.requester.unexpectedResponse(call, why);
  }
}

/** A uid of a response, or an error: a 200 that is not this API is never taken as a resource. */
export function requireUid(response: JsonObject, what: string): string {
  const uid = response["uid"];
  if (typeof uid !== "string" || uid === "") {
    throw new ConnectionError("PP2108", `${what}: the response has no uid`, "unknown", false);
  }
  return uid;
}
