import type { AccessEffect } from "../../fields/accessMeanings";
import type { FieldSpec, OneOf } from "../../fields/fieldSpec";
import { isObject, isUnknown } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { isUnread, reasonOf, reasonWords } from "../graph/unread";

/** An object on both sides of a change. */
export interface FieldLevel {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs: readonly OneOf[];
  readonly before: Props;
  readonly after: Props;
  /** The path as reports show it, and as states name what they hide. */
  readonly path: string;
  readonly statePath: string;
  /** The effect of a field that has none of its own: that of the field around it. */
  readonly inherited: AccessEffect | "none";
  /** The whole object is set on one side only, so all its members are added or removed with it. */
  readonly presence?: "added" | "removed";
}

/** One value on both sides of a change. */
export interface FieldStates {
  readonly field: FieldSpec;
  readonly key: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly path: string;
  readonly statePath: string;
}

export const objectOrEmpty = (value: Json | undefined): Props => (isObject(value) ? value : {});

/** Why a value cannot be compared, as in "is secret": somewhere inside it stands what was not read. */
export function unreadReason(value: Json | undefined): string | undefined {
  if (isUnread(value)) return reasonWords(reasonOf(value));
  if (isUnknown(value)) return reasonWords("unknown");
  const inner = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return inner.map(unreadReason).find((reason) => reason !== undefined);
}
