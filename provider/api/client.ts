import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import axios from "axios";
import type { AxiosInstance, AxiosResponse } from "axios";
import pLimit from "p-limit";
import type { TokenSource } from "./auth";
import { apiErrorFrom, ConnectionError, printable } from "./errors";
import { defaultPolicy, Gate, throughGate, withRetry } from "./retry";
import type { RetryPolicy } from "./retry";
import { encodeUid } from "./uid";

export interface ClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** For one attempt, from sending to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** Requests under way at once. */
  readonly maxConcurrency: number;
  readonly tokens: TokenSource;
  /** Takes one line a request: method, path, status, time, attempt. */
  readonly log?: (line: string) => void;
  /** Other waits than the default ones, for tests. */
  readonly policy?: Partial<RetryPolicy>;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
export type JsonObject = Record<string, unknown>;

export interface ListOptions {
  /** The member of the answer that holds the list; default: the last word of the path. */
  readonly member?: string;
  /** At most, and by default, 200. */
  readonly pageSize?: number;
  /** Tells objects apart, undefined nothing; default: by their uid. */
  readonly key?: (object: JsonObject) => unknown;
}

interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Doing it twice is the same as doing it once. */
  readonly repeatable: boolean;
}

/** No answer of the API is near this; a larger one is somebody else's. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const PAGE_SIZE = 200;

function encodeQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => {
    if (value === undefined) return [];
    const values = typeof value === "object" ? value : [String(value)];
    return values.map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(one)}`);
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Codes of Node that say: the request never left. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_INVALID_URL",
]);
const NOT_PASSING = new Set(["ENOTFOUND", "ERR_INVALID_URL", "ERR_FR_TOO_MANY_REDIRECTS"]);

const explanations: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host name does not exist",
  EAI_AGAIN: "the host name could not be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ECONNRESET: "the connection was cut",
  ECONNABORTED: "no answer in time",
  ETIMEDOUT: "no answer in time",
  EPIPE: "the connection was cut",
};

/** A message that ends in what was asked of whom; never the body, never a header. */
function connectionError(error: unknown, call: Call, baseUrl: string): ConnectionError {
  const raw = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  // axios names a cut answer, and one that took too long, by codes of its own.
  const code = { ERR_BAD_RESPONSE: "ECONNRESET", ERR_CANCELED: "ETIMEDOUT" }[raw] ?? raw;
  const isTls = /^(CERT_|ERR_TLS|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_SSL|EPROTO)/.test(code);
  const why = isTls ? "the TLS connection failed" : (explanations[code] ?? "the request failed");
  const outcome = NOT_SENT.has(code) || isTls ? "nothing" : "unclear";
  const advice = isTls || outcome === "nothing" ? "; is platform:baseUrl (or PLATFORM_BASE_URL) right?" : "";
  return new ConnectionError(
    `${call.method} ${baseUrl}${call.path}: ${why}${code === "" ? "" : ` (${code})`}${advice}`,
    outcome,
    !NOT_PASSING.has(code) && !isTls,
  );
}

/** Requests to the API: one connection pool, one gate, bounded concurrency, repeated by meaning. */
export class Client {
  private readonly http: AxiosInstance;
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly gate = new Gate();
  private readonly policy: RetryPolicy;
  private readonly madeAt = new Map<string, number>();
  private clockSkewMs = 0;

  constructor(private readonly options: ClientOptions) {
    const agent = { keepAlive: true, maxSockets: options.maxConcurrency };
    this.http = axios.create({
      baseURL: options.baseUrl,
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
      // The bearer follows no redirect (contract, section 10).
      maxRedirects: 0,
      maxContentLength: MAX_ANSWER_BYTES,
      maxBodyLength: MAX_ANSWER_BYTES,
      responseType: "text",
      transformRequest: [(data: unknown) => data],
      transformResponse: [(data: unknown) => data],
      validateStatus: () => true,
    });
    this.limit = pLimit(options.maxConcurrency);
    this.policy = { ...defaultPolicy, ...options.policy, maxRetries: options.maxRetries };
  }

