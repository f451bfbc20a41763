import { concernsWholeBatch, settledOrTimeout } from "./batch";
import { ConnectionError } from "./errors";
import { isUid, parentOf } from "./uid";

type JsonObject = Record<string, unknown>;
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The oldest that a response may be when a read returns it, from the sending of its request. */
const MAX_AGE_MS = 10_000;
/** The largest page; also the most uids asked for at once. */
const PAGE_SIZE = 200;
/** For the uids in one address, encoded: proxies refuse addresses from 8,000 characters. */
const MAX_QUERY_LENGTH = 6000;
/** Requests of one collection under way at once, beside the pages of a parent. */
const MAX_UNDER_WAY = 2;
/** Reads below one parent before its children are listed. */
const READS_BEFORE_PREFETCH = 8;
/** Pages of one parent in one pass. */
const MAX_PAGES_IN_PASS = 25;

/** The requests that shared reads consist of. Times are those of `performance.now()`. */
export interface ReadApi {
  get(path: string, query?: Query): Promise<JsonObject>;
  getResource(collection: string, uid: string): Promise<JsonObject>;
  /** When this client last wrote to a resource; undefined where it did not, or long ago. */
  writtenAt(collection: string, uid: string): number | undefined;
}

interface Reader {
  readonly uid: string;
  readonly resolve: (response: JsonObject | Promise<JsonObject>) => void;
  readonly reject: (error: unknown) => void;
}

interface CachedResponse {
  readonly response: JsonObject;
  /** When its request was sent. */
  readonly sentAt: number;
}

/** The children of one parent, as far as pages have shown them. */
interface ParentCache {
  readonly parent: string;
  readonly responses: Map<string, CachedResponse>;
  /** Reads of children. */
  reads: number;
  /** Pages that were requested. */
  pages: number;
  /** Reads that a page had the response for. */
  hits: number;
  /** A pass goes through the pages once. */
  pagesInPass: number;
  nextPageToken: string | undefined;
  passStartedAt: number;
  state: "idle" | "listing" | "ended" | "failed";
}

/**
 * The reads of one collection, which share requests.
 *
 * No read waits for others. A read is sent at once while few are under way; what arrives meanwhile shares
 * the next request, a list by uid. After enough reads below one parent its children are listed page by page,
 * one page more than the reads that pages had the response for.
 */
class SharedCollection {
  private readonly waiting: Reader[] = [];
  private readonly parents = new Map<string, ParentCache>();
  private underWay = 0;
  /** Whether lists of this server are usable. */
  private usesLists = true;

  constructor(
    private readonly api: ReadApi,
    private readonly collection: string,
    private readonly query: Query,
  ) {}

  read(uid: string): Promise<JsonObject> {
    const cache = this.getOrCreateCache(uid);
    if (cache) cache.reads += 1;
    const cached = this.takeCached(uid, cache);
    if (cached) return Promise.resolve(cached);
    return new Promise((resolve, reject) => {
      this.waiting.push({ uid, resolve, reject });
      this.send();
    });
  }

  private getOrCreateCache(uid: string): ParentCache | undefined {
    const parent = parentOf(uid);
    if (parent === undefined) return undefined;
    const known = this.parents.get(parent);
    if (known) return known;
    const fresh: ParentCache = {
      parent,
      responses: new Map(),
      reads: 0,
      pages: 0,
      hits: 0,
      pagesInPass: 0,
      nextPageToken: undefined,
      passStartedAt: performance.now(),
      state: "idle",
    };
    this.parents.set(parent, fresh);
    return fresh;
  }

  private isCurrent(uid: string, sentAt: number): boolean {
    const written = this.api.writtenAt(this.collection, uid);
    return performance.now() - sentAt <= MAX_AGE_MS && (written === undefined || written < sentAt);
  }

  /** Returns what a page holds of it, once: a second read is sent to the server. */
  private takeCached(uid: string, cache: ParentCache | undefined): JsonObject | undefined {
    const cached = cache?.responses.get(uid);
    if (!cache || !cached) return undefined;
    cache.responses.delete(uid);
    if (!this.isCurrent(uid, cached.sentAt)) return undefined;
    cache.hits += 1;
    this.prefetchPage(cache);
    return cached.response;
  }

  private send(): void {
    while (this.waiting.length > 0 && (this.underWay < MAX_UNDER_WAY || !this.usesLists)) {
      this.underWay += 1;
      const readers = this.usesLists ? this.nextReaders() : this.waiting.splice(0, 1);
      void settledOrTimeout(this.respond(readers)).then(() => {
        this.underWay -= 1;
        this.send();
      });
    }
  }

  private nextReaders(): Reader[] {
    let length = 0;
    const end = this.waiting.findIndex(({ uid }, index) => {
      length += `&uidp.ids=${encodeURIComponent(uid)}`.length;
      return index > 0 && (index >= PAGE_SIZE || length > MAX_QUERY_LENGTH);
    });
    return this.waiting.splice(0, end < 0 ? this.waiting.length : end);
  }

