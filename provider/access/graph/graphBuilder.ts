import { equal } from "../../fields/equal";
import { containsSecret, referredKindOf } from "../../fields/fieldSpec";
import { inputsOfProgram, isRefreshed } from "../../fields/refreshed";
import { mergeLive } from "../../fields/mergeLive";
import { applyCreate, applyUpdate } from "../../fields/patch";
import {
  identifyingInputs,
  identityKey,
  aggregatedKind,
  createOnlyOutputs,
  objectKey,
  onSameObject,
} from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import {
  containsUnknown,
  isObject,
  isUnknown,
  SECRET_MASK,
  ADOPT,
  UNCONFIRMED,
  groupBy,
  addTo,
  ownMember,
} from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { memberPath } from "../../fields/walk";
import { sortedJson } from "../../fields/formats";
import { isUid } from "../../text/uid";
import { sha256 } from "../documents/digest";
import {
  ignoreFilter,
  isManaged,
  labelledGrantsIn,
  namesOfUnmanaged,
} from "../../kinds/groupAccess/readBindings";
import { findForeignProviders, providerUrn, urnParts, withForeignProvider } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import type { Inventory } from "../documents/inventory";
import { labelOfUrn } from "../documents/jsonText";
import { decidedOp, isRest } from "../documents/preview";
import type { Op, PreviewStep } from "../documents/preview";
import { parseKind } from "../documents/reviewable";
import { specs } from "../documents/specs";
import type { StateExport } from "../documents/stateExport";
import { PatternComparer, anchored } from "../trust/patternComparer";
import { accessKinds, bindingsOfOwners, isBindingOf } from "./accessKinds";
import { graphOf } from "./resolveGrants";
import {
  entityKey,
  toEntity,
  LiveObjects,
  ResourceKeys,
  isManagedKind,
  recordedUid,
  saidByProgram,
  uidAfter,
  withInputs,
} from "./entities";
import { compositeKey } from "./entityKeys";
import type { LiveState } from "./entities";
import type { ConcealedValue, Entity, AccessGraph, Assumption } from "./model";
import { leavesIn, mapReferences, topProperty } from "./inputLeaves";
import type { Leaf } from "./inputLeaves";
import { ServerRemovals } from "./serverRemovals";
import { findReplacedOwners, findSecondOwners, findSecondProcess, findTakenByOthers } from "./unforeseen";
import { isUnread, reasonOf, reasonWords, unreadAt } from "./unread";
import type { UnreadValue } from "./unread";
import { listFirst } from "../../text/plain";

/** What a preview does to one resource: all steps of its URN, taken together. */
export interface JoinedStep {
  readonly urn: string;
  readonly op: Op;
  readonly before?: RecordedResource;
  readonly after?: RecordedResource;
  /** What the stack records, where the preview has refreshed it: `before` is then what the server has. */
  readonly unrefreshed?: RecordedResource;
  /** What is secret after the change and was not before: `after` has it as it was. */
  readonly concealed?: readonly ConcealedValue[];
  /** A create that writes all of the object, over what the server has. */
  readonly isOverwriting?: true;
  /** It adopts the object of a resource that the change deletes: the run refuses that where the program declares it otherwise. */
  readonly isAdopting?: true;
  /** The paths that the engine found to differ, those of secrets too. */
  readonly differing?: readonly string[];
}

/** A provider that the engine calls unchanged, and whose inputs name another plugin: the engine has asked the new plugin for that. */
function isOtherProvider({ op, before, after }: JoinedStep): boolean {
  if (op !== "same" || before?.plugin === undefined || after?.plugin === undefined) return false;
  const [was, is] = [before.plugin, after.plugin];
  return (
    before.type.startsWith("pulumi:providers:") &&
    (was.version !== is.version ||
      was.isPublished !== is.isPublished ||
      (!is.isPublished && before.inputsDigest !== after.inputsDigest))
  );
}

/** A resource of this package that the engine calls unchanged, and that another provider manages from now on, which nobody reviews. */
function changesManager({ op, before, after }: JoinedStep): boolean {
  if (op !== "same" || before === undefined || after === undefined || parseKind(after.type) === undefined)
    return false;
  const managers = [before, after].map(({ notReviewed, provider }) =>
    notReviewed === undefined ? undefined : providerUrn(provider),
  );
  return managers[0] !== managers[1];
}

/** Steps with what the providers of all of them say of the plugins that manage resources. */
function judgeProviders(steps: readonly JoinedStep[]): JoinedStep[] {
  const foreign = findForeignProviders(
    steps.flatMap(({ before, after }) => [before, after].filter((side) => side !== undefined)),
  );
  const judge = (side: RecordedResource | undefined): RecordedResource | undefined =>
    side && withForeignProvider(side, foreign);
  return steps.map((step) => {
    const judged = { ...step, before: judge(step.before), after: judge(step.after) };
    return isOtherProvider(judged) || changesManager(judged) ? { ...judged, op: "update" } : judged;
  });
}

/**
 * One step for each URN, from those of a preview, and one for each rest of an earlier replacement. After a refresh the later step
 * has the live values.
 */
