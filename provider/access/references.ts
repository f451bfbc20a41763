import type { FieldSpec, Json, Props, ResourceSpec } from "../engine/spec";
import { isObject } from "../engine/values";
import { kinds } from "../resources";

export const specs: Readonly<Record<string, ResourceSpec | undefined>> = Object.fromEntries(
  kinds.map(({ spec }) => [spec.kind, spec]),
);

/** A value inside inputs. */
export interface Leaf {
  /** Its path, as in `bindings.deploys.identityUid`. */
  readonly path: string;
  /** The top-level property: what the engine knows the dependencies of. */
  readonly property: string;
  readonly field: FieldSpec;
}

function map(
  field: FieldSpec,
  value: Json | undefined,
  leaf: Omit<Leaf, "field">,
  visit: (value: Json | undefined, leaf: Leaf) => Json | undefined,
): Json | undefined {
  if (field.type === "list" && Array.isArray(value)) {
    return value.map((item, index) => {
      const at = { ...leaf, path: `${leaf.path}[${index}]` };
      return map(field.items, item, at, visit) ?? null;
    });
  }
  if ((field.type === "object" || field.type === "map") && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const inner = field.type === "map" ? field.values : field.fields[key];
        const at = { ...leaf, path: `${leaf.path}.${key}` };
        return [key, inner === undefined ? member : map(inner, member, at, visit)];
      }),
    );
  }
  return visit(value, { ...leaf, field });
}

/**
 * Inputs with each value replaced by what `visit` answers. Visits what is no list, map or object, and
 * what stands in the place of one: an unknown, a hidden value.
 */
export function mapLeaves(
  spec: ResourceSpec,
  inputs: Props,
  visit: (value: Json | undefined, leaf: Leaf) => Json | undefined,
): Props {
  return Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => {
      const field = spec.fields[key] ?? spec.outputs?.[key];
      return [key, field === undefined ? value : map(field, value, { path: key, property: key }, visit)];
    }),
  );
}

/** Whether a field names another resource. */
export function isReference({ field }: Leaf): boolean {
  return field.type === "string" && (field.format === "uid" || field.format === "groupUid");
}

/** The kind that a reference leads to, by the name of its property: the last that is no label. */
const referredKinds: Readonly<Record<string, string>> = {
  identityUid: "Identity",
  serviceBindings: "Identity",
  roleUid: "Role",
  defaultRole: "Role",
  scope: "Group",
};

/** Undefined where several kinds will do. */
export function referredKind({ path, field }: Leaf): string | undefined {
  if (field.type === "string" && field.format === "groupUid") return "Group";
  const steps = path.replace(/\[\d+\]/g, "").split(".");
  return steps.map((step) => referredKinds[step]).findLast((kind) => kind !== undefined);
}