  private async respond(readers: readonly Reader[]): Promise<void> {
    const uids = [...new Set(readers.map(({ uid }) => uid))];
    const [first] = uids;
    if (uids.length === 1 && first !== undefined) {
      const response = this.api.getResource(this.collection, first);
      for (const { resolve } of readers) resolve(response);
      await response.catch(() => undefined);
      return;
    }
    await this.respondByList(readers, uids);
  }

  private async respondByList(readers: readonly Reader[], uids: readonly string[]): Promise<void> {
    const getAlone = (reader: Reader) => reader.resolve(this.api.getResource(this.collection, reader.uid));
    const sentAt = performance.now();
    let found: Map<string, JsonObject>;
    try {
      found = (await this.page({ "uidp.ids": uids })).items;
    } catch (error) {
      if (concernsWholeBatch(error)) {
        for (const { reject } of readers) reject(error);
        return;
      }
      this.usesLists = false;
      readers.forEach(getAlone);
      return;
    }
    // Either none is left, or the server does not select by uid: a list saves nothing.
    if (!uids.some((uid) => found.has(uid))) this.usesLists = false;
    for (const reader of readers) {
      const response = found.get(reader.uid);
      // What is absent may only be hidden from lists: its own GET decides.
      if (response === undefined || !this.isCurrent(reader.uid, sentAt)) getAlone(reader);
      else reader.resolve(response);
    }
    for (const uid of uids) this.prefetchPage(this.getOrCreateCache(uid));
  }

  /** Requests the next page of a parent's children, and the ones after it, as long as they are used. No read waits for it. */
  private prefetchPage(cache: ParentCache | undefined): void {
    if (!cache || !this.shouldPrefetch(cache)) return;
    cache.state = "listing";
    cache.pages += 1;
    cache.pagesInPass += 1;
    const sentAt = performance.now();
    this.page({ "uidp.children_of": cache.parent, page_token: cache.nextPageToken }).then(
      ({ items, next }) => {
        this.storePage(cache, items, sentAt);
        cache.nextPageToken = next;
        cache.state = next === undefined || cache.pagesInPass >= MAX_PAGES_IN_PASS ? "ended" : "idle";
        this.prefetchPage(cache);
      },
      () => {
        // The reads meet the same error themselves.
        cache.state = "failed";
      },
    );
  }

  private shouldPrefetch(cache: ParentCache): boolean {
    const { reads, pages, hits, passStartedAt } = cache;
    // The responses are too old by now: the next pass begins.
    if (cache.state === "ended" && performance.now() - passStartedAt > MAX_AGE_MS) {
      cache.state = "idle";
      cache.pagesInPass = 0;
      cache.passStartedAt = performance.now();
    }
    return this.usesLists && cache.state === "idle" && reads >= READS_BEFORE_PREFETCH && pages <= hits;
  }

  private storePage(cache: ParentCache, items: ReadonlyMap<string, JsonObject>, sentAt: number): void {
    for (const [uid, response] of items) cache.responses.set(uid, { response, sentAt });
    for (let index = this.waiting.length - 1; index >= 0; index -= 1) {
      const reader = this.waiting[index];
      const response = reader && this.takeCached(reader.uid, cache);
      if (!response) continue;
      this.waiting.splice(index, 1);
      reader.resolve(response);
    }
    setTimeout(() => {
      for (const [uid, cached] of cache.responses) if (cached.sentAt === sentAt) cache.responses.delete(uid);
    }, MAX_AGE_MS).unref();
  }

  /** One page of the collection, by uid; what has none is left out. */
  private async page(query: Query): Promise<{ items: Map<string, JsonObject>; next: string | undefined }> {
    const response = await this.api.get(this.collection, { ...this.query, ...query, page_size: PAGE_SIZE });
    const list = response[this.collection.slice(this.collection.lastIndexOf("/") + 1)];
    if (!Array.isArray(list))
      throw new ConnectionError("PP2108", "the response has no list", "notSent", false);
    const items = new Map<string, JsonObject>();
    for (const item of list as unknown[]) {
      if (item === null || typeof item !== "object") continue;
      const object = item as JsonObject;
      if (typeof object["uid"] === "string") items.set(object["uid"], object);
    }
    const next = response["nextPageToken"];
    return { items, next: typeof next === "string" && next !== "" ? next : undefined };
  }
}

/** Reads that share requests, by collection. One for each client. */
export class SharedReads {
  private readonly collections = new Map<string, SharedCollection>();

  constructor(private readonly api: ReadApi) {}

  /**
   * One resource, as its own GET would return it: at most ten seconds old, and never older than this
   * client's last write to it. Throws what the GET would throw.
   *
   * @param query What lists of this collection are asked besides, to show all that a GET finds.
   */
  read(collection: string, uid: string, query: Query = {}): Promise<JsonObject> {
    // Only uids may go into the query of others.
    if (!isUid(uid)) return this.api.getResource(collection, uid);
    let shared = this.collections.get(collection);
    if (!shared) {
      shared = new SharedCollection(this.api, collection, query);
      this.collections.set(collection, shared);
    }
    return shared.read(uid);
  }
}
