import pLimit from "p-limit";
import pRetry from "p-retry";
import { encodeUid, isUid } from "../text/uid";
import {
  ApiError,
  BASE_URL_SETTING,
  ConnectionError,
  isRefusalOfApi,
  isTooLarge,
  isThrottled,
  mayRetry,
} from "./errors";
import type { Endpoint } from "./errors";
import { encodeQuery, LIST_PAGE_SIZE } from "./query";
import type { Query } from "./query";
import { SharedCreates, SharedReads } from "./sharing";
import { decodeClaims, timeClaim } from "./tokens";
import type { TokenSource } from "./tokens";
import { dateOf, Transport } from "./transport";
import type { HttpResponse } from "./transport";
import { lastWord } from "../text/address";

export interface ClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** The setting that it comes from; default: those that it may come from. */
  readonly baseUrlSetting?: string;
  /** For one attempt, from sending to the last byte of the response. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** Requests under way at once. */
  readonly maxConcurrency: number;
  readonly tokens: TokenSource;
  /** False: every read and every create has a request of its own. */
  readonly batching?: boolean;
  /** Takes one line a request: method, path, status, time, attempt. */
  readonly log?: (line: string) => void;
  /** Takes one line, when the first request without a response is repeated: until it fails nothing else is printed. */
  readonly notify?: (line: string) => void;
  /** Other waits than the default ones, for tests. */
  readonly policy?: Partial<RetryPolicy>;
}

export type JsonObject = Record<string, unknown>;

interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Doing it twice is the same as doing it once. */
  readonly isIdempotent: boolean;
}

/** The API in the words of messages. */
export function apiEndpoint({
  baseUrl,
  baseUrlSetting: setting = BASE_URL_SETTING,
}: Pick<ClientOptions, "baseUrl" | "baseUrlSetting">): Endpoint {
  return { baseUrl, name: "the Platform API", setting };
}

/** Members of a list's response beside the list. */
const PAGE_MEMBERS: readonly string[] = ["nextPageToken", "totalCount", "skipped"];

/** A list may have pages without anything new, where objects are made or deleted meanwhile, or a filter leaves them out. */
const MOST_PAGES_WITHOUT_NEW = 1000;

interface ListOptions {
  /** The member of the response that holds the list; default: the last word of the path. */
  readonly member?: string;
  /** At most, and by default, 200. */
  readonly pageSize?: number;
}

function hasUid(value: unknown): boolean {
  return value !== null && typeof value === "object" && "uid" in value && isUid(String(value.uid));
}

/**
 * The methods of the API. Reads and creates that come together share requests. All go through one connection pool and one
 * rate limiter, with a token, and are repeated where they may be.
 */
export class Client {
  private readonly transport: Transport;
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly rateLimiter = new RateLimiter();
  private readonly policy: RetryPolicy;
  /** The server's time in its last response, and when that came by `performance.now()`. */
  private lastDate: { readonly date: number; readonly at: number } | undefined;
  /** Whether a response has shown the server to be the API: a wrong address may respond `{}` to everything. */
  private isRecognized = false;
  private hasSaidRepeated = false;
  private hasAnswered = false;
  private readonly rootsInToken = new Set<string>();
  private readonly createdAt = new Map<string, number>();
  private readonly creates = new SharedCreates(this);
  private readonly reads = new SharedReads(this);
  /** Whether this server took a change only without a mask, after it refused or ignored one with a name of several words. */
  infersMasks = false;

  constructor(private readonly options: ClientOptions) {
    this.transport = new Transport({
      ...options,
      ...apiEndpoint(options),
      maxSockets: options.maxConcurrency,
    });
    this.limit = pLimit(options.maxConcurrency);
    this.policy = { ...defaultPolicy, ...options.policy, maxRetries: options.maxRetries };
  }

  /** The server's time in milliseconds since the epoch, by its last response; this machine's before that. */
  serverNow(): number {
    const { date, at } = this.lastDate ?? { date: Date.now(), at: performance.now() };
    return date + performance.now() - at;
  }

