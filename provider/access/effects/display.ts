import { visible } from "../../http/errors";
import { isSet } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { isObject, SECRET_MASK } from "../../fields/values";
import type { Json } from "../../fields/values";
import { isReference, ownMember } from "../graph/references";
import { keysIn } from "./keySets";
import { isUnread, reasonOf } from "../graph/unread";
import type { UnreadReason } from "../graph/unread";

const LONGEST_VALUE = 300;

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  secret: SECRET_MASK,
  unknown: "(not known yet)",
  unreadable: "(cannot be read)",
};

type NameOf = (key: string) => string;

/** A value with names in place of references, and without what must not be shown. */
function readable(field: FieldSpec | undefined, value: Json, nameOf: NameOf): Json {
  if (field?.secret === true) return SECRET_MASK;
  if (isUnread(value)) return unreadWords[reasonOf(value)];
  if (field?.type === "string" && field.format === "jwks") {
    return [...(keysIn(value)?.values() ?? ["(no key set)"])].join("; ");
  }
  if (typeof value === "string") return field !== undefined && isReference({ field }) ? nameOf(value) : value;
  if (Array.isArray(value)) {
    const items = value.map((item) =>
      readable(field?.type === "list" ? field.items : undefined, item, nameOf),
    );
    return field?.type === "list" && field.unordered === true ? items.sort() : items;
  }
  if (!isObject(value)) return value;
  const inner = (key: string): FieldSpec | undefined =>
    field?.type === "map"
      ? field.values
      : field?.type === "object"
        ? ownMember(field.fields, key)
        : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, readable(inner(key), member ?? null, nameOf)]),
  );
}

/** How much of what is alike stands around what differs. */
const CONTEXT = 40;
/** How much of what differs is shown of two values that are too long to be shown whole. */
const LONGEST_PART = 120;

/** Two long texts from shortly before the place where they differ to shortly behind it. */
function showDifference(before: string, after: string): [string, string] {
  if (Math.max(before.length, after.length) <= LONGEST_VALUE) return [before, after];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const show = (text: string): string => {
    const [from, to] = [Math.max(0, start - CONTEXT), Math.min(text.length, text.length - end + CONTEXT)];
    const part = text.slice(from, to);
    const shown =
      part.length > LONGEST_PART + 2 * CONTEXT ? `${part.slice(0, LONGEST_PART + CONTEXT)} …` : part;
    return `${from > 0 ? "… " : ""}${shown}${to < text.length && shown === part ? " …" : ""}`;
  };
  return [show(before), show(after)];
}

/** The two values of a property as reports show them: one line, of long ones what differs; undefined where one is not set. */
export function displayValues(
  field: FieldSpec,
  before: readonly [Json | undefined, NameOf],
  after: readonly [Json | undefined, NameOf],
): [string | undefined, string | undefined] {
  const named = [textOf(field, ...before), textOf(field, ...after)];
  // Of two objects of one name only the uids differ.
  const isAlike = named[0] === named[1];
  const [old, now] = isAlike ? [uidsOf(field, before[0]), uidsOf(field, after[0])] : named;
  const shown = old === undefined || now === undefined ? [old, now] : showDifference(old, now);
  const bounded = shown.map((text) => (text === undefined ? undefined : visible(text, LONGEST_VALUE)));
  return [bounded[0], bounded[1]];
}

/** Of a long list of members that come or go: how many are named. */
const MOST_MEMBERS = 20;

/** The members that a set gains and loses, as reports show them; undefined where a value is no set of plain texts. */
export function displayMembers(
  field: FieldSpec,
  before: readonly [Json | undefined, NameOf],
  after: readonly [Json | undefined, NameOf],
): { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined {
  if (field.type !== "list" || field.unordered !== true) return undefined;
  const [old, now] = [before, after].map(([value, nameOf]) => {
    const members = isSet(field, value) ? readable(field, value ?? null, nameOf) : [];
    return Array.isArray(members) && members.every((member) => typeof member === "string")
      ? new Set(members)
      : undefined;
  });
  if (old === undefined || now === undefined) return undefined;
  const [added, removed] = [
    [...now].filter((member) => !old.has(member)),
    [...old].filter((member) => !now.has(member)),
  ];
  // Of two objects of one name only the uids differ: the two values tell them apart.
  return added.length + removed.length === 0 ? undefined : { added: listed(added), removed: listed(removed) };
}

function listed(members: readonly string[]): string[] {
  const shown = members.slice(0, MOST_MEMBERS).map((member) => visible(member, LONGEST_VALUE));
  const left = members.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

const uidsOf = (field: FieldSpec, value: Json | undefined): string | undefined =>
  textOf(field, value, (key) => key);

function textOf(field: FieldSpec, value: Json | undefined, nameOf: NameOf): string | undefined {
  if (value === undefined || !isSet(field, value)) return undefined;
  const shown = readable(field, value, nameOf);
  const isPlain = Array.isArray(shown) && shown.every((item) => typeof item === "string");
  return typeof shown === "string" ? shown : isPlain ? shown.join(", ") : JSON.stringify(shown);
}
