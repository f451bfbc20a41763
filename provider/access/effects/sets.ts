import { visible } from "../../text/printable";
import { canonical } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { canonicalJwks, findPrivateMember, formats, sortedJson } from "../../fields/formats";
import { isObject, groupBy } from "../../fields/values";
import type { Json } from "../../fields/values";
import { narrowed, neutral, unknown, widened } from "./direction";
import type { Effect } from "./direction";
import { createHash } from "node:crypto";
import { sha256 } from "../documents/digest";
import { tryParseJson } from "../../text/plain";

/** The members that make a public key, by its type: RFC 7638, section 3.2, and RFC 8037 for `OKP`. */
const KEY_MEMBERS: Readonly<Partial<Record<string, readonly string[]>>> = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
};

/** The thumbprint of a public key by RFC 7638; undefined where a member of it is missing. */
function thumbprintOf(key: Record<string, Json | undefined>): string | undefined {
  const { kty } = key;
  const members = typeof kty === "string" && Object.hasOwn(KEY_MEMBERS, kty) ? KEY_MEMBERS[kty] : undefined;
  const values = members?.map((member) => [member, key[member]] as const);
  if (values === undefined || !values.every(([, value]) => typeof value === "string")) return undefined;
  return createHash("sha256")
    .update(JSON.stringify(Object.fromEntries(values)))
    .digest("base64url");
}

/** What tells a key apart, whatever its kid; never its members: who compares it with that of the owner compares one line. */
function nameKey(key: Json): string {
  if (!isObject(key)) return "no key";
  const thumbprint = thumbprintOf(key);
  if (thumbprint !== undefined) return thumbprint;
  // A digest of a short secret would tell it.
  const digest =
    findPrivateMember(key) === undefined ? `sha256 ${sha256(sortedJson(key)).slice(0, 32)}` : "private";
  return `of an unknown form (${digest})`;
}

/** A key as reports show it. */
function describeKey(key: Json): string {
  if (!isObject(key)) return nameKey(key);
  const { kid } = key;
  return `key ${nameKey(key)}${typeof kid === "string" ? `, kid ${visible(kid, 40)}` : ", without a kid"}`;
}

/** The keys of a JSON Web Key Set in their order; undefined where it is no key set, or parsers read it differently. */
function listKeys(value: Json | undefined): readonly Json[] | undefined {
  if (value === undefined || value === null || value === "") return [];
  const parsed = typeof value === "string" ? tryParseJson(canonicalJwks(value) ?? "") : undefined;
  const keys = isObject(parsed) ? parsed["keys"] : undefined;
  return Array.isArray(keys) ? keys : undefined;
}

/** What tells the keys of a JSON Web Key Set apart; none where it is no key set. */
export function namesOfKeys(value: Json | undefined): readonly string[] {
  return (listKeys(value) ?? []).map(nameKey);
}

/** The keys of a JSON Web Key Set, each by all that it says; undefined where it is no key set. */
export function keysIn(value: Json | undefined): ReadonlyMap<string, string> | undefined {
  const keys = listKeys(value);
  return keys && new Map(keys.map((key) => [sortedJson(key), describeKey(key)]));
}

/**
 * The keys of a JSON Web Key Set in their order, by what a token names one by. Which of several the server takes is not known. A
 * key that is there twice is one.
 */
function keysByKid(value: Json | undefined): ReadonlyMap<string, readonly string[]> {
  const byKid = groupBy(listKeys(value) ?? [], (key) => [
    isObject(key) && typeof key["kid"] === "string"
      ? `of the kid ${visible(key["kid"], 40)}`
      : "without a kid",
  ]);
  return new Map(Array.from(byKid, ([kid, keys]) => [kid, [...new Set(keys.map(sortedJson))]]));
}

const MOST_LISTED = 5;

/** Members by their key; the value is their display name. */
type Members = ReadonlyMap<string, string>;

