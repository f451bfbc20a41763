import { isTooLarge } from "./errors";
import type { JsonObject, Query } from "./requester";

export interface ListOptions {
  /** The member of the response that holds the list; default: the last word of the path. */
  readonly member?: string;
  /** At most, and by default, 200. */
  readonly pageSize?: number;
  /** Tells objects apart, undefined nothing; default: by their uid. */
  readonly key?: (object: JsonObject) => unknown;
}

/** What reading a list needs of the client. */
export interface ListApi {
  get(path: string, query?: Query): Promise<JsonObject>;
  extractList(path: string, response: JsonObject, member: string): Promise<unknown[]>;
  /** The error for a response that is not the API's. */
  unexpectedResponse(path: string, why: string): Error;
}

const PAGE_SIZE = 200;
/** Pages may be empty before the last one; a restart brings the known ones once more beside these. */
const MAX_EMPTY_PAGES = 10;

/** Finds out whether a list repeats itself: an expired token restarts it once, with known page tokens or with new ones. */
class LoopDetector {
  private readonly tokens = new Set<string>();
  private repeatedTokens = 0;
  private pagesWithNews = 0;
  /** Pages in a row that held nothing new. */
  pagesWithoutNews = 0;

  /** Whether there were more pages without anything new than a restart explains. */
  isLoop(isNews: boolean, nextToken: string): boolean {
    this.pagesWithNews += isNews ? 1 : 0;
    this.pagesWithoutNews = isNews ? 0 : this.pagesWithoutNews + 1;
    this.repeatedTokens = isNews || !this.tokens.has(nextToken) ? 0 : this.repeatedTokens + 1;
    const knownTokens = this.tokens.size;
    this.tokens.add(nextToken);
    return this.repeatedTokens > knownTokens || this.pagesWithoutNews > this.pagesWithNews + MAX_EMPTY_PAGES;
  }

  /** From now on a page holds half as much. */
  onHalvedPages(): void {
    this.pagesWithNews *= 2;
  }
}

/** The objects of a list that were seen, so that none comes twice. */
class SeenObjects {
  private readonly seen = new Set<unknown>();

  constructor(private readonly key: (object: JsonObject) => unknown) {}

  /** Adds an object. `isNews`: it was not seen before. `isRepeated`: it is known by its key and was seen. */
  add(object: JsonObject): { isNews: boolean; isRepeated: boolean } {
    const key = this.key(object);
    const identity = key ?? JSON.stringify(object);
    const isNews = !this.seen.has(identity);
    this.seen.add(identity);
    return { isNews, isRepeated: key !== undefined && !isNews };
  }
}

function uidIfAny({ uid }: JsonObject): unknown {
  return uid === "" ? undefined : uid;
}

/**
 * All objects of a list, page by page. An expired token restarts a list without an error: objects that were seen are
 * dropped. Pages without anything new end in an error, once there are more of them than a restart explains.
 */
export async function* listAll(
  api: ListApi,
  collection: string,
  query: Query,
  { member, pageSize = PAGE_SIZE, key = uidIfAny }: ListOptions,
): AsyncGenerator<JsonObject> {
  const plural = member ?? collection.slice(collection.lastIndexOf("/") + 1);
  const seen = new SeenObjects(key);
  const loop = new LoopDetector();
  let token: string | undefined;
  let size = pageSize;
  for (;;) {
    let page: JsonObject;
    try {
      page = await api.get(collection, { ...query, page_size: size, page_token: token });
    } catch (error) {
      // The token says where to continue, whatever the size; what comes twice is dropped.
      if (!isTooLarge(error) || size === 1) throw error;
      size = Math.ceil(size / 2);
      loop.onHalvedPages();
      continue;
    }
    let isNews = false;
    for (const item of await api.extractList(collection, page, plural)) {
      if (item === null || typeof item !== "object") {
        throw api.unexpectedResponse(collection, `its list "${plural}" contains no objects`);
      }
      const object = item as JsonObject;
      const added = seen.add(object);
      isNews ||= added.isNews;
      if (!added.isRepeated) yield object;
    }
    token = nextTokenOf(page);
    if (token === undefined) return;
    if (loop.isLoop(isNews, token)) {
      const why = `its list does not end: ${loop.pagesWithoutNews} pages in a row contained nothing new`;
      throw api.unexpectedResponse(collection, why);
    }
  }
}

function nextTokenOf({ nextPageToken: token }: JsonObject): string | undefined {
  return typeof token === "string" && token !== "" ? token : undefined;
}
