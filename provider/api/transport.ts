import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import axios from "axios";
import type { AxiosInstance } from "axios";
import { getProxyForUrl } from "proxy-from-env";
import { registerCredential, maskCredentials } from "./credentials";
import { apiErrorFrom, ConnectionError, printable } from "./errors";
import { isLoopback } from "./loopback";
import { ProxyError } from "./proxyError";
import type * as tunnelModule from "./tunnel";

/** A server that requests go to, in the words of messages. */
export interface Endpoint {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** As in "the Platform API". */
  readonly name: string;
  /** The setting that holds the address, as in "platform:baseUrl (or PLATFORM_BASE_URL)". */
  readonly setting: string;
}

export interface TransportOptions extends Endpoint {
  /** For one attempt, from sending to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Connections open at once. */
  readonly maxSockets: number;
  /** Takes one line a request. */
  readonly log?: (line: string) => void;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Encoded, with its question mark; never in a message or log line. */
  readonly query?: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Put after the path in the log line. */
  readonly note?: string;
  /** Counted from 1, for the log line. */
  readonly attempt: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
}

type RequestLine = Pick<OutgoingRequest, "method" | "path">;

/** No answer of the API is near this; a larger one is somebody else's. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Codes of Node that say: the request never left. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_INVALID_URL",
]);
const PERMANENT = new Set(["ENOTFOUND", "ERR_INVALID_URL", "ERR_FR_TOO_MANY_REDIRECTS"]);

const connectionFailures: Record<string, string> = {
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

const UNKNOWN_AUTHORITY =
  "its certificate is of an authority that Node does not know; where that is your company's, set NODE_EXTRA_CA_CERTS to a PEM file with the authority's certificate";

/** What a failure of TLS means, and what to do; `%s` stands for the setting that holds the address. */
const tlsFailures: Record<string, string> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "its certificate is signed by itself; where it is your own server, set NODE_EXTRA_CA_CERTS to a PEM file with that certificate",
  CERT_HAS_EXPIRED:
    "its certificate has expired: it must be renewed there, unless the clock of this machine is wrong",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: is the clock of this machine right?",
  CERT_REVOKED: "its certificate has been revoked: do not use this server",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host; is %s right?",
  EPROTO: "what answers there does not speak TLS; is %s right, and does no proxy stand before it?",
};

/** When an answer was made, by its server's clock; by this machine's where it has no date. */
function dateOf({ header }: HttpResponse): number {
  const date = Date.parse(header("date") ?? "");
  return Number.isNaN(date) ? Date.now() : date;
}

/** The address of the proxy for a URL, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY; loopback never has one. */
export function proxyFor(url: string): string | undefined {
  const proxy = isLoopback(new URL(url)) ? "" : getProxyForUrl(url);
  return proxy === "" ? undefined : proxy;
}

/** As it is written, as it is meant, and as it is sent. */
function holdProxyPassword({ username, password }: URL): void {
  if (password === "") return;
  registerCredential(password);
  try {
    const plain = decodeURIComponent(password);
    registerCredential(plain);
    registerCredential(Buffer.from(`${decodeURIComponent(username)}:${plain}`).toString("base64"));
  } catch {
    // What is not percent-encoded UTF-8 is never sent.
  }
}

function agentsFor(baseUrl: string, maxSockets: number): { httpAgent: HttpAgent; httpsAgent: HttpAgent } {
  const options = { keepAlive: true, maxSockets };
  const proxy = proxyFor(baseUrl);
  if (proxy === undefined) {
    // Said here, NODE_TLS_REJECT_UNAUTHORIZED cannot take it back.
    return {
      httpAgent: new HttpAgent(options),
      httpsAgent: new HttpsAgent({ ...options, rejectUnauthorized: true }),
    };
  }
  const { protocol, hostname } = new URL(baseUrl);
  const advice = `HTTP${protocol === "https:" ? "S" : ""}_PROXY names it: change that, or add ${hostname} to NO_PROXY`;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  const isProxy = url !== undefined && /^https?:$/.test(url.protocol);
  // An "@" after the host is the end of a password that holds a slash: what stands before it is no host.
  if (!isProxy || /@|%40/.test(url.pathname + url.search + url.hash)) {
    const why = isProxy
      ? 'has an "@" after the host: percent-encode its password'
      : "is no http or https URL";
    throw new ConnectionError(`the address of the proxy for ${hostname} ${why}; ${advice}`, "notSent", false);
  }
  holdProxyPassword(url);
  // Loaded where there is a proxy only: it is a part of the start.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { TunnelAgent } = require("./tunnel") as typeof tunnelModule;
  const agent = new TunnelAgent(proxy, advice, options);
  return { httpAgent: agent, httpsAgent: agent };
}

/** Sends requests to one server and to no other: no redirect is followed, no certificate left unchecked. */
export class Transport {
  private http: AxiosInstance | undefined;
  /** Whether an answer has come that was this server's own. */
  private hasAnswered = false;

  constructor(private readonly options: TransportOptions) {}

