import type { FieldSpec } from "../../fields/fieldSpec";
import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { specs } from "../documents/specs";
import { ownMember } from "../graph/references";
import { listAt, textAt } from "./inputValues";

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
  const [parent, name] = splitPath(path);
  return listAt(valueAt(props, parent), name);
}
