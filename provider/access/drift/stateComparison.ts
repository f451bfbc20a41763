import { diffInputs } from "../../fields/diff";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { ReadingApi } from "../../fields/resourceSpec";
import { groupBy } from "../../fields/values";
import type { Props } from "../../fields/values";
import { NORMALIZED, mergeLive } from "../../fields/mergeLive";
import { specs } from "../documents/specs";
import type { Directory } from "../graph/directory";
import { topProperty, isPathWithin } from "../graph/references";
import { describeEffects, mayWiden } from "../effects";
import type { EffectContext, FieldEffect } from "../effects";
import type { ComparisonScope } from "./comparisonScope";
import type { ComparedResource, DetectedDifference, DriftNotes, ManagedResource } from "./difference";
import type { DifferenceDescriber } from "./differenceDescriber";
import type { ManagedResources } from "./managedResources";
import { recordedArguments, revealedArguments } from "./secretValues";
import { parentOf } from "../../text/uid";
import type { InventoryObject } from "../documents/inventory";

/** An object as a response of the server, which names each object that it refers to. */
function toResponse(object: InventoryObject, directory: Directory): Props {
  const named = Object.entries(object.inputs).flatMap(([key, value]): [string, Props][] => {
    const noun = /^(\w+)Uid$/.exec(key)?.[1];
    if (noun === undefined || typeof value !== "string") return [];
    return [[noun, { uid: value, name: directory.nameOf(value) ?? "" }]];
  });
  return { ...object.inputs, ...Object.fromEntries(named), uid: object.uid };
}

const childrenKey = (collection: string, parent: string): string => JSON.stringify([collection, parent]);

/** All objects, by collection and parent. */
const childrenByParent = (directory: Directory): Map<string, InventoryObject[]> =>
  groupBy(directory.all(), ({ kind, uid }) => [
    childrenKey(specs[kind]?.collection ?? "", parentOf(uid) ?? ""),
  ]);

/**
 * An API that responds from inventories, so that a kind that aggregates others reads them as it reads the server.
 * It lists the children of a parent.
 */
function createSnapshotApi(directory: Directory): ReadingApi {
  let children: ReadonlyMap<string, readonly InventoryObject[]> | undefined;
  return {
    address: (collection, uid, suffix = "") => `${collection}/${uid ?? ""}${suffix}`,
    get: () => Promise.resolve({}),
    // eslint-disable-next-line @typescript-eslint/require-await -- the form of the API
    async *list(collection, query = {}) {
      children ??= childrenByParent(directory);
      const parent = query["uidp.children_of"];
      const key = childrenKey(collection, typeof parent === "string" ? parent : "");
      for (const object of children.get(key) ?? []) yield toResponse(object, directory);
    },
  };
}

/** Reads the live arguments of managed resources from inventories. */
class LiveArguments {
  private readonly api;

  constructor(private readonly directory: Directory) {
    this.api = createSnapshotApi(directory);
  }

  /** The live arguments of a resource; undefined if no inventory contains its object. */
  async read({ spec, uid, resource }: ManagedResource): Promise<Props | undefined> {
    if (aggregatedKind(spec) !== undefined) {
      if (this.directory.byUid(uid) === undefined) return undefined;
      const olds = { ...resource.outputs, ...revealedArguments(resource) };
      const response = await spec.operations?.get?.(this.api, uid, olds);
      return response && { ...(response as Props), parentUid: uid };
    }
    const live = this.directory.find(spec.kind, uid)?.inputs;
    return live && (spec.operations?.selectRelevant?.(live, resource.inputs) ?? live);
  }
}

const isIgnored = (property: string, ignored: readonly string[]): boolean =>
  ignored.some((path) => path === "*" || isPathWithin(property, path));

