import { tryParseJson } from "../../text/plain";
import { compositeKey } from "./entityKeys";

const words = {
  secret: "is secret",
  unknown: "is not known yet",
  unreadable: "cannot be read",
  refreshed: "is not recorded any more: a refresh has replaced it",
} as const;

/**
 * Why a value was not read: it is a secret, it is not known before the update, it has a form that no property of the API has, or a
 * refresh has recorded another one in its place.
 */
export type UnreadReason = keyof typeof words;

/** A value inside the arguments of a resource that was not read. */
export interface UnreadValue {
  /** As in `bindings.deploys.roleUid`. */
  readonly path: string;
  /** The top-level property. */
  readonly property: string;
  readonly reason: UnreadReason;
  /** Whether it decides who may do what. */
  readonly decidesAccess: boolean;
}

/** Paths that a reader cannot know: what is not known yet, and what decides access and is not shown. */
export function unresolvedPaths(unread: readonly UnreadValue[] = []): string[] {
  return unread
    .filter(({ reason, decidesAccess }) => reason === "unknown" || decidesAccess)
    .map(({ path }) => path);
}

declare const unreadMark: unique symbol;

/** The placeholder of a value that was not read. */
type UnreadMark = string & { readonly [unreadMark]: true };

/** No text of a document begins so once it is read: `entities` replaces one that does. */
const MARK = "\u0000";

/** Where a value is. Placeholders of different places differ, since the values may differ. */
export interface UnreadPlace {
  readonly urn: string;
  readonly side: "before" | "after";
  readonly path: string;
}

/*
 * What a value is in a document, and in the inputs of an entity:
 *
 * document                                 entity
 * any value of its field's form            the same
 * the engine's text for an unknown value   a placeholder with the reason `unknown`, or the key of a resource (`assumptions`)
 * "[secret]", and its path is secret       a placeholder with the reason `secret`, or the value before (`concealed`)
 * a field that is secret by its kind       "[secret]", whatever the document shows
 * any other value                          a placeholder with the reason `unreadable`
 */

/** Creates the placeholder of a value that was not read: equal to itself and to nothing else. */
export function unreadAt(reason: UnreadReason, { urn, side, path }: UnreadPlace): string {
  return MARK + JSON.stringify([reason, urn, side, path]);
}

/** Whether a value is a placeholder. Of a document's own string: whether it looks like one, and so must not be used as it is. */
export function isUnread(value: unknown): value is UnreadMark {
  return typeof value === "string" && value.startsWith(MARK);
}

/** What a placeholder says. A document's own string that begins like one is unreadable, whatever it says. */
function parsePlaceholder(text: string): readonly [UnreadReason, ...string[]] {
  const parts = tryParseJson(text.slice(MARK.length));
  const isList =
    Array.isArray(parts) && parts.length === 4 && parts.every((part) => typeof part === "string");
  const [reason = "", ...place] = isList ? parts : [];
  return Object.hasOwn(words, reason) ? [reason as UnreadReason, ...place] : ["unreadable", text];
}

export function reasonOf(unread: string): UnreadReason {
  return parsePlaceholder(unread)[0];
}

/** A key that equals no other, for a value that is unknown. */
export function keyOfUnread(unread: string): string {
  const [reason, urn = "", ...place] = parsePlaceholder(unread);
  return compositeKey("unread", urn, reason, ...place);
}

/** Where in the arguments of its resource a value that was not read is: `bindings.deploys.roleUid`. */
export function pathOfUnread(unread: string): string {
  return parsePlaceholder(unread)[3] ?? "";
}

/** As in "is secret": what follows a name in a sentence. */
export function reasonWords(reason: UnreadReason): string {
  return words[reason];
}
