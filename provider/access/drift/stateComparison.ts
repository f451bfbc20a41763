import { diffInputs } from "../../fields/diff";
import { givenTimeNanos } from "../../fields/formats";
import { objectKey, aggregatedKind } from "../../fields/resourceSpec";
import { NORMALIZED, mergeLive } from "../../fields/mergeLive";
import type { ResourceSpec, ReadingApi } from "../../fields/resourceSpec";
import { addTo, isObject, groupBy, getOrCompute, once } from "../../fields/values";
import type { Props } from "../../fields/values";
import { kinds } from "../../kinds";
import { printable } from "../../text/printable";
import { parentOf, rootOf } from "../../text/uid";
import { urnParts } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import { isWithin } from "../documents/inventory";
import type { InventoryObject } from "../documents/inventory";
import { parseKind } from "../documents/reviewable";
import { specs } from "../documents/specs";
import { describeInterrupted, listManaged } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";
import { describeEffects, mayWiden } from "../effects";
import type { Direction, FieldEffect } from "../effects";
import { lacksRequiredMember } from "../graph/describedFields";
import type { Directory } from "../graph/directory";
import { topProperty, isPathWithin, listReferences } from "../graph/inputLeaves";
import type { DifferenceKind } from "../review/finding";
import type { DriftRequest, DriftRun } from "./drift";
import { recordedArguments, revealedArguments } from "./differenceDescriber";

/** What a drift run could not compare, a line each. */
export class DriftNotes {
  /** Lines that make the run incomplete. */
  readonly incomplete = new Set<string>();
  /** Lines that only inform. */
  readonly unresolved = new Set<string>();
}

/** A resource that a state manages. */
export interface ManagedResource {
  readonly spec: ResourceSpec;
  readonly uid: string;
  readonly resource: RecordedResource;
  /** `project/stack` */
  readonly stack: string;
  /** The stack's own name. */
  readonly stackName: string;
}

/** A managed resource beside its live object; without `after` the object no longer exists. */
export interface ComparedResource {
  readonly managed: ManagedResource;
  /** The recorded arguments, and live values in place of what is not compared. */
  readonly before: Props;
  /** The live arguments in the program's terms. */
  readonly after?: Props;
}

/** One object that differs between the programs and the live organisation. */
export interface DetectedDifference {
  readonly what: DifferenceKind;
  readonly spec: ResourceSpec;
  readonly uid: string;
  readonly name: string;
  readonly direction: Direction;
  readonly message: string;
  readonly advice?: string;
  readonly details: readonly string[];
  readonly fields: readonly FieldEffect[];
  /** The resource that the difference is about; for an object of several resources the first of them. */
  readonly managed?: ManagedResource;
  /** The arguments on both sides, where the object has them there. */
  readonly before?: Props;
  readonly after?: Props;
  /** Whether it may have been there before all that the stacks manage: then nobody can say that it came. */
  readonly mayBeOlder?: boolean;
  /** RFC 3339: the time of the change, where the API has it. */
  readonly at?: string;
  readonly revert?: string;
  readonly adopt?: string;
}

/** Everything that the states of a run record. */
export class ManagedResources {
  readonly all: ManagedResource[] = [];
  /** By key of what a state is about to delete: what becomes of it. */
  private readonly pending = new Map<string, string>();
  private readonly byKey = new Map<string, ManagedResource[]>();
  /** Resources that own all objects of a kind at a group, by that kind and group. */
  private readonly collections = new Map<string, ManagedResource>();

  constructor(states: readonly StateExport[], notes: DriftNotes) {
    for (const state of states) this.readState(state, notes);
  }

  /** What a stack has given up, and its next update deletes or leaves at the server, in words. */
  describePending(kind: string, uid: string): string | undefined {
    return this.pending.get(objectKey(kind, uid));
  }

  /** The resources that manage one object. One that a program only reads is not its own, nor is one that it gave up. */
  ownersOf(kind: string, uid: string): readonly ManagedResource[] {
    return this.byKey.get(objectKey(kind, uid)) ?? [];
  }

  /** The resource that owns all objects of this kind at the parent of an object. */
  collectionOwner(kind: string, uid: string): ManagedResource | undefined {
    return this.collections.get(objectKey(kind, parentOf(uid) ?? ""));
  }

  /** What other resources manage of the objects that a resource owns together. */
  partsOf(owner: ManagedResource): readonly ManagedResource[] {
    return this.all.filter(({ spec, uid }) => this.collectionOwner(spec.kind, uid) === owner);
  }

