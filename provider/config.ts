import type { Credentials } from "./api/auth";
import { ConfigError } from "./api/errors";

/** Everything that the client needs to know, read and checked. Times in milliseconds. */
export interface Settings {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxConcurrency: number;
  readonly credentials: Credentials;
  /** Print a line per request. */
  readonly debug: boolean;
}

/** Where settings come from: stack configuration by key (without `platform:`), and the environment. */
export interface SettingSources {
  readonly stack: (key: string) => string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

function fromStackThenEnv(
  sources: SettingSources,
  key: string,
  variable: string,
): { value: string; name: string } | undefined {
  const stack = sources.stack(key);
  if (stack !== undefined && stack !== "") return { value: stack, name: `platform:${key}` };
  const env = sources.env[variable];
  return env !== undefined && env !== "" ? { value: env, name: variable } : undefined;
}

function wholeNumber(
  sources: SettingSources,
  key: string,
  variable: string,
  bounds: { min: number; max: number; fallback: number },
): number {
  const found = fromStackThenEnv(sources, key, variable);
  if (!found) return bounds.fallback;
  const number = Number(found.value);
  if (!/^\d+$/.test(found.value.trim()) || number < bounds.min || number > bounds.max) {
    throw new ConfigError(
      `${found.name} must be a whole number from ${bounds.min} to ${bounds.max}, not ${JSON.stringify(found.value)}`,
    );
  }
  return number;
}

const TIMEOUT_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

function timeout(sources: SettingSources): number {
  const found = fromStackThenEnv(sources, "timeout", "PLATFORM_TIMEOUT");
  if (!found) return 60_000;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(found.value.trim());
  const ms = match ? Number(match[1]) * (TIMEOUT_UNITS[match[2] ?? ""] ?? 0) : 0;
  if (ms < 1 || ms > 3_600_000) {
    throw new ConfigError(
      `${found.name} must be a duration with a unit, as in "30s" or "2m" (at most 60m), not ${JSON.stringify(found.value)}`,
    );
  }
  return Math.round(ms);
}

function baseUrl(sources: SettingSources): string {
  const found = fromStackThenEnv(sources, "baseUrl", "PLATFORM_BASE_URL");
  if (!found) {
    throw new ConfigError(
      "the address of the API is missing: run `pulumi config set platform:baseUrl https://…`, or set PLATFORM_BASE_URL",
    );
  }
  const { value, name } = found;
  const wrong = (why: string) =>
    new ConfigError(
      `${name} must be an address as in "https://api.example.com", not ${JSON.stringify(value)}: ${why}`,
    );
  if (!URL.canParse(value)) throw wrong("it is not an absolute URL");
  const url = new URL(value);
  if (url.username !== "" || url.password !== "") {
    throw new ConfigError(
      `${name} must not hold a user name or a password: credentials have settings of their own`,
    );
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("it is neither https nor http");
  if (url.search !== "" || url.hash !== "") throw wrong("it has a query or a fragment");
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !loopback && sources.stack("allowInsecure") !== "true") {
    throw wrong(
      "plain http would show the token to the network; set platform:allowInsecure to true if you mean it",
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

interface Candidate {
  readonly value: string;
  readonly name: string;
  readonly kind: Credentials["kind"];
}

function single(candidates: readonly Candidate[]): Candidate | undefined {
  if (candidates.length > 1) {
    const names = candidates.map((candidate) => candidate.name).join(" and ");
    throw new ConfigError(`${names} are both set: keep one of them`);
  }
  return candidates[0];
}

/** The environment goes first: the engine hands `refresh` and `destroy` the stack configuration of the last `up`. */
function credentials(sources: SettingSources): Credentials {
  const candidate = (value: string | undefined, name: string, kind: Credentials["kind"]): Candidate[] =>
    value === undefined || value === "" ? [] : [{ value, name, kind }];
  const found =
    single([
      ...candidate(sources.env["PLATFORM_TOKEN"], "PLATFORM_TOKEN", "token"),
      ...candidate(sources.env["PLATFORM_TOKEN_FILE"], "PLATFORM_TOKEN_FILE", "tokenFile"),
    ]) ??
    single([
      ...candidate(sources.stack("token"), "platform:token", "token"),
      ...candidate(sources.stack("tokenFile"), "platform:tokenFile", "tokenFile"),
    ]);
  if (!found) {
    throw new ConfigError(
      "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or run `pulumi config set --secret platform:token …`",
    );
  }
  return found.kind === "token"
    ? { kind: "token", token: found.value, setting: found.name }
    : { kind: "tokenFile", path: found.value, setting: found.name };
}

/** Reads and checks every setting. Throws a ConfigError that names the first wrong one. */
export function readSettings(sources: SettingSources): Settings {
  const level = sources.env["PLATFORM_LOG"];
  if (level !== undefined && level !== "" && level !== "debug") {
    throw new ConfigError(`PLATFORM_LOG must be "debug" or unset, not ${JSON.stringify(level)}`);
  }
  return {
    baseUrl: baseUrl(sources),
    timeoutMs: timeout(sources),
    maxRetries: wholeNumber(sources, "maxRetries", "PLATFORM_MAX_RETRIES", { min: 0, max: 20, fallback: 5 }),
    maxConcurrency: wholeNumber(sources, "maxConcurrency", "PLATFORM_MAX_CONCURRENCY", {
      min: 1,
      max: 256,
      fallback: 8,
    }),
    credentials: credentials(sources),
    debug: level === "debug",
  };
}
