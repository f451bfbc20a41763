import { endedOrOverdue, isAboutCaller } from "./batch";
import { ConnectionError } from "./errors";
import { isUid, parentOf } from "./uid";

type JsonObject = Record<string, unknown>;
type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The oldest that an answer may be when it is handed out, from the sending of its request. */
const MAX_AGE_MS = 10_000;
/** The largest page; also the most uids asked for at once. */
const PAGE_SIZE = 200;
/** For the uids in one address, encoded: proxies refuse addresses from 8,000 characters. */
const MAX_QUERY_LENGTH = 6000;
/** Requests of one collection under way at once, beside the pages of a parent. */
const UNDER_WAY = 2;
/** Reads below one parent before its children are listed. */
const READS_BEFORE_PAGES = 8;
/** Pages of one parent in one go. */
const MAX_PAGES = 25;

/** The requests that shared reads consist of. Times are those of `performance.now()`. */
export interface ReadApi {
  get(path: string, query?: Query): Promise<JsonObject>;
  getResource(collection: string, uid: string): Promise<JsonObject>;
  /** When this client last wrote to a resource; undefined where it did not, or long ago. */
  writtenAt(collection: string, uid: string): number | undefined;
}

interface Reader {
  readonly uid: string;
  readonly resolve: (answer: JsonObject | Promise<JsonObject>) => void;
  readonly reject: (error: unknown) => void;
}

interface Held {
  readonly answer: JsonObject;
  /** When its request was sent. */
  readonly at: number;
}

/** What is known of the children of one parent. */
interface Children {
  readonly held: Map<string, Held>;
  /** Reads below it. */
  reads: number;
  /** Pages asked for, and reads that they answered. */
  pages: number;
  answered: number;
  /** Pages of this go, and where it goes on. */
  walked: number;
  next: string | undefined;
  startedAt: number;
  state: "idle" | "walking" | "ended" | "given up";
}

/**
 * The reads of one collection: in few requests, never more than one for each resource that is there.
 *
 * Nothing waits for company. A read is sent at once while few are under way; what arrives meanwhile shares
 * the next request, a list by uid. Once enough reads lie below one parent, its children are listed page by
 * page, one page more than the reads that pages have answered, and answer the reads to come.
 */
class SharedCollection {
  private readonly waiting: Reader[] = [];
  private readonly parents = new Map<string, Children>();
  private underWay = 0;
  /** Whether the server answers lists that are of use. */
  private lists = true;

  constructor(
    private readonly api: ReadApi,
    private readonly collection: string,
    private readonly query: Query,
  ) {}

  read(uid: string): Promise<JsonObject> {
    const children = this.childrenBeside(uid);
    if (children) children.reads += 1;
    const held = this.take(uid, children);
    if (held) return Promise.resolve(held);
    return new Promise((resolve, reject) => {
      this.waiting.push({ uid, resolve, reject });
      this.send();
    });
  }

  private childrenBeside(uid: string): Children | undefined {
    const parent = parentOf(uid);
    if (parent === undefined) return undefined;
    const known = this.parents.get(parent);
    if (known) return known;
    const fresh: Children = {
      held: new Map(),
      reads: 0,
      pages: 0,
      answered: 0,
      walked: 0,
      next: undefined,
      startedAt: performance.now(),
      state: "idle",
    };
    this.parents.set(parent, fresh);
    return fresh;
  }

  private isCurrent(uid: string, sentAt: number): boolean {
    const written = this.api.writtenAt(this.collection, uid);
    return performance.now() - sentAt <= MAX_AGE_MS && (written === undefined || written < sentAt);
  }

  /** What a page holds of it. Handed out once: whoever reads again wants news. */
  private take(uid: string, children: Children | undefined): JsonObject | undefined {
    const held = children?.held.get(uid);
    if (!children || !held) return undefined;
    children.held.delete(uid);
    if (!this.isCurrent(uid, held.at)) return undefined;
    children.answered += 1;
    this.walk(uid, children);
    return held.answer;
  }

