import type { Credentials, ExchangeCredentials, OidcSource } from "../http/tokens";
import { ConfigError } from "../http/errors";
import { isSafe } from "../text/address";
import { isUid } from "../text/uid";
import { readDestination, readIssuerUrl, confirmDestinations } from "./destination";
import { settingDefinitions } from "./definitions";
import type { Destination } from "./destination";
import { inEnvironment, inStack } from "./sources";
import type { SettingSources, SettingValue } from "./sources";

/** The one that is set, of settings that conflict with each other. */
function requireAtMostOne<T extends { readonly name: string }>(
  candidates: readonly (T | undefined)[],
): T | undefined {
  const [first, second] = candidates.filter((candidate) => candidate !== undefined);
  if (first && second)
    throw new ConfigError("PP2003", `${first.name} conflicts with ${second.name}; set only one of them`);
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
    throw new ConfigError("PP2002", `${setting} must be an https address, as GitHub Actions sets it`);
  }
  return { kind: "github", requestUrl, requestToken, audience, setting: "GitHub Actions" };
}

/** Where the OIDC token comes from: the first source that has one. @throws ConfigError where none has */
function readOidcSource(
  sources: SettingSources,
  {
    source,
    isToken,
    identity,
  }: { source: SettingValue | undefined; isToken: boolean; identity: SettingValue },
  audience: string,
): OidcSource {
  if (source) {
    return isToken
      ? { kind: "token", token: source.value, setting: source.name }
      : { kind: "file", path: source.value, setting: source.name };
  }
  const github = findGithubSource(sources, audience);
  if (github) return github;
  throw new ConfigError(
    "PP2006",
    `${identity.name} needs an OIDC token to exchange: set PLATFORM_OIDC_TOKEN_FILE, PLATFORM_OIDC_TOKEN or platform:oidcTokenFile; in GitHub Actions, give the job the permission "id-token: write"`,
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
  const identity = requireIdentity(givenIdentity ?? inStack(sources, "identity"), source);
  const issuer = readIssuerUrl(sources, identity);
  // An identity that names no audience takes tokens for its issuer's host.
  const oidcAudience = readDestination(sources, {
    ...settingDefinitions.oidcAudience,
    fallback: new URL(issuer.value).hostname,
  });
  const audience = readDestination(sources, {
    ...settingDefinitions.audience,
    fallback: api.value,
  });
  const isToken = source !== undefined && source === token;
  const oidc = readOidcSource(sources, { source, isToken, identity }, oidcAudience?.value ?? "");
  // The OIDC token belongs to this machine. Only GitHub issues it for the configured audience.
  const isGithub = oidc.kind === "github";
  confirmDestinations(oidc.setting, [api, issuer, audience, isGithub ? oidcAudience : undefined]);
  return {
    kind: "exchange",
    issuerUrl: issuer.value,
    audience: audience?.value ?? api.value,
    identity: identity.value,
    oidc,
    setting: `${identity.name} with ${oidc.setting}`,
  };
}

function requireIdentity(identity: SettingValue | undefined, source: SettingValue | undefined): SettingValue {
  if (!identity) {
    throw new ConfigError(
      "PP2006",
      `${source?.name ?? "an exchange"} needs the identity to assume: set PLATFORM_IDENTITY (or platform:identity) to its uid`,
      "CREDENTIAL",
    );
  }
  if (!isUid(identity.value)) {
    throw new ConfigError(
      "PP2002",
      `${identity.name} must be the uid of an identity, 40 hexadecimal digits and then 16 after each slash, not ${JSON.stringify(identity.value)}`,
    );
  }
  return identity;
}

/** The environment goes first: the engine hands `refresh` and `destroy` the stack configuration of the last `up`. */
export function readCredentials(sources: SettingSources, api: Destination): Credentials {
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
    "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or PLATFORM_IDENTITY to exchange an OIDC token, or run `pulumi config set --secret platform:token …`",
    "CREDENTIAL",
  );
}
