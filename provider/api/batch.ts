import { ApiError, ConnectionError, hasUnknownOutcome } from "./errors";
import { mayRetry } from "./retry";

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
  /** The member of the response that holds what was made, in the order of the request. */
  readonly member: string;
}

/** The requests that batches consist of. */
export interface BatchClient {
  post(path: string, body: unknown, options: { isIdempotent: boolean }): Promise<JsonObject>;
  create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject>;
}

/** What became of each resource, in the order given: the response, or the error. */
type Outcomes = PromiseSettledResult<JsonObject>[];

/**
 * Whether a failure is about the caller, the connection or the moment, so that each part of what was asked
 * for would meet it as well.
 */
export function concernsWholeBatch(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.isTransient;
  if (!(error instanceof ApiError)) return false;
  return error.code === "UNAUTHENTICATED" || (error.code === "RESOURCE_EXHAUSTED" && mayRetry(error, true));
}

/** Whether the server refused the whole batch, so that nothing of it was made. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && !hasUnknownOutcome(error) && !concernsWholeBatch(error);
}

/** After this time a request, which is repeated or has no response, no longer holds up others. */
const MAX_WAIT_MS = 1000;

/** Resolves when the work has settled, or after `MAX_WAIT_MS`. */
export async function settledOrTimeout(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS);
  });
  await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
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

interface PendingCreation {
  readonly resource: unknown;
  readonly resolve: (response: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

/** Arrivals that the usual time between two is taken from. */
const ARRIVALS_REMEMBERED = 7;
/** The engine idles during a response: waiting pays if that is at most this share of the time that it writes. */
const MAX_IDLE_SHARE = 1 / 6;
/** Timers are not more precise than this. */
const MIN_WAIT_MS = 4;

/**
 * The creates below one parent. One request is under way, beside full ones; what arrives meanwhile shares the next.
 *
 * The engine has a few creates under way, and writes its state before and after each, one write after the other. So
 * the creates of one response are followed by as many new ones, each two writes after the one before. A create waits
 * for the rest of these, no longer than such writes have taken, since a request without them leaves each to a request
 * of its own. After a wait in vain fewer are expected.
 */
class Queue {
  private readonly waiting: PendingCreation[] = [];
  private requestsUnderWay = 0;
  /** The size of a batch that is worth waiting for: the most creates that were without a response at one time. */
  private expectedSize = 1;
  /** Creates without a response, waiting ones included. */
  private pending = 0;
  /** Creates that are to follow those of the last response, and have not arrived. */
  private expectedSuccessors = 0;
  /** Undefined after a response: it lies between the last arrival and the next. */
  private lastArrival: number | undefined;
  /** How long the engine takes to write, as the time between arrivals shows. */
  private readonly interArrivalTimes: number[] = [];
  private lastResponseMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limit: number,
    private readonly sendBatch: (creations: readonly PendingCreation[]) => Promise<void>,
  ) {}

  add(creation: PendingCreation): void {
    const now = performance.now();
    if (this.lastArrival !== undefined) {
      this.interArrivalTimes.push(now - this.lastArrival);
      if (this.interArrivalTimes.length > ARRIVALS_REMEMBERED) this.interArrivalTimes.shift();
    }
    this.lastArrival = now;
    this.waiting.push(creation);
    this.pending += 1;
    this.expectedSize = Math.max(this.expectedSize, Math.min(this.pending, this.limit));
    this.expectedSuccessors = Math.max(0, this.expectedSuccessors - 1);
    this.sendIfReady();
  }

  private sendIfReady(): void {
    clearTimeout(this.timer);
    while (this.waiting.length >= this.limit) this.send();
    if (this.requestsUnderWay > 0 || this.waiting.length === 0) return;
    const maxWaitMs = this.maxWaitMs();
    if (this.waiting.length >= this.expectedSize || maxWaitMs === undefined) {
      this.send();
      return;
    }
    this.timer = setTimeout(() => {
      this.expectedSize = Math.max(this.waiting.length, this.expectedSize - 1);
      this.send();
    }, maxWaitMs);
  }

  /** How long to wait for the next create, in milliseconds; undefined where waiting does not pay. */
  private maxWaitMs(): number | undefined {
    if (this.interArrivalTimes.length < 3) return undefined;
    const usual =
      this.interArrivalTimes.reduce((one, other) => one + other, 0) / this.interArrivalTimes.length;
    const writingMs = 2 * usual * this.expectedSize;
    const isIdleTimeSmall = this.lastResponseMs <= writingMs * MAX_IDLE_SHARE;
    // A second request would cost more than the wait.
    const isResponseSlow = this.lastResponseMs >= writingMs;
    if (!isIdleTimeSmall && !isResponseSlow) return undefined;
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, 2 * usual * (this.expectedSuccessors + 1)));
  }

  private send(): void {
    const creations = this.waiting.splice(0, this.limit);
    this.requestsUnderWay += 1;
    const start = performance.now();
    void settledOrTimeout(
      this.sendBatch(creations).finally(() => {
        this.lastResponseMs = performance.now() - start;
        this.pending -= creations.length;
        this.expectedSuccessors = creations.length;
        this.lastArrival = undefined;
      }),
    ).then(() => {
      this.requestsUnderWay -= 1;
      this.sendIfReady();
    });
  }
}

/** Makes resources in batches. One for each client: it remembers which methods the server does not have. */
export class Batches {
  private readonly missing = new Set<string>();

  private readonly queues = new Map<string, Queue>();

  constructor(private readonly poster: BatchClient) {}

  /**
   * Makes one resource. It is sent at once where nothing is under way below its parent, or about to come; what arrives
   * meanwhile shares the next batch. Throws the error of this resource.
   */
  createOne(method: BatchMethod, parent: string, resource: unknown): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const key = `${method.collection} ${parent}`;
      let queue = this.queues.get(key);
      if (!queue) {
        queue = new Queue(method.limit, (creations) => this.sendBatch(method, parent, creations));
        this.queues.set(key, queue);
      }
      queue.add({ resource, resolve, reject });
    });
  }

  private async sendBatch(
    method: BatchMethod,
    parent: string,
    creations: readonly PendingCreation[],
  ): Promise<void> {
    const resources = creations.map(({ resource }) => resource);
    const outcomes = await this.createAll(method, parent, resources);
    outcomes.forEach((outcome, index) => {
      if (outcome.status === "fulfilled") creations[index]?.resolve(outcome.value);
      else creations[index]?.reject(outcome.reason);
    });
  }

  /**
   * A batch that is refused goes again one by one, so that the error is that of the resource that caused it. After a
   * lost response every resource of the batch has the same error, for which `hasUnknownOutcome` holds: each caller looks for
   * what was created. Never throws.
   */
  private async createAll(
    method: BatchMethod,
    parent: string,
    resources: readonly unknown[],
  ): Promise<Outcomes> {
    const path = `${method.collection}:${method.verb}`;
    if (resources.length > 1 && !this.missing.has(path)) {
      try {
        const response = await this.poster.post(path, method.body(parent, resources), {
          isIdempotent: false,
        });
        return parseBatchResponse(path, response, method.member, resources.length).map((value) => ({
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
