import type { Environment } from "../../settings/environment";
import { CodedError } from "../../errors/codedError";
import type { ErrorCode } from "../../errors/registry";
import { registerCredential, printable } from "../../text/printable";
import { defaultPolicy, RateLimiter, withRateLimit, withRetry } from "../../http/client";
import { ApiError, apiErrorFrom, ConnectionError } from "../../http/errors";
import { isSafe } from "../../text/address";
import { dateOf, Transport } from "../../http/transport";
import { tryParseJson, withoutTrailing } from "../../text/plain";

const ATTEMPT_MS = 30_000;
/** A job must not hang on a comment. */
const policy = { ...defaultPolicy, maxRetries: 3, firstDelayMs: 1000 };

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
  readonly transport: Transport;
  readonly limiter: RateLimiter;
  /** The header that authenticates. */
  readonly authorization: Readonly<Record<string, string>>;
}

/** Uses the transport of the API: it supports proxies, checks the certificate, and follows no redirect. */
export const transportTo = (baseUrl: string, setting: string): Transport =>
  new Transport({ baseUrl, name: "the host", setting, timeoutMs: ATTEMPT_MS, maxSockets: 1 });

/** What the body of an error says. */
function readMessage(text: string): string {
  const body = tryParseJson(text);
  const detail = memberByPath(body, "message") ?? memberByPath(body, "error") ?? "";
  return typeof detail === "string" ? detail : JSON.stringify(detail);
}

/**
 * One request to the API of GitHub or GitLab, repeated as one to the Platform API is. Redirects are not followed: they
 * could take the token elsewhere.
 *
 * @param path Begins with a slash; its parts are encoded.
 * @returns The body; undefined where it is no JSON.
 * @throws PostError for every response that is no success.
 */
export async function request(
  { transport, limiter, authorization }: ApiHost,
  method: "GET" | "POST" | "PATCH" | "PUT",
  path: string,
  body?: unknown,
): Promise<unknown> {
  const [pathname = "", ...query] = path.split("?");
  let attempt = 0;
  const send = async (): Promise<unknown> => {
    attempt += 1;
    const response = await transport.send({
      method,
      path: pathname,
      ...(query.length === 0 ? {} : { query: `?${query.join("?")}` }),
      headers: {
        ...authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      attempt,
    });
    const { status, header, text } = response;
    if (status >= 200 && status < 300) return tryParseJson(text);
    // GitHub limits requests by a 403 too. The number is that of RESOURCE_EXHAUSTED.
    const isLimit =
      status === 403 &&
      (header("retry-after") !== undefined ||
        header("x-ratelimit-remaining") === "0" ||
        header("ratelimit-remaining") === "0");
    const refusal = { message: readMessage(text), ...(isLimit && { code: 8 }) };
    throw apiErrorFrom({ method, path: pathname }, { status, header, body: refusal, now: dateOf(response) });
  };
  try {
    return await withRetry(() => withRateLimit(send, policy, limiter), method !== "POST", policy);
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new PostError(error.errorCode, printable(error.message), undefined, error.outcome === "unknown");
    if (!(error instanceof ApiError)) throw error;
    const { status, serverMessage } = error;
    const why = serverMessage === "" ? "" : `: ${printable(serverMessage, 300)}`;
    const message = `${method} ${printable(pathname, 200)}: HTTP ${status}${why}`;
    throw new PostError("PP7004", message, status, status >= 500);
  }
}

/** A list that is a member of an object is one of GitHub's variables or secrets, whose pages are smaller. */
const pageSizeOf = (member: string | undefined): number => (member === undefined ? 100 : 30);

/** Enough for 3,400 comments, open issues or closed ones, and for the 1,000 variables that an organisation can have. */
const MAX_PAGES = 34;

/** The entries of a list, page by page. Pages are counted: an address in a response is never followed. */
async function* readPages(host: ApiHost, path: string, member?: string): AsyncGenerator {
  const size = pageSizeOf(member);
  const separator = path.includes("?") ? "&" : "?";
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const body = await request(host, "GET", `${path}${separator}per_page=${size}&page=${page}`);
    const list = member === undefined ? body : memberByPath(body, member);
    if (!Array.isArray(list)) throw new PostError("PP7004", `GET ${path}: the response is no list`);
    yield* list as unknown[];
    if (list.length < size) return;
  }
}

