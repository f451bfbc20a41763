import type { Props } from "../../engine/description";
import { equal } from "../../engine/values/values";
import { mergeLive } from "../../engine/wire/merge";
import { urnParts } from "../documents/engineState";
import { describeEffects, createEffectSide } from "../effects";
import type { EffectContext } from "../effects";
import { diffGrants } from "../review/grantChanges";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import type { AccessGraph, Entities, Entity } from "../graph/model";
import { specs } from "../documents/specs";
import { toFieldChange } from "../report/report";
import type { FieldChange } from "../report/report";
import type { GrantChange } from "../graph/grant";
import { Languages } from "../trust/languages";
import { graphOf } from "../graph/grants";

/** A difference that no grant shows: where a group lies, who signs in by a provider, where events go. */
export interface EntityDifference {
  readonly kind: string;
  readonly entity: Entity;
  readonly what: "new" | "changed" | "deleted";
  readonly fields: readonly FieldChange[];
}

export interface Differences {
  /** More access than was announced. */
  readonly more: readonly GrantChange[];
  /** Less access than was announced. */
  readonly less: readonly GrantChange[];
  readonly entities: readonly EntityDifference[];
  readonly unchanged: number;
  readonly expected: AccessGraph;
  readonly actual: AccessGraph;
}

/**
 * Live entities with the expected spelling of each equal value, so that a value that the server fills in is no
 * difference.
 */
function alignWithExpected(expected: Entities, actual: Entities): Map<string, Entity> {
  const rewritten = [...actual].map(([key, entity]): [string, Entity] => {
    const old = expected.get(key);
    const spec = specs[entity.kind];
    if (old === undefined || spec === undefined || old.kind !== entity.kind) return [key, entity];
    return [key, { ...entity, inputs: mergeLive(spec, old.inputs, entity.inputs).inputs }];
  });
  return new Map(rewritten);
}

/** The properties that decide access and that no grant of the entity shows. */
function decidesAccess(kind: string): (property: string) => boolean {
  if (kind === "Group") return (property) => property === "parentUid";
  const fields = specs[kind]?.fields ?? {};
  return (property) => isAccessField(kind, property) || fields[property]?.security === true;
}

/** The changed fields that decide access and that no grant shows; of a group only its parent. */
function changedFields(kind: string, old: Props, now: Props, context: EffectContext): FieldChange[] {
  const spec = specs[kind];
  if (spec === undefined) return [];
  const decides = decidesAccess(kind);
  const differs = Object.entries(spec.fields).some(
    ([key, field]) => decides(key) && !equal(field, old[key], now[key]),
  );
  if (!differs) return [];
  return describeEffects(spec, old, now, context)
    .filter(({ path }) => decides(path.split(/[.[]/)[0] ?? ""))
    .map(toFieldChange);
}

function compareEntities(expected: Entities, actual: Entities, languages: Languages): EntityDifference[] {
  const context = { before: createEffectSide(expected), after: createEffectSide(actual), languages };
  return [...new Set([...expected.keys(), ...actual.keys()])].sort().flatMap((key): EntityDifference[] => {
    const [old, now] = [expected.get(key), actual.get(key)];
    const kind = (now ?? old)?.kind ?? "";
    if (accessKinds[kind]?.shownByGrants) return [];
    if (old === undefined && now !== undefined) {
      // A new group grants no access by itself.
      return kind === "Group" ? [] : [{ kind, entity: now, what: "new", fields: [] }];
    }
    if (old !== undefined && now === undefined) return [{ kind, entity: old, what: "deleted", fields: [] }];
    if (old === undefined || now === undefined) return [];
    const fields = changedFields(kind, old.inputs, now.inputs, context);
    return fields.length === 0 ? [] : [{ kind, entity: now, what: "changed", fields }];
  });
}

/** Compares the live organisation with what the review expects. */
export function compareExpected(expected: Entities, live: Entities): Differences {
  const actual = alignWithExpected(expected, live);
  const [before, after] = [graphOf(expected), graphOf(actual)];
  const languages = new Languages();
  const { changes, unchanged } = diffGrants(before, after, languages);
  const isMore = ({ change }: GrantChange): boolean => change === "gained" || change === "widened";
  return {
    more: changes.filter(isMore),
    less: changes.filter((change) => !isMore(change)),
    entities: compareEntities(expected, actual, languages),
    unchanged,
    expected: before,
    actual: after,
  };
}

/** What to call an entity in a line. */
export function entityLabel({ kind, name, urn, uid }: Entity): string {
  return `${kind} ${name ?? (urn === undefined ? (uid ?? "without a name") : urnParts(urn).name)}`;
}
