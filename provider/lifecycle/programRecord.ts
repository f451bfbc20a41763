import type { InputDifference } from "../fields/diff";
import { sortedJson } from "../fields/formats";
import { conflictOfOwners, identityKey, objectKey, onSameObject } from "../fields/resourceSpec";
import type { ResourceSpec, Failure } from "../fields/resourceSpec";
import { ADOPT, isUnknown, addTo } from "../fields/values";
import type { Props } from "../fields/values";
import { printable } from "../text/printable";
import { HandlerError, labelResource, PartialFailure } from "./messages";

/*
 * The engine deletes the old URN of a renamed or replaced resource after it has created the new one. If both are one
 * object at the server, that delete would remove what the program still declares. The engine passes neither a URN nor a
 * reason to a delete, so this record holds what the program of this run declares and keeps.
 */

/** A diff that the engine requested of a resource in this run. The engine sends members in any order. */
interface RecordedDiff {
  readonly uid: string;
  /** The key of the inputs that the program gives. */
  readonly inputs: string;
  /** The recorded outputs, in one spelling. */
  readonly olds: string;
  /** Whether the diff proves that the resource keeps its object; false while the engine may still replace it. */
  provesOwnership: boolean;
}

/** The owners of one parent's children: the label of the one of all, and that of the first of those that own one. */
interface ChildOwners {
  all?: string;
  one?: string;
}

const SAME_OBJECT =
  "is the object of another resource of this program; deleting either deletes it: remove one of the two";

const inputsKey = ({ kind }: ResourceSpec, inputs: Props): string => `${kind} ${sortedJson(inputs)}`;

/**
 * Records what the resources of one run's program declare and own, so that no delete removes it, and no two resources have
 * one object. Of an object it knows:
 *
 * - `isDeclared`: the arguments of some resource name it.
 * - `ownerOf`: the resource that has it since this run, by `reserve` (its arguments name it) or `claim` (its create made it).
 * - `keeps`: a resource names it, or has it from the runs before and is not being replaced.
 * - `isOwned`: `ownerOf` or `keeps`.
 */
export class ProgramRecord {
  /** Keys of what the inputs of the program declare: of objects, and those of `ResourceSpec.declaredKeys`. */
  private readonly declared = new Set<string>();
  /** Inputs that the program gave: a refresh has the engine compare what no program gave. */
  private readonly checked = new Set<string>();
  /** The label of the resource that has an object since this run: created it, adopts it, or names it in its inputs. */
  private readonly owners = new Map<string, string>();
  private readonly adopted = new Set<string>();
  /** By the kind of the children and the uid of the parent. */
  private readonly childOwners = new Map<string, ChildOwners>();
  /** By the uid of the object, and by what else identifies it: see `identityKey`. */
  private readonly diffsByObject = new Map<string, RecordedDiff[]>();
  private readonly diffsByInputs = new Map<string, RecordedDiff[]>();

  /**
   * Whether a create or an update of this run failed. The engine may then go on (`--continue-on-error`), and what it
   * deletes may be the old name of what was not created.
   */
  hasFailure = false;

  /** Records a resource that the program declares, and finds what it must not have in common with another one. */
  recordCheck(spec: ResourceSpec, inputs: Props): Failure[] {
    this.checked.add(inputsKey(spec, inputs));
    for (const key of spec.declaredKeys?.(inputs) ?? []) this.declared.add(key);
    // A create that overwrites takes the object over, whichever resource has made it.
    const identity = onSameObject(spec) === "takenOver" ? identityKey(spec, inputs) : undefined;
    if (identity !== undefined) this.declared.add(identity);
    const adopted = inputs[ADOPT];
    if (typeof adopted === "string") {
      this.declared.add(objectKey(spec.kind, adopted));
      this.adopted.add(objectKey(spec.kind, adopted));
    }
    return this.recordChildren(spec, inputs);
  }

  /** Records who owns children of a group. The owner of all of them conflicts with every other one. */
  private recordChildren(spec: ResourceSpec, inputs: Props): Failure[] {
    const { owns } = spec;
    const { parentUid } = inputs;
    if (owns === undefined || typeof parentUid !== "string" || isUnknown(parentUid)) return [];
    const key = objectKey(owns.kind, parentUid);
    const owners = this.childOwners.get(key) ?? {};
    this.childOwners.set(key, owners);
    owners[owns.all ? "all" : "one"] ??= labelResource(spec, inputs);
    const other = owns.all ? owners.one : owners.all;
    if (other === undefined) return [];
    return [conflictOfOwners(owns, `a ${other}`)];
  }