  /** @throws ConnectionError when there is no answer; whatever the status, an answer is none. */
  async send(request: OutgoingRequest): Promise<HttpResponse> {
    // Whatever is sent may come back in an error, also much later and from another request.
    registerCredential(/^\S+ +(.*)$/.exec(request.headers["Authorization"] ?? "")?.[1]);
    const started = performance.now();
    let outcome = "no answer";
    try {
      const response = await this.connections().request<string>({
        method: request.method,
        url: `${request.path}${request.query ?? ""}`,
        // The timeout of axios starts anew with each byte.
        signal: AbortSignal.timeout(this.options.timeoutMs),
        ...(request.body === undefined ? {} : { data: request.body }),
        headers: { Accept: "application/json", "User-Agent": "pulumi-platform", ...request.headers },
      });
      outcome = String(response.status);
      return {
        status: response.status,
        header: (name) => {
          const value: unknown = response.headers[name];
          return typeof value === "string" ? value : undefined;
        },
        text: response.data,
      };
    } catch (error) {
      const wrapped = this.connectionError(error, request);
      outcome = wrapped.message.slice(wrapped.message.indexOf(": ") + 2);
      throw wrapped;
    } finally {
      const ms = Math.round(performance.now() - started);
      const line = `${request.method} ${request.path}${request.note ?? ""} -> ${outcome} in ${ms} ms (attempt ${request.attempt})`;
      this.options.log?.(maskCredentials(line));
    }
  }

  /**
   * The object that an answer holds.
   *
   * @throws ApiError for a status that is not 2xx, ConnectionError for an answer that is not this server's.
   */
  read(request: RequestLine, response: HttpResponse): Record<string, unknown> {
    const { status, text } = response;
    if (status >= 300 && status < 400) {
      const target = response.header("location") ?? "";
      const host = URL.canParse(target, this.options.baseUrl)
        ? new URL(target, this.options.baseUrl).host
        : "elsewhere";
      throw this.unexpectedResponse(request, `it redirects to ${printable(host)}, which is not followed`, {
        isRedirect: true,
      });
    }
    let body: unknown;
    try {
      body = text === "" ? {} : JSON.parse(text);
    } catch {
      body = undefined;
    }
    if (status < 200 || status >= 300) {
      const error = apiErrorFrom(request, { status, header: response.header, body, now: dateOf(response) });
      this.hasAnswered ||= error.fromApi;
      throw error;
    }
    if (body === undefined && text.startsWith("{")) {
      throw new ConnectionError(
        `${request.method} ${this.options.baseUrl}${request.path}: the answer was cut, or is no JSON`,
        "unknown",
        true,
      );
    }
    if (body === null || typeof body !== "object" || Array.isArray(body)) {
      const isPage = /^\s*</.test(text);
      throw this.unexpectedResponse(
        request,
        isPage
          ? `HTTP ${status} with a web page, as the log-in page of a proxy or a network is`
          : `HTTP ${status}, but its answer is not the API's JSON`,
      );
    }
    this.hasAnswered = true;
    return body as Record<string, unknown>;
  }

  /**
   * The error for an answer that another server gave. Where this one has answered before, something between
   * answered in its place: that passes, and the request may have arrived. A redirect by anything else says that it
   * did not.
   */
  unexpectedResponse(
    { method, path }: RequestLine,
    why: string,
    { isRedirect = false } = {},
  ): ConnectionError {
    const { baseUrl, name, setting } = this.options;
    return new ConnectionError(
      `${method} ${baseUrl}${path}: this is not ${name}: ${why}; is ${setting} right?`,
      method !== "GET" && (this.hasAnswered || !isRedirect) ? "unknown" : "notSent",
      this.hasAnswered,
    );
  }

  /** Made at first use: what the environment says about a proxy may be wrong, and then this throws. */
  private connections(): AxiosInstance {
    this.http ??= axios.create({
      baseURL: this.options.baseUrl,
      ...agentsFor(this.options.baseUrl, this.options.maxSockets),
      // The agents know the way; axios would send plain http to a proxy with the bearer in it.
      proxy: false,
      // The bearer follows no redirect: the target may be anybody's.
      maxRedirects: 0,
      maxContentLength: MAX_RESPONSE_BYTES,
      maxBodyLength: MAX_RESPONSE_BYTES,
      responseType: "text",
      transformRequest: [(data: unknown) => data],
      transformResponse: [(data: unknown) => data],
      validateStatus: () => true,
    });
    return this.http;
  }

  /** A message that ends in what was asked of whom; never the body, never a header. */
  private connectionError(error: unknown, { method, path }: RequestLine): ConnectionError {
    const { baseUrl, setting } = this.options;
    const where = `${method} ${baseUrl}${path}`;
    if (error instanceof ConnectionError) {
      return new ConnectionError(`${where}: ${error.message}`, error.outcome, error.isTransient);
    }
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof ProxyError) {
      return new ConnectionError(`${where}: ${cause.message}`, "notSent", cause.isTransient);
    }
    const raw = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
    // axios names a cut answer, and one that took too long, by codes of its own.
    const code = { ERR_BAD_RESPONSE: "ECONNRESET", ERR_CANCELED: "ETIMEDOUT" }[raw] ?? raw;
    const shown = code === "" ? "" : ` (${code})`;
    if (/^(CERT_|ERR_TLS|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_SSL|EPROTO)/.test(code)) {
      const explanation =
        tlsFailures[code.startsWith("ERR_SSL") ? "EPROTO" : code] ?? "is %s right, and the server's set-up?";
      return new ConnectionError(
        `${where}: the TLS connection failed${shown}: ${explanation.replace("%s", setting)}`,
        "notSent",
        false,
        true,
      );
    }
    const outcome = NOT_SENT.has(code) ? "notSent" : "unknown";
    const advice = outcome === "notSent" ? `; is ${setting} right?` : "";
    return new ConnectionError(
      `${where}: ${connectionFailures[code] ?? "the request failed"}${shown}${advice}`,
      outcome,
      !PERMANENT.has(code),
    );
  }
}