export function joinSteps(
  shown: readonly PreviewStep[],
  state: Pick<StateExport, "resources"> | undefined,
): JoinedStep[] {
  const steps = new Map<string, JoinedStep>();
  for (const resource of state?.resources ?? []) {
    steps.set(resource.urn, { urn: resource.urn, op: "same", before: resource, after: resource });
  }
  const rests = shown.filter(isRest).map(({ urn, before }): JoinedStep => ({ urn, op: "delete", before }));
  for (const each of shown) {
    const { op: operation, urn, after, differing } = each;
    const op = decidedOp(each);
    if (op === undefined) continue;
    // What this run replaces is marked as a rest is.
    const before = each.before && { ...each.before, pendingDelete: false };
    const earlier = steps.get(urn);
    const unrefreshed = operation === "refresh" ? before : earlier?.unrefreshed;
    steps.set(urn, {
      urn,
      op,
      // Deleted by hand, and made again: there is nothing before.
      before: op === "create" ? undefined : (before ?? earlier?.before),
      after: op === "delete" ? undefined : after,
      differing,
      unrefreshed,
    });
  }
  // A urn leads to the last one.
  return revealConcealed(judgeProviders([...rests, ...steps.values()]).flatMap(splitReplacementByRead));
}

/** What is replaced by an object that is only read goes: the other object is there already, and nothing of it changes. */
function splitReplacementByRead(step: JoinedStep): JoinedStep[] {
  const { op, before, after } = step;
  if (after?.external !== true || before?.external !== false) return [step];
  // What is only read from now on under its own uid stays.
  if (op !== "replace" && (op !== "read" || before.id === after.id)) return [step];
  const gone: JoinedStep = { ...step, op: "delete", after: undefined };
  return [gone, { ...step, op: "read", before: undefined }];
}

/**
 * Whether nobody knows what a property is after a change: it is a secret or not known yet, or the update makes a secret of
 * it, which may be another value than the one that stands in its place.
 */
export function isHiddenProperty({ inputs, concealed = [] }: Entity, property: string): boolean {
  const value = inputs[property];
  const mayDiffer = concealed.some((each) => each.property === property && !each.isUnchanged);
  return (
    mayDiffer || (value !== undefined && (value === SECRET_MASK || isUnread(value) || containsUnknown(value)))
  );
}

/** The hidden values of a resource by path, without those that are always secret. */
type HiddenValues = ReadonlyMap<string, Leaf>;

function hiddenValues({ kind, inputs, secretPaths }: RecordedResource): HiddenValues {
  if (secretPaths.length === 0) return new Map();
  const secret = new Set(secretPaths);
  const hidden = leavesIn(specs[kind ?? ""], inputs).filter(
    ({ value, path, field }) => value === SECRET_MASK && secret.has(path) && field.secret !== true,
  );
  return new Map(hidden.map((leaf) => [leaf.path, leaf]));
}

const isEmpty = (value: Json | undefined): boolean =>
  (value ?? "") === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);

/** Whether a value is as another one, but for what is hidden in it and set in the other one. */
function isAsOther(
  value: Json | undefined,
  other: Json | undefined,
  path: string,
  hidden: HiddenValues,
): boolean {
  if (hidden.has(path)) return !isEmpty(other);
  // Items have no names: a place tells which item it is only if all that is shown is in its place.
  if (Array.isArray(value) && Array.isArray(other)) {
    return (
      value.length === other.length &&
      value.every((item, i) => isAsOther(item, other[i], `${path}[${i}]`, hidden))
    );
  }
  if (!isObject(value) || !isObject(other)) return value === other;
  return [...new Set([...Object.keys(value), ...Object.keys(other)])].every((key) =>
    isAsOther(ownMember(value, key), ownMember(other, key), memberPath(path, key), hidden),
  );
}

/**
 * A side of a change with the properties of the other side in the place of those that differ in hidden values alone, and the
 * leaves of these. All of them decide access, and the other side shows all of such a property.
 *
 * @param replaced the uids of what goes: a reference to it cannot stay as it is.
 */
function revealBy(
  side: RecordedResource,
  other: RecordedResource,
  replaced: ReadonlySet<string>,
): { readonly resource: RecordedResource; readonly leaves: readonly Leaf[] } {
  const hidden = hiddenValues(side);
  if (hidden.size === 0 || side.kind !== other.kind) return { resource: side, leaves: [] };
  const isOpen = (value: Json | undefined): boolean =>
    typeof value === "string" && (isUnknown(value) || replaced.has(value));
  const unshown = new Set(
    [
      ...hiddenValues(other).values(),
      ...leavesIn(specs[other.kind ?? ""], other.inputs).filter(({ value }) => isOpen(value)),
    ].map(({ property }) => property),
  );
  const shown = [...groupBy(hidden.values(), ({ property }) => [property])].filter(
    ([property, leaves]) =>
      !unshown.has(property) &&
      leaves.every(({ decidesAccess }) => decidesAccess) &&
      isAsOther(side.inputs[property], other.inputs[property], property, hidden),
  );
  const inputs = Object.fromEntries(shown.map(([property]) => [property, other.inputs[property]]));
  return {
    resource: { ...side, inputs: { ...side.inputs, ...inputs } },
    leaves: shown.flatMap(([, leaves]) => leaves),
  };
}

/**
 * Takes a value that an update makes secret for the one that it was, where nothing else of its property changes, and names
 * it: the finding that it cannot be judged stands for all that it may change. An update changes nothing of what the engine
 * calls unchanged, so there both sides show what one of them shows.
 */
function revealConcealed(steps: readonly JoinedStep[]): JoinedStep[] {
  const replaced = new Set(
    steps.flatMap(({ op, before }) =>
      (op === "delete" || op === "replace") && before?.id !== undefined ? [before.id] : [],
    ),
  );
  return steps.map((step): JoinedStep => {
    const { op, before, after } = step;
    if (before === undefined || after === undefined || (op !== "same" && op !== "update")) return step;
    const isUnchanged = op === "same";
    const { resource, leaves } = revealBy(after, before, replaced);
    const concealed = leaves.map(({ path, property }): ConcealedValue => ({ path, property, isUnchanged }));
    return {
      ...step,
      before: isUnchanged ? revealBy(before, after, replaced).resource : before,
      after: resource,
      ...(concealed.length === 0 ? {} : { concealed }),
    };
  });
}

