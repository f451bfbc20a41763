import type { Environment } from "../../settings/environment";
import { CodedError } from "../../errors/codedError";
import type { ErrorCode } from "../../errors/registry";
import { setTimeout as delay } from "node:timers/promises";
import { registerCredential, printable } from "../../text/printable";
import { ConnectionError } from "../../http/errors";
import { isSafe } from "../../text/address";
import { Transport } from "../../http/transport";
import type { HttpResponse as Response } from "../../http/transport";
import { tryParseJson, withoutTrailing } from "../../text/plain";

const ATTEMPTS = 4;
const ATTEMPT_MS = 30_000;
/** The longest wait: a job must not hang on a comment. */
const MAX_WAIT_MS = 120_000;
const FIRST_WAIT_MS = 1_000;

/** Posting failed. The message is one line for a person, without the token. */
export class PostError extends CodedError {
  override readonly name = "PostError";

  /** @param mayHaveSucceeded Whether the server may have carried out the request. */
  constructor(
    errorCode: ErrorCode,
    message: string,
    readonly status?: number,
    readonly mayHaveSucceeded = false,
  ) {
    super(errorCode, message);
  }
}

export interface ApiHost {
  /** Where the API is, without a slash at the end. */
  readonly baseUrl: string;
  /** The variable that contains this address. */
  readonly variable: string;
  /** Name and value of the header that authenticates. */
  readonly authorization: readonly [name: string, value: string];
  readonly token: string;
}

interface JsonResponse {
  readonly status: number;
  readonly body: unknown;
}

/** How long the host wants a client to wait, in milliseconds; undefined where it does not limit requests. */
function readRequestedWait({ status, header }: Response, attempt: number): number | undefined {
  const after = header("retry-after");
  const isExhausted = header("x-ratelimit-remaining") === "0" || header("ratelimit-remaining") === "0";
  if (status !== 429 && !(status === 403 && (after !== undefined || isExhausted))) return undefined;
  // GitHub and GitLab write seconds.
  const seconds = Number(after);
  return Number.isFinite(seconds) ? seconds * 1000 : FIRST_WAIT_MS * 2 ** attempt;
}

function describeError(body: unknown): string {
  const detail = memberByPath(body, "message") ?? memberByPath(body, "error");
  return detail === undefined
    ? ""
    : `: ${printable(typeof detail === "string" ? detail : JSON.stringify(detail), 300)}`;
}

/** Chooses how long to wait before another attempt; undefined if none is safe, or the host wants too long a wait. */
function chooseRetryDelay(response: Response, attempt: number, isIdempotent: boolean): number | undefined {
  if (attempt + 1 >= ATTEMPTS) return undefined;
  const requested = readRequestedWait(response, attempt);
  if (requested !== undefined) return requested <= MAX_WAIT_MS ? requested : undefined;
  return response.status >= 500 && isIdempotent ? FIRST_WAIT_MS * 2 ** attempt : undefined;
}

function statusError(method: string, path: string, { status, text }: Response): PostError {
  const what = `${method} ${printable(path.replace(/\?.*/s, ""), 200)}`;
  const message = `${what}: HTTP ${status}${describeError(tryParseJson(text))}`;
  return new PostError("PP7004", message, status, status >= 500);
}

/**
 * One request to the API of GitHub or GitLab, repeated where the host limits requests, and where repeating is
 * safe. Redirects are not followed: they could take the token elsewhere.
 *
 * @param path Begins with a slash; its parts are encoded.
 * @throws PostError for every response that is no success.
 */
export async function request(
  host: ApiHost,
  method: "GET" | "POST" | "PATCH" | "PUT",
  path: string,
  body?: unknown,
): Promise<JsonResponse> {
  registerCredential(host.token);
  const isIdempotent = method !== "POST";
  for (let attempt = 0; ; attempt += 1) {
    const response = await send(host, { method, path, body, attempt: attempt + 1 }).catch(
      (error: unknown) => {
        const isFinal = error instanceof ConnectionError && !error.isTransient;
        if (!isIdempotent || attempt + 1 >= ATTEMPTS || isFinal) throw toPostError(error);
        return undefined;
      },
    );
    if (response === undefined) {
      await delay(FIRST_WAIT_MS * 2 ** attempt);
      continue;
    }
    const { status, text } = response;
    if (status >= 200 && status < 300) return { status, body: tryParseJson(text) };
    const wait = chooseRetryDelay(response, attempt, isIdempotent);
    if (wait === undefined) throw statusError(method, path, response);
    await delay(wait);
  }
}

interface HttpCall {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  /** With its query. */
  readonly path: string;
  readonly body: unknown;
  readonly attempt: number;
}

