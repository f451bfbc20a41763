import DataLoader from "dataloader";
import { CodedError } from "../errors/codedError";
import { ApiError, ConnectionError, hasUnknownOutcome } from "./errors";
import type { Query } from "./query";
import { mayRetry } from "./retry";
import { isUid, parentOf } from "../text/uid";

/*
 * Requests that several reads, or several creates, share. What arrives while a request is under way shares the next one;
 * `dataloader` collects it, and tells each caller its own outcome.
 */

type JsonObject = Record<string, unknown>;

/** After this time a request, which is repeated or has no response, no longer holds up others. */
const MAX_WAIT_MS = 1000;

async function settledOrTimeout(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, MAX_WAIT_MS)));
  await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
}

/**
 * Whether a failure is about the caller, the connection or the moment, so that each part of what was asked
 * for would meet it as well.
 */
function concernsWholeBatch(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.isTransient;
  if (!(error instanceof ApiError)) return false;
  return error.code === "UNAUTHENTICATED" || (error.code === "RESOURCE_EXHAUSTED" && mayRetry(error, true));
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new CodedError("PP9001", "what failed is no error");

/** How a collection makes many resources in one request, all or none. */
export interface BatchMethod {
  /** The collection that also makes one at a time: `/iam/v2/roleBindings`. */
  readonly collection: string;
  /** The custom method: `batchCreate`. */
  readonly verb: string;
  /** Most resources in one request. */
  readonly limit: number;
  /** The request's body for resources below one parent. */
  readonly body: (parent: string, resources: readonly unknown[]) => unknown;
  /** The member of the response that holds what was made, in the order of the request. */
  readonly member: string;
}

/** The requests that shared creates consist of. */
export interface CreateApi {
  post(path: string, body: unknown, options: { isIdempotent: boolean }): Promise<JsonObject>;
  create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject>;
}

/** The engine writes its state between two creates; one that comes later than this is not waited for. */
const MAX_PAUSE_MS = 400;

/**
 * Collects creates until as many wait as the last request had, or until none has come for a while. Sends none beside
 * another, unless it is full.
 */
class CreateSchedule {
  private waiting = 0;
  private underWay = 0;
  private lastSize = 1;
  private dispatches: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limit: number) {}

  readonly schedule = (dispatch: () => void): void => {
    this.dispatches.push(dispatch);
  };

  onArrival(): void {
    this.waiting += 1;
    // Those that arrive together are counted together.
    process.nextTick(() => this.sendIfReady());
  }

  onRequest(work: Promise<unknown>): void {
    this.underWay += 1;
    void settledOrTimeout(work).then(() => {
      this.underWay -= 1;
      this.sendIfReady();
    });
  }

  private sendIfReady(): void {
    clearTimeout(this.timer);
    if (this.waiting >= this.limit) this.send();
    if (this.waiting === 0 || this.underWay > 0) return;
    if (this.waiting >= this.lastSize) this.send();
    else this.timer = setTimeout(() => this.send(), MAX_PAUSE_MS);
  }

  private send(): void {
    this.lastSize = Math.min(this.waiting, this.limit);
    this.waiting = 0;
    for (const dispatch of this.dispatches.splice(0)) dispatch();
  }
}

/** Creates that share requests, below one parent each. One for each client: it remembers which methods the server lacks. */
export class SharedCreates {
  private readonly missing = new Set<string>();
  private readonly creates = new Map<string, (resource: unknown) => Promise<JsonObject>>();

  constructor(private readonly api: CreateApi) {}

  /** Makes one resource. Throws the error of this resource. */
  createOne(method: BatchMethod, parent: string, resource: unknown): Promise<JsonObject> {
    const key = `${method.collection} ${parent}`;
    const create = this.creates.get(key) ?? this.loaderFor(method, parent);
    this.creates.set(key, create);
    return create(resource);
  }

  private loaderFor(method: BatchMethod, parent: string): (resource: unknown) => Promise<JsonObject> {
    const schedule = new CreateSchedule(method.limit);
    const loader = new DataLoader<unknown, JsonObject>(
      (resources) => {
        const work = this.createAll(method, parent, resources);
        schedule.onRequest(work);
        return work;
      },
      { cache: false, maxBatchSize: method.limit, batchScheduleFn: schedule.schedule },
    );
    return (resource) => {
      const response = loader.load(resource);
      schedule.onArrival();
      return response;
    };
  }

