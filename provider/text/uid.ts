import { CodedError } from "../errors/codedError";

/** A uid is a path: 40 hex digits, then `/` and 16 hex digits for each level below. */
const UID = /^[0-9a-f]{40}(\/[0-9a-f]{16})*$/;

export function isUid(text: unknown): text is string {
  return typeof text === "string" && UID.test(text);
}

/** The uids of objects in organisations that a text or a pattern writes out; a slash may be escaped in a pattern. */
export const uidsIn = (text: string): string[] =>
  Array.from(text.matchAll(/[0-9a-f]{40}(?:\\?\/[0-9a-f]{16})+/g), ([uid]) => uid.replaceAll("\\", ""));

/** Whether a uid is that of a root group or of a built-in role: nothing lies above it. */
export function isTopUid(uid: string | undefined): boolean {
  return isUid(uid) && !uid.includes("/");
}

/** The uid of the parent; undefined for a root. */
export function parentOf(uid: string): string | undefined {
  const slash = uid.lastIndexOf("/");
  return slash < 0 ? undefined : uid.slice(0, slash);
}

/** The uid of the organisation that a resource lies in. */
export function rootOf(uid: string): string {
  return uid.replace(/\/.*/s, "");
}

/** The groups above, and the resource itself: every uid that begins this one. */
export function lineage(uid: string): string[] {
  const above = parentOf(uid);
  return above === undefined ? [uid] : [...lineage(above), uid];
}

/** A uid as part of a URL's path: slashes stay, each segment is encoded on its own. */
export function encodeUid(uid: string): string {
  const segments = uid.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw new CodedError("PP1004", `"${uid}" is not a uid: it has an empty or dotted segment`);
  }
  return segments.map(encodeURIComponent).join("/");
}
