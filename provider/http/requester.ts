import { isUid } from "../text/uid";
import type { TokenSource } from "./auth";
import { ApiError, BASE_URL_SETTING } from "./errors";
import type { ConnectionError } from "./errors";
import { encodeQuery } from "./query";
import type { Query } from "./query";
import { RateLimiter, defaultPolicy, withRateLimit, withRetry } from "./retry";
import type { RetryPolicy } from "./retry";
import { Transport } from "./transport";
import type { Endpoint, HttpResponse } from "./transport";
import pLimit from "p-limit";

function hasUid(value: unknown): boolean {
  return value !== null && typeof value === "object" && "uid" in value && isUid(String(value.uid));
}

/**
 * Whether the server has shown itself to be the API, by any response of this run. Only then an empty
 * response means that there is nothing: a wrong address may respond `{}` to everything.
 */
export class ApiRecognition {
  isRecognized = false;

  /** A response that holds a resource, or a list of some. */
  noteResponse(response: JsonObject): void {
    this.isRecognized ||=
      hasUid(response) ||
      Object.values(response).some((member) => Array.isArray(member) && member.some(hasUid));
  }

  /** An error of the API's form; a wrong address at a similar server has that form too. */
  noteError(error: unknown): void {
    if (!(error instanceof ApiError) || !error.fromApi) return;
    const isAddress = error.code === "NOT_FOUND" && error.details.resource === undefined;
    this.isRecognized ||= !isAddress && !["UNKNOWN", "UNIMPLEMENTED"].includes(error.code);
  }
}

export interface ClientOptions {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
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
  /** Other waits than the default ones, for tests. */
  readonly policy?: Partial<RetryPolicy>;
}

export type JsonObject = Record<string, unknown>;

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Doing it twice is the same as doing it once. */
  readonly isIdempotent: boolean;
}

/** The API in the words of messages. */
export function apiEndpoint(baseUrl: string): Endpoint {
  return { baseUrl, name: "the Platform API", setting: BASE_URL_SETTING };
}

/** Sends requests with a token, by one connection pool and one rate limiter, and repeats those that may be. */
export class Requester {
  readonly recognition = new ApiRecognition();
  private readonly transport: Transport;
  private readonly limit: ReturnType<typeof pLimit>;
  private readonly rateLimiter = new RateLimiter();
  private readonly policy: RetryPolicy;
  /** The server's time in its last response, and when that came by `performance.now()`. */
  private lastDate: { readonly date: number; readonly at: number } | undefined;

  constructor(private readonly options: ClientOptions) {
    this.transport = new Transport({
      ...options,
      ...apiEndpoint(options.baseUrl),
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

  request(call: Call): Promise<JsonObject> {
    let attempt = 0;
    return withRetry(
      // Inside the limit: a request that waits for its turn must not be sent while the limiter pauses.
      (begins) =>
        this.limit(() => {
          begins();
          return withRateLimit(() => this.attempt(call, (attempt += 1)), this.policy, this.rateLimiter);
        }),
      call.isIdempotent,
      this.policy,
    );
  }

  unexpectedResponse(call: Pick<Call, "method" | "path">, why: string): ConnectionError {
    return this.transport.unexpectedResponse(call, why);
  }

  private async attempt(call: Call, number: number): Promise<JsonObject> {
    const token = await this.options.tokens.token();
    let response = await this.send(call, token, number);
    if (response.status === 401 && (await this.options.tokens.renew(token))) {
      response = await this.send(call, await this.options.tokens.token(), number);
    }
    try {
      const body = this.transport.read(call, response);
      this.recognition.noteResponse(body);
      return body;
    } catch (error) {
      this.recognition.noteError(error);
      throw error;
    }
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
    const date = Date.parse(response.header("date") ?? "");
    if (!Number.isNaN(date)) this.lastDate = { date, at: performance.now() };
    return response;
  }
}