/** What happens to one resource; one of another package has no entities. */
export interface StepChange {
  readonly step: JoinedStep;
  /** The registry key; the type token of a resource of another package. */
  readonly kind: string;
  /** Absent for a create. */
  readonly before?: Entity;
  /** Absent for a delete. */
  readonly after?: Entity;
  /** What the stack records, where `before` is of the server. */
  readonly recorded?: Entity;
  /** What the program declares, where `after` is of the server. */
  readonly declared?: Entity;
  /** What was there before stays at the server, deleted or replaced by the program as it may be. */
  readonly isLeftOnServer?: true;
  /** It stays since the server refuses to delete it: the keys of what stays and refers to it. */
  readonly refusedBy?: ReadonlySet<string>;
  /** No inventory lists it: what was there before is what the stack records, and may differ from the server. */
  readonly isRecordOnly?: true;
  /** The stack records it, and the server does not have it: it was deleted otherwise. */
  readonly isMissing?: true;
  /** The uid that the stack records is that of an object of another kind. */
  readonly isOfOtherKind?: true;
  /** Why the review cannot judge what it does; such a change has no entities. */
  readonly notReviewed?: string;
  /** The version of its package, where it is known and published. */
  readonly packageVersion?: string | undefined;
}

export interface AccessGraphs {
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  readonly changes: readonly StepChange[];
  /** References that could not be resolved, a line each. */
  readonly unresolved: readonly string[];
  /** Why nobody can say what the change leaves at the server, a line each. */
  readonly problems: readonly string[];
}

interface EntityPair {
  readonly before?: Entity;
  readonly after?: Entity;
}

/** What is known of one resource: by the stack, by the program, and by the live organisation. */
interface ResourceSides {
  readonly recorded: Entity | undefined;
  readonly declared: Entity | undefined;
  readonly state: LiveState;
}

/** An object that only a program describes: it may claim anything of what it only reads. */
const asClaimed = (entity: Entity): Entity => ({ ...entity, external: true, claimed: true });

/** A live object with other inputs, as the program declares it. */
function asDeclared(live: Entity, declared: Entity, inputs: Props): Entity {
  const { assumptions, concealed, secretSources, candidates } = declared;
  const ofChange = { formerName: live.name, assumptions, concealed, secretSources, candidates };
  return withInputs({ ...live, ...saidByProgram(declared), ...ofChange }, inputs);
}

/** A new object. What the server takes from other arguments is compared where it was there before. */
function asCreated(declared: Entity, live: Entity | undefined): Entity {
  const spec = specs[declared.kind];
  if (live === undefined || spec === undefined) return declared;
  const { lastSeenTime, details } = live;
  return {
    ...declared,
    inputs: applyCreate(spec, declared.inputs),
    lastSeenTime,
    ...(details === undefined ? {} : { details: { ...details, ...declared.details } }),
  };
}

/** Adds an entity; one that the program manages replaces one that it reads. */
function putEntity(entities: Map<string, Entity>, entity: Entity): void {
  const other = entities.get(entity.key);
  if (other === undefined || (other.external === true && entity.external !== true)) {
    entities.set(entity.key, entity);
  } else if (entity.external !== true && entity.urn !== undefined && entity.urn !== other.urn) {
    entities.set(entity.urn, { ...entity, key: entity.urn });
  }
}

/**
 * The version of the plugin that manages a resource, where documents show the plugin: its address is the default one, before
 * the change too. Its name shows nothing, since a program can give a provider the name of one that no preview shows.
 */
function pluginVersion(
  { type, urn, provider: reference }: RecordedResource,
  byUrn: ReadonlyMap<string, JoinedStep>,
): string | undefined {
  const isProvider = type.startsWith("pulumi:providers:");
  const provider = byUrn.get(isProvider ? urn : providerUrn(reference));
  if (provider === undefined) return undefined;
  const { op } = provider;
  const [before, after] = [provider.before?.plugin, provider.after?.plugin];
  // An update plan holds only what changes of a provider.
  const shown = op === "create" ? [after] : op === "delete" ? [before] : [before, after];
  if (shown.some((plugin) => plugin?.isPublished !== true)) return undefined;
  return (op === "same" || op === "delete" ? before : after)?.version;
}

/**
 * A create that adopts an object of the inventory is read as an import: the run refuses where that differs from the program.
 * Nobody can say what is adopted by a uid that no preview shows, or in the place of another object of the resource.
 */
function withAdoption(step: JoinedStep, live: LiveObjects): JoinedStep[] {
  const { op, after } = step;
  const uid = after?.inputs[ADOPT];
  if (uid === undefined || after?.kind === undefined || (op !== "create" && op !== "replace")) return [step];
  const { kind, inputs } = after;
  if (op === "replace" || typeof uid !== "string" || !isUid(uid)) {
    const why = {
      notReviewed: "it adopts an object that the preview does not show",
      inputsDigest: sha256(sortedJson(inputs)),
    };
    const adopting = { ...after, ...why, kind: undefined, inputs: {} } as unknown as RecordedResource;
    const gone: JoinedStep[] = op === "replace" ? [{ ...step, op: "delete", after: undefined }] : [];
    return [...gone, { ...step, op: "create", before: undefined, after: adopting }];
  }
  const isThere = live.get(entityKey(kind, uid, inputs["parentUid"]))?.kind === kind;
  return isThere ? [{ ...step, op: "import", after: { ...after, importId: uid } }] : [step];
}

