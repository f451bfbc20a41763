import { checkGivenToken, tokenSource } from "../http/tokens";
import type { Credentials, ExchangeCredentials, OidcSource, TokenSource } from "../http/tokens";
import { Client } from "../http/client";
import { ConfigError } from "../http/errors";
import { hasUserinfo, isLoopback, isSafe, printableAddress } from "../text/address";
import { withoutTrailing } from "../text/plain";
import { logLine } from "../text/printable";
import { isUid } from "../text/uid";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, StackKey } from "./definitions";
import type { Environment } from "./environment";

/** Everything that the client needs to know, read and checked. Times in milliseconds. */
export interface Settings {
  readonly baseUrl: string;
  /** The setting that decides it, as in `PLATFORM_BASE_URL`. */
  readonly baseUrlSetting: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxConcurrency: number;
  /** Reads and creates that are under way together may share requests. */
  readonly batching: boolean;
  readonly credentials: Credentials;
  /** Print a line per request. */
  readonly debug: boolean;
}

/** Reads and checks every setting. Throws a ConfigError that names the first wrong one. */
export function readSettings(sources: SettingSources): Settings {
  const level = inEnvironment(sources, settingDefinitions.log.variable);
  if (level !== undefined && level.value !== "debug") {
    throw invalid(level, '"debug" or unset');
  }
  const api = readAddress(sources, settingDefinitions.baseUrl, "the address of the API is missing");
  return {
    baseUrl: api.value,
    baseUrlSetting: api.setting,
    timeoutMs: readTimeout(sources),
    maxRetries: readWholeNumber(sources, settingDefinitions.maxRetries),
    maxConcurrency: readWholeNumber(sources, settingDefinitions.maxConcurrency),
    batching: readFlag(sources, settingDefinitions.batching),
    credentials: readCredentials(sources, api),
    debug: level !== undefined,
  };
}

/** Whether an address or a credential is missing. */
export const isMissingSetting = ({ errorCode }: ConfigError): boolean =>
  ["PP2001", "PP2006"].includes(errorCode);

/**
 * What is wrong with settings that are there, as `readSettings` says it, or with a token that is none: what a preview can
 * say that sends no request. It does not need those that are missing.
 */
export function findWrongSetting(sources: SettingSources): ConfigError | undefined {
  try {
    checkGivenToken(readSettings(sources).credentials);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (!isMissingSetting(error)) return error;
  }
  return undefined;
}

/** Where settings come from: stack configuration by key (without `platform:`), and the environment. */
export interface SettingSources {
  readonly stack: (key: string) => string | undefined;
  readonly env: Environment;
}

/** A setting that is there; an empty one counts as absent. */
interface SettingValue {
  readonly value: string;
  readonly name: string;
}

function inEnvironment({ env }: SettingSources, name: EnvironmentVariable): SettingValue | undefined {
  const value = env[name];
  return value === undefined || value === "" ? undefined : { value, name };
}

function inStack({ stack }: SettingSources, key: StackKey): SettingValue | undefined {
  const value = stack(key);
  return value === undefined || value === "" ? undefined : { value, name: `platform:${key}` };
}

/** Where a setting is named. */
interface SettingNames {
  readonly key: StackKey;
  readonly variable: EnvironmentVariable;
}

/** A setting that the stack configuration decides before the environment. */
function find(sources: SettingSources, { key, variable }: SettingNames): SettingValue | undefined {
  return inStack(sources, key) ?? inEnvironment(sources, variable);
}

const invalid = ({ name, value }: SettingValue, rule: string): ConfigError =>
  new ConfigError("PP2002", `${name} must be ${rule}, not ${JSON.stringify(value)}`);