  /**
   * A batch that is refused goes again one by one, so that the error is that of the resource that caused it. After a
   * lost response every resource of the batch has the same error, for which `hasUnknownOutcome` holds: each caller looks for
   * what was created.
   */
  private async createAll(
    method: BatchMethod,
    parent: string,
    resources: readonly unknown[],
  ): Promise<(JsonObject | Error)[]> {
    const path = `${method.collection}:${method.verb}`;
    if (resources.length > 1 && !this.missing.has(path)) {
      try {
        const response = await this.api.post(path, method.body(parent, resources), { isIdempotent: false });
        return parseBatchResponse(path, response, method.member, resources.length);
      } catch (error) {
        if (isMissing(error)) this.missing.add(path);
        const isRefused =
          error instanceof ApiError && !hasUnknownOutcome(error) && !concernsWholeBatch(error);
        if (!isRefused) return resources.map(() => asError(error));
      }
    }
    return Promise.all(
      resources.map((resource) => this.api.create(method.collection, parent, resource).catch(asError)),
    );
  }
}

/** The server, or a proxy before it, has no such method. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.code === "UNIMPLEMENTED" || (error.code === "NOT_FOUND" && error.details.resource === undefined))
  );
}

function parseBatchResponse(path: string, response: JsonObject, member: string, count: number): JsonObject[] {
  const items: unknown = response[member];
  const isWhole =
    Array.isArray(items) &&
    items.length === count &&
    items.every((item: unknown) => item !== null && typeof item === "object" && "uid" in item);
  if (!isWhole) {
    throw new ConnectionError(
      "PP2108",
      `POST ${path}: the response does not contain the ${count} requested resources`,
      "unknown",
      false,
    );
  }
  return items;
}

/** The oldest that a response may be when a read returns it, from the sending of its request. */
const MAX_AGE_MS = 10_000;
const PAGE_SIZE = 200;
/** Uids in one address: proxies refuse addresses from 8,000 characters. */
const MAX_UIDS = 25;
/** Reads below one parent before pages of its children are listed too. */
const READS_BEFORE_PAGES = 8;

/** The requests that shared reads consist of. Times are those of `performance.now()`. */
export interface ReadApi {
  get(path: string, query?: Query): Promise<JsonObject>;
  getResource(collection: string, uid: string): Promise<JsonObject>;
  /** When this client last wrote to a resource; undefined where it did not, or long ago. */
  writtenAt(collection: string, uid: string): number | undefined;
}

/** The children of one parent that pages have shown and no read has taken yet. */
interface Children {
  readonly responses: Map<string, { readonly response: JsonObject; readonly sentAt: number }>;
  reads: number;
  /** Undefined before the first page. */
  startedAt: number | undefined;
  nextPageToken: string | undefined;
}

/**
 * The reads of one collection. Those that come together share a list by uid. After enough reads below one parent, each
 * request has a page of its children beside it, from which later reads take their responses.
 */
class SharedCollection {
  private readonly parents = new Map<string, Children>();
  private underWay: Promise<unknown> = Promise.resolve();
  /** Whether lists of this server are usable. */
  private usesLists = true;
  private readonly loader: DataLoader<string, JsonObject>;

  constructor(
    private readonly api: ReadApi,
    private readonly collection: string,
    private readonly query: Query,
  ) {
    this.loader = new DataLoader<string, JsonObject>(
      (uids) => {
        const work = this.readAll(uids);
        this.underWay = settledOrTimeout(work);
        return work;
      },
      {
        cache: false,
        maxBatchSize: MAX_UIDS,
        batchScheduleFn: (dispatch) => void this.underWay.then(dispatch),
      },
    );
  }

  read(uid: string): Promise<JsonObject> {
    const children = this.childrenOf(uid);
    if (children) children.reads += 1;
    const cached = this.takeCached(uid);
    return cached ? Promise.resolve(cached) : this.loader.load(uid);
  }

  /** What a page holds of it, once: a second read is sent to the server. */
  private takeCached(uid: string): JsonObject | undefined {
    const responses = this.childrenOf(uid)?.responses;
    const cached = responses?.get(uid);
    responses?.delete(uid);
    return cached && this.isCurrent(uid, cached.sentAt) ? cached.response : undefined;
  }

