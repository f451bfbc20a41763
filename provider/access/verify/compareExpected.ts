import type { Props, ResourceSpec } from "../../engine/description";
import { equal } from "../../engine/values/values";
import { urnParts } from "../documents/engineState";
import type { Inventory } from "../documents/inventory";
import { isWithin, listsObject } from "../documents/inventoryScope";
import { specs } from "../documents/specs";
import { listedKinds } from "../documents/inventoryKinds";
import { createEffectSide, describeEffects } from "../effects";
import type { Direction, EffectContext } from "../effects";
import { accessKinds, bindingKeys, isGrantPart } from "../graph/accessKinds";
import { isName } from "../graph/fieldAccess";
import type { GrantChange } from "../graph/grant";
import { graphOf } from "../graph/grants";
import type { AccessGraph, Entities, Entity } from "../graph/model";
import { isComparedOutput } from "../report/expectedAccess";
import { toFieldChange } from "../report/report";
import type { ExpectedAccess, FieldChange } from "../report/report";
import { diffGrants } from "../review/grantChanges";
import { Languages } from "../trust/languages";
import { timestampNanos } from "../../engine/values/times";
import { alignLive } from "./alignLive";
import type { LiveEntity } from "./alignLive";

/** An object that is not as the review announced it: a group with another name, who signs in by a provider, a new role. */
export interface EntityDifference {
  readonly kind: string;
  readonly entity: Entity;
  readonly what: "new" | "changed" | "deleted";
  readonly fields: readonly FieldChange[];
  readonly directions: readonly Direction[];
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
  /** What the review could not read, so that it was not compared, a line each. */
  readonly unread: readonly string[];
  /** What should have been compared and was not, a line each. */
  readonly gaps: readonly string[];
}

/** What a verification knows besides the two sides. */
export interface ComparisonContext {
  readonly expected: ExpectedAccess;
  readonly inventory: Inventory;
  /** Whether a state tells what the server returned to the update. */
  readonly hasState: boolean;
}

/** What to call an entity in a line. */
export function entityLabel({ kind, name, urn, uid }: Entity): string {
  return `${kind} ${name ?? (urn === undefined ? (uid ?? "without a name") : urnParts(urn).name)}`;
}

/** Whether somebody made an identity by signing in: it is assumed by nothing that a program can declare. */
export function isSignedInPerson({ kind, inputs }: Entity): boolean {
  return (
    accessKinds[kind]?.assumable === true &&
    (specs[kind]?.oneOfs ?? []).some(({ members, required }) => {
      const isMissing = (member: string): boolean => (inputs[member] ?? undefined) === undefined;
      return required && members.every(isMissing);
    })
  );
}

/** Whether the list of grants shows all that changes of an object of this kind. */
function isBinding(kind: string): boolean {
  return accessKinds[kind]?.binding === true || accessKinds[kind]?.ownsBindings === true;
}

/** Compares the objects of both sides one by one. */
class EntityComparison {
  readonly unread: string[] = [];
  readonly gaps = new Set<string>();
  readonly actual = new Map<string, Entity>();
  /** The bindings of resources that own all bindings of their group: which objects these are, the server decides. */
  private readonly owned: ReadonlySet<string>;

  constructor(
    private readonly expected: Entities,
    private readonly live: ReadonlyMap<string, LiveEntity>,
    private readonly context: ComparisonContext,
    private readonly languages: Languages,
  ) {
    const owners = [...expected.values()].filter(({ kind }) => accessKinds[kind]?.ownsBindings);
    this.owned = new Set(owners.flatMap(bindingKeys));
    for (const [key, entity] of live) this.actual.set(key, this.align(expected.get(key), entity));
  }

  run(): EntityDifference[] {
    const effects: EffectContext = {
      before: createEffectSide(this.expected),
      after: createEffectSide(this.actual),
      languages: this.languages,
    };
    return [...new Set([...this.expected.keys(), ...this.actual.keys()])].sort().flatMap((key) => {
      const [old, now] = [this.expected.get(key), this.actual.get(key)];
      const entity = now ?? old;
      // The platform alone changes its own roles, and people make identities by signing in.
      if (entity === undefined || entity.builtIn) return [];
      if (old === undefined) return this.compareNew(entity);
      if (isBinding(entity.kind)) return [];
      return now === undefined ? this.compareMissing(entity) : this.compareChanged(old, now, effects);
    });
  }

  private align(old: Entity | undefined, entity: LiveEntity): Entity {
    const spec = specs[entity.kind];
    if (old === undefined || spec === undefined || old.kind !== entity.kind) return entity;
    const { inputs, unread, needsState } = alignLive(spec, old.inputs, entity, this.context.hasState);
    const label = entityLabel(entity);
    this.unread.push(...unread.map((line) => `${label}: ${line}, so it was not compared`));
    for (const path of needsState) {
      this.gaps.add(
        `${label}: ${path} was not compared: only the state tells in which form the server keeps it: give --stack or --state`,
      );
    }
    return { ...entity, inputs };
  }

