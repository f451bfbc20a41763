import { getOrCompute, once } from "../../fields/values";
import { givesAccess } from "../graph/accessKinds";
import { tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import type { Entity } from "../graph/model";
import { graphOf, readRoleCapabilities } from "../graph/resolveGrants";
import type { Comparison } from "./compare";

/** What is said of access that only what no given stack records gave before. */
export const HELD_BY_HAND =
  "the subject holds this already, by grants or roles that no given stack records so";

type Recorded = Pick<Comparison, "before" | "changes" | "recordedElsewhere" | "contradictedElsewhere">;

/**
 * What the given stacks record of the access before a change. What was made by hand is not in it, since it may have been made so that
 * a change looks harmless; nor is what a stack made that is not given.
 */
export class RecordedAccess {
  constructor(private readonly comparison: Recorded) {}

  /** What the stack manages, by URN: that of the stack, and the one that the change gives it by an alias. */
  private readonly byUrn = once((): ReadonlyMap<string, Entity> => {
    const found = this.comparison.changes.flatMap(({ urn, recorded }) =>
      [urn, recorded?.urn].flatMap((each) =>
        each === undefined || recorded === undefined ? [] : [[each, recorded] as const],
      ),
    );
    return new Map(found);
  });

  /** What a given stack records of an object. */
  recordOf({ key, urn }: Pick<Entity, "key" | "urn">): Entity | undefined {
    return this.byUrn().get(urn ?? "") ?? this.comparison.recordedElsewhere?.get(key);
  }

  /** The same, also of what the server has otherwise than another stack records it. Such a record makes nothing known. */
  anyRecordOf(entity: Pick<Entity, "key" | "urn">): Entity | undefined {
    return this.recordOf(entity) ?? this.comparison.contradictedElsewhere?.get(entity.key);
  }

  /** What the given stacks record. The stack of the change has the last word of what another one manages too. */
  readonly all = once((): readonly Entity[] => [
    ...(this.comparison.recordedElsewhere?.values() ?? []),
    ...this.byUrn().values(),
  ]);

  private readonly tuples = once(() => {
    const others = [...this.comparison.before.entities.values()].filter(({ kind }) => !givesAccess(kind));
    const entities = [...others, ...this.all()];
    return new Set(graphOf(new Map(entities.map((entity) => [entity.key, entity]))).grants.map(tupleOf));
  });

  /**
   * What a grant of before allows by what the stacks record; undefined where nobody can say what its role allows.
   * @param roles Those of the new grants that are compared with it: by the same role it is held as it is.
   */
  capabilitiesOf(grant: Grant, roles: ReadonlySet<string>): readonly string[] | undefined {
    const { key, urn, builtIn, capabilities } = grant.role;
    if (!this.has(grant)) return [];
    if (builtIn || capabilities === undefined) return capabilities;
    const record = this.anyRecordOf({ key, urn });
    const known = readRoleCapabilities(record);
    if (known === undefined) return record === undefined && roles.has(key) ? capabilities : [];
    return capabilities.filter((capability) => known.includes(capability));
  }

  /** Whether the stacks record a grant of before as the server has it. */
  has(grant: Grant): boolean {
    return this.tuples().has(tupleOf(grant));
  }
}

const byComparison = new WeakMap<Recorded, RecordedAccess>();

/** The same for all that ask it of a comparison. */
export const recordedAccess = (comparison: Recorded): RecordedAccess =>
  getOrCompute(byComparison, comparison, () => new RecordedAccess(comparison));