  private childrenOf(uid: string): Children | undefined {
    const parent = parentOf(uid);
    if (parent === undefined) return undefined;
    const known = this.parents.get(parent);
    if (known) return known;
    const children = { responses: new Map(), reads: 0, startedAt: undefined, nextPageToken: undefined };
    this.parents.set(parent, children);
    return children;
  }

  private isCurrent(uid: string, sentAt: number): boolean {
    const written = this.api.writtenAt(this.collection, uid);
    return performance.now() - sentAt <= MAX_AGE_MS && (written === undefined || written < sentAt);
  }

  private async readAll(uids: readonly string[]): Promise<(JsonObject | Error)[]> {
    const responses = new Map<string, JsonObject | Promise<JsonObject>>();
    for (const uid of uids) {
      const cached = this.takeCached(uid);
      if (cached) responses.set(uid, cached);
    }
    const wanted = [...new Set(uids)].filter((uid) => !responses.has(uid));
    if (wanted.length > 1 && this.usesLists) {
      try {
        await this.readByUid(wanted, responses);
      } catch (error) {
        if (concernsWholeBatch(error)) {
          return uids.map((uid) => (responses.get(uid) as JsonObject | undefined) ?? asError(error));
        }
        this.usesLists = false;
      }
    }
    if (wanted.length > 1 && this.usesLists) {
      for (const parent of new Set(wanted.map((uid) => parentOf(uid)))) {
        // Those that would have used the page meet its error themselves.
        void this.readPage(parent).catch(() => undefined);
      }
    }
    // What is absent may only be hidden from lists: its own GET decides.
    return Promise.all(
      uids.map(async (uid) => {
        const response = responses.get(uid) ?? this.api.getResource(this.collection, uid);
        responses.set(uid, response);
        return Promise.resolve(response).catch(asError);
      }),
    );
  }

  private async readByUid(
    uids: readonly string[],
    responses: Map<string, JsonObject | Promise<JsonObject>>,
  ): Promise<void> {
    const sentAt = performance.now();
    const { items } = await this.page({ "uidp.ids": uids });
    for (const uid of uids) {
      const item = items.get(uid);
      if (item && this.isCurrent(uid, sentAt)) responses.set(uid, item);
    }
    // Either none is left, or the server does not select by uid: a list saves nothing.
    if (!uids.some((uid) => items.has(uid))) this.usesLists = false;
  }

  /** Lists the next page of a parent's children, from the first one on when the responses are too old. */
  private async readPage(parent: string | undefined): Promise<void> {
    const children = parent === undefined ? undefined : this.parents.get(parent);
    if (!children || children.reads < READS_BEFORE_PAGES) return;
    const sentAt = performance.now();
    const isOld = children.startedAt !== undefined && sentAt - children.startedAt > MAX_AGE_MS;
    const isComplete = children.startedAt !== undefined && children.nextPageToken === undefined;
    if (isComplete && !isOld) return;
    if (isComplete || children.startedAt === undefined) {
      children.startedAt = sentAt;
      children.responses.clear();
    }
    const page_token = children.nextPageToken;
    // Until it has arrived there is no other one to ask for.
    children.nextPageToken = undefined;
    const { items, next } = await this.page({ "uidp.children_of": parent, page_token });
    children.nextPageToken = next;
    for (const [uid, response] of items) children.responses.set(uid, { response, sentAt });
  }

  /** One page of the collection, by uid; what has none is left out. */
  private async page(query: Query): Promise<{ items: Map<string, JsonObject>; next: string | undefined }> {
    const response = await this.api.get(this.collection, { ...this.query, ...query, page_size: PAGE_SIZE });
    const list = response[this.collection.slice(this.collection.lastIndexOf("/") + 1)];
    if (!Array.isArray(list)) {
      throw new ConnectionError("PP2108", "the response has no list", "notSent", false);
    }
    const items = new Map<string, JsonObject>();
    for (const item of list as unknown[]) {
      const object = (item ?? {}) as JsonObject;
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
    const shared = this.collections.get(collection) ?? new SharedCollection(this.api, collection, query);
    this.collections.set(collection, shared);
    return shared.read(uid);
  }
}
