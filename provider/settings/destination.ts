import { ConfigError } from "../http/errors";
import { hasUserinfo, isLoopback, printableAddress } from "../text/address";
import { withoutTrailing } from "../text/plain";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, StackKey } from "./definitions";
import { inEnvironment, inStack } from "./sources";
import type { SettingSources, SettingValue } from "./sources";

/** An address that credentials may be sent to, without a slash at its end. */
function parseAddress(sources: SettingSources, { value, name }: { value: string; name: string }): string {
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
      "plain http would show the token to the network; set platform:allowInsecure to true if you mean it",
    );
  }
  return withoutTrailing(`${url.origin}${url.pathname}`, "/");
}

/** A setting that decides where a credential goes; undefined where it has neither a value nor a default. */
export function readDestination(
  sources: SettingSources,
  { key, variable, fallback }: { key: StackKey; variable: EnvironmentVariable; fallback?: string },
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

export function readBaseUrl(sources: SettingSources): Destination {
  const found = readDestination(sources, settingDefinitions.baseUrl, (given) => parseAddress(sources, given));
  if (found) return found;
  throw new ConfigError(
    "PP2001",
    "the address of the API is missing: set PLATFORM_BASE_URL, or run `pulumi config set platform:baseUrl https://…`",
  );
}

export function readIssuerUrl(sources: SettingSources, identity: SettingValue): Destination {
  const found = readDestination(sources, settingDefinitions.issuerUrl, (given) =>
    parseAddress(sources, given),
  );
  if (found) return found;
  throw new ConfigError(
    "PP2001",
    `the address of the token issuer is missing, which ${identity.name} needs: set PLATFORM_ISSUER_URL, or run \`pulumi config set platform:issuerUrl https://…\``,
  );
}

/** A setting that decides where a credential goes, or what it is made for. */
export interface Destination {
  readonly value: string;
  /** As in "platform:baseUrl". */
  readonly key: string;
  /** The environment variable of the same setting. */
  readonly variable: string;
  /** The value is that of the stack configuration. */
  readonly isOfStack: boolean;
  /** What it is where it is not set: derived from a destination before it in the list. */
  readonly fallback: string | undefined;
  /** What the environment says; undefined where it says nothing. Throws where that is malformed. */
  readonly environmentValue: () => string | undefined;
}

/**
 * Refuses to send a credential of the environment where only a stack file says so: whoever can change that file, in a
 * pull request for example, would receive the credential.
 *
 * @param credential the setting that holds it.
 */
export function confirmDestinations(
  credential: string,
  destinations: readonly (Destination | undefined)[],
): void {
  for (const destination of destinations) {
    if (destination?.isOfStack) requireConfirmation(credential, destination);
  }
}

function requireConfirmation(
  credential: string,
  { value, key, variable, fallback, environmentValue }: Destination,
): void {
  const given = environmentValue();
  if ((given ?? fallback) === value) return;
  const found = `${key} is ${JSON.stringify(value)}`;
  const why = `the credential of ${credential} belongs to this machine, and a stack file alone may not say where it goes`;
  if (given === undefined) {
    throw new ConfigError("PP2004", `${why}: ${found}; to confirm that, set ${variable} to the same value`);
  }
  throw new ConfigError(
    "PP2004",
    `${why}: ${found}, but ${variable} is ${JSON.stringify(given)}; remove ${key}, or give both the same value (refresh and destroy use the stack configuration of the last update)`,
  );
}