/**
 * A create that the server carries out on an object of the inventory is an update of it, whoever made that. A replacement that
 * does so deletes its own object beside.
 */
function withOverwritten(step: JoinedStep, live: LiveObjects): JoinedStep[] {
  const { op, before, after } = step;
  if (after === undefined || (op !== "create" && op !== "replace")) return [step];
  const identity = identityOf(after, live);
  const existing = identity === undefined ? undefined : live.overwrittenBy(identity);
  if (existing?.uid === undefined || existing.uid === before?.id) return [step];
  const { uid: id, inputs } = existing;
  const none = { outputs: {}, secretPaths: [], ignoreChanges: [], protect: false };
  const there = { ...after, ...none, id, inputs, external: true, deletedWith: undefined };
  return [
    ...(op === "replace" ? [{ ...step, op: "delete" as const, after: undefined }] : []),
    { ...step, op: "update", before: there, unrefreshed: undefined, isOverwriting: true },
  ];
}

/** Builds the access graphs before and after a change. */
class GraphBuilder {
  readonly before = new Map<string, Entity>();
  readonly after = new Map<string, Entity>();
  readonly resolver: ReferenceResolver;
  readonly changes: StepChange[] = [];
  readonly problems: readonly string[];
  private readonly keys: ResourceKeys;
  private readonly removals: ServerRemovals;
  private readonly live: LiveObjects;

  constructor(given: readonly JoinedStep[], inventory: Inventory | undefined) {
    this.live = new LiveObjects(inventory);
    const adopting = given.flatMap((step) => withAdoption(step, this.live));
    const steps = joinTakeovers(adopting, this.live).flatMap((step) => withOverwritten(step, this.live));
    this.keys = new ResourceKeys(this.live);
    const byUrn = new Map(steps.map((step) => [step.urn, step]));
    this.resolver = new ReferenceResolver(byUrn, (step) => this.keys.of(step));
    const isOwn = ({ before, after }: JoinedStep): boolean =>
      isManagedKind(after ?? before) && isManagedKind(before ?? after);
    const own = steps.filter(isOwn);
    this.removals = new ServerRemovals(own, this.keys, adopting, this.live);
    this.problems = [
      ...findReplacedOwners(own, adopting),
      ...findSecondProcess(own),
      // A takeover is joined to one update, whoever manages the two.
      ...findTakenByOthers(adopting.filter(isOwn)),
      ...this.findSharedObjects(own),
      ...findSecondOwners(own),
    ];
    for (const step of steps) this.addForeign(step, byUrn);
    for (const step of own) this.add(step);
    this.removeUnbound();
    this.addUnmanaged();
  }

  /** Two resources of one object, as two processes can have them: a change of one would be judged without the other. */
  private findSharedObjects(own: readonly JoinedStep[]): string[] {
    const keysOf = (step: JoinedStep): string[] => {
      const named = identityOf(step.after, this.live);
      const uid = step.op === "create" ? [] : [this.keys.of(step)];
      return [...uid, ...(named === undefined ? [] : [named])];
    };
    const managed = own.filter(
      ({ op, after }) => after?.external === false && ["same", "update", "import", "create"].includes(op),
    );
    const lines = [...groupBy(managed, keysOf).values()].flatMap(([first, second]) =>
      first?.after === undefined || second?.after === undefined
        ? []
        : `${labelOfUrn(first.after.urn)} and ${labelOfUrn(second.after.urn)} are one object: remove one of them from the program, and from the state (pulumi state delete)`,
    );
    return [...new Set(lines)];
  }

  /** A resource of another package, or one that only has a type of this one. An update does nothing to an unchanged one. */
  private addForeign(step: JoinedStep, byUrn: ReadonlyMap<string, JoinedStep>): void {
    const { op, before, after } = step;
    const resource = after ?? before;
    if (op === "same" || resource === undefined) return;
    const { type } = resource;
    const notReviewed = after?.notReviewed ?? before?.notReviewed;
    if (notReviewed !== undefined) {
      const packageVersion = pluginVersion(resource, byUrn);
      this.changes.push({ step, kind: type, notReviewed, packageVersion });
    } else if (parseKind(type) === undefined && op !== "read" && !type.startsWith("pulumi:")) {
      this.changes.push({ step, kind: type });
    }
  }

  private add(step: JoinedStep): void {
    const { op } = step;
    const recorded = this.recordedEntity(step);
    const declared = this.declaredEntity(step);
    const state = recorded === undefined ? "notListed" : this.findLive(recorded);
    const isClaim = this.isOnlyClaimed(declared ?? recorded);
    const { before, after: left } = isClaim ? {} : this.entitiesOf(step, { recorded, declared, state });
    const after = this.isTakenAway(step) ? undefined : left;
    if (before) putEntity(this.before, before);
    if (after) putEntity(this.after, after);
    if (before) this.addRemaining(step, before, after);
    const kind = (declared ?? recorded)?.kind;
    if (kind === undefined) return;
    const isLeftOnServer = (op === "delete" || op === "replace") && !this.removals.isRemovedFromServer(step);
    const refusedBy = step.before && this.removals.refusedBy(step.before);
    const isExisting = recorded !== undefined && op !== "create";
    this.changes.push({
      step,
      kind,
      before,
      after,
      recorded: this.entityOfPrograms(step, { recorded, declared }),
      declared,
      ...(isExisting && state === "notListed" ? { isRecordOnly: true } : {}),
      ...(isExisting && state === "missing" ? { isMissing: true } : {}),
      ...(this.keys.isOfOtherKind(step) ? { isOfOtherKind: true } : {}),
      ...(isLeftOnServer ? { isLeftOnServer } : {}),
      ...(refusedBy === undefined ? {} : { refusedBy }),
    });
  }

