import { parentOf } from "../../text/uid";
import { applyUpdate } from "../../fields/patch";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { Json, Props } from "../../fields/values";
import type { RecordedResource } from "../documents/engineState";
import { specs } from "../documents/specs";
import { accessKinds, bindingsOfOwners, isBindingOf } from "./accessKinds";
import { declaredOf, entityKey, toEntity, isManagedKind, recordedUid } from "./entities";
import { groupBy, getOrCompute, once } from "../../fields/values";
import { compositeKey } from "./entityKeys";
import type { LiveObjects, ResourceKeys } from "./entities";
import type { Entity } from "./model";
import { isReference, leavesIn, mapReferences } from "./inputLeaves";
import type { JoinedStep } from "./graphBuilder";
import { removesObject } from "./unforeseen";

/** The kinds of resources whose delete the server may refuse, by uid. */
type Deletions = ReadonlyMap<string, string>;

/** Whether an object of a kind keeps the server from deleting what it refers to: the description of that lists it. */
function blocksDelete(kind: string, deleted: string): boolean {
  const { blockedBy, dependents = [] } = specs[deleted]?.deletion ?? {};
  const collection = specs[kind]?.collection;
  return blockedBy !== undefined && dependents.some((each) => each.collection === collection);
}

/** Which resources a change removes from the server, and which it leaves there beside their replacements. */
export class ServerRemovals {
  private readonly byUrn: ReadonlyMap<string, JoinedStep>;
  /** The keys of what a delete or a replacement removes. */
  private readonly removed = new Set<string>();
  /** The keys of replaced resources that stay on the server, by uid: their replacements have the uid as key. */
  private readonly retained = new Map<string, string>();
  /** The keys of what keeps the server from deleting a resource, by its uid. */
  private readonly refused = new Map<string, Set<string>>();
  /** Refused, and not looked at yet for what they keep in their turn. */
  private readonly open: string[] = [];
  /** The keys of what the program manages. */
  private readonly managed = once(() => {
    const managed = [...this.byUrn.values()].filter(
      ({ before, after }) => (before ?? after)?.external !== true,
    );
    return new Set(managed.map((step) => this.keys.of(step)));
  });

  /** @param steps of the kinds of this package. */
  constructor(
    private readonly steps: readonly JoinedStep[],
    private readonly keys: ResourceKeys,
    allSteps: readonly JoinedStep[],
    private readonly live: LiveObjects,
  ) {
    this.byUrn = new Map(allSteps.map((step) => [step.urn, step]));
    this.findRemoved();
    this.findRetained();
  }

  isRemoved(key: string): boolean {
    return this.removed.has(key);
  }

  /** Whether the object with the uid of a resource is removed. */
  removesObjectOf({ kind = "", id = "", inputs }: RecordedResource): boolean {
    return this.removed.has(entityKey(kind, id, inputs["parentUid"]));
  }

  /** The keys of what still refers to a resource, so that the server refuses to delete it; undefined where it does not refuse. */
  refusedBy({ kind = "", id = "" }: Partial<RecordedResource>): ReadonlySet<string> | undefined {
    return specs[kind]?.sharesParentUid === true ? undefined : this.refused.get(id);
  }

  isRemovedFromServer(step: JoinedStep): boolean {
    const { op, before } = step;
    if (!removesObject(step) || (before && this.refusedBy(before)) !== undefined) return false;
    // The engine leaves what it deletes at the end to the delete of the other resource, which asks for no more than its own.
    return op === "replace" || this.byUrn.get(before?.deletedWith ?? "")?.op !== "delete";
  }

  /** A reference to a removed resource becomes empty; one to a replaced resource that stays leads to that. */
  pruneDanglingRef(value: Json | undefined): Json | undefined {
    if (typeof value !== "string") return value;
    return this.removed.has(value) ? "" : (this.retained.get(value) ?? value);
  }

  /** An entity that no step changes, with its references as they lead after the change. */
  rewriteReplacedRefs(entity: Entity): Entity {
    if (this.removed.size + this.retained.size === 0) return entity;
    const inputs = mapReferences(specs[entity.kind], entity.inputs, (value) => this.pruneDanglingRef(value));
    return { ...entity, inputs };
  }

  private findRemoved(): void {
    for (const step of this.steps) {
      const uid = recordedUid(step.before);
      if (uid === undefined || !this.isRemovedFromServer(step)) continue;
      this.removed.add(this.keys.of(step));
    }
    this.findRefused();
  }