  private send(): void {
    while (this.waiting.length > 0 && (this.underWay < UNDER_WAY || !this.lists)) {
      this.underWay += 1;
      const readers = this.lists ? this.nextReaders() : this.waiting.splice(0, 1);
      void endedOrOverdue(this.answer(readers)).then(() => {
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

  private async answer(readers: readonly Reader[]): Promise<void> {
    const uids = [...new Set(readers.map(({ uid }) => uid))];
    const alone = (reader: Reader) => reader.resolve(this.api.getResource(this.collection, reader.uid));
    const [first] = uids;
    if (uids.length === 1 && first !== undefined) {
      const answer = this.api.getResource(this.collection, first);
      for (const { resolve } of readers) resolve(answer);
      await answer.catch(() => undefined);
      return;
    }
    const sentAt = performance.now();
    let found: Map<string, JsonObject>;
    try {
      found = (await this.page({ "uidp.ids": uids })).items;
    } catch (error) {
      if (isAboutCaller(error)) {
        for (const { reject } of readers) reject(error);
        return;
      }
      this.lists = false;
      readers.forEach(alone);
      return;
    }
    // Nothing at all: none is left, or the server does not select by uid. Either way a list saves nothing.
    if (!uids.some((uid) => found.has(uid))) this.lists = false;
    for (const reader of readers) {
      const answer = found.get(reader.uid);
      // What is absent may only be hidden from lists: its own GET decides.
      if (answer === undefined || !this.isCurrent(reader.uid, sentAt)) alone(reader);
      else reader.resolve(answer);
    }
    for (const uid of uids) this.walk(uid, this.childrenBeside(uid));
  }

  /** Goes on listing the children beside a resource, as far as that pays. Runs beside the reads, which never wait for it. */
  private walk(uid: string, children: Children | undefined): void {
    const parent = parentOf(uid);
    if (!children || parent === undefined || !this.pays(children)) return;
    children.state = "walking";
    children.pages += 1;
    children.walked += 1;
    const sentAt = performance.now();
    this.page({ "uidp.children_of": parent, page_token: children.next }).then(
      ({ items, next }) => {
        this.hold(children, items, sentAt);
        children.next = next;
        children.state = next === undefined || children.walked >= MAX_PAGES ? "ended" : "idle";
        this.walk(uid, children);
      },
      () => {
        // Nobody waits for it: whatever is wrong, the reads meet it themselves.
        children.state = "given up";
      },
    );
  }

  private pays(children: Children): boolean {
    const { state, reads, pages, answered, startedAt } = children;
    // What was held is too old by now: on to the next pages, or from the start.
    if (state === "ended" && performance.now() - startedAt > MAX_AGE_MS) {
      children.state = "idle";
      children.walked = 0;
      children.startedAt = performance.now();
    }
    return this.lists && children.state === "idle" && reads >= READS_BEFORE_PAGES && pages <= answered;
  }

  private hold(children: Children, items: ReadonlyMap<string, JsonObject>, at: number): void {
    for (const [uid, answer] of items) children.held.set(uid, { answer, at });
    for (let index = this.waiting.length - 1; index >= 0; index -= 1) {
      const reader = this.waiting[index];
      if (!reader || !children.held.has(reader.uid)) continue;
      const answer = this.take(reader.uid, children);
      if (answer === undefined) continue;
      this.waiting.splice(index, 1);
      reader.resolve(answer);
    }
    setTimeout(() => {
      for (const [uid, held] of children.held) if (held.at === at) children.held.delete(uid);
    }, MAX_AGE_MS).unref();
  }

  /** One page of the collection, by uid; what has none is left out. */
  private async page(query: Query): Promise<{ items: Map<string, JsonObject>; next: string | undefined }> {
    const answer = await this.api.get(this.collection, { ...this.query, ...query, page_size: PAGE_SIZE });
    const list = answer[this.collection.slice(this.collection.lastIndexOf("/") + 1)];
    if (!Array.isArray(list)) throw new ConnectionError("the answer holds no list", "nothing", false);
    const items = new Map<string, JsonObject>();
    for (const item of list as unknown[]) {
      if (item === null || typeof item !== "object") continue;
      const object = item as JsonObject;
      if (typeof object["uid"] === "string") items.set(object["uid"], object);
    }
    const next = answer["nextPageToken"];
    return { items, next: typeof next === "string" && next !== "" ? next : undefined };
  }
}

/** Reads that share requests, by collection. One for each client. */
export class SharedReads {
  private readonly collections = new Map<string, SharedCollection>();

  constructor(private readonly api: ReadApi) {}

  /**
   * One resource, as its own GET would answer it: at most ten seconds old, and never older than this
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
