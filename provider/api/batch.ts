import { ApiError, ConnectionError, isUnclear } from "./errors";
import { mayRepeat } from "./retry";

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

/**
 * Whether a failure is about the caller, the connection or the moment, so that each part of what was asked
 * for would meet it as well.
 */
export function isAboutCaller(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.passing;
  if (!(error instanceof ApiError)) return false;
  return error.code === "UNAUTHENTICATED" || (error.code === "RESOURCE_EXHAUSTED" && mayRepeat(error, true));
}

/** Whether the server refused the whole batch, so that nothing of it was made. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !isUnclear(error) && !isAboutCaller(error);
}

/** What takes longer, because it is repeated or not answered, no longer holds up others. */
const OVERDUE_MS = 1000;

/** Resolves when the work has ended, well or not, or is overdue. */
export async function endedOrOverdue(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise((resolve) => {
    timer = setTimeout(resolve, OVERDUE_MS);
  });
  await Promise.race([work.catch(() => undefined), overdue]);
  clearTimeout(timer);
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

interface Creation {
  readonly resource: unknown;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  readonly waiting: Creation[];
  underWay: number;
}

/** Requests below one parent under way at once; what arrives meanwhile shares the next. */
const UNDER_WAY = 1;

/** Makes resources in batches. One for each client: it remembers which methods the server does not have. */
export class Batches {
  private readonly missing = new Set<string>();

  private readonly queues = new Map<string, Queue>();

  constructor(private readonly poster: Poster) {}

  /**
   * Makes one resource. It is sent at once where nothing is under way below its parent; what arrives
   * meanwhile shares the next batch. Throws the error of this resource, as `create` has it.
   */
  createOne(method: BatchMethod, parent: string, resource: unknown): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const key = `${method.collection} ${parent}`;
      const queue: Queue = this.queues.get(key) ?? { waiting: [], underWay: 0 };
      this.queues.set(key, queue);
      queue.waiting.push({ resource, resolve, reject });
      this.send(method, parent, queue);
    });
  }

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

  private send(method: BatchMethod, parent: string, queue: Queue): void {
    if (queue.waiting.length === 0 || queue.underWay >= UNDER_WAY) return;
    const creations = queue.waiting.splice(0, method.limit);
    queue.underWay += 1;
    void endedOrOverdue(this.answer(method, parent, creations)).then(() => {
      queue.underWay -= 1;
      this.send(method, parent, queue);
    });
  }

  private async answer(method: BatchMethod, parent: string, creations: readonly Creation[]): Promise<void> {
    const resources = creations.map(({ resource }) => resource);
    const outcomes = await this.batch(method, parent, resources);
    outcomes.forEach((outcome, index) => {
      if (outcome.status === "fulfilled") creations[index]?.resolve(outcome.value);
      else creations[index]?.reject(outcome.reason);
    });
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