  private compareMissing(entity: Entity): EntityDifference[] {
    const { kind, uid } = entity;
    const { inventory } = this.context;
    if (isSignedInPerson(entity) || (uid !== undefined && !isWithin(uid, inventory.root))) return [];
    if (!listsObject(inventory, kind, uid ?? inventory.root)) {
      this.gaps.add(
        `${entityLabel(entity)} was not compared: the inventory does not contain each ${kind}: take it with --types +${kind}`,
      );
      return [];
    }
    return [{ kind, entity, what: "deleted", fields: [], directions: [] }];
  }

  private compareNew(entity: Entity): EntityDifference[] {
    const { kind } = entity;
    const { kinds } = this.context.expected;
    if (isSignedInPerson(entity) || bindingKeys(entity).some((key) => this.owned.has(key))) return [];
    if (kinds?.includes(kind) ?? listedKinds.includes(kind)) {
      return [{ kind, entity, what: "new", fields: [], directions: [] }];
    }
    // Nobody asked for these kinds, and single objects of them are read by their uids.
    if (listedKinds.includes(kind)) {
      this.gaps.add(
        `whether each ${kind} was announced is not known: the inventory of the review does not list them`,
      );
    }
    return [];
  }

  private compareChanged(old: Entity, now: Entity, effects: EffectContext): EntityDifference[] {
    const { kind } = now;
    const spec = specs[kind];
    if (spec === undefined) return [];
    const inputs = differs(spec, old.inputs, now.inputs)
      ? describeEffects(spec, old.inputs, now.inputs, effects).filter(
          ({ path, effect }) => effect !== "none" || isName(path),
        )
      : [];
    const outputs = this.changedOutputs(spec, old.details, this.live.get(now.key));
    const fields = [...inputs.map(toFieldChange), ...outputs];
    const directions = [
      ...inputs.map(({ direction }) => direction),
      ...outputs.map((): Direction => "unknown"),
    ];
    return fields.length === 0 ? [] : [{ kind, entity: now, what: "changed", fields, directions }];
  }

  /** The changed outputs, against the report, or the state where the announced change sets them. */
  private changedOutputs(
    spec: ResourceSpec,
    announced: Props | undefined,
    live: LiveEntity | undefined,
  ): FieldChange[] {
    const expected = announced ?? live?.recorded;
    if (expected === undefined) return [];
    const now = live?.details ?? {};
    const keys = [...Object.keys(spec.outputs ?? {}), ...(announced ? ["etag"] : [])];
    return keys.flatMap((path): FieldChange[] => {
      const field = spec.outputs?.[path] ?? { type: "string" as const };
      const [before, after] = [expected[path], now[path]];
      if (!isComparedOutput(spec, path) || equal(field, before, after) || this.isPast(before, after))
        return [];
      const text = (value: unknown) => (typeof value === "string" ? value : undefined);
      return [{ path, before: text(before), after: text(after) }];
    });
  }

  /** Whether a time has come and is gone: the server tells it no longer. */
  private isPast(before: unknown, after: unknown): boolean {
    const [end, now] = [before, this.context.inventory.takenAt].map((time) =>
      typeof time === "string" ? timestampNanos(time) : undefined,
    );
    return (after ?? "") === "" && end !== undefined && now !== undefined && end <= now;
  }
}

function differs({ fields }: ResourceSpec, old: Props, now: Props): boolean {
  return Object.entries(fields).some(([key, field]) => !equal(field, old[key], now[key]));
}

/** The keys of what the grants of a list are made of. */
function partsOfGrants(grants: readonly GrantChange[]): Set<string> {
  return new Set(
    grants.flatMap(({ grant: { subject, role, group, uid = "" } }) => [
      subject.key,
      role.key,
      group.key,
      uid,
    ]),
  );
}

/** Whether the list of grants says of an object what it says here. */
function isShownByGrants(
  { kind, entity, what, directions }: EntityDifference,
  more: ReadonlySet<string>,
  narrowed: ReadonlySet<string>,
): boolean {
  if (what === "new") {
    return (accessKinds[kind]?.shownByGrants === true || isGrantPart(kind)) && more.has(entity.key);
  }
  const isNarrowed = directions.every((direction) => direction === "narrowed");
  return accessKinds[kind]?.shownByGrants === true && isNarrowed && narrowed.has(entity.key);
}

/** Compares the live organisation with what the review expects. */
export function compareExpected(
  expected: Entities,
  live: ReadonlyMap<string, LiveEntity>,
  context: ComparisonContext,
): Differences {
  const languages = new Languages();
  const comparison = new EntityComparison(expected, live, context, languages);
  const [before, after] = [graphOf(expected), graphOf(comparison.actual)];
  const { changes, unchanged } = diffGrants(before, after, languages);
  const isMore = ({ change }: GrantChange): boolean => change === "gained" || change === "widened";
  const more = changes.filter(isMore);
  const less = changes.filter((change) => !isMore(change));
  const shown = partsOfGrants(more);
  const narrowed = partsOfGrants(less.filter(({ change }) => change === "narrowed"));
  return {
    more,
    less,
    entities: comparison.run().filter((difference) => !isShownByGrants(difference, shown, narrowed)),
    unchanged,
    expected: before,
    actual: after,
    unread: comparison.unread,
    gaps: [...comparison.gaps].sort(),
  };
}