  /** The server's time in milliseconds, as far as its answers have told. */
  serverNow(): number {
    return Date.now() + this.clockSkewMs;
  }

  get(path: string, query?: Query): Promise<JsonObject> {
    return this.request({ method: "GET", path, query, repeatable: true });
  }

  getResource(collection: string, uid: string): Promise<JsonObject> {
    return this.get(this.address(collection, uid));
  }

  /** The path of a collection, a resource in it, or a part or method of that: `/readme`, `:verb`. */
  address(collection: string, uid: string | undefined, suffix = ""): string {
    return `${uid === undefined ? collection : `${collection}/${encodeUid(uid)}`}${suffix}`;
  }

  /** A POST that is not repeatable is sent again only where nothing can have happened. */
  post(path: string, body: unknown, { repeatable }: { repeatable: boolean }): Promise<JsonObject> {
    return this.request({ method: "POST", path, body, repeatable });
  }

  async create(collection: string, parent: string | undefined, body: unknown): Promise<JsonObject> {
    const answer = await this.post(this.address(collection, parent), body, { repeatable: false });
    if (typeof answer["uid"] === "string") this.madeAt.set(answer["uid"], Date.now());
    return answer;
  }

  /** How long ago this client made a resource, in milliseconds; undefined if it did not. */
  madeAgo(uid: string): number | undefined {
    const at = this.madeAt.get(uid);
    return at === undefined ? undefined : Date.now() - at;
  }

  /** Changes what the body holds; `mask` names the same paths, or is left out for the inferred one. */
  patch(
    collection: string,
    uid: string,
    body: unknown,
    mask: readonly string[] | undefined,
  ): Promise<JsonObject> {
    return this.patchAt(this.address(collection, uid), body, mask);
  }

  patchAt(path: string, body: unknown, mask: readonly string[] | undefined): Promise<JsonObject> {
    return this.request({
      method: "PATCH",
      path,
      query: mask ? { updateMask: mask.join(",") } : {},
      body,
      repeatable: true,
    });
  }

  async delete(collection: string, uid: string): Promise<void> {
    await this.request({ method: "DELETE", path: this.address(collection, uid), repeatable: true });
  }

  /**
   * All objects of a list, page by page. An expired token restarts a list without an error
   * (contract, section 4): objects already seen are dropped.
   */
  async *list(
    collection: string,
    query: Query = {},
    { member, pageSize = PAGE_SIZE, key = ({ uid }) => (uid === "" ? undefined : uid) }: ListOptions = {},
  ): AsyncGenerator<JsonObject> {
    const plural = member ?? collection.slice(collection.lastIndexOf("/") + 1);
    const seen = new Set<unknown>();
    const tokens = new Set<string>();
    let token: string | undefined;
    let repeated = 0;
    do {
      const page = await this.get(collection, { ...query, page_size: pageSize, page_token: token });
      const items = page[plural];
      if (!Array.isArray(items)) {
        throw this.notTheApi({ method: "GET", path: collection }, `its answer has no list "${plural}"`);
      }
      let isNews = false;
      for (const item of items as unknown[]) {
        if (item === null || typeof item !== "object") {
          throw this.notTheApi({ method: "GET", path: collection }, `its list "${plural}" holds no objects`);
        }
        const object = item as JsonObject;
        const known = key(object);
        if (seen.has(known)) continue;
        if (known !== undefined) {
          seen.add(known);
          isNews = true;
        }
        yield object;
      }
      const next = page["nextPageToken"];
      token = typeof next === "string" && next !== "" ? next : undefined;
      // After a restart known tokens come again, at most as many as there were.
      repeated = isNews || token === undefined || !tokens.has(token) ? 0 : repeated + 1;
      if (repeated > tokens.size) {
        throw this.notTheApi({ method: "GET", path: collection }, "its list goes in circles");
      }
      if (token !== undefined) tokens.add(token);
    } while (token !== undefined);
  }

