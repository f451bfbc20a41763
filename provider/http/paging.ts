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
/** Pages may be empty before the last one, or repeat objects, but not many in a row. */
const MAX_PAGES_WITHOUT_NEWS = 10;

function uidIfAny({ uid }: JsonObject): unknown {
  return uid === "" ? undefined : uid;
}

/**
 * All objects of a list, page by page. An expired token restarts a list without an error, so objects that were seen are
 * dropped. A list of which many pages in a row hold nothing new ends in an error.
 */
export async function* listAll(
  api: ListApi,
  collection: string,
  query: Query,
  { member, pageSize = PAGE_SIZE, key = uidIfAny }: ListOptions,
): AsyncGenerator<JsonObject> {
  const plural = member ?? collection.slice(collection.lastIndexOf("/") + 1);
  const seen = new Set<unknown>();
  let pagesWithoutNews = 0;
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
      continue;
    }
    const seenBefore = seen.size;
    for (const item of await api.extractList(collection, page, plural)) {
      if (item === null || typeof item !== "object") {
        throw api.unexpectedResponse(collection, `its list "${plural}" contains no objects`);
      }
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
      const why = `its list does not end: ${pagesWithoutNews} pages in a row contained nothing new`;
      throw api.unexpectedResponse(collection, why);
    }
  }
}
