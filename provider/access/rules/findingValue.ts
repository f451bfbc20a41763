import type { Json, Props } from "../../engine/description";
import { compareTexts } from "../../engine/values/values";
import { specs } from "../documents/specs";
import { isAccessField } from "../graph/accessKinds";
import type { Entities, Entity } from "../graph/model";
import { isReference, mapLeaves } from "../graph/references";
import type { Comparison } from "../review/comparison";
import type { FindingInput } from "./findingInput";

/** The property at the top of each path: a finding may name several, as in `oidc.issuer, scopes`. */
const topLevel = (paths: readonly string[]): Set<string> =>
  new Set(paths.flatMap((path) => path.split(", ")).map((path) => path.replace(/[.[].*$/s, "")));

/**
 * The arguments of an object that decide access, and those at some paths: what an exception accepts. A list without an
 * order is sorted, since the server may return it in another one.
 *
 * @param nameOf what a reference is called: the same before and after what it names has a uid.
 */
export function inputsToPin(
  kind: string,
  inputs: Props,
  paths: readonly string[],
  nameOf: (uid: string) => string = (uid) => uid,
): Json {
  const spec = specs[kind];
  if (spec === undefined) return null;
  const properties = topLevel(paths);
  const kept = Object.entries(inputs).filter(
    ([key]) => properties.has(key) || spec.fields[key]?.security === true || isAccessField(kind, key),
  );
  const named = mapLeaves(spec, Object.fromEntries(kept), (value, leaf) =>
    isReference(leaf) && typeof value === "string" ? nameOf(value) : value,
  );
  return Object.entries(named)
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([key, value]): Json => {
      const field = spec.fields[key];
      const isUnordered = field?.type === "list" && field.unordered === true;
      return [
        key,
        isUnordered && Array.isArray(value) ? value.map(String).sort(compareTexts) : (value ?? null),
      ];
    });
}

/** Tells what a finding accepts of the objects that it is about, so that its fingerprint changes with it. */
export class FindingValues {
  private readonly byName = new Map<string, Entity>();

  constructor({ before, after }: Comparison) {
    // What the change removes is as it was before.
    for (const entities of [before.entities, after.entities]) this.add(entities);
  }

  private add(entities: Entities): void {
    for (const entity of entities.values()) {
      for (const name of [entity.key, entity.urn, entity.uid]) {
        if (name !== undefined) this.byName.set(`${entity.kind} ${name}`, entity).set(name, entity);
      }
    }
  }

  private inputsOf(entity: Entity | undefined, paths: readonly string[]): Json | undefined {
    if (entity === undefined) return undefined;
    const nameOf = (uid: string): string => this.byName.get(uid)?.urn ?? uid;
    return inputsToPin(entity.kind, entity.inputs, paths, nameOf);
  }

  /** Of a grant who can be its subject and what its role allows, else the arguments, else the words of the finding. */
  of({ grant, kind = "", urn, uid, field, message, details = [] }: FindingInput): Json {
    const about = this.byName.get(`${kind} ${urn ?? uid ?? ""}`);
    if (grant !== undefined) {
      const { subject, role } = grant;
      const trust = this.inputsOf(this.byName.get(subject.key) ?? about, []);
      return [trust ?? subject.displayName, [...(role.capabilities ?? ["unknown"])]];
    }
    return this.inputsOf(about, field === undefined ? [] : [field]) ?? [message, ...details];
  }
}
