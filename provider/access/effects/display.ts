import { printable } from "../../api/errors";
import type { FieldSpec, Json } from "../../engine/description";
import { SECRET_MASK } from "../../engine/description";
import { isObject, isSet } from "../../engine/values/values";
import { isReference, ownMember } from "../graph/references";
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

/** A value as reports show it: one line, shortened; undefined where it is not set. */
export function displayValue(field: FieldSpec, value: Json | undefined, nameOf: NameOf): string | undefined {
  if (value === undefined || !isSet(field, value)) return undefined;
  const shown = readable(field, value, nameOf);
  const isPlain = Array.isArray(shown) && shown.every((item) => typeof item === "string");
  const text = typeof shown === "string" ? shown : isPlain ? shown.join(", ") : JSON.stringify(shown);
  return printable(text, LONGEST_VALUE);
}
