import { UNKNOWN } from "../description";
import type { FieldSpec, Json, OneOf, Props, ResourceSpec } from "../description";
import { equal, isObject, isSet, isUnknown } from "../values/values";
import { emptyWireValue, toWire, wireName } from "./encode";

/** The changes of one PATCH: body and mask name exactly the same leaves. */
export interface Patch {
  readonly body: Props;
  /** Paths in wire names, dots into objects; lists and maps are one path. */
  readonly mask: readonly string[];
}

/** How two sets of inputs differ. */
export interface InputDifference {
  /** Whether anything differs, an unknown new value included. */
  readonly changed: boolean;
  /** Keys whose change replaces the resource. */
  readonly replaces: readonly string[];
}

class PatchBuilder {
  readonly body: Props = {};
  readonly mask: string[] = [];

  set(path: readonly string[], value: Json): void {
    let target = this.body;
    for (const step of path.slice(0, -1)) {
      const inner = target[step];
      const next: Props = isObject(inner) ? inner : {};
      target[step] = next;
      target = next;
    }
    target[path[path.length - 1] ?? ""] = value;
    this.mask.push(path.join("."));
  }
}

function visitFields(
  fields: Readonly<Record<string, FieldSpec>>,
  oneOfs: readonly OneOf[],
  path: readonly string[],
  olds: Props,
  news: Props,
  patch: PatchBuilder,
): void {
  for (const [key, field] of Object.entries(fields)) {
    if (field.path || field.subresource || field.immutable) continue;
    if (!isSet(field, news[key]) && isReplacedByMember(fields, oneOfs, key, news)) continue;
    const wirePath = [...path, wireName(key, field)];
    if (isOutdated(field, key, olds, news)) patch.set(wirePath, emptyWireValue(field));
    else visitField(field, wirePath, olds[key], news[key], patch);
  }
}

/** Whether the server may keep a value that it took from other fields, which now are others: it has to fill it anew. */
function isOutdated(field: FieldSpec, key: string, olds: Props, news: Props): boolean {
  if (typeof field.serverFilled !== "function") return false;
  if (isSet(field, olds[key]) || isSet(field, news[key])) return false;
  const filled = field.serverFilled(olds);
  return isSet(field, filled) && !equal(field, filled, field.serverFilled(news));
}

/** A one-of member gives way to the one that is sent; naming both is refused. */
function isReplacedByMember(
  fields: Readonly<Record<string, FieldSpec>>,
  oneOfs: readonly OneOf[],
  key: string,
  news: Props,
): boolean {
  return oneOfs.some(
    ({ members }) =>
      members.includes(key) &&
      members.some((member) => {
        const field = fields[member];
        return member !== key && field !== undefined && isSet(field, news[member]);
      }),
  );
}

function visitField(
  spec: FieldSpec,
  path: readonly string[],
  old: Json | undefined,
  now: Json | undefined,
  patch: PatchBuilder,
): void {
  if (equal(spec, old, now)) return;
  if (!isSet(spec, now)) {
    patch.set(path, emptyWireValue(spec));
  } else if (spec.type === "object" && isObject(now)) {
    visitFields(spec.fields, spec.oneOfs ?? [], path, isObject(old) ? old : {}, now, patch);
  } else {
    patch.set(path, toWire(spec, now));
  }
}

/** The PATCH that turns `olds` into `news`; an empty mask where nothing changed on the wire. */
export function diffFields(spec: ResourceSpec, olds: Props, news: Props): Patch {
  const patch = new PatchBuilder();
  visitFields(spec.fields, spec.oneOfs ?? [], [], olds, news, patch);
  return patch;
}

/**
 * Whether an immutable part differs. An unknown value is treated as different: a preview knows every id except one that
 * changes, so an unknown immutable argument comes from a resource that is new or replaced.
 */
function requiresReplacement(spec: FieldSpec, old: Json | undefined, now: Json | undefined): boolean {
  if (equal(spec, old, now)) return false;
  if (spec.immutable) return true;
  if (spec.type !== "object") return false;
  const before = isObject(old) ? old : {};
  if (isUnknown(now)) {
    return Object.entries(spec.fields).some(([key, field]) =>
      requiresReplacement(field, before[key], UNKNOWN),
    );
  }
  if (!isObject(old) || !isObject(now)) return false;
  return Object.entries(spec.fields).some(([key, field]) => requiresReplacement(field, old[key], now[key]));
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
      if (before.length === 0 || after.length === 0 || before.join() === after.join()) return [];
      return members.filter((member) => before.includes(member) !== after.includes(member));
    });
}

/** Compares recorded inputs with new ones through the spec; never looks at keys the spec does not have. */
export function diffInputs(spec: ResourceSpec, olds: Props, news: Props): InputDifference {
  const changed = Object.entries(spec.fields).some(([key, field]) => !equal(field, olds[key], news[key]));
  const replaces = new Set([
    ...Object.entries(spec.fields)
      .filter(([key, field]) => requiresReplacement(field, olds[key], news[key]))
      .map(([key]) => key),
    ...switchedMembers(spec, olds, news),
  ]);
  return { changed, replaces: [...replaces] };
}

/** Fields with a request of their own that changed. */
export function changedSubresources(spec: ResourceSpec, olds: Props, news: Props): string[] {
  return Object.entries(spec.fields)
    .filter(([key, field]) => field.subresource && !equal(field, olds[key], news[key]))
    .map(([key]) => key);
}
