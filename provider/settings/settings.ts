import { tokenSource } from "../http/tokens";
import type { Credentials, TokenSource } from "../http/tokens";
import { Client } from "../http/client";
import { ConfigError } from "../http/errors";
import { logLine } from "../text/printable";
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

/** A client made of settings. Nothing is sent, and no token exchanged, before its first request. */
export function createClient(settings: Settings): { client: Client; tokens: TokenSource } {
  const log = settings.debug
    ? (line: string) => process.stderr.write(`platform: ${logLine(line)}\n`)
    : undefined;
  const tokens = tokenSource(settings.credentials, { timeoutMs: settings.timeoutMs, log });
  return { client: new Client({ ...settings, tokens, log }), tokens };
}
