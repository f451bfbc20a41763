import type { FieldSpec } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject, ownMember } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { memberPath } from "../../fields/walk";
import { decidesAccess } from "../../fields/fieldAccess";

/** A value inside inputs. */
export interface Leaf {
  /** Its path, as in `bindings.deploys.identityUid`. */
  readonly path: string;
  /** The top-level property: what the engine knows the dependencies of. */
  readonly property: string;
  readonly field: FieldSpec;
  /** Whether the value decides who may do what. */
  readonly decidesAccess: boolean;
  /** Whether there must be a value: a required member, an item of a list, an entry of a map. */
  readonly isRequired: boolean;
}

/** Whether a path is another one or below it: `oidc.issuer` and `oidc[0]` are below `oidc`, `oidcs` is not. */
export function isPathWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^$|^[.[]/.test(path.slice(outer.length));
}

/** Whether one of two paths is the other one or below it. */
export const pathsOverlap = (one: string, other: string): boolean =>
  isPathWithin(one, other) || isPathWithin(other, one);

/** The argument that a path begins with: `oidc` of `oidc.issuer` and of `oidc[0]`. */
export function topProperty(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}

type Visit = (value: Json | undefined, leaf: Leaf) => Json | undefined;

function mapValue(
  value: Json | undefined,
  leaf: Leaf,
  visit: Visit,
  isVisitedAbsent: IsVisitedAbsent,
): Json | undefined {
  const { field, path } = leaf;
  const inner = (of: FieldSpec, at: string, isRequired: boolean): Leaf => ({
    ...leaf,
    field: of,
    path: at,
    decidesAccess: decidesAccess(of, leaf.decidesAccess ? "permission" : "other"),
    isRequired,
  });
  const map = (each: Json | undefined, at: Leaf): Json | undefined =>
    mapValue(each, at, visit, isVisitedAbsent);
  if (field.type === "list" && Array.isArray(value)) {
    return value.map((item, index) => map(item, inner(field.items, `${path}[${index}]`, true)) ?? null);
  }
  if (field.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        map(entry, inner(field.values, memberPath(path, key), true)),
      ]),
    );
  }
  if (field.type === "object" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(withAbsent(field.fields, value, isVisitedAbsent)).map(([key, member]) => {
        const of = ownMember(field.fields, key);
        return [
          key,
          of === undefined ? member : map(member, inner(of, memberPath(path, key), of.required === true)),
        ];
      }),
    );
  }
  return visit(value, leaf);
}

/** Which members are visited that an object does not have. */
type IsVisitedAbsent = (field: FieldSpec) => boolean;

/** An object with the members that are visited though it does not have them. */
function withAbsent(
  fields: Readonly<Record<string, FieldSpec>>,
  members: Props,
  isVisitedAbsent: IsVisitedAbsent,
): Props {
  const absent = Object.entries(fields).flatMap(([key, field]) =>
    isVisitedAbsent(field) && ownMember(members, key) === undefined ? [[key, undefined] as const] : [],
  );
  return absent.length === 0 ? members : { ...members, ...Object.fromEntries(absent) };
}

/**
 * Replaces each value in inputs by the result of `visit`. It visits scalars, and unknown or hidden values in the place of
 * a list, map or object.
 */
export function mapLeaves(
  spec: ResourceSpec | undefined,
  inputs: Props,
  visit: Visit,
  isVisitedAbsent: IsVisitedAbsent = () => false,
): Props {
  // Nothing is known of the fields of an unknown kind.
  if (spec === undefined) return inputs;
  return Object.fromEntries(
    Object.entries(withAbsent(spec.fields, inputs, isVisitedAbsent)).map(([key, value]) => {
      const field = ownMember(spec.fields, key) ?? ownMember(spec.outputs, key);
      if (field === undefined) return [key, value];
      const isRequired = field.required === true;
      const leaf = { path: key, property: key, field, decidesAccess: decidesAccess(field), isRequired };
      return [key, mapValue(value, leaf, visit, isVisitedAbsent)];
    }),
  );
}

/** Whether a field names another resource. */
export function isReference({ field }: Pick<Leaf, "field"> & Partial<Leaf>): boolean {
  return field.type === "string" && (field.format === "uid" || field.format === "groupUid");
}

/** The values in inputs, as `mapLeaves` visits them. */
export function leavesIn(
  spec: ResourceSpec | undefined,
  inputs: Props,
): (Leaf & { readonly value: Json | undefined })[] {
  const leaves: (Leaf & { readonly value: Json | undefined })[] = [];
  mapLeaves(spec, inputs, (value, leaf) => {
    leaves.push({ ...leaf, value });
    return value;
  });
  return leaves;
}

/** Inputs with each reference replaced by the result of `visit`. */
export const mapReferences = (spec: ResourceSpec | undefined, inputs: Props, visit: Visit): Props =>
  mapLeaves(spec, inputs, (value, leaf) => (isReference(leaf) ? visit(value, leaf) : value));

/** What inputs refer to, by keys. */
export const listReferences = (spec: ResourceSpec | undefined, inputs: Props): string[] =>
  leavesIn(spec, inputs).flatMap((leaf) =>
    isReference(leaf) && typeof leaf.value === "string" ? [leaf.value] : [],
  );

/** Finds whether paths of `ignoreChanges` name an argument, or a part of it: `capabilities[0]`, `["capabilities"]`, `*`. */
export function createIgnoredCheck(ignoreChanges: readonly string[]): (property: string) => boolean {
  const paths = ignoreChanges.map(topProperty);
  const isAll = paths.some((path) => path === "" || path === "*");
  return (property) => isAll || paths.includes(topProperty(property));
}

/** The arguments of a kind that decide who may do what and that paths of `ignoreChanges` name. */
export function ignoredAccess(spec: ResourceSpec | undefined, ignoreChanges: readonly string[]): string[] {
  const isNamed = createIgnoredCheck(ignoreChanges);
  return Object.entries(spec?.fields ?? {})
    .filter(([key, field]) => decidesAccess(field) && isNamed(key))
    .map(([key]) => key);
}
