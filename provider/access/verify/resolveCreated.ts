import type { Props } from "../../engine/description";
import { sortedJson } from "../../engine/values/values";
import { mergeLive } from "../../engine/wire/merge";
import type { Entity } from "../graph/model";
import { isReference, mapLeaves } from "../graph/references";
import { specs } from "../documents/specs";
import type { ExpectedAccess, ExpectedEntity } from "../report/report";
import type { StateExport } from "../documents/stateExport";
import { entityKey } from "../graph/entities";

/** What the review expects, with the uids that the update assigned. */
export interface ResolvedAccess {
  readonly entities: ReadonlyMap<string, Entity>;
  /** The key of each entity that was created, by the key that the review gave it. */
  readonly newKeys: ReadonlyMap<string, string>;
  /** Entities that the change was to create and that are not found, with no uid. */
  readonly absent: readonly ExpectedEntity[];
}

/** Kinds that share the uid of what they belong to: it is known as soon as that is. */
const sharesParent = (kind: string): boolean => specs[kind]?.sharesParentUid === true;

class CreatedResolver {
  private readonly uids = new Map<string, string>();
  private readonly usedUids: Set<string>;
  private readonly uidByUrn: ReadonlyMap<string, string> | undefined;
  private readonly actual: readonly Entity[];

  constructor(
    private readonly expected: ExpectedAccess,
    actual: Iterable<Entity>,
    state: StateExport | undefined,
  ) {
    this.actual = [...actual].sort((a, b) => ((a.uid ?? "") < (b.uid ?? "") ? -1 : 1));
    this.usedUids = new Set(expected.removed);
    for (const { key, uid } of expected.entities) {
      if (uid === undefined) continue;
      this.usedUids.add(uid);
      this.uids.set(key, uid);
    }
    this.uidByUrn =
      state && new Map(state.resources.map(({ urn, id }) => [urn, id ?? ""] as const).filter(([, id]) => id));
  }

  /** The arguments with uids in place of the keys of what was created. */
  inputsOf({ kind, inputs }: ExpectedEntity): Props {
    const spec = specs[kind];
    if (spec === undefined) return inputs;
    return mapLeaves(spec, inputs, (value, leaf) =>
      isReference(leaf) && typeof value === "string" ? (this.uids.get(value) ?? value) : value,
    );
  }

  uidOf({ key }: ExpectedEntity): string | undefined {
    return this.uids.get(key);
  }

  resolve(): ExpectedEntity[] {
    let open = this.expected.entities.filter(({ uid }) => uid === undefined);
    for (let progress = true; progress && open.length > 0;) {
      const rest = open.filter((entity) => !this.resolveEntity(entity));
      progress = rest.length < open.length;
      open = rest;
    }
    return open;
  }

  private resolveEntity(entity: ExpectedEntity): boolean {
    const inputs = this.inputsOf(entity);
    const uid = this.findUid(entity, inputs);
    if (uid === undefined || uid === "") return false;
    if (!sharesParent(entity.kind)) this.usedUids.add(uid);
    this.uids.set(entity.key, uid);
    return true;
  }

  private findUid(entity: ExpectedEntity, inputs: Props): string | undefined {
    const { kind, urn } = entity;
    if (sharesParent(kind)) return this.parentOf(inputs);
    if (this.uidByUrn !== undefined) {
      // A uid that existed before is not what the change created, whatever the state records.
      const id = this.uidByUrn.get(urn ?? "");
      return id === undefined || this.usedUids.has(id) ? undefined : id;
    }
    return this.actual.find((live) => live.kind === kind && this.isCandidate(inputs, live))?.uid;
  }

  private parentOf({ parentUid }: Props): string | undefined {
    const isOpen = this.expected.entities.some(({ key, uid }) => key === parentUid && uid === undefined);
    return typeof parentUid === "string" && !isOpen ? parentUid : undefined;
  }

  /** Whether a live entity that is not matched yet has exactly these inputs. */
  private isCandidate(inputs: Props, live: Entity): boolean {
    const spec = specs[live.kind];
    if (spec === undefined || live.uid === undefined || this.usedUids.has(live.uid)) return false;
    return sortedJson(mergeLive(spec, inputs, live.inputs).inputs) === sortedJson(inputs);
  }
}

/**
 * Finds what the change created: by its URN where there is a state, else by its arguments. A state is trusted only
 * for uids that did not exist before, and the arguments of such an entity are compared all the same.
 */
export function resolveCreated(
  expected: ExpectedAccess,
  actual: Iterable<Entity>,
  state: StateExport | undefined,
): ResolvedAccess {
  const resolver = new CreatedResolver(expected, actual, state);
  const absent = resolver.resolve();
  const entities = new Map<string, Entity>();
  const newKeys = new Map<string, string>();
  for (const entity of expected.entities) {
    const { kind, urn, name, builtIn } = entity;
    const inputs = resolver.inputsOf(entity);
    const uid = resolver.uidOf(entity);
    const key = uid === undefined ? entity.key : entityKey(kind, uid, inputs["parentUid"]);
    if (key !== entity.key) newKeys.set(entity.key, key);
    if (entities.has(key)) continue;
    const known = { ...(urn === undefined ? {} : { urn }), ...(name === undefined ? {} : { name }) };
    entities.set(key, {
      key,
      kind,
      uid,
      inputs,
      unresolved: [],
      secretPaths: [],
      ...known,
      ...(builtIn ? { builtIn } : {}),
    });
  }
  return { entities, newKeys, absent };
}