  /** The resources of objects that more than one resource manages. */
  conflictingOwners(): (readonly ManagedResource[])[] {
    const shared = [...this.byKey.values()].filter(({ length }) => length > 1);
    const inCollections = this.all.flatMap((managed) => {
      const owner = this.collectionOwner(managed.spec.kind, managed.uid);
      return owner === undefined ? [] : [[managed, owner]];
    });
    return [...shared, ...inCollections];
  }

  private readState(state: StateExport, notes: DriftNotes): void {
    const stack = state.stack ?? "an empty stack";
    if (state.pendingOperations > 0) {
      notes.unresolved.add(
        `${stack}: ${describeInterrupted(state)}; what it created may be shown as unmanaged until then`,
      );
    }
    for (const { kind, id, retainOnDelete, external } of state.pendingDeletes) {
      const isLeft = retainOnDelete || external;
      const next = `its next pulumi up ${isLeft ? "leaves it at the server" : "deletes it"}`;
      if (kind !== undefined && id !== undefined)
        this.pending.set(objectKey(kind, id), `${stack} has given it up: ${next}`);
    }
    for (const { urn, type, notReviewed, external } of state.resources) {
      if (notReviewed !== undefined && !external && parseKind(type) !== undefined)
        notes.incomplete.add(`${stack}: not compared, since ${notReviewed}: ${urn}`);
    }
    for (const resource of listManaged(state)) {
      const { kind, id: uid, urn, isUndeclared } = resource;
      if (isUndeclared === true) {
        notes.unresolved.add(
          `${stack}: ${urn} came by pulumi import, and no program has declared it yet: it is not managed`,
        );
        continue;
      }
      const spec = specs[kind];
      if (spec !== undefined) this.add({ spec, uid, resource, stack, stackName: urnParts(urn).stack });
    }
  }

  private add(managed: ManagedResource): void {
    const { spec, uid } = managed;
    this.all.push(managed);
    addTo(this.byKey, objectKey(spec.kind, uid), managed);
    const aggregated = aggregatedKind(spec);
    if (aggregated !== undefined) this.collections.set(objectKey(aggregated, uid), managed);
  }
}

/** What a run compares: the groups and kinds of its inventories, and the uids that it is restricted to. */
export class ComparisonScope {
  constructor(
    private readonly request: Pick<DriftRequest, "changed" | "isPartial">,
    private readonly directory: Directory,
    private readonly notes: DriftNotes,
  ) {}

  /** Whether the run compares everything below its roots. */
  get isComplete(): boolean {
    return this.request.changed === undefined && this.request.isPartial !== true;
  }

  isRoot(uid: string): boolean {
    return this.directory.inventories.some(({ root }) => root === uid);
  }

  /** Whether a run that is restricted to some objects compares this one. */
  includes(spec: ResourceSpec, uid: string): boolean {
    return this.request.changed?.concerns(spec.kind, uid) ?? true;
  }

  /** Whether an inventory covers an object, so that a missing one was deleted. Adds a note where none does. */
  checkCoverage({ spec, uid, stack }: ManagedResource): boolean {
    const kind = aggregatedKind(spec) ?? spec.kind;
    const inventory = this.directory.inventoryOf(uid);
    if (inventory === undefined) {
      const root = rootOf(uid);
      const note = `${stack}: resources below ${root} were not compared: no inventory covers them`;
      if (this.request.isPartial !== true) this.notes.incomplete.add(note);
      else
        this.notes.unresolved.add(`${note}, so nobody judged what the roles and identities there give here`);
      return false;
    }
    // The refusal is an entry of its own.
    if (inventory.refused.some((refused) => refused.kind === kind)) return false;
    if (this.directory.lists(kind, uid)) return true;
    this.notes.incomplete.add(
      `${spec.noun}: not compared: the inventory contains no ${kind}: create it with --types +${kind}`,
    );
    return false;
  }
}

/** The part of a verified event that a run needs. */
export interface ChangeEvent {
  /** `iam.roles.updated` */
  readonly name: string;
  /** The uid of the resource that the event is about. */
  readonly subject: string;
  readonly time?: string;
  readonly actor?: unknown;
}

/** The resources that a burst of events names. */
export class ChangedResources {
  /** By kind: the uids of objects. */
  readonly uids = new Map<string, Set<string>>();
  /** Who changed an object last, by uid, in words. */
  readonly actors = new Map<string, string>();
  /** By kind and uid: parents any of whose children may have changed. */
  private readonly parents = new Set<string>();
  /** What the changed objects lie in. */
  private readonly around = new Set<string>();