function readWholeNumber(
  sources: SettingSources,
  definition: SettingNames & { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const found = find(sources, definition);
  if (!found) return definition.fallback;
  const { min, max } = definition;
  const number = Number(found.value);
  if (!/^\d+$/.test(found.value.trim()) || number < min || number > max) {
    throw invalid(found, `a whole number from ${min} to ${max}`);
  }
  return number;
}

function readFlag(
  sources: SettingSources,
  definition: SettingNames & { readonly fallback: boolean },
): boolean {
  const found = find(sources, definition);
  if (!found) return definition.fallback;
  if (found.value !== "true" && found.value !== "false") throw invalid(found, '"true" or "false"');
  return found.value === "true";
}

const TIMEOUT_UNITS = { ms: 1, s: 1000, m: 60_000 } as const;

function readTimeout(sources: SettingSources): number {
  const { timeout } = settingDefinitions;
  const found = find(sources, timeout) ?? { name: timeout.key, value: timeout.fallback };
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(found.value.trim()) ?? [];
  const ms = Number(count) * TIMEOUT_UNITS[unit as keyof typeof TIMEOUT_UNITS];
  if (!(ms >= 1 && ms <= 3_600_000)) {
    throw invalid(found, 'a duration with a unit, as in "30s" or "2m" (at most 60m)');
  }
  return Math.round(ms);
}

/** An address that credentials may be sent to, without a slash at its end. */
function parseAddress(sources: SettingSources, { value, name }: SettingValue): string {
  const wrong = (why: string) =>
    new ConfigError(
      "PP2002",
      `${name} must be an address as in "https://api.example.com", not ${JSON.stringify(printableAddress(value))}: ${why}`,
    );
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // An "@" after the host is the end of a password that holds a slash: what stands before it is no host.
  if (url && (hasUserinfo(url) || /@|%40/.test(url.pathname))) {
    throw new ConfigError(
      "PP2002",
      `${name} must not contain a user name or a password: credentials have settings of their own`,
    );
  }
  if (!url) throw wrong("it is not an absolute URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("it is neither https nor http");
  if (url.search !== "" || url.hash !== "") throw wrong("it has a query or a fragment");
  if (url.protocol === "http:" && !isLoopback(url) && inStack(sources, "allowInsecure")?.value !== "true") {
    throw wrong(
      "plain http would show the token to the network; write https, or run `pulumi config set platform:allowInsecure true` if you mean it, and give commands of this package --stack",
    );
  }
  return withoutTrailing(`${url.origin}${url.pathname}`, "/");
}

/** A setting that decides where a credential goes, or what it is made for. */
interface Destination extends SettingNames {
  readonly value: string;
  /** The name that decides it. */
  readonly setting: string;
  /** The value is that of the stack configuration. */
  readonly isOfStack: boolean;
  /** What it is where it is not set: derived from another destination. */
  readonly fallback: string | undefined;
  /** What the environment says; undefined where it says nothing. Throws where that is malformed. */
  readonly environmentValue: () => string | undefined;
}

function readDestination(
  sources: SettingSources,
  { key, variable }: SettingNames,
  fallback: string | undefined,
  parse: (found: SettingValue) => string = ({ value }) => value,
): Destination {
  const found = find(sources, { key, variable });
  return {
    key,
    variable,
    value: found ? parse(found) : (fallback ?? ""),
    setting: found?.name ?? variable,
    isOfStack: inStack(sources, key) !== undefined,
    fallback,
    environmentValue: () => {
      const confirmation = inEnvironment(sources, variable);
      return confirmation && parse(confirmation);
    },
  };
}

/** @param what what is missing where it is not set. */
function readAddress(sources: SettingSources, names: SettingNames, what: string): Destination {
  const address = readDestination(sources, names, undefined, (found) => parseAddress(sources, found));
  if (address.value !== "") return address;
  throw new ConfigError(
    "PP2001",
    `${what}: set ${names.variable}, or run \`pulumi config set platform:${names.key} https://…\``,
  );
}

/**
 * Refuses to send a credential of the environment where only a stack file says so: whoever can change that file, in a
 * pull request for example, would receive the credential.
 *
 * @param credential the setting that holds it.
 */
function confirmDestinations(credential: string, destinations: readonly Destination[]): void {
  for (const { value, key, variable, isOfStack, fallback, environmentValue } of destinations) {
    if (!isOfStack) continue;
    const given = environmentValue();
    if ((given ?? fallback) === value) continue;
    const why = `the credential of ${credential} belongs to this machine, and a stack file alone may not say where it goes: platform:${key} is ${JSON.stringify(value)}`;
    throw new ConfigError(
      "PP2004",
      given === undefined
        ? `${why}; to confirm that, set ${variable} to the same value`
        : `${why}, but ${variable} is ${JSON.stringify(given)}; remove platform:${key}, or give both the same value (refresh and destroy use the stack configuration of the last update)`,
    );
  }
}

/** The one that is set, of settings that conflict with each other. */
function requireAtMostOne<T extends { readonly name: string }>(
  candidates: readonly (T | undefined)[],
): T | undefined {
  const [first, second] = candidates.filter((candidate) => candidate !== undefined);
  if (first && second)
    throw new ConfigError("PP2003", `${first.name} conflicts with ${second.name}; set only one of them`);
  return first;
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
    "PP2006",
    "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or PLATFORM_IDENTITY to exchange an OIDC token, or run `pulumi config set --secret platform:token …` (a refresh and a destroy read what the last update had)",
    "CREDENTIAL",
  );
}

/** An identity, and the OIDC token that is exchanged for an access token of it. */
function readExchange(
  sources: SettingSources,
  api: Destination,
  givenIdentity: SettingValue | undefined,
): ExchangeCredentials {
  const token = inEnvironment(sources, "PLATFORM_OIDC_TOKEN");
  const file = inEnvironment(sources, "PLATFORM_OIDC_TOKEN_FILE");
  const source = requireAtMostOne([token, file]) ?? inStack(sources, "oidcTokenFile");
  const identity = givenIdentity ?? inStack(sources, "identity");
  if (!identity) {
    throw new ConfigError(
      "PP2006",
      `${source?.name ?? "an exchange"} needs the identity to assume: set PLATFORM_IDENTITY (or platform:identity) to its uid`,
      "CREDENTIAL",
    );
  }
  if (!isUid(identity.value)) {
    throw invalid(identity, "the uid of an identity, 40 hexadecimal digits and then 16 after each slash");
  }
  const what = `the address of the token issuer is missing, which ${identity.name} needs`;
  const issuer = readAddress(sources, settingDefinitions.issuerUrl, what);
  // An identity that names no audience takes tokens for its issuer's host.
  const { hostname } = new URL(issuer.value);
  const oidcAudience = readDestination(sources, settingDefinitions.oidcAudience, hostname);
  const audience = readDestination(sources, settingDefinitions.audience, api.value);
  const oidc = readOidcSource(sources, source, source === token, oidcAudience.value);
  if (!oidc) {
    throw new ConfigError(
      "PP2006",
      `${identity.name} needs an OIDC token to exchange: set PLATFORM_OIDC_TOKEN_FILE, PLATFORM_OIDC_TOKEN or platform:oidcTokenFile; in GitHub Actions, give the job the permission "id-token: write"`,
      "CREDENTIAL",
    );
  }
  // The OIDC token belongs to this machine. Only GitHub issues it for the configured audience.
  const isGithub = oidc.kind === "github";
  confirmDestinations(oidc.setting, [api, issuer, audience, ...(isGithub ? [oidcAudience] : [])]);
  return {
    kind: "exchange",
    issuerUrl: issuer.value,
    issuerSetting: issuer.setting,
    audience: audience.value,
    identity: identity.value,
    oidc,
    setting: `${identity.name} with ${oidc.setting}`,
  };
}

/** Where the OIDC token comes from: the first source that has one. */
function readOidcSource(
  sources: SettingSources,
  source: SettingValue | undefined,
  isToken: boolean,
  audience: string,
): OidcSource | undefined {
  if (!source) return findGithubSource(sources, audience);
  return isToken
    ? { kind: "token", token: source.value, setting: source.name }
    : { kind: "file", path: source.value, setting: source.name };
}

/** What GitHub Actions gives a job that may ask for a token. Never a source by itself: only with an identity. */
function findGithubSource({ env }: SettingSources, audience: string): OidcSource | undefined {
  const setting = "ACTIONS_ID_TOKEN_REQUEST_URL";
  const requestUrl = env[setting] ?? "";
  const requestToken = env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] ?? "";
  if (requestUrl === "" || requestToken === "") return undefined;
  const url = URL.canParse(requestUrl) ? new URL(requestUrl) : undefined;
  if (!url || !isSafe(url)) {
    throw new ConfigError("PP2002", `${setting} must be an https address, as GitHub Actions sets it`);
  }
  return { kind: "github", requestUrl, requestToken, audience, setting: "GitHub Actions" };
}

/**
 * A client made of settings. Nothing is sent, and no token exchanged, before its first request.
 *
 * @param print where the lines of requests go that `PLATFORM_LOG` asks for, and the line that says that a server does not respond.
 */
export function createClient(
  settings: Settings,
  print: (line: string) => void = (line) => process.stderr.write(`platform: ${logLine(line)}\n`),
): { client: Client; tokens: TokenSource } {
  const log = settings.debug ? print : undefined;
  const tokens = tokenSource(settings.credentials, { timeoutMs: settings.timeoutMs, log });
  return { client: new Client({ ...settings, tokens, log, notify: print }), tokens };
}
