import { ApiError, ConnectionError, isUnclear } from "./errors";

type JsonObject = Record<string, unknown>;

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
  /** The member of the answer that holds what was made, in the order of the request. */
  readonly member: string;
}

/** The requests that batches consist of. */
export interface Poster {
  post(path: string, body: unknown, options: { repeatable: boolean }): Promise<JsonObject>;
  create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject>;
}

/** What became of each resource, in the order given: the answer, or the error that it met. */
export type Outcomes = PromiseSettledResult<JsonObject>[];

/** These answers are about the caller or the moment, not about what is in the batch. */
const ABOUT_ALL = new Set(["RESOURCE_EXHAUSTED", "UNAUTHENTICATED"]);

/** Whether the server refused the whole batch, so that nothing of it was made. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !isUnclear(error) && !ABOUT_ALL.has(error.code);
}

/** The server, or a proxy before it, has no such method. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.code === "UNIMPLEMENTED" || (error.code === "NOT_FOUND" && error.details.resource === undefined))
  );
}

function made(path: string, answer: JsonObject, member: string, count: number): JsonObject[] {
  const items: unknown = answer[member];
  const isWhole =
    Array.isArray(items) &&
    items.length === count &&
    items.every((item: unknown) => item !== null && typeof item === "object" && "uid" in item);
  if (!isWhole) {
    throw new ConnectionError(
      `POST ${path}: the answer does not hold the ${count} resources asked for`,
      "unclear",
      false,
    );
  }
  return items;
}

/** Makes resources in batches. One for each client: it remembers which methods the server does not have. */
export class Batches {
  private readonly missing = new Set<string>();

  constructor(private readonly poster: Poster) {}

  /**
   * Makes resources below one parent, in as few requests as the method allows, all of them under way
   * together. A batch that is refused goes again one by one, so that the error is that of the
   * resource that caused it. After a lost answer every resource of the batch has the same error,
   * for which `isUnclear` holds: whoever asked looks for what was made. Never throws.
   */
  async create(method: BatchMethod, parent: string, resources: readonly unknown[]): Promise<Outcomes> {
    const batches: (readonly unknown[])[] = [];
    for (let at = 0; at < resources.length; at += method.limit) {
      batches.push(resources.slice(at, at + method.limit));
    }
    const outcomes = await Promise.all(batches.map((batch) => this.batch(method, parent, batch)));
    return outcomes.flat();
  }

  private async batch(method: BatchMethod, parent: string, resources: readonly unknown[]): Promise<Outcomes> {
    const path = `${method.collection}:${method.verb}`;
    if (resources.length > 1 && !this.missing.has(path)) {
      try {
        const answer = await this.poster.post(path, method.body(parent, resources), { repeatable: false });
        return made(path, answer, method.member, resources.length).map((value) => ({
          status: "fulfilled",
          value,
        }));
      } catch (reason) {
        if (isMissing(reason)) this.missing.add(path);
        if (!isRefused(reason)) return resources.map(() => ({ status: "rejected", reason }));
      }
    }
    return Promise.allSettled(
      resources.map((resource) => this.poster.create(method.collection, parent, resource)),
    );
  }
}
