import { createHash, createPublicKey } from "node:crypto";
import type { JsonWebKey } from "node:crypto";
import { canonicalJwks, findPrivateMember, sortedJson } from "../../fields/formats";
import { groupBy, isObject, stringOrEmpty } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { tryParseJson } from "../../text/plain";
import { visible } from "../../text/printable";

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

/** The thumbprint of a public key by RFC 7638, however its numbers are written; undefined where it is none. */
function thumbprintOf(key: JsonWebKey): string | undefined {
  try {
    const { crv, e, kty, n, x, y } = createPublicKey({ key, format: "jwk" }).export({ format: "jwk" });
    return createHash("sha256").update(JSON.stringify({ crv, e, kty, n, x, y })).digest("base64url");
  } catch {
    return undefined;
  }
}

/** What tells a key apart, whatever its kid; never its members: who compares it with that of the owner compares one line. */
function nameKey(key: Props): string {
  const thumbprint = thumbprintOf(key);
  if (thumbprint !== undefined) return thumbprint;
  // A digest of a short secret would tell it.
  const digest =
    findPrivateMember(key) === undefined ? `sha256 ${sha256(sortedJson(key)).slice(0, 32)}` : "private";
  return `of an unknown form (${digest})`;
}

/** A key as reports show it. */
function describeKey(key: Props): string {
  const { kid } = key;
  return `key ${nameKey(key)}${typeof kid === "string" ? `, kid ${visible(kid, 40)}` : ", without a kid"}`;
}

/** The keys of a JSON Web Key Set in their order; undefined where it is no key set, or parsers read it differently. */
function listKeys(value: Json | undefined): readonly Props[] | undefined {
  if (value === undefined || value === null || value === "") return [];
  const parsed = tryParseJson(canonicalJwks(stringOrEmpty(value)) ?? "");
  const keys = isObject(parsed) ? parsed["keys"] : undefined;
  return Array.isArray(keys) ? keys.filter(isObject) : undefined;
}

/** What tells the keys of a JSON Web Key Set apart; none where it is no key set. */
export function namesOfKeys(value: Json | undefined): readonly string[] {
  return (listKeys(value) ?? []).map(nameKey);
}

/** Whether a JSON Web Key Set has a key with this thumbprint or kid, or one that reports describe by this text. */
export const hasKeyCalled = (value: Json | undefined, text: string): boolean =>
  (listKeys(value) ?? []).some((key) => [nameKey(key), key["kid"], describeKey(key)].includes(text));

/** The keys of a JSON Web Key Set, each by all that it says; undefined where it is no key set. */
export function keysIn(value: Json | undefined): ReadonlyMap<string, string> | undefined {
  const keys = listKeys(value);
  return keys && new Map(keys.map((key) => [sortedJson(key), describeKey(key)]));
}

/**
 * The keys of a JSON Web Key Set in their order, by what a token names one by. Which of several the server takes is not known. A
 * key that is there twice is one.
 */
export function keysByKid(value: Json | undefined): ReadonlyMap<string, readonly string[]> {
  const byKid = groupBy(listKeys(value) ?? [], (key) => [
    typeof key["kid"] === "string" ? `of the kid ${visible(key["kid"], 40)}` : "without a kid",
  ]);
  return new Map(Array.from(byKid, ([kid, keys]) => [kid, [...new Set(keys.map(sortedJson))]]));
}
