import { createHash } from "node:crypto";

/** SHA-256 of bytes, or of a text as UTF-8, hex. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Identifies a finding by what it is about, in 32 hex digits. A resource is the same one in both of its forms: what was accepted
 * stays accepted when a program changes its import.
 */
export function fingerprintOf(parts: readonly unknown[]): string {
  const text = JSON.stringify(parts);
  return sha256(text.replaceAll(/(::|\$)platform:index:/g, "$1pulumi-nodejs:dynamic/platform:")).slice(0, 32);
}