  get isEmpty(): boolean {
    return this.around.size === 0;
  }

  /** Adds an event; returns whether it is about a kind of this package. */
  add({ name, subject, time, actor }: ChangeEvent): boolean {
    const spec = kinds
      .map((kind) => kind.spec)
      .find(({ eventPrefix }) => eventPrefix !== undefined && name.startsWith(`${eventPrefix}.`));
    if (!spec) return false;
    const isBatch = name.endsWith(".batch");
    if (isBatch) this.parents.add(objectKey(spec.kind, subject));
    else getOrCompute(this.uids, spec.kind, () => new Set()).add(subject);
    this.around.add(isBatch ? subject : (parentOf(subject) ?? subject));
    const who = isObject(actor) && typeof actor["subject"] === "string" ? actor["subject"] : "";
    if (who !== "") {
      this.actors.set(subject, printable(`by ${who}${time === undefined ? "" : ` at ${time}`}`, 300));
    }
    return true;
  }

  /** Adds what later events name. */
  addAll({ uids, actors, parents, around }: ChangedResources): void {
    for (const [kind, all] of uids)
      for (const uid of all) getOrCompute(this.uids, kind, () => new Set()).add(uid);
    for (const [uid, who] of actors) this.actors.set(uid, who);
    for (const key of parents) this.parents.add(key);
    for (const uid of around) this.around.add(uid);
  }

  /** Whether events may be about an object: one that they name, or that is a part, a child or a collection of that. */
  concerns(kind: string, uid: string): boolean {
    const isCollection = aggregatedKind(specs[kind] ?? {}) !== undefined;
    return (
      [...this.uids.values()].some((uids) => uids.has(uid)) ||
      this.parents.has(objectKey(kind, parentOf(uid) ?? "")) ||
      (isCollection && this.around.has(uid))
    );
  }

  /** Whether they may be about something below a group. */
  concernsBelow(root: string): boolean {
    return [...this.around].some((uid) => isWithin(uid, root));
  }
}

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

/**
 * An API that responds from inventories, so that a kind that aggregates others reads them as it reads the server.
 * It lists the children of a parent.
 */