  /** What to check where a response is not the API's: the setting of its address, and the address. */
  get addressAdvice(): string {
    const { setting, baseUrl } = apiEndpoint(this.options);
    return `check ${setting}, which is ${baseUrl}`;
  }

  get maxConcurrency(): number {
    return this.options.maxConcurrency;
  }

  /** Whom the token in use says that it stands for; undefined where it is no JWT. Not verified: the server does that. */
  async getCallerClaims(): Promise<{ issuer: string; subject: string } | undefined> {
    const { iss, sub } = decodeClaims(await this.options.tokens.token()) ?? {};
    return typeof iss === "string" && typeof sub === "string" ? { issuer: iss, subject: sub } : undefined;
  }

  get(path: string, query?: Query): Promise<JsonObject> {
    return this.request({ method: "GET", path, query, isIdempotent: true });
  }

  /** A response whose members may all be left out: an empty one is an error at a server that nothing shows to be the API. */
  async getAllowingEmpty(path: string, query?: Query): Promise<JsonObject> {
    const response = await this.get(path, query);
    if (Object.keys(response).length === 0 && !(await this.isTheApi())) {
      throw this.transport.unexpectedResponse({ method: "GET", path }, "its responses are empty");
    }
    return response;
  }

  /**
   * The list that a response holds under a name. It may be left out where it is empty, at a server
   * that has shown itself to be the API, and where the response holds nothing else that could be the list.
   */
  async extractList(path: string, response: JsonObject, member: string): Promise<unknown[]> {
    const items = response[member] ?? undefined;
    if (Array.isArray(items)) return items as unknown[];
    const isAlone = Object.keys(response).every((key) => key === member || PAGE_MEMBERS.includes(key));
    if (items === undefined && isAlone && (await this.isTheApi())) return [];
    throw this.transport.unexpectedResponse({ method: "GET", path }, `its response has no list "${member}"`);
  }

  async getResource(collection: string, uid: string): Promise<JsonObject> {
    return this.get(this.resourcePath(collection, uid));
  }

  /** One resource, read together with others that are read at the same time; see `SharedReads.read`. */
  readShared(collection: string, uid: string, query?: Query): Promise<JsonObject> {
    return this.options.batching === false
      ? this.getResource(collection, uid)
      : this.reads.read(collection, uid, query);
  }

  /**
   * The path of a collection, a resource in it, or a part or method of that: `/readme`, `:verb`. A create is sent to the
   * path with the uid of the parent.
   */
  resourcePath(collection: string, uid: string | undefined, suffix = ""): string {
    return `${uid === undefined ? collection : `${collection}/${encodeUid(uid)}`}${suffix}`;
  }

  /** A POST that is not idempotent is sent again only where nothing can have happened. */
  post(path: string, body: unknown, { isIdempotent }: { isIdempotent: boolean }): Promise<JsonObject> {
    return this.request({ method: "POST", path, body, isIdempotent });
  }

  create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject> {
    return this.post(this.resourcePath(collection, parent), body, { isIdempotent: false });
  }

  /** Makes one resource, together with others that are made below its parent at the same time. */
  createShared(collection: string, parent: string, body: unknown): Promise<JsonObject> {
    return this.options.batching === false
      ? this.create(collection, parent, body)
      : this.creates.createOne(collection, parent, body);
  }

  /** Makes several resources below one parent. */
  createTogether(
    collection: string,
    parent: string,
    bodies: readonly unknown[],
  ): Promise<(JsonObject | Error)[]> {
    const size = this.options.batching === false ? 1 : undefined;
    return this.creates.createTogether(collection, parent, bodies, size);
  }

  /** Notes that this client has made a resource. */
  noteCreated(uid: string): void {
    this.createdAt.set(uid, performance.now());
  }

  /** How long ago this client made a resource, in milliseconds; undefined if it did not. */
  timeSinceCreation(uid: string): number | undefined {
    const at = this.createdAt.get(uid);
    return at === undefined ? undefined : performance.now() - at;
  }

