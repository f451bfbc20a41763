import type { FieldSpec, Json, Props, ResourceSpec } from "../../engine/description";
import { isObject } from "../../engine/values/values";
import { decidesAccess } from "./fieldAccess";

/** A value inside inputs. */
export interface Leaf {
  /** Its path, as in `bindings.deploys.identityUid`. */
  readonly path: string;
  /** The top-level property: what the engine knows the dependencies of. */
  readonly property: string;
  /** The innermost property of the description on the path: neither a label of a map nor an index. */
  readonly name: string;
  readonly field: FieldSpec;
  /** Whether the value decides who may do what. */
  readonly decidesAccess: boolean;
}

/** A member of an object itself, never one of its prototype: labels and names may be `constructor`. */
export function ownMember<T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

type Visit = (value: Json | undefined, leaf: Leaf) => Json | undefined;

function mapValue(value: Json | undefined, leaf: Leaf, visit: Visit): Json | undefined {
  const { field, path } = leaf;
  const inner = (of: FieldSpec, at: string, name: string): Leaf => ({
    ...leaf,
    field: of,
    path: at,
    name,
    decidesAccess: decidesAccess(of, leaf.decidesAccess ? "permission" : "none"),
  });
  if (field.type === "list" && Array.isArray(value)) {
    return value.map(
      (item, index) => mapValue(item, inner(field.items, `${path}[${index}]`, leaf.name), visit) ?? null,
    );
  }
  if ((field.type === "object" || field.type === "map") && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const of = field.type === "map" ? field.values : ownMember(field.fields, key);
        const name = field.type === "map" ? leaf.name : key;
        return [key, of === undefined ? member : mapValue(member, inner(of, `${path}.${key}`, name), visit)];
      }),
    );
  }
  return visit(value, leaf);
}

/**
 * Inputs with each value replaced by what `visit` answers. Visits what is no list, map or object, and
 * what stands in the place of one: an unknown, a hidden value.
 */
export function mapLeaves(spec: ResourceSpec, inputs: Props, visit: Visit): Props {
  return Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => {
      const field = ownMember(spec.fields, key) ?? ownMember(spec.outputs, key);
      if (field === undefined) return [key, value];
      const leaf = { path: key, property: key, name: key, field, decidesAccess: decidesAccess(field) };
      return [key, mapValue(value, leaf, visit)];
    }),
  );
}

/** Whether a field names another resource. */
export function isReference({ field }: Pick<Leaf, "field"> & Partial<Leaf>): boolean {
  return field.type === "string" && (field.format === "uid" || field.format === "groupUid");
}

/** The kind that a reference leads to, by the name of its property. */
const referredKinds: ReadonlyMap<string, string> = new Map([
  ["identityUid", "Identity"],
  ["serviceBindings", "Identity"],
  ["identityUids", "Identity"],
  ["roleUid", "Role"],
  ["roleUids", "Role"],
  ["defaultRole", "Role"],
  ["scope", "Group"],
]);

/** Undefined where several kinds will do. */
export function referredKind({ name, field }: Leaf): string | undefined {
  if (field.type === "string" && field.format === "groupUid") return "Group";
  return referredKinds.get(name);
}