function createSnapshotApi(directory: Directory): ReadingApi {
  const children = once(() =>
    groupBy(directory.all(), ({ kind, uid }) => [
      childrenKey(specs[kind]?.collection ?? "", parentOf(uid) ?? ""),
    ]),
  );
  return {
    addressAdvice: "take the inventory again",
    resourcePath: (collection, uid, suffix = "") => `${collection}/${uid ?? ""}${suffix}`,
    get: () => Promise.resolve({}),
    // eslint-disable-next-line @typescript-eslint/require-await -- the form of the API
    async *list(collection, query = {}) {
      const parent = query["uidp.children_of"];
      const key = childrenKey(collection, typeof parent === "string" ? parent : "");
      for (const object of children().get(key) ?? []) yield toResponse(object, directory);
    },
  };
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

/** Compares what states record with the live organisation: what changed, what was deleted, what two resources manage. */
export class StateComparison {
  readonly differences: DetectedDifference[] = [];
  readonly compared: ComparedResource[] = [];
  private readonly api: ReadingApi;

  constructor(private readonly context: DriftRun) {
    this.api = createSnapshotApi(context.directory);
  }

  async run(): Promise<void> {
    const { scope, describer, managed: recorded } = this.context;
    for (const [first, ...others] of recorded.conflictingOwners()) {
      if (first === undefined || !scope.includes(first.spec, first.uid)) continue;
      this.differences.push(describer.describeConflict([first, ...others]));
    }
    for (const managed of recorded.all) {
      if (scope.includes(managed.spec, managed.uid)) await this.compare(managed);
    }
  }

  private async compare(managed: ManagedResource): Promise<void> {
    const { scope, describer, notes } = this.context;
    // A collection that could not be listed must not look as if it were empty.
    const isCollection = aggregatedKind(managed.spec) !== undefined;
    if (isCollection && !scope.checkCoverage(managed)) return;
    const live = await this.readLive(managed);
    if (live === undefined) {
      if (!scope.checkCoverage(managed)) return;
      const before = managed.resource.inputs;
      this.compared.push({ managed, before });
      this.differences.push(describer.describeDeleted(managed.spec, managed.uid, before, managed));
      return;
    }
    this.compareArguments(managed, recordedArguments(managed, live, notes), live);
  }

  /** The live arguments of a resource; undefined if no inventory contains its object. */
  private async readLive({ spec, uid, resource }: ManagedResource): Promise<Props | undefined> {
    const { directory } = this.context;
    if (aggregatedKind(spec) !== undefined) {
      if (directory.byUid(uid) === undefined) return undefined;
      const olds = { ...resource.outputs, ...revealedArguments(resource) };
      const response = await spec.operations?.get?.(this.api, uid, olds);
      return response && { ...(response as Props), parentUid: uid };
    }
    const live = directory.find(spec.kind, uid)?.inputs;
    return live && (spec.operations?.selectRelevant?.(live, resource.inputs) ?? live);
  }

  private compareArguments(managed: ManagedResource, recorded: Props, live: Props): void {
    const { spec, resource } = managed;
    const olds = { ...recorded, [NORMALIZED]: resource.outputs[NORMALIZED] };
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
    const sides = { before, after };
    const difference = this.context.describer.describeChanged(spec, managed.uid, changes, sides, managed);
    const parts = aggregatedKind(spec) === undefined ? [] : this.context.managed.partsOf(managed);
    this.differences.push(parts.length === 0 ? difference : keepParts(difference, parts));
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

/** To restore what owns all objects of a place deletes those that another resource declares there. */
const keepParts = (
  difference: DetectedDifference,
  parts: readonly ManagedResource[],
): DetectedDifference => ({
  ...difference,
  revert: undefined,
  advice: `do not restore it before each is in one program: that deletes what ${parts.length === 1 ? "the other one declares" : "others declare"}`,
  details: [
    ...difference.details,
    ...parts.map(({ stack, resource }) => `${stack} declares one there: ${resource.urn}`),
  ],
});

/** Whether no program can declare an object: the platform's own, the organisation itself, a person who signed in. */
export function isUndeclarable(spec: ResourceSpec, object: InventoryObject, scope: ComparisonScope): boolean {
  const { uid, inputs, builtIn } = object;
  return (
    builtIn === true || (!spec.sharesParentUid && scope.isRoot(uid)) || lacksRequiredMember(spec, inputs)
  );
}

/**
 * When the oldest object of each organisation was made that a stack manages, in nanoseconds. Of one that is missing or was
 * not listed its state tells when it was recorded; one of which nothing tells is left out.
 */
function findFirstManaged({ directory, managed }: DriftRun): ReadonlyMap<string, bigint> {
  const first = new Map<string, bigint>();
  for (const { spec, uid, resource } of managed.all) {
    const live = directory.find(spec.kind, uid);
    const made = givenTimeNanos(live?.createTime) ?? givenTimeNanos(resource.created);
    const known = first.get(rootOf(uid));
    if (made !== undefined && (known === undefined || made < known)) first.set(rootOf(uid), made);
  }
  return first;
}

/**
 * Finds the objects of the live organisation that no program declares.
 *
 * @param isCandidate whether an object may be unmanaged at all.
 * @param isNew whether objects are compared with an older inventory.
 * @param isLeftAlone whether what owns all objects of a kind at a group has arguments that leave out this one.
 */
export function findUnmanaged(
  run: DriftRun,
  isCandidate: (object: InventoryObject) => boolean,
  isNew: boolean,
  isLeftAlone: (object: InventoryObject, owner: ManagedResource) => boolean = () => false,
): DetectedDifference[] {
  const { directory, scope, describer, managed } = run;
  const objects = [...directory.all()];
  const referred = new Set(objects.flatMap(({ kind, inputs }) => listReferences(specs[kind], inputs)));
  const first = findFirstManaged(run);
  /** Whether an object may have been there before all that the stacks manage in its organisation. */
  const mayBeOlder = ({ uid, createTime }: InventoryObject): boolean => {
    const [made, oldest] = [givenTimeNanos(createTime), first.get(rootOf(uid))];
    return made === undefined || oldest === undefined || made < oldest;
  };
  return objects.flatMap((object) => {
    const { kind, uid } = object;
    const spec = specs[kind];
    if (spec === undefined || !isCandidate(object) || !scope.includes(spec, uid)) return [];
    const owner = managed.collectionOwner(kind, uid);
    if (owner !== undefined && !isLeftAlone(object, owner)) return [];
    if (isUndeclarable(spec, object, scope)) return [];
    const pending = managed.describePending(kind, uid);
    return describer.describeUnmanaged(spec, object, {
      givesAccess: spec.grantsAccess === "always" || (spec.grantsAccess === "bound" && referred.has(uid)),
      isNew,
      // What a stack has given up it once managed.
      mayBeOlder: !isNew && pending === undefined && mayBeOlder(object),
      pending,
      owner,
    });
  });
}
