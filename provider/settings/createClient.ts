import { tokenSource } from "../http/auth";
import type { TokenSource } from "../http/auth";
import { Client } from "../http/client";
import { logLine } from "../text/printable";
import type { Settings } from "./settings";

/** A client made of settings. Nothing is sent, and no token exchanged, before its first request. */
export function createClient(settings: Settings): { client: Client; tokens: TokenSource } {
  const log = settings.debug
    ? (line: string) => process.stderr.write(`platform: ${logLine(line)}\n`)
    : undefined;
  const tokens = tokenSource(settings.credentials, { timeoutMs: settings.timeoutMs, log });
  return { client: new Client({ ...settings, tokens, log }), tokens };
}
