import { printable } from "../api/errors";
import type { FieldSpec, Json, Props, ResourceSpec } from "../engine/spec";
import { equal, isObject, isSet } from "../engine/values";
import { HIDDEN } from "./engineState";
import { ownMember } from "./references";
import type { FieldChange } from "./report";
import { isUnread, reasonOf } from "./unread";
import type { UnreadReason } from "./unread";

const LONGEST = 300;

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  secret: HIDDEN,
  unknown: "(not known yet)",
  unreadable: "(cannot be read)",
};

function shown(field: FieldSpec, value: Json | undefined, name: (key: string) => string): string | undefined {
  if (!isSet(field, value)) return undefined;
  if (field.secret) return HIDDEN;
  if (isUnread(value)) return unreadWords[reasonOf(value)];
  if (typeof value === "string") {
    const refers = field.type === "string" && (field.format === "uid" || field.format === "groupUid");
    return printable(refers ? name(value) : value, LONGEST);
  }
  if (Array.isArray(value) && field.type === "list") {
    const items = value.map((item) => shown(field.items, item, name) ?? "");
    return printable((field.unordered ? [...items].sort() : items).join(", "), LONGEST);
  }
  return printable(
    JSON.stringify(value, (_key, member: unknown) =>
      isUnread(member) ? unreadWords[reasonOf(member)] : member,
    ),
    LONGEST,
  );
}

/**
 * How two inputs of one kind differ, a line for each property, in the order of the spec.
 *
 * @param name what to call a resource that is referred to, before and after.
 */
export function fieldChanges(
  spec: ResourceSpec,
  olds: Props,
  news: Props,
  name: { readonly before: (key: string) => string; readonly after: (key: string) => string },
): FieldChange[] {
  const visit = (
    field: FieldSpec,
    path: string,
    old: Json | undefined,
    now: Json | undefined,
  ): FieldChange[] => {
    if (equal(field, old, now)) return [];
    const members = (value: Json | undefined) => (isObject(value) ? value : {});
    const whole = [old, now].some((value) => isSet(field, value) && !isObject(value));
    if ((field.type === "object" || field.type === "map") && !whole) {
      const [before, after] = [members(old), members(now)];
      const keys =
        field.type === "object"
          ? Object.keys(field.fields)
          : [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
      return keys.flatMap((key) => {
        const inner = field.type === "map" ? field.values : field.fields[key];
        const [old, now] = [ownMember(before, key), ownMember(after, key)];
        return inner === undefined ? [] : visit(inner, `${path}.${key}`, old, now);
      });
    }
    return [{ property: path, before: shown(field, old, name.before), after: shown(field, now, name.after) }];
  };
  return Object.entries(spec.fields).flatMap(([key, field]) =>
    visit(field, key, ownMember(olds, key), ownMember(news, key)),
  );
}
