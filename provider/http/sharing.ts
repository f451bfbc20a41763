import DataLoader from "dataloader";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../errors/codedError";
import { ApiError, ConnectionError, hasUnknownOutcome, isThrottled } from "./errors";
import type { Client, JsonObject } from "./client";
import { LIST_PAGE_SIZE } from "./query";
import type { Query } from "./query";
import { isUid, parentOf } from "../text/uid";
import { lastWord } from "../text/address";

/* Requests that several reads, or several creates, share. */

/**
 * Whether a failure is about the caller, the connection or the moment, so that each part of what was asked
 * for would meet it as well.
 */
function concernsWholeBatch(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.isTransient;
  if (!(error instanceof ApiError)) return false;
  return error.code === "UNAUTHENTICATED" || isThrottled(error);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new CodedError("PP9001", "what failed is no error");

/** Most resources that one request of a batch creates, all or none. */
const MAX_BATCH = 25;

/** Creates that come within this time share a request; the engine writes its state between them, one after another. */
const COLLECTED_MS = 100;

/**
 * Creates that share requests, below one parent each, by the standard method `batchCreate` of their collection (AIP-233). One
 * for each client: it remembers which collections of the server lack it.
 */
export class SharedCreates {
  private readonly missing = new Set<string>();
  /** By collection and parent. */
  private readonly loaders = new Map<string, DataLoader<unknown, JsonObject>>();

  constructor(private readonly api: Pick<Client, "post" | "create" | "addressAdvice">) {}

  /** Makes one resource. Throws the error of this resource. */
  createOne(collection: string, parent: string, resource: unknown): Promise<JsonObject> {
    const key = `${collection} ${parent}`;
    const loader =
      this.loaders.get(key) ??
      new DataLoader((resources) => this.createAll(collection, parent, resources), {
        cache: false,
        maxBatchSize: MAX_BATCH,
        batchScheduleFn: (dispatch) => void setTimeout(dispatch, COLLECTED_MS),
      });
    this.loaders.set(key, loader);
    return loader.load(resource);
  }

  /** Makes several resources at once, so many in each request. */
  async createTogether(
    collection: string,
    parent: string,
    resources: readonly unknown[],
    size = MAX_BATCH,
  ): Promise<(JsonObject | Error)[]> {
    const batches = Array.from({ length: Math.ceil(resources.length / size) }, (_, i) =>
      this.createAll(collection, parent, resources.slice(i * size, (i + 1) * size)),
    );
    return (await Promise.all(batches)).flat();
  }

  /**
   * A batch that is refused goes again one by one, so that the error is that of the resource that caused it. After a
   * lost response every resource of the batch has the same error, for which `hasUnknownOutcome` holds: each caller looks for
   * what was created.
   */
  private async createAll(
    collection: string,
    parent: string,
    resources: readonly unknown[],
  ): Promise<(JsonObject | Error)[]> {
    if (resources.length > 1 && !this.missing.has(collection)) {
      try {
        return await this.createBatch(collection, parent, resources);
      } catch (error) {
        if (isMissing(error)) this.missing.add(collection);
        const isRefused =
          error instanceof ApiError && !hasUnknownOutcome(error) && !concernsWholeBatch(error);
        if (!isRefused) return resources.map(() => asError(error));
      }
    }
    return Promise.all(
      resources.map((resource) => this.api.create(collection, parent, resource).catch(asError)),
    );
  }

  private async createBatch(
    collection: string,
    parent: string,
    resources: readonly unknown[],
  ): Promise<JsonObject[]> {
    const path = `${collection}:batchCreate`;
    const plural = lastWord(collection);
    const requests = resources.map((resource) => ({ parent, [plural.replace(/s$/, "")]: resource }));
    const response = await this.api.post(path, { parent, requests }, { isIdempotent: false });
    const items: unknown = response[plural];
    const isWhole =
      Array.isArray(items) &&
      items.length === resources.length &&
      items.every((item: unknown) => item !== null && typeof item === "object" && "uid" in item);
    if (isWhole) return items;
    throw new ConnectionError(
      "PP2108",
      `POST ${path}: the response does not contain the ${resources.length} requested resources; ${this.api.addressAdvice}`,
      "unknown",
      false,
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

/** After this time a page, whose request is repeated or has no response, no longer holds up reads. */
const MAX_WAIT_MS = 1000;
/** The oldest that a response may be when a read returns it, from the sending of its request. */
const MAX_AGE_MS = 10_000;
/** Reads by GET below one parent before each page of its children. */
const READS_PER_PAGE = 4;

/** What pages have shown of one parent's children. */
interface Children {
  /** Times are those of `performance.now()`. */
  readonly since: number;
  /** Those that no read has taken yet, by uid. */
  readonly responses: Map<string, JsonObject>;
  /** Since the last page. */
  gets: number;
  /** Empty before the first page, undefined where no further page may be requested. */
  nextPageToken: string | undefined;
  /** The page that is waited for. */
  underWay: Promise<void> | undefined;
}

/**
 * Reads that share requests: after some reads below one parent, the next ones take their responses from pages of all its
 * children. What no page shows is read by a GET. One for each client.
 */
export class SharedReads {
  /** By collection and parent. */
  private readonly children = new Map<string, Children>();
  /** Collections of which a page failed, or had nothing of its parent: pages save nothing there. */
  private readonly withoutPages = new Set<string>();

  constructor(private readonly api: Pick<Client, "get" | "getResource">) {}

  /**
   * One resource, as its own GET would return it: at most ten seconds old, and never older than this
   * client's last write. Throws what the GET would throw.
   *
   * @param query What lists of this collection are asked besides, to show all that a GET finds.
   */
  async read(collection: string, uid: string, query: Query = {}): Promise<JsonObject> {
    const parent = isUid(uid) ? parentOf(uid) : undefined;
    while (parent !== undefined && !this.withoutPages.has(collection)) {
      const children = this.childrenOf(collection, parent);
      const response = children.responses.get(uid);
      // Used once: a second read is sent to the server.
      children.responses.delete(uid);
      if (response) return response;
      if (!children.underWay) {
        if (children.gets < READS_PER_PAGE || children.nextPageToken === undefined) {
          children.gets += 1;
          break;
        }
        const page = this.readPage(collection, parent, query, children);
        const timeout = sleep(MAX_WAIT_MS, undefined, { ref: false });
        children.underWay = Promise.race([page, timeout]).finally(() => (children.underWay = undefined));
      }
      await children.underWay;
    }
    return this.api.getResource(collection, uid);
  }

  /** Forgets what was read before a write. */
  forget(): void {
    this.children.clear();
  }

  private childrenOf(collection: string, parent: string): Children {
    const key = `${collection} ${parent}`;
    const known = this.children.get(key);
    const since = performance.now();
    if (known && since - known.since <= MAX_AGE_MS) return known;
    const children = {
      since,
      responses: new Map<string, JsonObject>(),
      gets: 0,
      nextPageToken: "",
      underWay: undefined,
    };
    this.children.set(key, children);
    return children;
  }

  /** Lists the next page of a parent's children. Where that fails, each read meets the error itself, or none. */
  private async readPage(
    collection: string,
    parent: string,
    query: Query,
    children: Children,
  ): Promise<void> {
    const page_token = children.nextPageToken === "" ? undefined : children.nextPageToken;
    // Until it has arrived there is no other one to ask for.
    children.nextPageToken = undefined;
    children.gets = 0;
    const page = { ...query, "uidp.children_of": parent, page_size: LIST_PAGE_SIZE, page_token };
    const response = await this.api.get(collection, page).catch((): JsonObject => ({}));
    const list: unknown = response[lastWord(collection)];
    const items = (Array.isArray(list) ? list : []) as (JsonObject | null)[];
    let shown = 0;
    for (const item of items) {
      const uid = item?.["uid"];
      if (typeof uid !== "string" || !item || parentOf(uid) !== parent) continue;
      children.responses.set(uid, item);
      shown += 1;
    }
    // Either none is left, or the server does not select by parent: a page saves nothing.
    if (shown === 0) this.withoutPages.add(collection);
    const next = response["nextPageToken"];
    children.nextPageToken = typeof next === "string" && next !== "" ? next : undefined;
  }
}