/** The first entry of a list that matches. */
export async function findInPages(
  host: ApiHost,
  path: string,
  matches: (entry: unknown) => boolean | undefined,
): Promise<unknown> {
  for await (const entry of readPages(host, path)) if (matches(entry)) return entry;
  return undefined;
}

/**
 * Reads a whole list. @param member The member of the response that holds it; without it, the response is the list.
 *
 * @throws PostError where it has more pages than are read: the rest would go unseen.
 */
export async function listAll(host: ApiHost, path: string, member?: string): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const entry of readPages(host, path, member)) entries.push(entry);
  if (entries.length < MAX_PAGES * pageSizeOf(member)) return entries;
  throw new PostError(
    "PP7004",
    `GET ${path.replace(/\?.*/s, "")}: the list has more than ${MAX_PAGES} pages`,
  );
}

/** The API of GitHub or GitLab, which a variable names. Messages tell a person to check that, or the network. */
export function apiOf(
  env: Environment,
  variable: "GITHUB_API_URL" | "CI_API_V4_URL",
  fallback: string,
  token: string,
): ApiHost {
  const given = env[variable];
  registerCredential(token);
  return {
    transport: transportTo(
      parseBaseUrl(given ?? fallback, variable),
      given === undefined ? `the network (${variable} is not set, which names another server)` : variable,
    ),
    limiter: new RateLimiter(),
    authorization:
      variable === "GITHUB_API_URL" ? { authorization: `Bearer ${token}` } : { "private-token": token },
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

/** Empty where it is missing. */
export const listMember = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const list = memberByPath(value, ...path);
  return Array.isArray(list) ? (list as unknown[]) : [];
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

/** Comments of a pull or merge request, and how one of them is changed. */
interface Comments {
  /** What creates one. */
  readonly address: string;
  /** The order of the list. */
  readonly query?: string;
  readonly isOwn: (entry: unknown) => boolean;
  readonly change: readonly ["PATCH" | "PUT", addressOf: (id: number) => string];
}

/** What was done, and the address of what it was done to, where the host tells it. */
export const withAddress = (what: string, entry: unknown): string =>
  `${what} ${stringMember(entry, "html_url") ?? ""}`.trimEnd();

/** Creates our comment that begins with the marker, or updates it. */
export async function upsertComment(
  host: ApiHost,
  { marker, body }: { readonly marker: string; readonly body: string },
  { address, query = "", isOwn, change: [method, addressOf] }: Comments,
): Promise<string> {
  return await retryIfUnknown(async () => {
    const isOurs = (entry: unknown): boolean =>
      isOwn(entry) && stringMember(entry, "body")?.startsWith(marker) === true;
    const found = await findInPages(host, `${address}${query}`, isOurs);
    const id = numberMember(found, "id");
    if (id === undefined) return withAddress("created", await request(host, "POST", address, { body }));
    // GitLab takes white space off both ends.
    if (stringMember(found, "body")?.trim() === body.trim()) return withAddress("unchanged", found);
    return withAddress("updated", await request(host, method, addressOf(id), { body }));
  });
}

/** What a path below a repository or a project returns; undefined where there is nothing. */
export async function findBelow(
  { host, path }: { readonly host: ApiHost; readonly path: string },
  below: string,
): Promise<unknown> {
  try {
    return await request(host, "GET", `${path}${below}`);
  } catch (error) {
    if (error instanceof PostError && error.status === 404) return undefined;
    throw error;
  }
}