  private findRetained(): void {
    for (const step of this.steps) {
      const uid = recordedUid(step.before);
      if (uid === undefined || this.keys.of(step) !== uid || step.op !== "replace") continue;
      if (!this.isRemovedFromServer(step)) this.retained.set(uid, compositeKey("retained", uid));
    }
  }

  private findRefused(): void {
    const deletions = new Map(
      this.steps.flatMap(({ before }): [string, string][] => {
        const [uid, kind = ""] = [recordedUid(before), before?.kind];
        const isCandidate = uid !== undefined && specs[kind]?.deletion?.blockedBy !== undefined;
        return isCandidate && this.removed.has(uid) ? [[uid, kind]] : [];
      }),
    );
    if (deletions.size === 0) return;
    for (const step of this.steps) this.refuseForStep(step, deletions);
    const owners = this.steps.flatMap((step) => {
      const { before } = step;
      if (!isManagedKind(before) || accessKinds[before.kind]?.ownsBindings !== true) return [];
      return [toEntity(before, { key: this.keys.of(step), uid: recordedUid(before), side: "before" })];
    });
    const owned = bindingsOfOwners(owners);
    for (const object of this.live.all()) this.refuseForObject(object, deletions, owned);
    // A resource whose delete is refused may itself keep another one from being deleted.
    const byUid = groupBy(this.steps, ({ before }) => [recordedUid(before)]);
    for (let uid = this.open.pop(); uid !== undefined; uid = this.open.pop()) {
      for (const step of byUid.get(uid) ?? []) this.refuseForStep(step, deletions);
    }
  }

  private refuse(deletions: Deletions, kind: string, key: string, referred: Json | undefined): void {
    if (typeof referred !== "string") return;
    const deleted = deletions.get(referred);
    if (deleted === undefined || !blocksDelete(kind, deleted)) return;
    getOrCompute(this.refused, referred, () => new Set()).add(key);
    if (this.removed.delete(referred)) this.open.push(referred);
  }

  /** A resource that owns all bindings of its group keeps what each of them refers to, and the group where it has one. */
  private refuseForInputs(deletions: Deletions, kind: string, key: string, inputs: Props): void {
    const spec = specs[kind];
    const binding = aggregatedKind(spec ?? {});
    const { parentUid, roleUid } = inputs;
    const bound = leavesIn(spec, inputs).filter((leaf) => isReference(leaf) && leaf.property !== "parentUid");
    const named =
      binding === undefined
        ? [parentUid, roleUid]
        : bound.length === 0
          ? []
          : [...bound.map(({ value }) => value), parentUid];
    for (const referred of named) this.refuse(deletions, binding ?? kind, key, referred);
  }

  private refuseForStep(step: JoinedStep, deletions: Deletions): void {
    const { op, before, after } = step;
    const stays = (op === "delete" || op === "replace") && !this.isRemovedFromServer(step);
    for (const resource of [after, stays ? before : undefined]) {
      if (resource === undefined) continue;
      const kind = resource.kind ?? "";
      const uid = this.keys.of(step);
      const key = op === "replace" && resource === before ? compositeKey("retained", uid) : uid;
      const inputs = this.inputsAfter(step, resource);
      this.refuseForInputs(deletions, kind, key, inputs);
    }
  }

  /** The arguments that a resource has once all is done, as far as references are known before. */
  private inputsAfter(step: JoinedStep, resource: RecordedResource): Props {
    const { op, before } = step;
    const spec = specs[resource.kind ?? ""];
    const live = this.live.get(this.keys.of(step));
    if (spec === undefined || before === undefined || (op !== "same" && op !== "update")) {
      return declaredOf(resource);
    }
    if (live === undefined) {
      // No inventory lists a resource that stands for the bindings of its group.
      const isGone =
        op === "same" &&
        aggregatedKind(spec) === undefined &&
        this.live.lists(spec.kind, recordedUid(before) ?? "");
      return isGone ? {} : declaredOf(resource);
    }
    return op === "same"
      ? live.inputs
      : applyUpdate(spec, live.inputs, declaredOf(before), declaredOf(resource));
  }

  private refuseForObject(object: Entity, deletions: Deletions, owned: ReadonlySet<string>): void {
    const { kind, uid = "", key, inputs } = object;
    if (this.managed().has(key)) return;
    if (isBindingOf(owned, object)) return;
    const parent = specs[kind]?.sharesParentUid === true ? uid : parentOf(uid);
    for (const referred of [parent, inputs["roleUid"]]) this.refuse(deletions, kind, key, referred);
  }
}