  /** Whether another resource of the program deletes what this one only reads. */
  private isTakenAway({ before, after = before }: JoinedStep): boolean {
    return after?.external === true && this.removals.removesObjectOf({ ...after, id: recordedUid(after) });
  }

  /** What is only read, of a kind that the inventory lists, and is not in it: nothing but the preview says that it is there. */
  private isOnlyClaimed(entity: Entity | undefined): boolean {
    if (entity?.external !== true) return false;
    const listed = aggregatedKind(specs[entity.kind] ?? {}) ?? entity.kind;
    return this.live.hasKind(listed) && this.live.get(entity.key) === undefined;
  }

  /** What only the program claims to exist is not missing: it is unverified. */
  private findLive(recorded: Entity): LiveState {
    const state = this.live.find(recorded);
    return state === "missing" && recorded.external === true ? "notListed" : state;
  }

  /** What the stack records of a resource. */
  private recordedEntity(step: JoinedStep): Entity | undefined {
    const { before } = step;
    if (!isManagedKind(before)) return undefined;
    return toEntity(before, { key: this.keys.of(step), uid: this.keys.uidOf(step), side: "before" });
  }

  /**
   * The record without what a refresh has put in the place of what the programs of the stack gave. Where that was one value, and the
   * change writes another one, nothing of it is kept: that is taken for what they gave.
   */
  private entityOfPrograms(
    step: JoinedStep,
    sides: Pick<ResourceSides, "recorded" | "declared">,
  ): Entity | undefined {
    const before = step.unrefreshed ?? step.before;
    const entity = step.unrefreshed ? this.recordedEntity({ ...step, before }) : sides.recorded;
    const spec = specs[entity?.kind ?? ""];
    if (entity === undefined || before === undefined || spec === undefined || !isRefreshed(before.outputs))
      return entity;
    const declared = new Map(
      leavesIn(spec, sides.declared?.inputs ?? {}).map(({ path, value }) => [path, value]),
    );
    const unread: UnreadValue[] = [];
    const inputs = inputsOfProgram(spec, entity.inputs, before.outputs, (path, recorded) => {
      const written = declared.get(path);
      const areRead = [written, recorded].every((value) => typeof value === "string" && !isUnread(value));
      if (areRead && written !== recorded) return written;
      unread.push({ path, property: topProperty(path), reason: "refreshed", decidesAccess: true });
      return unreadAt("refreshed", { urn: before.urn, side: "before", path });
    });
    return withInputs({ ...entity, unread: [...(entity.unread ?? []), ...unread] }, inputs);
  }

  /**
   * What the program declares, as it will be after the change. A reference to a resource that does not exist yet is assumed to be
   * the id of the one resource that it depends on.
   */
  private declaredEntity(step: JoinedStep): Entity | undefined {
    const { after: resource } = step;
    if (!isManagedKind(resource)) return undefined;
    const { keys, resolver, removals } = this;
    const isSame = step.op === "same";
    const uid = keys.isOfOtherKind(step) ? undefined : uidAfter(step);
    // What is only read may show no arguments, and nothing is written of what stays the same.
    const mustBeComplete = step.op === "create" || step.op === "update" || step.op === "replace";
    const declared = toEntity(resource, { key: keys.of(step), uid, side: "after", isSame, mustBeComplete });
    const assumptions: Assumption[] = [];
    const candidates = new Map<readonly string[], string[]>();
    const inputs = mapReferences(specs[resource.kind], declared.inputs, (value, leaf) => {
      if (!isUnread(value)) return removals.pruneDanglingRef(value);
      const { one: source, several } = reasonOf(value) === "unknown" ? resolver.resolve(resource, leaf) : {};
      if (several !== undefined) addTo(candidates, several, leaf.path);
      if (source === undefined) return value;
      assumptions.push({ path: leaf.path, property: leaf.property, key: source });
      return source;
    });
    const assumed = new Set(assumptions.map(({ path }) => path));
    const unread = (declared.unread ?? []).filter(({ path }) => !assumed.has(path));
    const concealed = (step.concealed ?? []).map((value): UnreadValue => ({
      ...value,
      reason: "secret",
      decidesAccess: true,
    }));
    // The engine has compared the secrets of an unchanged resource.
    const isReported = ({ reason }: UnreadValue): boolean => !isSame || reason !== "secret";
    resolver.report(resource, [...unread, ...concealed].filter(isReported));
    const secretSources = resolver.secretSources(resource);
    return {
      ...declared,
      inputs,
      ...(declared.unread ? { unread } : {}),
      ...(assumptions.length > 0 ? { assumptions } : {}),
      ...(candidates.size > 0
        ? { candidates: [...candidates].map(([keys, paths]) => ({ paths, keys })) }
        : {}),
      ...(step.concealed ? { concealed: step.concealed } : {}),
      ...(Object.keys(secretSources).length > 0 ? { secretSources } : {}),
    };
  }