  /**
   * Has the token know a root group that this client made: rights on it may be in no token from before.
   * Once for each; for other groups nothing. @throws what the exchange throws; the token in use is kept, and another call
   * exchanges again
   */
  async refreshTokenFor(root: string): Promise<void> {
    if (!this.createdAt.has(root) || this.rootsInToken.has(root)) return;
    this.rootsInToken.add(root);
    try {
      await this.options.tokens.refresh?.();
    } catch (error) {
      this.rootsInToken.delete(root);
      throw error;
    }
  }

  /** Changes what the body holds; `mask` names the same paths, or is left out for the inferred one. */
  patchAt(path: string, body: unknown, mask: readonly string[] | undefined): Promise<JsonObject> {
    return this.request({
      method: "PATCH",
      path,
      query: mask ? { updateMask: mask.join(",") } : {},
      body,
      isIdempotent: true,
    });
  }

  async delete(collection: string, uid: string): Promise<void> {
    await this.request({ method: "DELETE", path: this.resourcePath(collection, uid), isIdempotent: true });
  }

  /** All objects of a list, page by page. What comes twice is dropped: objects may be made or deleted between two pages. */
  async *list(collection: string, query: Query = {}, options: ListOptions = {}): AsyncGenerator<JsonObject> {
    const plural = options.member ?? lastWord(collection);
    const wrongList = (why: string) =>
      this.transport.unexpectedResponse({ method: "GET", path: collection }, `its list ${why}`);
    const uids = new Set<unknown>();
    const tokens = new Set<string>();
    let token: string | undefined;
    let size = options.pageSize ?? LIST_PAGE_SIZE;
    let pagesWithoutNew = 0;
    for (;;) {
      let page: JsonObject;
      try {
        page = await this.get(collection, { ...query, page_size: size, page_token: token });
      } catch (error) {
        // The token says where to continue, whatever the size.
        if (!isTooLarge(error) || size === 1) throw error;
        size = Math.ceil(size / 2);
        continue;
      }
      pagesWithoutNew += 1;
      for (const item of await this.extractList(collection, page, plural)) {
        if (item === null || typeof item !== "object") throw wrongList(`"${plural}" contains no objects`);
        const object = item as JsonObject;
        const { uid } = object;
        const isRepeated = typeof uid === "string" && uid !== "" && uids.has(uid);
        uids.add(uid);
        if (isRepeated) continue;
        pagesWithoutNew = 0;
        yield object;
      }
      const next = page["nextPageToken"] ?? "";
      if (typeof next !== "string") throw wrongList("has a page token that is no text");
      if (next === "") return;
      if (tokens.has(next)) throw wrongList("does not end: its page tokens repeat");
      if (pagesWithoutNew === MOST_PAGES_WITHOUT_NEW)
        throw wrongList(`does not end: ${MOST_PAGES_WITHOUT_NEW} pages show nothing new`);
      tokens.add(next);
      token = next;
    }
  }

  /** Asks for the built-in roles where no response has shown it yet: they always exist, and a refusal shows it too. */
  private async isTheApi(): Promise<boolean> {
    if (!this.isRecognized) {
      await this.get("/iam/v2/roles", { page_size: 1 }).catch((error: unknown) => {
        // Another response may have shown it meanwhile.
        this.isRecognized ||= isRefusalOfApi(error);
      });
    }
    return this.isRecognized;
  }

  private async request(call: Call): Promise<JsonObject> {
    let attempt = 0;
    try {
      return await withRetry(
        // Inside the limit: a request that waits for its turn must not be sent while the limiter pauses.
        () =>
          this.limit(() =>
            withRateLimit(() => this.attempt(call, (attempt += 1)), this.policy, this.rateLimiter),
          ),
        call.isIdempotent,
        this.policy,
        (error) => {
          this.sayRepeated(error, call);
        },
        (error) => this.isWrongAddress(error, call) && attempt > MOST_RETRIES_OF_CLOSED_PORT,
      );
    } finally {
      if (call.method !== "GET") this.reads.forget();
    }
  }

  /** A read of a closed port, before anything has answered: more likely a wrong address than a server that restarts. */
  private isWrongAddress(error: Error, { method }: Call): boolean {
    return error instanceof ConnectionError && error.isClosed && method === "GET" && !this.hasAnswered;
  }

