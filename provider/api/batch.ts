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
type Outcomes = PromiseSettledResult<JsonObject>[];

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

/** Arrivals that the usual distance between two is taken from. */
const DISTANCES = 7;
/** Of the time that the engine writes: what an answer may take where others are waited for. */
const SMALL_SHARE = 1 / 6;
/** The least that a timer can tell. */
const LEAST_PATIENCE_MS = 4;

/**
 * The creates below one parent: one request is under way beside full ones, and what arrives meanwhile shares the next.
 *
 * The engine has a few creates under way and writes its state once before and once after each. So those that were
 * answered together have their successors here again after as many writes as they were, one after the other,
 * and a request that goes before the last of them is there leaves the rest for one of its own. Until then a create
 * waits: as long as the engine is known to take, and only where more were under way before. The engine is
 * writing meanwhile, so this costs time only when no successor comes; then fewer are expected the next time.
 */
class Queue {
  private readonly waiting: Creation[] = [];
  private sending = 0;
  /** How many are expected: the most that were asked for and not answered at one time. */
  private expected = 1;
  /** Not yet answered, waiting ones included. */
  private open = 0;
  /** Answered together, less those that came since: what the engine writes before the next one comes. */
  private returning = 0;
  private lastArrival: number | undefined;
  /** Between arrivals without an answer between them: how long the engine takes to write. */
  private readonly distances: number[] = [];
  /** Of the last answer. */
  private latency = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limit: number,
    private readonly answer: (creations: readonly Creation[]) => Promise<void>,
  ) {}

  add(creation: Creation): void {
    const now = performance.now();
    if (this.lastArrival !== undefined) {
      this.distances.push(now - this.lastArrival);
      if (this.distances.length > DISTANCES) this.distances.shift();
    }
    this.lastArrival = now;
    this.waiting.push(creation);
    this.open += 1;
    this.expected = Math.max(this.expected, Math.min(this.open, this.limit));
    this.returning = Math.max(0, this.returning - 1);
    this.consider();
  }

  private consider(): void {
    clearTimeout(this.timer);
    while (this.waiting.length >= this.limit) this.send();
    if (this.sending > 0 || this.waiting.length === 0) return;
    const patience = this.patience();
    if (this.waiting.length >= this.expected || patience === undefined) {
      this.send();
      return;
    }
    this.timer = setTimeout(() => {
      this.expected = Math.max(this.waiting.length, this.expected - 1);
      this.send();
    }, patience);
  }

  /** How long the next one may take to come, in milliseconds; undefined where it is not worth waiting for. */
  private patience(): number | undefined {
    if (this.distances.length < 3) return undefined;
    const usual = this.distances.reduce((one, other) => one + other, 0) / this.distances.length;
    // What the engine writes for all of them. It idles while they are answered together.
    const writing = 2 * usual * this.expected;
    if (this.latency > writing * SMALL_SHARE && this.latency < writing) return undefined;
    return Math.min(OVERDUE_MS, Math.max(LEAST_PATIENCE_MS, 2 * usual * (this.returning + 1)));
  }

  private send(): void {
    const creations = this.waiting.splice(0, this.limit);
    this.sending += 1;
    const start = performance.now();
    void endedOrOverdue(
      this.answer(creations).finally(() => {
        this.latency = performance.now() - start;
        this.open -= creations.length;
        this.returning = creations.length;
        // The answer lies between the last arrival and the next.
        this.lastArrival = undefined;
      }),
    ).then(() => {
      this.sending -= 1;
      this.consider();
    });
  }
}

/** Makes resources in batches. One for each client: it remembers which methods the server does not have. */
export class Batches {
  private readonly missing = new Set<string>();

  private readonly queues = new Map<string, Queue>();

  constructor(private readonly poster: Poster) {}

  /**
   * Makes one resource. It is sent at once where nothing is under way below its parent, or about to come; what arrives
   * meanwhile shares the next batch. Throws the error of this resource.
   */
  createOne(method: BatchMethod, parent: string, resource: unknown): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const key = `${method.collection} ${parent}`;
      let queue = this.queues.get(key);
      if (!queue) {
        queue = new Queue(method.limit, (creations) => this.answer(method, parent, creations));
        this.queues.set(key, queue);
      }
      queue.add({ resource, resolve, reject });
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

  /**
   * A batch that is refused goes again one by one, so that the error is that of the resource that caused it. After a
   * lost answer every resource of the batch has the same error, for which `isUnclear` holds: whoever asked looks for
   * what was made. Never throws.
   */
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