  private entitiesOf(step: JoinedStep, sides: ResourceSides): EntityPair {
    const { op } = step;
    const { recorded, declared, state } = sides;
    if (op === "read" || op === "import") return this.readEntities(op, sides);
    const live = typeof state === "object" ? state.entity : undefined;
    const known = recorded?.external === true && live === undefined ? asClaimed(recorded) : recorded;
    const before = state === "missing" || this.keys.isOfOtherKind(step) ? undefined : (live ?? known);
    if (op === "delete") {
      // A resource that only leaves the program stays on the server.
      if (before === undefined || this.removals.isRemovedFromServer(step)) return { before };
      return { before, after: { ...this.removals.rewriteReplacedRefs(before), external: true } };
    }
    if (declared === undefined) return { before };
    if (op === "create" || op === "replace") return { before, after: asCreated(declared, live) };
    // Nothing creates again what the program leaves as it is.
    if (op === "same" && state === "missing") return {};
    if (live === undefined || recorded === undefined) {
      return { before, after: declared.external === true ? asClaimed(declared) : declared };
    }
    return { before, after: this.updateEntity(step, { recorded, declared, live }) };
  }

  /** The live object with what the update writes: what is the same in state and program stays as it is, unless all is written. */
  private updateEntity(
    step: JoinedStep,
    { recorded, declared, live }: Record<"recorded" | "declared" | "live", Entity>,
  ): Entity {
    const base = this.removals.rewriteReplacedRefs(live);
    const spec = specs[declared.kind];
    if (step.op === "same" || spec === undefined || declared.external)
      return asDeclared(base, declared, base.inputs);
    const isUnconfirmed = step.before?.outputs[UNCONFIRMED] === true;
    const olds =
      isUnconfirmed || step.isOverwriting
        ? mergeLive(spec, recorded.inputs, base.inputs).inputs
        : this.removals.rewriteReplacedRefs(this.recordedOutputs(step, recorded)).inputs;
    return asDeclared(base, declared, applyUpdate(spec, base.inputs, olds, declared.inputs));
  }

  /** The arguments that the provider compares with the program's: those of the outputs, which a failed update leaves behind. */
  private recordedOutputs({ before }: JoinedStep, recorded: Entity): Entity {
    if (!isManagedKind(before)) return recorded;
    const fields = specs[before.kind]?.fields ?? {};
    // A program can make an output a secret whose argument is none.
    const given = Object.entries(before.outputs).filter(
      ([key, value]) => Object.hasOwn(fields, key) && !sortedJson(value).includes(SECRET_MASK),
    );
    const inputs = { ...before.inputs, ...Object.fromEntries(given) };
    return toEntity({ ...before, inputs }, { key: recorded.key, uid: recorded.uid, side: "before" });
  }

  /** A step that reads shows what it read in the state before, or not at all. */
  private readEntities(op: "read" | "import", { recorded, declared }: ResourceSides): EntityPair {
    if (declared === undefined) return {};
    const state = this.live.find(declared);
    if (typeof state === "object") {
      const before = state.entity;
      const isManaged = op === "import" && declared.external !== true;
      // An import writes nothing: one of what is declared otherwise is refused.
      return { before, after: isManaged ? asDeclared(before, declared, before.inputs) : before };
    }
    const read = [declared, recorded].find((entity) => Object.keys(entity?.inputs ?? {}).length > 0);
    const after = { ...declared, ...(read ? { inputs: read.inputs, name: read.name } : {}) };
    const isExternal = op === "read" || after.external === true;
    return { before: asClaimed(after), after: isExternal ? asClaimed(after) : after };
  }

  /** What of a replaced or changed resource stays on the server, outside of the program. */
  private addRemaining(step: JoinedStep, before: Entity, after: Entity | undefined): void {
    if (step.op === "replace" && !this.removals.isRemovedFromServer(step)) {
      const key = compositeKey("retained", this.keys.of(step));
      this.after.set(key, { ...this.removals.rewriteReplacedRefs(before), key, external: true });
    }
    const unmanaged = remainingUnmanaged(before, after, step.op);
    if (unmanaged) this.after.set(unmanaged.key, this.removals.rewriteReplacedRefs(unmanaged));
  }

  /** Removes the bindings that are only read, and that what owns all bindings of their group declares no more. */
  private removeUnbound(): void {
    const before = bindingsOfOwners(this.before.values());
    const after = bindingsOfOwners(this.after.values());
    for (const [key, entity] of this.after) {
      if (entity.external !== true || accessKinds[entity.kind]?.binding !== true) continue;
      if (isBindingOf(before, entity) && !isBindingOf(after, entity)) this.after.delete(key);
    }
  }

  /** Adds the live objects that the program does not manage. */
  private addUnmanaged(): void {
    const ownedBefore = bindingsOfOwners(this.before.values());
    const ownedAfter = bindingsOfOwners(this.after.values());
    for (const live of this.live.all()) {
      const { key } = live;
      if (this.before.has(key) || this.after.has(key) || isBindingOf(ownedBefore, live)) continue;
      this.before.set(key, live);
      if (this.removals.isRemoved(key) || isBindingOf(ownedAfter, live)) continue;
      this.after.set(key, this.removals.rewriteReplacedRefs(live));
    }
  }
}

/** The access graphs before and after a change. */
export function buildGraphs(steps: readonly JoinedStep[], inventory: Inventory | undefined): AccessGraphs {
  const builder = new GraphBuilder(steps, inventory);
  return {
    before: graphOf(builder.before),
    after: graphOf(builder.after),
    changes: builder.changes,
    unresolved: builder.resolver.problems,
    problems: builder.problems,
  };
}