  private sayRepeated(error: Error, call: Call): void {
    if (this.hasSaidRepeated || !(error instanceof ConnectionError)) return;
    this.hasSaidRepeated = true;
    const [what = ""] = error.message.split("; ", 1);
    const { maxRetries } = this.policy;
    const most = this.isWrongAddress(error, call)
      ? Math.min(maxRetries, MOST_RETRIES_OF_CLOSED_PORT)
      : maxRetries;
    this.options.notify?.(`${what}; trying again, up to ${most} times`);
  }

  private async attempt(call: Call, number: number): Promise<JsonObject> {
    let token = await this.options.tokens.token();
    let response = await this.send(call, token, number);
    if (response.status === 401 && (await this.options.tokens.renew(token))) {
      token = await this.options.tokens.token();
      response = await this.send(call, token, number);
    }
    const end = response.status === 401 ? timeClaim(decodeClaims(token), "exp") : undefined;
    const tokenEnd = end !== undefined && end.getTime() <= this.serverNow() ? end : undefined;
    const body = this.transport.read(
      { ...call, tokenEnd, credential: this.options.tokens.setting },
      response,
    );
    this.isRecognized ||= [body, ...Object.values(body).flat()].some(hasUid);
    return body;
  }

  private async send(call: Call, token: string, attempt: number): Promise<HttpResponse> {
    const mask = call.query?.["updateMask"];
    const response = await this.transport.send({
      method: call.method,
      path: call.path,
      query: encodeQuery(call.query ?? {}),
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      headers: {
        Authorization: `Bearer ${token}`,
        ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      note: typeof mask === "string" ? ` mask=${mask}` : "",
      attempt,
    });
    this.hasAnswered = true;
    this.lastDate = { date: dateOf(response), at: performance.now() };
    return response;
  }
}

/** A uid of a response, or an error: a 200 that is not this API is never taken as a resource. */
export function requireUid(response: JsonObject, what: string, addressAdvice: string): string {
  const uid = response["uid"];
  if (typeof uid !== "string" || uid === "") {
    const message = `${what}: the response has no uid; ${addressAdvice}`;
    throw new ConnectionError("PP2108", message, "unknown", false);
  }
  return uid;
}

/** An interval is measured over at least this time. */
const MIN_MEASURED_MS = 1000;
/** An interval is measured from at least this many requests, unless the server says how long to wait. */
const MIN_REQUESTS = 10;
/** Factor of the interval when the server throttles again. */
const SLOW_DOWN = 1.1;
/** Factors of the interval after each request that the server took; the second after a while without throttling. */
const SPEED_UP = 0.999;
const SPEED_UP_UNTHROTTLED = 0.98;
const UNTHROTTLED_MS = 5000;
/** A shorter interval is none. */
const MIN_INTERVAL_MS = 2;

/**
 * Holds back the requests of a client. None is sent while the server asks to wait; after the server has throttled
 * one, they are sent no faster than the server took them.
 */
export class RateLimiter {
  private pausedUntil = 0;
  private intervalMs = 0;
  private nextAt = 0;
  private throttledAt = -Infinity;
  private measuredFrom: number | undefined;
  /** Requests that the server took since `measuredFrom`. */
  private taken = 0;

  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + ms);
  }

  /** Resolves when the next request may be sent. */
  async acquire(): Promise<void> {
    const wait = () => Math.max(this.pausedUntil, this.nextAt) - performance.now();
    for (let ms = wait(); ms > 0; ms = wait()) await new Promise((resolve) => setTimeout(resolve, ms));
    const now = performance.now();
    this.measuredFrom ??= now;
    // Timers fire late: the next request may be early by as much, at most by one interval.
    this.nextAt = Math.max(this.nextAt, now - this.intervalMs) + this.intervalMs;
  }

  /** The server took a request, whatever its response says. */
  onSuccess(): void {
    this.taken += 1;
    this.intervalMs *=
      performance.now() - this.throttledAt > UNTHROTTLED_MS ? SPEED_UP_UNTHROTTLED : SPEED_UP;
    if (this.intervalMs < MIN_INTERVAL_MS) this.intervalMs = 0;
  }

  /**
   * The server refused a request because there were too many.
   *
   * @param sentAt when it was sent, by `performance.now()`
   * @param serverDelayMs how long the response asks to wait; after that time the server takes at least one
   */
  onThrottled(sentAt: number, serverDelayMs = 0): void {
    // Requests that were under way at the first refusal tell nothing new.
    if (sentAt <= this.throttledAt) return;
    const now = performance.now();
    const elapsed = Math.max(now - (this.measuredFrom ?? now), MIN_MEASURED_MS);
    const longest = serverDelayMs > 0 ? Math.min(serverDelayMs, MIN_MEASURED_MS) : undefined;
    if (this.taken >= (longest === undefined ? MIN_REQUESTS : 1)) {
      this.intervalMs = SLOW_DOWN * Math.min(elapsed / this.taken, longest ?? Infinity);
      this.taken = 0;
      this.measuredFrom = undefined;
    } else {
      this.intervalMs = this.intervalMs === 0 ? (longest ?? 0) : this.intervalMs * SLOW_DOWN;
    }
    this.throttledAt = now;
    this.nextAt = now + this.intervalMs;
  }
}

