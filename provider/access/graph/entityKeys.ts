import { tryParseJson } from "../../text/plain";

/*
 * Each thing that a review compares has one key: its uid (hex digits and slashes), else its urn ("urn:pulumi:…"), else
 * a JSON array of what it is and of what it is a part of. A program chooses names, labels, claims and references, and none
 * of these can make one kind of key look like another: a reference that is no uid is not read (entities.ts).
 */

type CompositeKind =
  /** The old object of a replacement, left at the server by `retainOnDelete`: its successor has its key. */
  | "retained"
  /** What has the uid of another resource: a part of that. */
  | "part"
  /** The bindings of a GroupAccess that its program does not have. */
  | "unmanaged"
  /** The key of a value that no document contains. */
  | "unread"
  | "externalGroup"
  | "service"
  | "scimToken"
  | "invite";

/** The key of a part of `whole`, which is itself a key; `parts` identify it among the others. */
export function compositeKey(kind: CompositeKind, whole: string, ...parts: readonly string[]): string {
  return JSON.stringify([kind, whole, ...parts]);
}

function readKeyParts(key: string): readonly unknown[] {
  const parts = key.startsWith("[") ? tryParseJson(key) : undefined;
  return Array.isArray(parts) ? parts : [];
}

/** Whether it is the key of a value that no document contains. */
export function isUnreadKey(key: string): boolean {
  const [kind] = readKeyParts(key);
  return kind === "unread";
}

/** The key of what a composite key is a part of; undefined of a uid or a urn. */
export function wholeOf(key: string): string | undefined {
  const [, whole] = readKeyParts(key);
  return typeof whole === "string" ? whole : undefined;
}

/** The key of a resource or of a part of one, without the mark of an old resource that stays beside its successor. */
export function withoutRetained(key: string): string {
  const [kind, whole, ...parts] = readKeyParts(key);
  if (typeof whole !== "string") return key;
  return kind === "retained" ? whole : JSON.stringify([kind, withoutRetained(whole), ...parts]);
}

/** The key with each key in it that has become another one replaced by that. */
export function replaceKeys(key: string, replacements: ReadonlyMap<string, string>): string {
  const replaced = replacements.get(key);
  if (replaced !== undefined) return replaced;
  const [kind, whole, ...parts] = readKeyParts(key);
  return typeof whole === "string" ? JSON.stringify([kind, replaceKeys(whole, replacements), ...parts]) : key;
}