/*
 * The arguments of some kinds name one object at the server. A create with those of a resource that the same change deletes
 * or replaces takes its object over, and the provider leaves it there: it is an update of one object under another URN. So is
 * the adoption of an object whose resource the same change deletes.
 */

/** Names an object by its uid, for the resource that has it and the one that adopts it; undefined where nothing adopts it. */
function adoptionKey(resource: RecordedResource | undefined, uid: Json | undefined): string | undefined {
  const spec = specs[resource?.kind ?? ""];
  if (spec === undefined || aggregatedKind(spec) !== undefined || createOnlyOutputs(spec).length > 0)
    return undefined;
  return isUid(uid) && resource?.external === false ? `adopted ${objectKey(spec.kind, uid)}` : undefined;
}

/** The object that the arguments of a resource name; undefined where they name none, or not all of them are known. */
function identityOf(resource: RecordedResource | undefined, live: LiveObjects): string | undefined {
  if (!isManagedKind(resource) || resource.external) return undefined;
  const spec = specs[resource.kind];
  // Who owns all bindings of a group has no object of its own, and what is returned once cannot be taken over.
  if (spec === undefined || aggregatedKind(spec) !== undefined || onSameObject(spec) === "refused")
    return undefined;
  const { inputs, secretPaths } = resource;
  if (identifyingInputs(spec).some((key) => containsUnknown(inputs[key]) || secretPaths.includes(key)))
    return undefined;
  const uid = recordedUid(resource);
  const isGone =
    uid !== undefined &&
    live.lists(resource.kind, uid) &&
    live.get(entityKey(resource.kind, uid, inputs["parentUid"])) === undefined;
  return isGone ? undefined : identityKey(spec, inputs);
}

/** Whether all arguments are known and equal: only an equal object is adopted where a create does not overwrite. */
function areEqual(spec: ResourceSpec, one: RecordedResource, other: RecordedResource): boolean {
  if ([one, other].some(({ inputs, secretPaths }) => secretPaths.length > 0 || containsUnknown(inputs)))
    return false;
  return Object.entries(spec.fields).every(([key, field]) =>
    equal(field, one.inputs[key], other.inputs[key]),
  );
}

/** Whether the provider leaves the object of `giver` at the server, because `taker` has it from then on. */
function takesOver(giver: JoinedStep, taker: JoinedStep): boolean {
  const { before } = giver;
  const { after } = taker;
  const spec = specs[after?.kind ?? ""];
  if (before === undefined || after === undefined || spec === undefined) return false;
  if (after.inputs[ADOPT] !== undefined) return giver.op === "delete" && after.inputs[ADOPT] === before.id;
  if (onSameObject(spec) === "takenOver") return true;
  return giver.op === "delete" && taker.op === "create" && areEqual(spec, before, after);
}

/** The steps of a change, where a delete and a create of one object are one update of it. */
function joinTakeovers(steps: readonly JoinedStep[], live: LiveObjects): readonly JoinedStep[] {
  const givers = groupBy(steps, ({ op, before }) =>
    op === "delete" || op === "replace" ? [identityOf(before, live), adoptionKey(before, before?.id)] : [],
  );
  if (givers.size === 0) return steps;
  const takers = groupBy(steps, ({ op, after }) => {
    const adopted = after?.inputs[ADOPT];
    if (adopted !== undefined) return op === "create" || op === "import" ? [adoptionKey(after, adopted)] : [];
    return op === "create" || op === "replace" ? [identityOf(after, live)] : [];
  });
  const taken = new Map<JoinedStep, JoinedStep>();
  // Several resources of one object are a mistake of the program, which the run refuses.
  for (const [key, [taker, ...others]] of takers) {
    const [giver, ...more] = givers.get(key) ?? [];
    if (taker === undefined || giver === undefined || others.length + more.length > 0) continue;
    if (takesOver(giver, taker)) taken.set(taker, giver);
  }
  keepOwnLosses(taken);
  const given = new Set(taken.values());
  return steps.flatMap((step): JoinedStep[] => {
    const giver = taken.get(step);
    if (giver !== undefined) {
      const spec = specs[step.after?.kind ?? ""];
      const isOverwriting = spec !== undefined && onSameObject(spec) === "takenOver";
      const isAdopting = step.after?.inputs[ADOPT] !== undefined;
      const how = isAdopting ? { isAdopting } : isOverwriting ? { isOverwriting } : {};
      const { before, unrefreshed } = giver;
      return [{ ...step, op: "update", before, unrefreshed, ...how }];
    }
    if (!given.has(step)) return [step];
    return step.op === "delete" ? [] : [{ ...step, op: "create", before: undefined }];
  });
}

/** A replaced resource is no update of another object while nobody takes over its own: that goes. */
function keepOwnLosses(taken: Map<JoinedStep, JoinedStep>): void {
  for (;;) {
    const given = new Set(taken.values());
    const losing = [...taken.keys()].filter((taker) => taker.op === "replace" && !given.has(taker));
    if (losing.length === 0) return;
    for (const taker of losing) taken.delete(taker);
  }
}

/** Answers whether an update of a GroupAccess leaves a binding of others alone, by its label. */
function createStays(recorded: Entity, after: Entity | undefined): (label: string) => boolean {
  const { inputs = {}, unread = [] } = after ?? {};
  const grants = new Map(labelledGrantsIn(recorded.inputs));
  const comparer = new PatternComparer();
  const isIgnored = ignoreFilter(inputs, (pattern, name) => comparer.mayMatch(anchored(pattern), name));
  // What is not known of `ignore` may name any binding.
  const mayIgnoreAll = unread.some(({ property }) => property === "ignore");
  return (label) => {
    const grant = grants.get(label);
    if (grant === undefined) return true;
    return mayIgnoreAll || namesOfUnmanaged(label).some((name) => isIgnored({ ...grant, name }));
  };
}

