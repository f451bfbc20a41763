import { hasUserinfo, printableAddress } from "../api/address";
import { ConfigError } from "../api/errors";
import { isLoopback } from "../api/loopback";
import { settingDefinitions } from "./definitions";
import type { EnvironmentVariable, StackKey } from "./definitions";
import type { Destination } from "./destination";
import { inEnvironment, inStack } from "./sources";
import type { SettingSources, SettingValue } from "./sources";
import { withoutTrailing } from "../api/withoutTrailing";

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
