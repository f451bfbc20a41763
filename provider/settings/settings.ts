import type { Credentials } from "../http/auth";
import { ConfigError } from "../http/errors";
import { readBaseUrl } from "./destination";
import { readCredentials } from "./credentials";
import { settingDefinitions } from "./definitions";
import { inEnvironment, readFlag, readTimeout, readWholeNumber } from "./sources";
import type { SettingSources } from "./sources";

export type { SettingSources } from "./sources";

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

/** Reads and checks every setting. Throws a ConfigError that names the first wrong one. */
export function readSettings(sources: SettingSources): Settings {
  const level = inEnvironment(sources, settingDefinitions.log.variable);
  if (level !== undefined && level.value !== "debug") {
    throw new ConfigError(
      "PP2002",
      `${level.name} must be "debug" or unset, not ${JSON.stringify(level.value)}`,
    );
  }
  const api = readBaseUrl(sources);
  return {
    baseUrl: api.value,
    timeoutMs: readTimeout(sources),
    maxRetries: readWholeNumber(sources, settingDefinitions.maxRetries),
    maxConcurrency: readWholeNumber(sources, settingDefinitions.maxConcurrency),
    batching: readFlag(sources, settingDefinitions.batching),
    credentials: readCredentials(sources, api),
    debug: level !== undefined,
  };
}