/**
 * The bindings of others that a refresh has recorded with a GroupAccess, and that stay at their group: all of them when
 * it goes or moves, those that it ignores when it changes.
 */
function remainingUnmanaged(recorded: Entity, after: Entity | undefined, op: Op): Entity | undefined {
  if (accessKinds[recorded.kind]?.ownsBindings !== true) return undefined;
  if (op !== "update" && op !== "delete" && op !== "replace") return undefined;
  const { parentUid, bindings } = recorded.inputs;
  const unmanaged = Object.entries(isObject(bindings) ? bindings : {}).filter((one) => !isManaged(one));
  if (unmanaged.length === 0) return undefined;
  const stays = op === "update" ? createStays(recorded, after) : () => true;
  const staying = unmanaged.filter(([label]) => stays(label));
  if (staying.length === 0) return undefined;
  return {
    key: compositeKey("unmanaged", recorded.key),
    kind: recorded.kind,
    urn: recorded.urn,
    inputs: { parentUid, bindings: Object.fromEntries(staying) },
    secretPaths: [],
    external: true,
  };
}

const hasSecret = ({ fields, outputs = {} }: ResourceSpec): boolean =>
  [...Object.values(fields), ...Object.values(outputs)].some((field) => containsSecret(field));

/** The keys of the resources that a value can be the id of. */
interface ReferenceTargets {
  /** There is one, so the value is taken to be its id. */
  readonly one?: string;
  /** There are several, and nothing else. */
  readonly several?: readonly string[];
}

/**
 * Resolves a reference whose value is not known yet. If the property depends on exactly one resource, the reference is
 * assumed to be its id; a preview cannot prove it.
 */
class ReferenceResolver {
  /** What each property of each resource leads to, found once for all its values. */
  private readonly sources = new Map<string, ReferenceTargets>();
  readonly problems: string[] = [];

  constructor(
    private readonly byUrn: ReadonlyMap<string, JoinedStep>,
    private readonly keyOf: (step: JoinedStep) => string,
  ) {}

  /** What a value that is not known yet is the id of, as far as its dependencies say. */
  resolve(resource: RecordedResource, leaf: Leaf): ReferenceTargets {
    const { property, path } = leaf;
    const wanted = referredKindOf(leaf.field);
    const isPart = path !== property;
    const id = JSON.stringify([resource.urn, property, wanted ?? "", isPart]);
    const known =
      this.sources.get(id) ?? this.findSources(resource.dependencies?.[property] ?? [], wanted, isPart);
    this.sources.set(id, known);
    return known;
  }

  private findSources(
    urns: readonly string[],
    wantedKind: string | undefined,
    isInsideProperty: boolean,
  ): ReferenceTargets {
    const steps = urns.flatMap((urn) => this.byUrn.get(urn) ?? []);
    const kindOf = ({ after, before }: JoinedStep): string | undefined => (after ?? before)?.kind;
    // Only the id of a new resource is not known yet: what else depends on a resource can have any value.
    const candidates = steps.filter((step) => {
      const kind = kindOf(step);
      const { op, before, isAdopting = false } = step;
      const isNew = isAdopting || op === "replace" || (op !== "read" && before === undefined);
      return isNew && kind !== undefined && (wantedKind === undefined || kind === wantedKind);
    });
    const keys = candidates.map(this.keyOf);
    const [only] = keys;
    if (only !== undefined && keys.length === 1 && (isInsideProperty || urns.length === 1))
      return { one: only };
    // What comes from elsewhere, as from another stack, can have any value.
    const isAllKnown = steps.length === urns.length && steps.every((step) => kindOf(step) !== undefined);
    return keys.length > 1 && isAllKnown ? { several: keys } : {};
  }

  /** By property: the keys of the resources that a value of it depends on, as far as these have a secret. */
  secretSources({ dependencies = {} }: RecordedResource): Readonly<Record<string, readonly string[]>> {
    const found = Object.entries(dependencies).map(([property, urns]): [string, string[]] => [
      property,
      urns.flatMap((urn) => {
        const step = this.byUrn.get(urn);
        const spec = specs[(step?.after ?? step?.before)?.kind ?? ""];
        return step !== undefined && spec !== undefined && hasSecret(spec) ? [this.keyOf(step)] : [];
      }),
    ]);
    return Object.fromEntries(found.filter(([, keys]) => keys.length > 0));
  }

  /** Notes what of a resource could not be read: a line for each property and reason. */
  report(resource: RecordedResource, unread: readonly UnreadValue[]): void {
    const groups = groupBy(unread, ({ decidesAccess, property, reason }) =>
      decidesAccess ? [JSON.stringify([property, reason])] : [],
    );
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const { property, reason } = first;
      const paths = listFirst([first, ...others].map(({ path }) => path));
      const cause = reason === "unknown" ? this.causeOf(resource, property) : "";
      this.problems.push(`${labelOfUrn(resource.urn)}: ${paths} ${reasonWords(reason)}${cause}`);
    }
  }

  private causeOf({ dependencies }: RecordedResource, property: string): string {
    const names = (dependencies?.[property] ?? []).map((urn) => urnParts(urn).name).sort();
    return names.length === 0
      ? ": the document does not tell what it depends on"
      : `: it depends on ${listFirst(names)}, and which of these is unknown`;
  }
}
