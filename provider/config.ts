import type { Credentials, ExchangeCredentials, OidcSource } from "./api/auth";
import { hasUserinfo, printableAddress } from "./api/address";
import { confirmDestinations } from "./destination";
import type { Destination } from "./destination";
import { ConfigError } from "./api/errors";
import { isLoopback, isSafe } from "./api/loopback";
import { isUid } from "./api/uid";

/** Everything that the client needs to know, read and checked. Times in milliseconds. */
export interface Settings {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxConcurrency: number;
  /** Reads and creates that are under way together may share requests. */
  readonly batching: boolean;
  readonly credentials: Credentials;
  /** Print a line per request. */
  readonly debug: boolean;
}

/** Where settings come from: stack configuration by key (without `platform:`), and the environment. */
export interface SettingSources {
  readonly stack: (key: string) => string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A setting that is there; an empty one counts as absent. */
interface SettingValue {
  readonly value: string;
  readonly name: string;
}

function inEnvironment({ env }: SettingSources, name: string): SettingValue | undefined {
  const value = env[name];
  return value === undefined || value === "" ? undefined : { value, name };
}

function inStack({ stack }: SettingSources, key: string): SettingValue | undefined {
  const value = stack(key);
  return value === undefined || value === "" ? undefined : { value, name: `platform:${key}` };
}

function fromStackThenEnv(sources: SettingSources, key: string, variable: string): SettingValue | undefined {
  return inStack(sources, key) ?? inEnvironment(sources, variable);
}

function readWholeNumber(
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

function readFlag(sources: SettingSources, key: string, variable: string, fallback: boolean): boolean {
  const found = fromStackThenEnv(sources, key, variable);
  if (!found) return fallback;
  if (found.value !== "true" && found.value !== "false") {
    throw new ConfigError(`${found.name} must be "true" or "false", not ${JSON.stringify(found.value)}`);
  }
  return found.value === "true";
}

const TIMEOUT_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };

function readTimeout(sources: SettingSources): number {
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

/** An address that credentials may be sent to, without a slash at its end. */
function parseAddress(sources: SettingSources, { value, name }: { value: string; name: string }): string {
  const wrong = (why: string) =>
    new ConfigError(
      `${name} must be an address as in "https://api.example.com", not ${JSON.stringify(printableAddress(value))}: ${why}`,
    );
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // An "@" after the host is the end of a password that holds a slash: what stands before it is no host.
  if (url && (hasUserinfo(url) || /@|%40/.test(url.pathname))) {
    throw new ConfigError(
      `${name} must not hold a user name or a password: credentials have settings of their own`,
    );
  }
  if (!url) throw wrong("it is not an absolute URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("it is neither https nor http");
  if (url.search !== "" || url.hash !== "") throw wrong("it has a query or a fragment");
  if (url.protocol === "http:" && !isLoopback(url) && sources.stack("allowInsecure") !== "true") {
    throw wrong(
      "plain http would show the token to the network; set platform:allowInsecure to true if you mean it",
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** A setting that decides where a credential goes; undefined where it has neither a value nor a default. */
function readDestination(
  sources: SettingSources,
  { key, variable, fallback }: { key: string; variable: string; fallback?: string },
  parse: (found: SettingValue) => string = ({ value }) => value,
): Destination | undefined {
  const inConfig = inStack(sources, key);
  const found = inConfig ?? inEnvironment(sources, variable);
  if (!found && fallback === undefined) return undefined;
  return {
    value: found ? parse(found) : (fallback ?? ""),
    key: `platform:${key}`,
    variable,
    isOfStack: inConfig !== undefined,
    fallback,
    environmentValue: () => {
      const confirmation = inEnvironment(sources, variable);
      return confirmation && parse(confirmation);
    },
  };
}

function readBaseUrl(sources: SettingSources): Destination {
  const found = readDestination(sources, { key: "baseUrl", variable: "PLATFORM_BASE_URL" }, (given) =>
    parseAddress(sources, given),
  );
  if (found) return found;
  throw new ConfigError(
    "the address of the API is missing: set PLATFORM_BASE_URL, or run `pulumi config set platform:baseUrl https://…`",
  );
}

function readIssuerUrl(sources: SettingSources, identity: SettingValue): Destination {
  const found = readDestination(sources, { key: "issuerUrl", variable: "PLATFORM_ISSUER_URL" }, (given) =>
    parseAddress(sources, given),
  );
  if (found) return found;
  throw new ConfigError(
    `the address of the token issuer is missing, which ${identity.name} needs: set PLATFORM_ISSUER_URL, or run \`pulumi config set platform:issuerUrl https://…\``,
  );
}

/** The one that is there of several that exclude each other. */
function requireAtMostOne<T extends { readonly name: string }>(
  candidates: readonly (T | undefined)[],
): T | undefined {
  const [first, second] = candidates.filter((candidate) => candidate !== undefined);
  if (first && second)
    throw new ConfigError(`${first.name} and ${second.name} are both set: keep one of them`);
  return first;
}

/** What GitHub Actions gives a job that may ask for a token. Never a source by itself: only with an identity. */
function findGithubSource({ env }: SettingSources, audience: string): OidcSource | undefined {
  const setting = "ACTIONS_ID_TOKEN_REQUEST_URL";
  const requestUrl = env[setting] ?? "";
  const requestToken = env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] ?? "";
  if (requestUrl === "" || requestToken === "") return undefined;
  const url = URL.canParse(requestUrl) ? new URL(requestUrl) : undefined;
  if (!url || !isSafe(url)) {
    throw new ConfigError(`${setting} must be an https address, as GitHub Actions sets it`);
  }
  return { kind: "github", requestUrl, requestToken, audience, setting: "GitHub Actions" };
}

/** What an exchange is made with: an identity, and an OIDC token of the first source that has one. */
function readExchange(
  sources: SettingSources,
  api: Destination,
  identity: SettingValue | undefined,
): ExchangeCredentials {
  const token = inEnvironment(sources, "PLATFORM_OIDC_TOKEN");
  const file = inEnvironment(sources, "PLATFORM_OIDC_TOKEN_FILE");
  const source = requireAtMostOne([token, file]) ?? inStack(sources, "oidcTokenFile");
  const who = requireIdentity(identity ?? inStack(sources, "identity"), source);
  const issuer = readIssuerUrl(sources, who);
  // An identity that names no audience takes tokens for its issuer's host.
  const oidcAudience = readDestination(sources, {
    key: "oidcAudience",
    variable: "PLATFORM_OIDC_AUDIENCE",
    fallback: new URL(issuer.value).hostname,
  });
  const audience = readDestination(sources, {
    key: "audience",
    variable: "PLATFORM_AUDIENCE",
    fallback: api.value,
  });
  const oidc: OidcSource | undefined = !source
    ? findGithubSource(sources, oidcAudience?.value ?? "")
    : source === token
      ? { kind: "token", token: source.value, setting: source.name }
      : { kind: "file", path: source.value, setting: source.name };
  if (!oidc) {
    throw new ConfigError(
      `${who.name} needs an OIDC token to exchange: set PLATFORM_OIDC_TOKEN_FILE, PLATFORM_OIDC_TOKEN or platform:oidcTokenFile; in GitHub Actions, give the job the permission "id-token: write"`,
      "CREDENTIAL",
    );
  }
  // Each of them holds a token of this machine; only GitHub's is made for an audience of ours.
  confirmDestinations(oidc.setting, [
    api,
    issuer,
    audience,
    oidc.kind === "github" ? oidcAudience : undefined,
  ]);
  return {
    kind: "exchange",
    issuerUrl: issuer.value,
    audience: audience?.value ?? api.value,
    identity: who.value,
    oidc,
    setting: `${who.name} with ${oidc.setting}`,
  };
}

function requireIdentity(identity: SettingValue | undefined, source: SettingValue | undefined): SettingValue {
  if (!identity) {
    throw new ConfigError(
      `${source?.name ?? "an exchange"} needs the identity to assume: set PLATFORM_IDENTITY (or platform:identity) to its uid`,
      "CREDENTIAL",
    );
  }
  if (!isUid(identity.value)) {
    throw new ConfigError(
      `${identity.name} must be the uid of an identity, 40 hexadecimal digits and then 16 after each slash, not ${JSON.stringify(identity.value)}`,
    );
  }
  return identity;
}

/** The environment goes first: the engine hands `refresh` and `destroy` the stack configuration of the last `up`. */
function readCredentials(sources: SettingSources, api: Destination): Credentials {
  const ranks = [
    {
      token: inEnvironment(sources, "PLATFORM_TOKEN"),
      tokenFile: inEnvironment(sources, "PLATFORM_TOKEN_FILE"),
      identity: inEnvironment(sources, "PLATFORM_IDENTITY"),
      oidc:
        inEnvironment(sources, "PLATFORM_OIDC_TOKEN") ?? inEnvironment(sources, "PLATFORM_OIDC_TOKEN_FILE"),
    },
    {
      token: inStack(sources, "token"),
      tokenFile: inStack(sources, "tokenFile"),
      identity: inStack(sources, "identity"),
      oidc: inStack(sources, "oidcTokenFile"),
    },
  ];
  for (const rank of ranks) {
    const found = requireAtMostOne([rank.token, rank.tokenFile, rank.identity ?? rank.oidc]);
    if (!found) continue;
    if (found !== rank.token && found !== rank.tokenFile) return readExchange(sources, api, rank.identity);
    // A secret of the stack goes where the stack says. A file is this machine's, whoever names it.
    if (found.name !== "platform:token") confirmDestinations(found.name, [api]);
    return found === rank.token
      ? { kind: "token", token: found.value, setting: found.name }
      : { kind: "tokenFile", path: found.value, setting: found.name };
  }
  throw new ConfigError(
    "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or PLATFORM_IDENTITY to exchange an OIDC token, or run `pulumi config set --secret platform:token …`",
    "CREDENTIAL",
  );
}

/** Reads and checks every setting. Throws a ConfigError that names the first wrong one. */
export function readSettings(sources: SettingSources): Settings {
  const level = sources.env["PLATFORM_LOG"];
  if (level !== undefined && level !== "" && level !== "debug") {
    throw new ConfigError(`PLATFORM_LOG must be "debug" or unset, not ${JSON.stringify(level)}`);
  }
  const api = readBaseUrl(sources);
  return {
    baseUrl: api.value,
    timeoutMs: readTimeout(sources),
    maxRetries: readWholeNumber(sources, "maxRetries", "PLATFORM_MAX_RETRIES", {
      min: 0,
      max: 20,
      fallback: 5,
    }),
    maxConcurrency: readWholeNumber(sources, "maxConcurrency", "PLATFORM_MAX_CONCURRENCY", {
      min: 1,
      max: 256,
      fallback: 8,
    }),
    batching: readFlag(sources, "batching", "PLATFORM_BATCHING", true),
    credentials: readCredentials(sources, api),
    debug: level === "debug",
  };
}