function joinItems(items: readonly string[]): string {
  const more = items.length - MOST_LISTED;
  const first = items.slice(0, MOST_LISTED).map((item) => visible(item, 120));
  return [...first, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function subtract(members: Members, others: Members): string[] {
  return [...members].filter(([key]) => !others.has(key)).map(([, name]) => name);
}

/** Compares two sets. With `isLimit` each member restricts access, otherwise each gives access. */
export function compareSets(before: Members, after: Members, isLimit = false): Effect {
  const [added, removed] = [subtract(after, before), subtract(before, after)];
  const parts = [
    ...(added.length === 0 ? [] : [`adds ${joinItems(added)}`]),
    ...(removed.length === 0 ? [] : [`takes away ${joinItems(removed)}`]),
  ];
  const [more, less] = isLimit ? [removed, added] : [added, removed];
  if (more.length > 0) return widened(parts.join("; "));
  return less.length > 0 ? narrowed(parts.join("; ")) : neutral();
}

/** The members that are set on one side only, or differ in a way that cannot be ordered. */
export function comparePresence(before: boolean, after: boolean, isLimit: boolean): Effect {
  if (before && after) return widened("another value than before");
  return (isLimit ? before : after)
    ? widened(after ? "set" : "taken away")
    : narrowed(after ? "set" : "taken away");
}

/** The items of a list by key. Informational fields, such as descriptions, are not part of the key. */
export function itemsOf(items: FieldSpec, value: Json | undefined): Members {
  const all = Array.isArray(value) ? value : [];
  return new Map(
    all.map((item) => [
      JSON.stringify(canonical(items, item, { includesIgnored: false }) ?? null),
      typeof item === "string" ? item : sortedJson(item),
    ]),
  );
}

/** What an item of a list, or the value itself, covers of others; undefined where its format does not say. */
function coverageOf(field: FieldSpec) {
  const text = field.type === "list" ? field.items : field;
  return text.type === "string" && text.format !== undefined ? formats[text.format].coverage : undefined;
}

/**
 * Compares values whose format knows what several cover together, such as networks: what those before cover is nothing new.
 * Undefined for other values, and where one side is not set.
 */
export function compareCovered(
  field: FieldSpec,
  before: Json | undefined,
  after: Json | undefined,
  isLimit: boolean,
): Effect | undefined {
  const coverage = coverageOf(field);
  if (coverage === undefined) return undefined;
  const textsIn = (value: Json | undefined): string[] =>
    (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string");
  const [old, now] = [textsIn(before), textsIn(after)];
  if (old.length === 0 || now.length === 0) return undefined;
  const [heldBefore, heldAfter] = [coverage(old), coverage(now)];
  if (heldBefore === undefined || heldAfter === undefined) return unknown("a value cannot be read");
  const taken = namesOf(old.filter((text) => !heldAfter(text)));
  const added = namesOf(now.filter((text) => !heldBefore(text)));
  const effect = compareSets(taken, added, isLimit);
  return effect.direction === "neutral" ? neutral("covers the same as before") : effect;
}

export const namesOf = (names: readonly string[]): Members => new Map(names.map((name) => [name, name]));

/** Compares key sets: each added key accepts one more signer, and of several with one `kid` another one may count. */
export function compareKeys(before: Json | undefined, after: Json | undefined): Effect {
  const [old, now] = [keysIn(before), keysIn(after)];
  if (old === undefined || now === undefined)
    return unknown("a key set is no JSON Web Key Set that every parser reads alike");
  const effect = compareSets(old, now);
  if (effect.direction === "widened") return effect;
  const keys = keysByKid(after);
  const isOther = ([kid, rivals]: readonly [string, readonly string[]]): boolean => {
    const left = keys.get(kid);
    return rivals.length > 1 && left !== undefined && left.join("\n") !== rivals.join("\n");
  };
  const changed = [...keysByKid(before)].find(isOther);
  return changed === undefined ? effect : unknown(`of the keys ${changed[0]} another one may count now`);
}