/** The live arguments with the recorded value of each property that has changed. */
function argumentsBefore(recorded: Props, live: Props, changes: readonly FieldEffect[]): Props {
  const changed = new Set(changes.map(({ path }) => topProperty(path)));
  const keys = [...new Set([...Object.keys(live), ...Object.keys(recorded)])];
  return Object.fromEntries(
    keys
      .map((key) => [key, changed.has(key) ? recorded[key] : live[key]] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** What the comparison of states with the live organisation uses. */
interface StateComparisonContext {
  readonly directory: Directory;
  readonly scope: ComparisonScope;
  readonly describer: DifferenceDescriber;
  readonly effects: EffectContext;
  readonly notes: DriftNotes;
}

/** Compares what states record with the live organisation: what changed, what was deleted, what two resources manage. */
export class StateComparison {
  readonly differences: DetectedDifference[] = [];
  readonly compared: ComparedResource[] = [];
  private readonly liveArguments: LiveArguments;

  constructor(
    private readonly context: StateComparisonContext,
    private readonly managed: ManagedResources,
  ) {
    this.liveArguments = new LiveArguments(context.directory);
  }

  async run(): Promise<void> {
    const { scope, describer } = this.context;
    for (const [first, ...others] of this.managed.conflictingOwners()) {
      if (first === undefined || !scope.includes(first.spec, first.uid)) continue;
      this.differences.push(describer.describeConflict([first, ...others]));
    }
    for (const managed of this.managed.all) {
      if (scope.includes(managed.spec, managed.uid)) await this.compare(managed);
    }
  }

  private async compare(managed: ManagedResource): Promise<void> {
    const { scope, describer, notes } = this.context;
    // A collection that could not be listed must not look as if it were empty.
    const isCollection = aggregatedKind(managed.spec) !== undefined;
    if (isCollection && !scope.checkCoverage(managed)) return;
    const live = await this.liveArguments.read(managed);
    if (live === undefined) {
      if (!scope.checkCoverage(managed)) return;
      const before = managed.resource.inputs;
      this.compared.push({ managed, before });
      this.differences.push(describer.describeDeleted(managed, before));
      return;
    }
    this.compareArguments(managed, recordedArguments(managed, live, notes), live);
  }

  private compareArguments(managed: ManagedResource, recorded: Props, live: Props): void {
    const { spec, resource } = managed;
    const normalized = resource.outputs[NORMALIZED];
    const olds = normalized === undefined ? recorded : { ...recorded, [NORMALIZED]: normalized };
    const { inputs: after } = mergeLive(spec, olds, live);
    const changes = [
      ...(diffInputs(spec, recorded, after).changed
        ? this.describeUnignoredEffects(managed, recorded, after)
        : []),
      ...this.describeMovedEnds(managed),
    ];
    if (changes.length === 0) {
      this.compared.push({ managed, before: after, after });
      return;
    }
    const before = argumentsBefore(recorded, after, changes);
    this.compared.push({ managed, before, after });
    this.differences.push(this.context.describer.describeChanged(managed, changes, { before, after }));
  }

  /**
   * What the server set and decides access, where that gives more than the state records: the end of a token that no argument
   * sets. What has ended is no drift.
   */
  private describeMovedEnds({ spec, uid, resource }: ManagedResource): FieldEffect[] {
    const outputs = Object.entries(spec.outputs ?? {}).filter(([, { access }]) => access !== undefined);
    const now = this.context.directory.find(spec.kind, uid)?.details;
    if (outputs.length === 0 || now === undefined) return [];
    const ends = { ...spec, fields: Object.fromEntries(outputs), oneOfs: [] };
    return describeEffects(ends, resource.outputs, now, this.context.effects).filter(({ direction }) =>
      mayWiden(direction),
    );
  }

  /** The changes that the program does not ignore, and what may give more access: no program may hide that. */
  private describeUnignoredEffects(
    { spec, resource }: ManagedResource,
    recorded: Props,
    after: Props,
  ): FieldEffect[] {
    const effects = { ...this.context.effects, secretPaths: resource.secretPaths };
    return describeEffects(spec, recorded, after, effects).filter(
      ({ path, direction }) => mayWiden(direction) || !isIgnored(path, resource.ignoreChanges),
    );
  }
}
