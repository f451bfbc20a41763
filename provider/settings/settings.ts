import type { Credentials } from "../api/auth";
import { ConfigError } from "../api/errors";
import { readBaseUrl } from "./addresses";
import { readCredentials } from "./credentials";
import { readFlag, readTimeout, readWholeNumber } from "./sources";
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
