import { createHash } from "node:crypto";

/** SHA-256 of bytes, or of a text as UTF-8, hex. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Identifies a finding by what it is about, in 32 hex digits. */
export function fingerprintOf(parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}
