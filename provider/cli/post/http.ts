import { setTimeout as delay } from "node:timers/promises";
import { holdCredential } from "../../api/credentials";
import { printable } from "../../api/errors";

const ATTEMPTS = 4;
const ATTEMPT_MS = 30_000;
/** Longer than this is not waited for: a job must not hang on a comment. */
const LONGEST_WAIT_MS = 120_000;
const FIRST_WAIT_MS = 1_000;

/** Posting failed. The message is one line for a person, without the token. */
export class PostError extends Error {
  override readonly name = "PostError";

  /** @param unclear The request may have been carried out. */
  constructor(
    message: string,
    readonly status?: number,
    readonly unclear = false,
  ) {
    super(message);
  }
}

export interface Host {
  /** Where the API is, without a slash at the end. */
  readonly baseUrl: string;
  /** Name and value of the header that authenticates. */
  readonly authorization: readonly [name: string, value: string];
  readonly token: string;
  /** Waits; tests do not. Milliseconds. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** How long the host asks to wait, in milliseconds; undefined where it does not say that it limits. */
function requestedWait(response: Response, attempt: number): number | undefined {
  const { status, headers } = response;
  const date = Date.parse(headers.get("date") ?? "");
  // By the host's clock where it tells: this machine's may be wrong.
  const now = Number.isNaN(date) ? Date.now() : date;
  const after = headers.get("retry-after");
  const exhausted =
    headers.get("x-ratelimit-remaining") === "0" || headers.get("ratelimit-remaining") === "0";
  if (status !== 429 && !(status === 403 && (after !== null || exhausted))) return undefined;
  if (after !== null) {
    const seconds = Number(after);
    const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now;
    if (Number.isFinite(wait)) return Math.max(0, wait);
  }
  const reset = Number(headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset") ?? NaN);
  if (exhausted && Number.isFinite(reset)) return Math.max(0, reset * 1000 - now);
  return FIRST_WAIT_MS * 2 ** attempt;
}

function messageOf(body: unknown): string {
  if (typeof body !== "object" || body === null) return "";
  const { message, error } = body as { message?: unknown; error?: unknown };
  const told = message ?? error;
  return told === undefined
    ? ""
    : `: ${printable(typeof told === "string" ? told : JSON.stringify(told), 300)}`;
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * One request to the API of GitHub or GitLab, repeated where the host asks for that, and where it can do no
 * harm. Redirects are not followed: they could take the token elsewhere.
 *
 * @param path Begins with a slash; its parts are encoded.
 * @throws PostError for every answer that is no success.
 */
export async function request(
  host: Host,
  method: "GET" | "POST" | "PATCH" | "PUT",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const sleep = host.sleep ?? delay;
  holdCredential(host.token);
  const what = `${method} ${printable(path.replace(/\?.*/s, ""), 200)}`;
  const repeatable = method !== "POST";
  for (let attempt = 0; ; attempt += 1) {
    const last = attempt + 1 >= ATTEMPTS;
    let response: Response;
    let answer: unknown;
    try {
      response = await fetch(host.baseUrl + path, {
        method,
        headers: {
          accept: "application/json",
          "user-agent": "pulumi-platform",
          [host.authorization[0]]: host.authorization[1],
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      answer = await readJson(response);
    } catch (error) {
      if (repeatable && !last) {
        await sleep(FIRST_WAIT_MS * 2 ** attempt);
        continue;
      }
      throw new PostError(`${what}: no answer (${reasonOf(error)})`, undefined, true);
    }
    const { status } = response;
    if (response.ok) return { status, body: answer };
    const wait = requestedWait(response, attempt);
    if (wait !== undefined && !last && wait <= LONGEST_WAIT_MS) {
      await sleep(wait);
      continue;
    }
    if (status >= 500 && repeatable && !last) {
      await sleep(FIRST_WAIT_MS * 2 ** attempt);
      continue;
    }
    throw new PostError(`${what}: HTTP ${status}${messageOf(answer)}`, status, status >= 500);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return `none within ${ATTEMPT_MS / 1000} s`;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : error.name;
  return printable(code, 100);
}

const PAGE = 100;

/**
 * All entries of a list, page by page, until one satisfies or `mostPages` are read. Pages are counted: an address
 * in an answer is never followed.
 *
 * @param path With or without a query.
 */
export async function findInPages<T>(
  host: Host,
  path: string,
  mostPages: number,
  fits: (entry: unknown) => T | undefined,
): Promise<T | undefined> {
  const joint = path.includes("?") ? "&" : "?";
  for (let page = 1; page <= mostPages; page += 1) {
    const { body } = await request(host, "GET", `${path}${joint}per_page=${PAGE}&page=${page}`);
    if (!Array.isArray(body)) throw new PostError(`GET ${path}: the answer is no list`);
    for (const entry of body as unknown[]) {
      const found = fits(entry);
      if (found !== undefined) return found;
    }
    if (body.length < PAGE) return undefined;
  }
  return undefined;
}

/** @throws PostError where the address is none, or would send the token in the clear. */
export function checkedBaseUrl(text: string, variable: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw new PostError(`${variable} is no address: give one like https://api.github.com`);
  }
  const loopback = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback)) {
    throw new PostError(`${variable} must begin with https://: the token would be readable on its way`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The member of an answer, or undefined where it is not of that type. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Readonly<Record<string, unknown>>)[key]
        : undefined,
    value,
  );
}

export const textMember = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = member(value, ...path);
  return typeof found === "string" ? found : undefined;
};

export const numberMember = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = member(value, ...path);
  return typeof found === "number" && Number.isSafeInteger(found) ? found : undefined;
};
