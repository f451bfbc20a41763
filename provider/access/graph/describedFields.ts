import type { AccessMeaning, FieldSpec } from "../../fields/fieldSpec";
import { isSet } from "../../fields/equal";
import { innerFields } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject, ownMember } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { specs } from "../documents/specs";
import { isUnread } from "./unread";

/** A field of a kind, found by its description. */
export interface DescribedField {
  /** As in `customOverlay.accounts.runAs`. */
  readonly path: string;
  readonly field: FieldSpec;
}

function collectFields(fields: Readonly<Record<string, FieldSpec>>, prefix = ""): DescribedField[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    const own = { path: `${prefix}${key}`, field };
    return field.type === "object" ? [own, ...collectFields(field.fields, `${own.path}.`)] : [own];
  });
}

/**
 * Finds the fields of each kind whose description meets a condition, so that no rule has to name a kind. Fields in
 * lists and maps are not searched.
 */
export function fieldsWhere(
  condition: (field: FieldSpec) => boolean,
): (kind: string) => readonly DescribedField[] {
  const found = new Map(
    Object.values(specs).map((spec) => [
      spec?.kind ?? "",
      collectFields({ ...spec?.fields, ...spec?.outputs }).filter(({ field }) => condition(field)),
    ]),
  );
  return (kind) => found.get(kind) ?? [];
}

/** Lifetimes, of which the server makes an end when the object is made. */
export const lifetimesOf = fieldsWhere(({ returnedAs }) => returnedAs !== undefined);

/** Whether a field holds a pattern. */
export const isPattern = (field: FieldSpec): boolean => field.type === "string" && field.format === "regex";

/** What a field means to access. One in a list or a map has the path of that. */
interface MeantField {
  readonly path: string;
  readonly meaning: AccessMeaning;
}

function collectMeanings(field: FieldSpec, path: string): MeantField[] {
  const own = field.access === undefined ? [] : [{ path, meaning: field.access }];
  const inner =
    field.type === "object"
      ? Object.entries(field.fields).flatMap(([key, each]) => collectMeanings(each, `${path}.${key}`))
      : innerFields(field).flatMap((each) => collectMeanings(each, path));
  return [...own, ...inner];
}

const meaningsByKind = new Map(
  Object.values(specs).map((spec) => [
    spec?.kind ?? "",
    Object.entries(spec?.fields ?? {}).flatMap(([key, field]) => collectMeanings(field, key)),
  ]),
);

/** What the fields of a kind mean to access. */
export const meaningsOf = (kind: string): readonly MeantField[] => meaningsByKind.get(kind) ?? [];

/** The paths of the fields of a kind that have a meaning. */
export const pathsMeant = (kind: string, meaning: AccessMeaning): readonly string[] =>
  meaningsOf(kind).flatMap((field) => (field.meaning === meaning ? [field.path] : []));

/** The string of the first field with a meaning that is set and was read. */
export function textMeant(
  { kind, inputs }: { readonly kind: string; readonly inputs: Props },
  meaning: AccessMeaning,
): string | undefined {
  return pathsMeant(kind, meaning)
    .map((path) => textAtPath(inputs, path))
    .find((text) => text !== undefined);
}

/** Whether an object has none of some members of which a program must declare one. */
export function lacksRequiredMember(spec: ResourceSpec | undefined, inputs: Props): boolean {
  const isMissing = (member: string): boolean => {
    const field = spec?.fields[member];
    return field === undefined || !isSet(field, inputs[member]);
  };
  return (spec?.oneOfs ?? []).some(({ members, required }) => required && members.every(isMissing));
}

/** The string of a member; undefined where it is not set, empty or was not read. */
export function textAt(value: Json | undefined, key: string): string | undefined {
  const member = isObject(value) ? ownMember(value, key) : undefined;
  return typeof member === "string" && member !== "" && !isUnread(member) ? member : undefined;
}

/** The path of the object around a field, empty at the top; and the field's own name. */
export function splitPath(path: string): readonly [parent: string, name: string] {
  const end = path.lastIndexOf(".");
  return [path.slice(0, Math.max(end, 0)), path.slice(end + 1)];
}

/** The value at a path through objects; the empty path is that of the whole. */
export function valueAt(props: Props | undefined, path: string): Json | undefined {
  const keys = path === "" ? [] : path.split(".");
  return keys.reduce<Json | undefined>(
    (value, key) => (isObject(value) ? ownMember(value, key) : undefined),
    props,
  );
}

/** The string at a path; undefined where it is not set or was not read. */
export function textAtPath(props: Props | undefined, path: string): string | undefined {
  const [parent, name] = splitPath(path);
  return textAt(valueAt(props, parent), name);
}

/** The items of the list at a path that were read. */
export function listAtPath(props: Props | undefined, path: string): readonly Json[] {
  const list = valueAt(props, path);
  return Array.isArray(list) ? list.filter((item) => !isUnread(item)) : [];
}