/** How often and how long requests are repeated. Times in milliseconds. */
export interface RetryPolicy {
  /** Repetitions after the first attempt. One that a server asked to come later does not count. */
  readonly maxRetries: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for; one that asks for more has refused. */
  readonly maxServerDelayMs: number;
  /** Nothing is repeated any more once this has passed since the request was made. */
  readonly maxTotalMs: number;
}

export const defaultPolicy: Omit<RetryPolicy, "maxRetries"> = {
  firstDelayMs: 500,
  maxDelayMs: 10_000,
  maxServerDelayMs: 120_000,
  maxTotalMs: 300_000,
};

/** A shorter wait is not obeyed but counted as a failure, so that it is not repeated without an end. */
const MIN_SERVER_DELAY_MS = 10;

/** How long a response asks to wait, if that is within the limit of the policy. */
function requestedDelayMs(error: unknown, policy: RetryPolicy): number | undefined {
  const wait = error instanceof ApiError ? error.retryAfterMs : undefined;
  return wait !== undefined && wait >= MIN_SERVER_DELAY_MS && wait <= policy.maxServerDelayMs
    ? wait
    : undefined;
}

/**
 * Makes one attempt when the limiter allows it, and reports to the limiter how the server responded. An attempt without
 * a response of the server says nothing about the rate that it accepts.
 */
export async function withRateLimit<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  limiter: RateLimiter,
): Promise<T> {
  await limiter.acquire();
  const sentAt = performance.now();
  try {
    const response = await attempt();
    limiter.onSuccess();
    return response;
  } catch (error) {
    const wait = requestedDelayMs(error, policy);
    if (wait !== undefined) limiter.pauseFor(wait);
    if (isThrottled(error)) {
      limiter.onThrottled(sentAt, wait);
    } else if (error instanceof ApiError) {
      limiter.onSuccess();
    }
    throw error;
  }
}

/** How often a closed port, or that of a proxy, is asked again before anything has answered. */
const MOST_RETRIES_OF_CLOSED_PORT = 2;

/** Runs a request, and repeats it by its meaning. @param onRetry Called before each repeat. */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  isIdempotent: boolean,
  policy: RetryPolicy,
  onRetry?: (error: Error) => void,
  isLast?: (error: Error) => boolean,
): Promise<T> {
  return pRetry(attempt, {
    retries: policy.maxRetries,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.maxDelayMs,
    maxRetryTime: policy.maxTotalMs,
    factor: 2,
    randomize: true,
    // The limiter makes it wait, and the total bound ends it.
    shouldConsumeRetry: ({ error }) => !isThrottled(error) || requestedDelayMs(error, policy) === undefined,
    shouldRetry: ({ error }) => {
      const isRepeated =
        mayRetry(error, isIdempotent) &&
        isLast?.(error) !== true &&
        !(error instanceof ApiError && (error.retryAfterMs ?? 0) > policy.maxServerDelayMs);
      if (isRepeated) onRetry?.(error);
      return isRepeated;
    },
  });
}
