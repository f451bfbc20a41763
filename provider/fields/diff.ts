import { equal, isSet } from "./equal";
import { innerFields } from "./fieldSpec";
import type { FieldSpec } from "./fieldSpec";
import type { ResourceSpec } from "./resourceSpec";
import { isObject, isUnknown, ownMember } from "./values";
import { partsOf } from "./walk";
import type { Json, Props } from "./values";

/** How two sets of inputs differ. */
export interface InputDifference {
  /** Whether anything differs, an unknown new value included. */
  readonly changed: boolean;
  /** Keys whose change replaces the resource. */
  readonly replaces: readonly string[];
  readonly properties: readonly PropertyDifference[];
}

/** One place in which two sets of inputs differ. */
export interface PropertyDifference {
  /** The property that the place is in. */
  readonly key: string;
  /** As the engine writes paths: `claimMatch.audience`, `labels["a.b"]`. */
  readonly path: string;
  readonly change: "add" | "delete" | "update";
  readonly replaces: boolean;
}

/** Whether a field, or a part of it, is immutable. */
function containsImmutable(field: FieldSpec): boolean {
  return field.immutable === true || innerFields(field).some(containsImmutable);
}

/** Members of an immutable one-of where the choice itself changed. */
function switchedMembers(spec: ResourceSpec, olds: Props, news: Props): string[] {
  const chosen = (members: readonly string[], props: Props) => {
    const set = members.filter((member) => {
      const field = spec.fields[member];
      return field !== undefined && isSet(field, props[member]);
    });
    // Beside a known choice an unknown member can only turn out to be none.
    const known = set.filter((member) => !isUnknown(props[member]));
    return known.length > 0 ? known : set;
  };
  return (spec.oneOfs ?? [])
    .filter((oneOf) => oneOf.immutable)
    .flatMap(({ members }) => {
      const before = chosen(members, olds);
      const after = chosen(members, news);
      if (before.length === 0 || after.length === 0) return [];
      return members.filter((member) => before.includes(member) !== after.includes(member));
    });
}

/** Where a field differs, down to the members of objects and maps; a list differs as a whole. */
function differencesIn(
  field: FieldSpec,
  path: string,
  old: Json | undefined,
  now: Json | undefined,
  replaces: boolean,
): Omit<PropertyDifference, "key">[] {
  if (equal(field, old, now)) return [];
  const replacesAll = replaces || field.immutable === true;
  if ((field.type === "object" || field.type === "map") && isObject(old) && isObject(now)) {
    return partsOf(field, { ...old, ...now }).flatMap((part) =>
      differencesIn(
        part.field,
        `${path}${part.at}`,
        ownMember(old, part.key),
        ownMember(now, part.key),
        replacesAll,
      ),
    );
  }
  const change = (old ?? null) === null ? "add" : (now ?? null) === null ? "delete" : "update";
  // A preview knows every id but one that changes, so what is unknown comes from a resource that is new or replaced.
  return [{ path, change, replaces: replacesAll || (isUnknown(now) && containsImmutable(field)) }];
}

/** Compares recorded inputs with new ones through the spec; never looks at keys the spec does not have. */
export function diffInputs(spec: ResourceSpec, olds: Props, news: Props): InputDifference {
  const switched = switchedMembers(spec, olds, news);
  const properties = Object.entries(spec.fields).flatMap(([key, field]) =>
    differencesIn(field, key, olds[key], news[key], switched.includes(key)).map((difference) => ({
      key,
      ...difference,
    })),
  );
  const replacing = properties.filter(({ replaces }) => replaces).map(({ key }) => key);
  return { changed: properties.length > 0, replaces: [...new Set(replacing)], properties };
}
