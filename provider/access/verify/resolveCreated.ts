import { sortedJson } from "../../fields/formats";
import type { Props } from "../../fields/values";
import type { Entity } from "../graph/model";
import { isReference, mapLeaves } from "../graph/references";
import { specs } from "../documents/specs";
import type { ExpectedAccess, ExpectedEntity } from "../report/report";
import type { StateExport } from "../documents/stateExport";
import { entityKey } from "../graph/entities";
import { hasExpectedInputs } from "./alignLive";
import type { LiveEntity } from "./alignLive";

/** What the review expects, with the uids that the update assigned. */
export interface ResolvedAccess {
  readonly entities: ReadonlyMap<string, Entity>;
  /** What there was before the change. */
  readonly before: ReadonlyMap<string, BeforeEntity>;
  /** The key of each entity that was created, by the key that the review gave it. */
  readonly newKeys: ReadonlyMap<string, string>;
}

/** An object as it was before the change. */
export interface BeforeEntity extends Entity {
  /** The arguments that the change sets to something else; undefined of what the change leaves as it is. */
  readonly changes?: readonly string[];
}

/** Kinds that share the uid of what they belong to: it is known as soon as that is. */
const sharesParent = (kind: string): boolean => specs[kind]?.sharesParentUid === true;

/** What identifies an object of a kind of which a place has each one once; undefined of another kind. */
function identityOf(kind: string, inputs: Props): string | undefined {
  const identifiedBy = specs[kind]?.identifiedBy;
  return identifiedBy && sortedJson([kind, ...identifiedBy.map((key) => inputs[key] ?? null)]);
}

class CreatedResolver {
  private readonly uids = new Map<string, string>();
  /** The keys of what the change creates. */
  private readonly created = new Set<string>();
  private readonly usedUids: Set<string>;
  private readonly uidByUrn: ReadonlyMap<string, string> | undefined;
  private readonly actual: readonly LiveEntity[];
  private readonly byIdentity = new Map<string, string>();

  constructor(
    private readonly expected: ExpectedAccess,
    actual: Iterable<LiveEntity>,
    state: StateExport | undefined,
  ) {
    this.actual = [...actual].sort((a, b) => ((a.uid ?? "") < (b.uid ?? "") ? -1 : 1));
    for (const { kind, inputs, uid } of this.actual) {
      const identity = identityOf(kind, inputs);
      if (identity !== undefined && uid !== undefined) this.byIdentity.set(identity, uid);
    }
    this.usedUids = new Set(expected.removed);
    for (const { key, uid } of expected.entities) {
      if (uid === undefined) {
        this.created.add(key);
        continue;
      }
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

  candidatesOf({ candidates }: ExpectedEntity): ExpectedEntity["candidates"] {
    return candidates?.map(({ paths, keys }) => ({
      paths,
      keys: keys.map((key) => this.uids.get(key) ?? key),
    }));
  }

  uidOf({ key }: ExpectedEntity): string | undefined {
    return this.uids.get(key);
  }

  resolve(): void {
    let open = this.expected.entities.filter(({ uid }) => uid === undefined);
    for (let progress = true; progress && open.length > 0;) {
      const rest = open.filter((entity) => !this.resolveEntity(entity));
      progress = rest.length < open.length;
      open = rest;
    }
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
    // A create of what exists takes that over: its arguments say which one it is, whoever made it.
    const existing = this.byIdentity.get(identityOf(kind, inputs) ?? "");
    if (existing !== undefined) return existing;
    if (this.uidByUrn !== undefined) {
      // A uid that existed before is not what the change created, whatever the state records.
      const id = this.uidByUrn.get(urn ?? "");
      return id === undefined || this.usedUids.has(id) ? undefined : id;
    }
    return this.actual.find((live) => live.kind === kind && this.isCandidate(inputs, live))?.uid;
  }

  private parentOf({ parentUid }: Props): string | undefined {
    return typeof parentUid === "string" && !this.created.has(parentUid) ? parentUid : undefined;
  }

  /** Whether a live entity that is not matched yet has exactly these inputs. */
  private isCandidate(inputs: Props, live: LiveEntity): boolean {
    const spec = specs[live.kind];
    if (spec === undefined || live.uid === undefined || this.usedUids.has(live.uid)) return false;
    return hasExpectedInputs(spec, inputs, live);
  }
}

/**
 * Finds what the change created: by its URN where there is a state, else by its arguments. A state is trusted only
 * for uids that did not exist before, and the arguments of such an entity are compared all the same.
 */
export function resolveCreated(
  expected: ExpectedAccess,
  actual: Iterable<LiveEntity>,
  state: StateExport | undefined,
): ResolvedAccess {
  const resolver = new CreatedResolver(expected, actual, state);
  resolver.resolve();
  const entities = new Map<string, Entity>();
  const before = new Map<string, BeforeEntity>();
  const newKeys = new Map<string, string>();
  for (const old of expected.before ?? []) {
    const { changes = [], kind, uid, inputs } = old;
    const key = uid === undefined ? old.key : entityKey(kind, uid, inputs["parentUid"]);
    before.set(key, { ...createdEntity(old, key, uid, inputs), changes });
  }
  for (const entity of expected.entities) {
    const inputs = resolver.inputsOf(entity);
    const uid = resolver.uidOf(entity);
    const key = uid === undefined ? entity.key : entityKey(entity.kind, uid, inputs["parentUid"]);
    if (key !== entity.key) newKeys.set(entity.key, key);
    if (entities.has(key)) continue;
    const candidates = resolver.candidatesOf(entity);
    const known = {
      ...createdEntity(entity, key, uid, inputs),
      ...(candidates === undefined ? {} : { candidates }),
    };
    entities.set(key, known);
    if (entity.uid !== undefined && !before.has(key)) before.set(key, known);
  }
  return { entities, before, newKeys };
}

function createdEntity(
  { kind, urn, name, builtIn, outputs }: ExpectedEntity,
  key: string,
  uid: string | undefined,
  inputs: Props,
): Entity {
  return {
    key,
    kind,
    uid,
    inputs,
    secretPaths: [],
    ...(urn === undefined ? {} : { urn }),
    ...(name === undefined ? {} : { name }),
    ...(builtIn ? { builtIn } : {}),
    ...(outputs === undefined ? {} : { details: outputs }),
  };
}
