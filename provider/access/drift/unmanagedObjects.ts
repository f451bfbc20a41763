import { parentOf } from "../../text/uid";
import { isSet } from "../../fields/equal";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { compareTexts, groupBy } from "../../fields/values";
import type { Props } from "../../fields/values";
import { specs } from "../documents/specs";
import type { Directory } from "../graph/directory";
import type { InventoryObject } from "../documents/inventory";
import type { ComparisonScope } from "./comparisonScope";
import type { DetectedDifference } from "./difference";
import type { DifferenceDescriber } from "./differenceDescriber";
import type { ManagedResources } from "./managedResources";

/** Whether no program can declare an object: the platform's own, the organisation itself, a person who signed in. */
export function isUndeclarable(spec: ResourceSpec, object: InventoryObject, scope: ComparisonScope): boolean {
  const { uid, inputs, builtIn } = object;
  if (builtIn || (!spec.sharesParentUid && scope.isRoot(uid))) return true;
  return (spec.oneOfs ?? []).some(
    ({ members, required }) =>
      required &&
      members.every((member) => {
        const field = spec.fields[member];
        return field === undefined || !isSet(field, inputs[member]);
      }),
  );
}

/** Identifies an object by its arguments without the parent: a moved object keeps them. */
function textWithoutParent(kind: string, inputs: Props): string {
  const entries = Object.entries(inputs).filter(([name]) => name !== "parentUid");
  return JSON.stringify([kind, entries.sort(([a], [b]) => compareTexts(a, b))]);
}

/** Finds the objects of the live organisation that no program declares. */
export class UnmanagedObjects {
  /** The uids that objects refer to, found once. */
  private referredUids: ReadonlySet<string> | undefined;

  constructor(
    private readonly directory: Directory,
    private readonly scope: ComparisonScope,
    private readonly describer: DifferenceDescriber,
    private readonly managed: ManagedResources,
  ) {}

  /**
   * @param isCandidate whether an object may be unmanaged at all.
   * @param deleted the differences of objects that no longer exist, which may have been moved.
   * @param isNew whether objects are compared with an older inventory.
   */
  find(
    isCandidate: (object: InventoryObject) => boolean,
    deleted: readonly DetectedDifference[],
    isNew: boolean,
  ): DetectedDifference[] {
    const moved = deletedByText(deleted);
    const differences: DetectedDifference[] = [];
    for (const object of this.directory.all()) {
      const spec = specs[object.kind];
      if (spec === undefined || !isCandidate(object) || !this.scope.includes(spec, object.uid)) continue;
      if (this.managed.collectionOwner(object.kind, object.uid) !== undefined) continue;
      if (isUndeclarable(spec, object, this.scope)) continue;
      const givesAccess =
        spec.grantsAccess === "always" || (spec.grantsAccess === "bound" && this.isBound(object.uid));
      const details = (moved.get(textWithoutParent(object.kind, object.inputs)) ?? []).map(
        ({ uid }) =>
          `moved from ${this.directory.pathOf(parentOf(uid) ?? "")}, where an identical object was deleted`,
      );
      differences.push(this.describer.describeUnmanaged(spec, object, { givesAccess, isNew, details }));
    }
    return differences;
  }

  private isBound(uid: string): boolean {
    this.referredUids ??= listReferredUids(this.directory);
    return this.referredUids.has(uid);
  }
}

/** Deleted objects by what they were, without their parents. */
function deletedByText(
  deleted: readonly DetectedDifference[],
): ReadonlyMap<string, readonly DetectedDifference[]> {
  return groupBy(deleted, ({ spec, managed }) => [
    managed && textWithoutParent(spec.kind, managed.resource.inputs),
  ]);
}

/** The uids that objects refer to: the subjects and roles of bindings. */
function listReferredUids(directory: Directory): Set<string> {
  const uids = new Set<string>();
  for (const { kind, inputs } of directory.all()) {
    for (const [key, field] of Object.entries(specs[kind]?.fields ?? {})) {
      const value = inputs[key];
      if (!field.path && field.type === "string" && field.format === "uid" && typeof value === "string") {
        uids.add(value);
      }
    }
  }
  return uids;
}