  /**
   * Records that the engine compares a resource. One that is to be replaced gives its object up.
   *
   * @throws HandlerError where another resource of the program has taken the object in this run, or adopts it; and where this one
   *   is to adopt another object than it has
   */
  recordDiff(
    spec: ResourceSpec,
    uid: string,
    olds: Props,
    news: Props,
    difference: Pick<InputDifference, "changed" | "replaces">,
  ): void {
    const key = inputsKey(spec, news);
    if (difference.replaces.length > 0 || !this.checked.has(key)) return;
    const object = objectKey(spec.kind, uid);
    const adopted = news[ADOPT];
    if (typeof adopted === "string" && !isUnknown(adopted) && adopted !== uid) {
      const what = `${labelResource(spec, news)} has ${uid} since an earlier run, and adopt names ${printable(adopted)}`;
      throw new HandlerError(
        "PP4007",
        `${what}: remove adopt(), or give the other object a resource of its own`,
      );
    }
    if (this.owners.has(object) || (this.adopted.has(object) && adopted !== uid)) {
      throw new HandlerError("PP1103", `${labelResource(spec, news)} ${uid} ${SAME_OBJECT}`);
    }
    const compared = sortedJson(olds);
    const diff = { uid, inputs: key, olds: compared, provesOwnership: !difference.changed };
    for (const name of new Set([object, identityKey(spec, news) ?? object])) {
      addTo(this.diffsByObject, name, diff);
    }
    addTo(this.diffsByInputs, key, diff);
  }

  /** Records that a resource keeps its object and is written to. */
  recordUpdate({ kind }: ResourceSpec, uid: string): void {
    for (const diff of this.diffsByObject.get(objectKey(kind, uid)) ?? []) diff.provesOwnership = true;
  }

  /**
   * Runs the create of a resource, which has the object that its inputs name from now on, unless the create fails and leaves
   * nothing in the state. A resource with the same inputs may be itself, which the engine replaces.
   *
   * @param label What messages call the resource.
   * @throws HandlerError where another resource of the program has that object
   */
  async reserve<T>(
    spec: ResourceSpec,
    inputs: Props,
    what: string,
    label: string,
    create: () => Promise<T>,
  ): Promise<T> {
    const own = inputsKey(spec, inputs);
    const adopted = inputs[ADOPT];
    const named = typeof adopted === "string" && adopted !== "" ? objectKey(spec.kind, adopted) : undefined;
    const keys = [identityKey(spec, inputs), named].filter((key) => key !== undefined);
    for (const key of keys) {
      const other = this.owners.get(key);
      const isKept = (this.diffsByObject.get(key) ?? []).some((diff) => diff.inputs !== own);
      if (other === undefined && !isKept) continue;
      throw new HandlerError(
        "PP4009",
        `${what}: another resource of this program${other === undefined ? "" : `, ${other},`} already manages this object; remove one of the two`,
      );
    }
    for (const key of keys) this.owners.set(key, label);
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof PartialFailure)) for (const key of keys) this.owners.delete(key);
      throw error;
    }
  }

  /** Makes a resource the owner of an object; false where another one has it. */
  claim(spec: ResourceSpec, uid: string, label: string): boolean {
    const key = objectKey(spec.kind, uid);
    // The only object of its parent is reserved by the parent.
    if (spec.sharesParentUid) return true;
    if (this.owners.has(key)) return false;
    this.owners.set(key, label);
    return true;
  }

  /** The label of the resource that has an object since this run. */
  ownerOf({ kind }: ResourceSpec, uid: string): string | undefined {
    return this.owners.get(objectKey(kind, uid));
  }

  /**
   * Records that a resource was created, or has taken over what existed. It may replace one with the same inputs, whose diff
   * no longer proves that its object is kept.
   */
  recordCreate(spec: ResourceSpec, uid: string, inputs: Props): void {
    for (const diff of this.diffsByInputs.get(inputsKey(spec, inputs)) ?? []) {
      if (diff.uid !== uid) diff.provesOwnership = false;
    }
  }

  /** Whether a resource of the program declares this: an object by its key, or a key of `ResourceSpec.declaredKeys`. */
  isDeclared(key: string): boolean {
    return this.declared.has(key);
  }

  /** Whether a resource of the program owns the object with this uid; `olds` as for `keeps`. */
  isOwned(kind: string, uid: string, olds?: Props): boolean {
    return this.owners.has(objectKey(kind, uid)) || this.keeps(kind, uid, olds);
  }

  /**
   * Whether a resource of the program declares the object with this uid, or keeps it from the runs before. `olds` are the
   * recorded outputs of the resource that is being deleted: its own diff proves nothing, since the engine may have decided to
   * replace it.
   */
  keeps(kind: string, uid: string, olds?: Props): boolean {
    const key = objectKey(kind, uid);
    const own = olds && sortedJson(olds);
    const diffs = this.diffsByObject.get(key) ?? [];
    return (
      this.declared.has(key) ||
      diffs.some(({ provesOwnership, olds: compared }) => provesOwnership || compared !== own)
    );
  }
}