/** Uses the transport of the API: it supports proxies, checks the certificate, and follows no redirect. */
async function send(host: ApiHost, { method, path, body, attempt }: HttpCall): Promise<Response> {
  const { baseUrl, variable: setting, authorization } = host;
  const [pathname = "", ...query] = path.split("?");
  const transport = new Transport({
    baseUrl,
    name: "the host",
    setting,
    timeoutMs: ATTEMPT_MS,
    maxSockets: 1,
  });
  return await transport.send({
    method,
    path: pathname,
    ...(query.length === 0 ? {} : { query: `?${query.join("?")}` }),
    headers: {
      [authorization[0]]: authorization[1],
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    attempt,
  });
}

function toPostError(error: unknown): unknown {
  if (!(error instanceof ConnectionError)) return error;
  return new PostError(error.errorCode, printable(error.message), undefined, error.outcome === "unknown");
}

const PAGE_SIZE = 100;

/**
 * Searches a list page by page, at most `maxPages` of them. Pages are counted: an address in a response is never
 * followed.
 *
 * @param path With or without a query.
 */
export async function findInPages<T>(
  host: ApiHost,
  path: string,
  maxPages: number,
  match: (entry: unknown) => T | undefined,
): Promise<T | undefined> {
  const separator = path.includes("?") ? "&" : "?";
  for (let page = 1; page <= maxPages; page += 1) {
    const { body } = await request(host, "GET", `${path}${separator}per_page=${PAGE_SIZE}&page=${page}`);
    if (!Array.isArray(body)) throw new PostError("PP7004", `GET ${path}: the response is no list`);
    for (const entry of body as unknown[]) {
      const result = match(entry);
      if (result !== undefined) return result;
    }
    if (body.length < PAGE_SIZE) return undefined;
  }
  return undefined;
}

/**
 * Reads a whole list.
 *
 * @throws PostError where it has more than `maxPages`: the rest would go unseen.
 */
export async function listAll(host: ApiHost, path: string, maxPages: number): Promise<unknown[]> {
  const entries: unknown[] = [];
  await findInPages(host, path, maxPages, (entry) => {
    entries.push(entry);
    return undefined;
  });
  if (entries.length < maxPages * PAGE_SIZE) return entries;
  throw new PostError("PP7004", `GET ${path.replace(/\?.*/s, "")}: the list has more than ${maxPages} pages`);
}

/** The API of GitHub or GitLab, which a variable names. Messages tell a person to check that, or the network. */
export function apiOf(
  env: Environment,
  variable: "GITHUB_API_URL" | "CI_API_V4_URL",
  fallback: string,
  token: string,
): ApiHost {
  const given = env[variable];
  return {
    token,
    authorization:
      variable === "GITHUB_API_URL" ? ["authorization", `Bearer ${token}`] : ["private-token", token],
    baseUrl: parseBaseUrl(given ?? fallback, variable),
    variable:
      given === undefined ? `the network (${variable} is not set, which names another server)` : variable,
  };
}

/** @throws PostError where the address is none, or would send the token in the clear. */
export function parseBaseUrl(text: string, variable: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw new PostError("PP7003", `${variable} is no URL: give one like https://api.github.com`);
  }
  if (!isSafe(url)) {
    throw new PostError(
      "PP7003",
      `${variable} must begin with https://: the token would be readable on its way`,
    );
  }
  return withoutTrailing(`${url.origin}${url.pathname}`, "/");
}

/** A nested member of a response; undefined where it is missing. */
export function memberByPath(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (current, key) =>
      typeof current === "object" && current !== null && Object.hasOwn(current, key)
        ? (current as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  );
}

export const stringMember = (value: unknown, ...path: readonly string[]): string | undefined => {
  const text = memberByPath(value, ...path);
  return typeof text === "string" ? text : undefined;
};

export const numberMember = (value: unknown, ...path: readonly string[]): number | undefined => {
  const number = memberByPath(value, ...path);
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
};

/** Retries if the response was lost: the second attempt finds what the first one created. */
export async function retryIfUnknown(upsert: () => Promise<string>): Promise<string> {
  try {
    return await upsert();
  } catch (error) {
    if (error instanceof PostError && error.mayHaveSucceeded) return await upsert();
    throw error;
  }
}

/** What a path below a repository or a project returns; undefined where there is nothing. */
export async function findBelow(
  { host, path }: { readonly host: ApiHost; readonly path: string },
  below: string,
): Promise<unknown> {
  try {
    return (await request(host, "GET", `${path}${below}`)).body;
  } catch (error) {
    if (error instanceof PostError && error.status === 404) return undefined;
    throw error;
  }
}
