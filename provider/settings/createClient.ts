import { tokenSource } from "../api/auth";
import type { TokenSource } from "../api/auth";
import { Client } from "../api/client";
import { logLine } from "../api/logText";
import type { Settings } from "./settings";

/** A client made of settings. Nothing is sent, and no token exchanged, before its first request. */
export function createClient(settings: Settings): { client: Client; tokens: TokenSource } {
  const log = settings.debug
    ? (line: string) => process.stderr.write(`platform: ${logLine(line)}\n`)
    : undefined;
  const tokens = tokenSource(settings.credentials, { timeoutMs: settings.timeoutMs, log });
  return { client: new Client({ ...settings, tokens, log }), tokens };
}