  private request(call: Call): Promise<JsonObject> {
    let attempt = 0;
    return withRetry(
      // Inside the limit: a request that waits for its turn must not slip through before the gate closes.
      () => this.limit(() => throughGate(() => this.attempt(call, (attempt += 1)), this.policy, this.gate)),
      call.repeatable,
      this.policy,
    );
  }

  private async attempt(call: Call, number: number): Promise<JsonObject> {
    const token = await this.options.tokens.token();
    let response = await this.send(call, token, number);
    if (response.status === 401 && (await this.options.tokens.renew(token))) {
      response = await this.send(call, await this.options.tokens.token(), number);
    }
    return this.read(call, response);
  }

  private async send(call: Call, token: string, attempt: number): Promise<AxiosResponse<string>> {
    const started = performance.now();
    let outcome = "no answer";
    try {
      const response = await this.http.request<string>({
        method: call.method,
        url: `${call.path}${encodeQuery(call.query ?? {})}`,
        // The timeout of axios starts anew with each byte.
        signal: AbortSignal.timeout(this.options.timeoutMs),
        ...(call.body === undefined ? {} : { data: JSON.stringify(call.body) }),
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: "application/json",
          "User-Agent": "pulumi-platform",
          ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
        },
      });
      outcome = String(response.status);
      const date = Date.parse(String(response.headers["date"]));
      if (!Number.isNaN(date)) this.clockSkewMs = date - Date.now();
      return response;
    } catch (error) {
      const wrapped = connectionError(error, call, this.options.baseUrl);
      outcome = wrapped.message.slice(wrapped.message.indexOf(": ") + 2);
      throw wrapped;
    } finally {
      const mask = call.query?.["updateMask"];
      const detail = typeof mask === "string" ? ` mask=${mask}` : "";
      this.options.log?.(
        `${call.method} ${call.path}${detail} -> ${outcome} in ${Math.round(performance.now() - started)} ms (attempt ${attempt})`,
      );
    }
  }

  private read(call: Call, response: AxiosResponse<string>): JsonObject {
    const { status, data } = response;
    if (status >= 300 && status < 400) {
      const target = String(response.headers["location"] ?? "");
      const host = URL.canParse(target, this.options.baseUrl)
        ? new URL(target, this.options.baseUrl).host
        : "elsewhere";
      throw this.notTheApi(call, `it redirects to ${printable(host)}, which is not followed`);
    }
    let body: unknown;
    try {
      body = data === "" ? {} : JSON.parse(data);
    } catch {
      body = undefined;
    }
    if (status < 200 || status >= 300) {
      throw apiErrorFrom(call, {
        status,
        header: (name) => {
          const value: unknown = response.headers[name];
          return typeof value === "string" ? value : undefined;
        },
        body,
        now: Date.now(),
      });
    }
    if (body === null || typeof body !== "object" || Array.isArray(body)) {
      throw this.notTheApi(call, `HTTP ${status}, but its answer is not the API's JSON`);
    }
    return body as JsonObject;
  }

  private notTheApi(call: Pick<Call, "method" | "path">, why: string): ConnectionError {
    return new ConnectionError(
      `${call.method} ${this.options.baseUrl}${call.path}: this is not the Platform API: ${why}; is platform:baseUrl (or PLATFORM_BASE_URL) right?`,
      call.method === "GET" ? "nothing" : "unclear",
      false,
    );
  }
}

/** A uid of an answer, or an error: a 200 that is not this API is never taken as a resource. */
export function uidOf(answer: JsonObject, what: string): string {
  const uid = answer["uid"];
  if (typeof uid !== "string" || uid === "") {
    throw new ConnectionError(`${what}: the answer holds no uid`, "unclear", false);
  }
  return uid;
}
