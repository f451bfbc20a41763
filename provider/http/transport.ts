import type * as axiosModule from "axios";
import type { AxiosInstance, AxiosStatic } from "axios";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { getProxyForUrl } from "proxy-from-env";
import { isLoopback } from "../text/address";
import { tryParseJson } from "../text/plain";
import { logLine, maskCredentials, printable, registerCredential } from "../text/printable";
import { apiErrorFrom, ConnectionError, toConnectionError } from "./errors";
import type { Endpoint, RequestLine } from "./errors";
import type * as tunnelModule from "./tunnel";

interface TransportOptions extends Endpoint {
  /** For one attempt, from sending to the last byte of the response. */
  readonly timeoutMs: number;
  /** Connections open at once. */
  readonly maxSockets: number;
  /** Takes one line a request. */
  readonly log?: (line: string) => void;
}

interface OutgoingRequest {
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

/** No response of the API is near this; a larger one is another server's. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** When a response was created, by its server's clock; by this machine's where it has no date. */
export function dateOf({ header }: Pick<HttpResponse, "header">): number {
  const date = Date.parse(header("date") ?? "");
  return Number.isNaN(date) ? Date.now() : date;
}

/** Loads the library with the first request: most previews send no request, and every process of the provider would pay for it. */
function loadAxios(): AxiosStatic {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return (require("axios") as typeof axiosModule).default;
}

/** The address of the proxy for a URL, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY; loopback never has one. */
export function proxyFor(url: string): string | undefined {
  const proxy = isLoopback(new URL(url)) ? "" : getProxyForUrl(url);
  return proxy === "" ? undefined : proxy;
}

/** Masks the password as it is written, decoded, and as the header that carries it. */
function registerProxyPassword({ username, password }: URL): void {
  registerCredential(password);
  try {
    const plain = decodeURIComponent(password);
    registerCredential(plain);
    registerCredential(Buffer.from(`${decodeURIComponent(username)}:${plain}`).toString("base64"));
  } catch {
    // What is not percent-encoded UTF-8 is never sent.
  }
}

/** How connections to a server are made: directly, or through the proxy that the environment names. */
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
  const variable = `${protocol.slice(0, -1)}_proxy`;
  const advice = `${variable} or ${variable.toUpperCase()} names it: change that, or add ${hostname} to NO_PROXY`;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  const isProxy = url !== undefined && /^https?:$/.test(url.protocol);
  // An "@" after the host is the end of a password that holds a slash: what stands before it is no host.
  if (!isProxy || /@|%40/.test(url.pathname + url.search + url.hash)) {
    const why = isProxy
      ? 'has an "@" after the host: percent-encode its password'
      : "is not an http or https URL";
    throw new ConnectionError(
      "PP2106",
      `the address of the proxy for ${hostname} ${why}; ${advice}`,
      "notSent",
      false,
    );
  }
  registerProxyPassword(url);
  // Loaded where there is a proxy only: it is a part of the start.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { TunnelAgent } = require("./tunnel") as typeof tunnelModule;
  const agent = new TunnelAgent(proxy, advice, options);
  return { httpAgent: agent, httpsAgent: agent };
}

/** Sends requests to one server and to no other: no redirect is followed, no certificate left unchecked. */
export class Transport {
  private http: AxiosInstance | undefined;
  /** Whether a response has come that was this server's own. */
  private hasOwnResponse = false;

  constructor(private readonly options: TransportOptions) {}

  /** @throws ConnectionError where there is no response; a response is no error, whatever its status. */
  async send(request: OutgoingRequest): Promise<HttpResponse> {
    // Whatever is sent may come back in an error, also much later and from another request.
    registerCredential(/^\S+ +([^ ].*)$/.exec(request.headers["Authorization"] ?? "")?.[1]);
    const started = performance.now();
    let outcome = "no response";
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
      const wrapped = toConnectionError(this.options, error, request);
      outcome = wrapped.message.slice(wrapped.message.indexOf(": ") + 2);
      throw wrapped;
    } finally {
      const ms = Math.round(performance.now() - started);
      const line = `${request.method} ${request.path}${request.note ?? ""} -> ${outcome} in ${ms} ms (attempt ${request.attempt})`;
      this.options.log?.(logLine(maskCredentials(line)));
    }
  }

  /**
   * The object that a response holds.
   *
   * @throws ApiError for a status that is not 2xx, ConnectionError for a response that is not this server's.
   */
  read(request: RequestLine, response: HttpResponse): Record<string, unknown> {
    const { status, text } = response;
    const { baseUrl, setting } = this.options;
    if (status >= 300 && status < 400) throw this.redirectError(request, response);
    // What is asked for is never nothing: the API writes an empty list as an object.
    const body = text === "" && request.method !== "GET" ? {} : tryParseJson(text);
    if (status < 200 || status >= 300) {
      const call = { ...request, baseUrl, setting };
      const error = apiErrorFrom(call, { status, header: response.header, body, now: dateOf(response) });
      this.hasOwnResponse ||= error.fromApi;
      throw error;
    }
    if (body === undefined && text.startsWith("{")) {
      throw new ConnectionError(
        "PP2108",
        `${request.method} ${baseUrl}${request.path}: truncated or invalid JSON`,
        "unknown",
        true,
      );
    }
    if (body === null || typeof body !== "object" || Array.isArray(body)) {
      const isPage = /^\s*</.test(text);
      throw this.unexpectedResponse(
        request,
        isPage
          ? `HTTP ${status} with a web page, such as the login page of a proxy`
          : `HTTP ${status}, but the response is not the API's JSON`,
      );
    }
    this.hasOwnResponse = true;
    return body as Record<string, unknown>;
  }

  private redirectError(request: RequestLine, response: HttpResponse): ConnectionError {
    const { baseUrl } = this.options;
    const target = response.header("location") ?? "";
    const host = URL.canParse(target, baseUrl) ? new URL(target, baseUrl).host : "elsewhere";
    const why = `it redirects to ${printable(host)}, which is not followed`;
    return this.unexpectedResponse(request, why, { isRedirect: true });
  }

  /**
   * The error for a response that is not the API's. If the API has responded before, a proxy replied instead: that is
   * transient, and the outcome is unknown. Before that, a redirect means that the request was not processed.
   */
  unexpectedResponse(
    { method, path }: RequestLine,
    why: string,
    { isRedirect = false } = {},
  ): ConnectionError {
    const { baseUrl, name, setting } = this.options;
    return new ConnectionError(
      "PP2107",
      `${method} ${baseUrl}${path}: this is not ${name}: ${why}; check ${setting}`,
      method !== "GET" && (this.hasOwnResponse || !isRedirect) ? "unknown" : "notSent",
      this.hasOwnResponse,
    );
  }

  /** Made at first use: what the environment says about a proxy may be wrong, and then this throws. */
  private connections(): AxiosInstance {
    this.http ??= loadAxios().create({
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
}
