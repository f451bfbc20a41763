import { ADOPT, UNCONFIRMED, compareTexts, isUnknown, SECRET_MASK } from "../../fields/values";
import { mergeLive } from "../../fields/mergeLive";
import { isRefreshed } from "../../fields/refreshed";
import { applyUpdate } from "../../fields/patch";
import { isUid } from "../../text/uid";
import { urnParts } from "../documents/engineState";
import type { SourceLocation, RecordedResource } from "../documents/engineState";
import { inventoryGaps, isWithin, listsObject } from "../documents/inventory";
import type { Inventory } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import { decidedOp, isRest } from "../documents/preview";
import type { Preview } from "../documents/preview";
import { specs } from "../documents/specs";
import { describeInterrupted, digestRecord } from "../documents/stateExport";
import type { StateExport } from "../documents/stateExport";
import { createEffectContext, describeEffects } from "../effects";
import type { FieldEffect, EffectContext } from "../effects";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import { labelByKey } from "../graph/groupHierarchy";
import { compareGrants } from "../graph/grant";
import type { GrantChange, GroupNode } from "../graph/grant";
import { buildGraphs, joinSteps } from "../graph/graphBuilder";
import type { AccessGraphs, StepChange } from "../graph/graphBuilder";
import type { Entity, AccessGraph, Entities } from "../graph/model";
import { isPathWithin, pathsOverlap } from "../graph/inputLeaves";
import { PatternComparer } from "../trust/patternComparer";
import { addMeanwhile, diffGrants, changesByMoves } from "./grantChanges";
import { compareOtherStacks, recordedSide } from "./recordedSide";

/** What happens to one resource. `recorded` and `declared` are there only of what the program manages. */
export interface ResourceChange extends Omit<StepChange, "step"> {
  readonly op: "create" | "update" | "replace" | "delete" | "same" | "read";
  readonly urn?: string;
  readonly fields: readonly FieldEffect[];
  /** What an import declares otherwise than it is at the server: the update refuses that. */
  readonly unequal?: readonly FieldEffect[];
  /** The urn of the resource whose object this one adopts, and that the change deletes. */
  readonly formerUrn?: string | undefined;
  /** It deletes what an interrupted update replaced and left. */
  readonly isRest?: true;
  /** What the program ignores from now on, as `ignoreChanges` names it: paths. */
  readonly ignored?: readonly string[];
  /** Those that the change adds. */
  readonly newlyIgnored?: readonly string[];
  /** The update changes only what the stack records: it sends nothing to the server. */
  readonly sendsNothing?: true;
  /** Of what is not reviewed: a digest of its inputs. */
  readonly inputsDigest?: string | undefined;
  readonly location?: SourceLocation;
  /** Properties that are secret on both sides, so that a change cannot be seen. */
  readonly secretsMayHaveChanged: readonly string[];
}

/** A change after which there is a resource. */
export type ChangeWithAfter = ResourceChange & { readonly after: Entity };

/** Whether the object of before stays at the server, which is not asked to delete it: its resource goes, or gets another one. */
export const leavesObject = ({ isLeftOnServer, refusedBy }: ResourceChange): boolean =>
  isLeftOnServer === true && refusedBy === undefined;

/** The same change compared with what the stack records, where that differs from the server and the change keeps the server's. */
export interface ComparisonAsRecorded {
  readonly comparison: Comparison;
  readonly kept: readonly KeptChange[];
  /** The stack managed nothing before: what it takes over may be a whole organisation. */
  readonly isFirstImport: boolean;
}

/** A change, and what was done to its object by hand that the program takes over. */
export interface KeptChange {
  readonly change: ResourceChange;
  /** The object as the stack records it, where somebody deleted it. */
  readonly lost?: Entity;
  /** From what the stack records to what the server has; empty of an object that no stack managed. */
  readonly fields: readonly FieldEffect[];
}

/** Two graphs and what lies between them. */
export interface Comparison {
  /** SHA-256 of what the preview shows of the stack before the change: see `digestRecord`. Absent where there is no preview. */
  readonly recordDigest?: string;
  readonly stack?: string;
  readonly before: AccessGraph;
  readonly after: AccessGraph;
  /** All that is there at some time of the update; undefined where it only adds. */
  readonly meanwhile?: AccessGraph;
  readonly changes: readonly ResourceChange[];
  readonly grants: readonly GrantChange[];
  readonly unchanged: number;
  readonly groups: readonly GroupNode[];
  readonly unresolved: readonly string[];
  /** Whether everything was compared that exists. */
  readonly complete: boolean;
  readonly incomplete: readonly string[];
  /** The live organisations that were given: a review has one at most. */
  readonly inventories: readonly Inventory[];
  /** What the patterns of the change were compared with: who asks more of them shares its budget. */
  readonly comparer: PatternComparer;
  /** What exists before the change, by uid, from states and the inventory alone: what a suppression may name. */
  readonly existing: ReadonlyMap<string, Entity>;
  /** What other stacks record as the server has it, by key. */
  readonly recordedElsewhere?: ReadonlyMap<string, Entity>;
  /** What they record, and the server has otherwise, by key. */
  readonly contradictedElsewhere?: ReadonlyMap<string, Entity>;
  /** The URNs by which they manage objects, by key. */
  readonly urnsElsewhere?: ReadonlyMap<string, string>;
  /** Set where the change makes official what was made by hand. */
  readonly asRecorded?: ComparisonAsRecorded;
  /** Set where the change has happened already: both sides are facts. */
  readonly drift?: true;
}

/** What a comparison is made from. */
export interface Sources {
  readonly preview: Preview;
  /** The stack before, where the preview does not show what stays as it is. */
  readonly before?: StateExport;
  /** The live organisation: what no program knows, names and capabilities of built-in roles, last sign-ins. */
  readonly inventory?: Inventory;
  /** Other stacks, from who reviews: what they record, and the inventory confirms, is not called made by hand. */
  readonly otherStacks?: readonly StateExport[];
}

/** A change of a resource that others refer to may change what resources mean that are not shown. */
const isReferredTo = (kind: string): boolean =>
  accessKinds[kind] !== undefined && accessKinds[kind].grants === undefined;

/** Whether a change may alter what unchanged resources mean; nothing unchanged refers to a new one. */
function changesAccessFields({ kind, op, fields }: ResourceChange): boolean {
  if (op !== "update") return op !== "create";
  return fields.some(({ path }) => isAccessField(kind, path));
}

/** Whether a secret may differ, as far as the engine says, which has compared its values. */
function mayDiffer(secret: string, { differing }: StepChange["step"]): boolean {
  return differing?.some((path) => pathsOverlap(secret, path)) ?? true;
}

/** Whether an update changes only what the stack records: the provider compares the arguments with the recorded outputs. */
function sendsNothing({ op, before, after }: StepChange["step"], kind: string): boolean {
  if (op !== "update" || before === undefined || after === undefined) return false;
  const olds = { ...before.inputs, ...before.outputs };
  const isConfirmed = olds[UNCONFIRMED] !== true;
  return isConfirmed && specs[kind]?.operations?.sendsNothing?.(olds, after.inputs) === true;
}

/** The paths that the program ignores, and those that the change adds. */
function ignoredPaths({
  before,
  unrefreshed,
  after,
}: StepChange["step"]): Pick<ResourceChange, "ignored" | "newlyIgnored"> {
  const ignored = after?.ignoreChanges ?? [];
  const olds = (unrefreshed ?? before)?.ignoreChanges ?? [];
  const newlyIgnored = ignored.filter((path) => !olds.includes(path));
  return {
    ...(ignored.length === 0 ? {} : { ignored }),
    ...(newlyIgnored.length === 0 ? {} : { newlyIgnored }),
  };
}

/** What of an object that is adopted is declared otherwise than it is. */
function unequalFields(
  { step, kind, before, declared }: Pick<StepChange, "step" | "kind" | "before" | "declared">,
  context: EffectContext,
): Pick<ResourceChange, "unequal"> {
  const spec = specs[kind];
  if (
    (step.op !== "import" && step.isAdopting !== true) ||
    spec === undefined ||
    before === undefined ||
    declared === undefined
  )
    return {};
  const olds = mergeLive(spec, declared.inputs, before.inputs).inputs;
  const wanted = applyUpdate(spec, before.inputs, olds, declared.inputs);
  // The engine's own import leaves alone what `ignoreChanges` names; `adopt()` does not.
  const ignored = step.after?.inputs[ADOPT] === undefined ? (step.after?.ignoreChanges ?? []) : [];
  const unequal = describeEffects(spec, before.inputs, wanted, context).filter(
    ({ path }) => !ignored.some((each) => isPathWithin(path, each)),
  );
  return unequal.length === 0 ? {} : { unequal };
}

function changeOf(
  { step, kind, before, after, notReviewed, packageVersion, recorded, declared, ...known }: StepChange,
  context: EffectContext,
): ResourceChange {
  const op = step.op === "import" ? "read" : step.op;
  const both = before !== undefined && after !== undefined && op !== "same";
  const secretPaths = (after?.secretPaths ?? []).filter((path) => before?.secretPaths.includes(path));
  const secret =
    op === "update" || op === "replace" ? secretPaths.filter((path) => mayDiffer(path, step)) : [];
  return {
    op,
    kind,
    urn: step.urn,
    before,
    after,
    fields: both ? describeEffects(specs[kind], before.inputs, after.inputs, context) : [],
    secretsMayHaveChanged: secret,
    ...unequalFields({ step, kind, before, declared }, context),
    ...(isRest(step) ? { isRest: true } : {}),
    ...(step.isAdopting === true ? { formerUrn: step.before?.urn } : {}),
    ...ignoredPaths(step),
    ...(secret.length === 0 && sendsNothing(step, kind) ? { sendsNothing: true } : {}),
    ...known,
    ...(recorded === undefined || recorded.external === true ? {} : { recorded }),
    ...(declared === undefined || declared.external === true ? {} : { declared }),
    ...(notReviewed === undefined
      ? {}
      : {
          notReviewed,
          packageVersion,
          inputsDigest: (step.after ?? step.before)?.inputsDigest,
          location: step.after?.location ?? step.before?.location,
        }),
  };
}

/** The groups of both sides, with what has changed about each. */
function groupNodes(before: AccessGraph, after: AccessGraph): GroupNode[] {
  const keys = [...before.entities.values(), ...after.entities.values()]
    .filter(({ kind }) => kind === "Group")
    .map(({ key }) => key);
  const nodes = [...new Set(keys)].map((key): GroupNode => {
    const [old, now] = [before.entities.get(key), after.entities.get(key)];
    const at = now === undefined ? before.hierarchy : after.hierarchy;
    const change =
      old === undefined
        ? "added"
        : now === undefined
          ? "removed"
          : before.hierarchy.parentOf(key) !== after.hierarchy.parentOf(key)
            ? "moved"
            : old.name !== now.name
              ? "renamed"
              : "same";
    const parentKey = at.parentOf(key);
    return { ...at.scope(key), change, parentKey };
  });
  return nodes.sort((a, b) => compareTexts(a.path, b.path) || compareTexts(a.key, b.key));
}

/** What a reader of the changes cannot know. */
export function unresolvedGrants(
  changes: readonly GrantChange[],
  after: AccessGraph,
  hasInventory: boolean,
): string[] {
  const why = hasInventory ? "the inventory does not have it" : "give --inventory";
  const lines = new Set<string>();
  for (const { grant } of changes) {
    const { role, subject } = grant;
    if (role.capabilities === undefined && role.uid !== undefined && role.name === undefined) {
      lines.add(`role ${role.uid}: its name and its capabilities are not known: ${why}`);
    } else if (role.capabilities === undefined && (role.uid !== undefined || after.entities.has(role.key))) {
      // A reference that leads nowhere yet is told where it stands.
      lines.add(`role ${role.name ?? labelByKey(after.entities, role.key)}: its capabilities are not known`);
    }
    if (subject.type === "identity" && subject.urn === undefined && subject.name === undefined) {
      lines.add(`identity ${subject.uid ?? subject.key}: who may assume it is not known: ${why}`);
    }
  }
  return [...lines];
}

/** Whether a preview leaves out unchanged resources. One may be the stack itself, which every preview counts. */
const mayOmitResources = ({ omittedUnchanged }: Preview): boolean => omittedUnchanged > 1;

/** What a change writes outside of the group of the inventory, a line each: nobody sees what is there, `verify` neither. */
function findOutside(
  { root }: Inventory,
  changed: readonly ResourceChange[],
  { before, after }: AccessGraphs,
): string[] {
  return changed.flatMap(({ kind, urn, ...sides }) => {
    const chain = sides.after
      ? after.hierarchy.chain(sides.after.key)
      : before.hierarchy.chain(sides.before?.key ?? "");
    // In an organisation that the change makes nothing was there before.
    if (!isUid(chain.at(-1)) || chain.some((key) => isWithin(key, root))) return [];
    return `${kind} ${urnParts(urn ?? "").name} is outside of the group ${root}, whose inventory this is, so what is there was not compared: give an inventory of a group that contains it`;
  });
}

/** Rests of interrupted replacements that have the uid of an object which stays: another one may be what the update deletes. */
function findFalseRests(changes: readonly ResourceChange[]): string[] {
  const isSame = (rest: ResourceChange, { kind, isRest: isOther, recorded }: ResourceChange): boolean =>
    isOther !== true &&
    kind === rest.kind &&
    recorded?.uid !== undefined &&
    recorded.uid === rest.recorded?.uid;
  return changes.flatMap((rest) => {
    const { kind, urn = "", isRest: isAny } = rest;
    // Whatever is made anew at such a place is the same object.
    const isOnlyOne = specs[kind]?.sharesParentUid === true || specs[kind]?.operations?.takesOver === true;
    if (isAny !== true || isOnlyOne || !changes.some((each) => isSame(rest, each))) return [];
    return [
      `${kind} ${urnParts(urn).name}: what an interrupted replacement left has the uid of an object that the stack keeps: remove the entry with "delete": true from an export of the state (pulumi stack export), and import that`,
    ];
  });
}

const isRenamed = ({ before, after }: ResourceChange): boolean =>
  before !== undefined && after !== undefined && before.name !== after.name;

/** Why the comparison does not see all that it should, a line each. */
function findGaps(
  { preview, before, inventory }: Sources,
  changes: readonly ResourceChange[],
  graphs: AccessGraphs,
): string[] {
  const isEmpty = graphs.before.entities.size + graphs.after.entities.size === 0;
  const covered = before !== undefined || inventory?.complete === true;
  const changed = changes.filter(({ op }) => op !== "same" && op !== "read");
  const changedReferents = changed.filter(
    (change) => isReferredTo(change.kind) && (changesAccessFields(change) || isRenamed(change)),
  );
  const lacksUnchanged = preview.omittedUnchanged > 0 && !covered;
  return [
    ...preview.problems,
    ...graphs.problems,
    ...(isEmpty && !mayOmitResources(preview)
      ? ["nothing was compared: the preview names no resource of the platform"]
      : []),
    ...(lacksUnchanged && changedReferents.length > 0
      ? [
          `resources that unchanged ones refer to change (${changedReferents
            .slice(0, 3)
            .map(({ urn }) => urnParts(urn ?? "").name)
            .join(
              ", ",
            )}), and the preview does not show the unchanged ones: write it with --show-sames, or give --before`,
        ]
      : []),
    ...(inventory === undefined ? [] : inventoryGaps(inventory)),
    ...(inventory === undefined ? [] : findOutside(inventory, changed, graphs)),
    ...changes
      .filter(({ isOfOtherKind }) => isOfOtherKind)
      .map(
        ({ kind, urn }) =>
          `${kind} ${urnParts(urn ?? "").name}: the object with the uid that the stack records is of another kind: import the stack's state again, or delete the resource from it (pulumi state delete)`,
      ),
    ...findFalseRests(changes),
    ...(before !== undefined && before.pendingOperations > 0
      ? [
          `${describeInterrupted(before)}; then export the state again (pulumi stack export), and review again`,
        ]
      : []),
  ];
}

/** @throws DocumentError where the two documents are of different stacks. */
function checkStacks({ preview, before, otherStacks = [] }: Sources): void {
  const own = preview.stack ?? before?.stack;
  // An old export of the stack would vouch for what somebody has put back by hand.
  if (own !== undefined && otherStacks.some(({ stack }) => stack === own)) {
    throw new DocumentError(
      "PP6004",
      `--state names an export of stack ${own}, which the preview is of: name other stacks only`,
    );
  }
  if (before?.stack === undefined || preview.stack === undefined || before.stack === preview.stack) return;
  throw new DocumentError(
    "PP6004",
    `--before is an export of stack ${before.stack}, and the preview is of ${preview.stack}: give both of one stack`,
  );
}

/** What a reader of the comparison cannot know, a line each. */
function findUnresolved(
  { preview, inventory }: Sources,
  graphs: AccessGraphs,
  changes: readonly ResourceChange[],
  grants: readonly GrantChange[],
): string[] {
  const secrets = changes.flatMap(({ urn, kind, secretsMayHaveChanged }) =>
    secretsMayHaveChanged.map(
      (path) => `${kind} ${urnParts(urn ?? "").name}: ${path} is ${SECRET_MASK}: it may have changed`,
    ),
  );
  return [
    ...graphs.unresolved,
    ...unresolvedGrants(grants, graphs.after, inventory !== undefined),
    ...secrets,
    ...(mayOmitResources(preview)
      ? [
          `${preview.omittedUnchanged} unchanged resources are not shown, nor are changes of their options, such as ignoreChanges and protect: write the preview with --show-sames`,
        ]
      : []),
  ];
}

/** What lies between two graphs. */
export function compareSides(
  before: AccessGraph,
  after: AccessGraph,
  comparer: PatternComparer,
): Pick<Comparison, "grants" | "unchanged" | "groups"> {
  const { changes, unchanged } = diffGrants(before, after, comparer);
  const grants = [...changes, ...changesByMoves(before, after)].sort((a, b) =>
    compareGrants(a.grant, b.grant),
  );
  return { grants, unchanged, groups: groupNodes(before, after) };
}

/** What lies between two graphs, and what an update does between them. */
function compareUpdate(
  before: AccessGraph,
  after: AccessGraph,
  comparer: PatternComparer,
  changes: readonly ResourceChange[],
): ReturnType<typeof compareSides> & Pick<Comparison, "meanwhile"> {
  const sides = compareSides(before, after, comparer);
  const olds = changes.flatMap(({ op, before: old }) =>
    old !== undefined && (op === "update" || op === "replace" || op === "delete") ? [old] : [],
  );
  const { grants, meanwhile } = addMeanwhile(sides.grants, before, after, olds);
  const sorted = grants.sort((a, b) => compareGrants(a.grant, b.grant));
  return { ...sides, grants: sorted, meanwhile };
}

/**
 * The states that a preview shows of the stack: where a refresh changed one, both. Which of them count is told by the operations,
 * which the plan has too, and by nothing that a state says of itself. What a run replaces is marked for its delete in that run; what
 * it deletes and has that mark is the rest of an earlier one. What is only read is as the refresh says, where there is one.
 */
function recordedBefore({ steps }: Preview): RecordedResource[] {
  const refreshed = new Set(steps.flatMap(({ op, urn }) => (op === "refresh" ? [urn] : [])));
  return steps.flatMap((step) => {
    const { op, urn, before } = step;
    if (before === undefined || IMPORT.test(op) || (op === "read" && refreshed.has(urn))) return [];
    if (isRest(step)) return [before];
    return decidedOp(step) === undefined ? [] : [{ ...before, pendingDelete: false }];
  });
}

/**
 * Compares access before and after what a preview foresees.
 *
 * @throws DocumentError where the documents are of different stacks.
 */
export function compare(sources: Sources): Comparison {
  checkStacks(sources);
  const { preview, before: state, inventory } = sources;
  const graphs = buildGraphs(joinSteps(preview.steps, state), inventory);
  const { before, after } = graphs;
  const comparer = new PatternComparer();
  const context = createEffectContext(before.entities, after.entities, comparer);
  const changes = graphs.changes.map((change) => changeOf(change, context));
  const sides = compareUpdate(before, after, comparer, changes);
  const incomplete = findGaps(sources, changes, graphs);
  const elsewhere = sources.otherStacks && compareOtherStacks(sources.otherStacks, before, context);
  const comparison: Comparison = {
    stack: preview.stack ?? state?.stack,
    before,
    after,
    changes,
    ...sides,
    unresolved: findUnresolved(sources, graphs, changes, sides.grants),
    complete: incomplete.length === 0,
    incomplete,
    inventories: inventory === undefined ? [] : [inventory],
    comparer,
    existing: existingObjects(preview, state, inventory),
    recordDigest: digestRecord(recordedBefore(preview)),
    ...elsewhere,
  };
  const pairs = graphs.changes.map(
    (stepChange, index) => [stepChange, changes[index] as ResourceChange] as const,
  );
  // A record alone shows nothing that was done by hand but what a refresh or an import has put there.
  const mayShowByHand =
    inventory !== undefined ||
    graphs.changes.some(
      ({ step: { before } }) =>
        before !== undefined && (isRefreshed(before.outputs) || before.isUndeclared === true),
    );
  const side = mayShowByHand ? recordedSide(graphs, pairs, context, mayOmitResources(preview)) : undefined;
  if (side === undefined) return comparison;
  const { kept, isFirstImport, ...own } = side;
  const ownSides = compareUpdate(own.before, own.after, comparer, own.changes);
  const asRecorded = { ...comparison, ...own, ...ownSides };
  return { ...comparison, asRecorded: { comparison: asRecorded, kept, isFirstImport } };
}

/** What an import shows as the state before is what the program's own provider read. */
const IMPORT = /^import/;

function toExistingEntity(kind: string, uid: string, inputs: Entity["inputs"]): Entity {
  const { name } = inputs;
  const isName = typeof name === "string" && name !== "" && name !== SECRET_MASK && !isUnknown(name);
  return { key: uid, kind, uid, ...(isName ? { name } : {}), inputs, secretPaths: [] };
}

/**
 * The objects that exist before a change, by uid. What an inventory lists is as it says; an exported state, and then the old
 * states of a preview, describe what no inventory lists. Nothing here comes from the program under review.
 */
export function existingObjects(
  preview: Preview,
  before: StateExport | undefined,
  inventory: Inventory | undefined,
): Entities {
  const objects = new Map<string, Entity>();
  const add = (kind: string | undefined, uid: string | undefined, inputs: Entity["inputs"]): void => {
    const spec = specs[kind ?? ""];
    if (kind === undefined || uid === undefined || spec === undefined || spec.sharesParentUid) return;
    if (!objects.has(uid)) objects.set(uid, toExistingEntity(kind, uid, inputs));
  };
  const addResource = ({ kind, id, inputs, outputs }: RecordedResource): void => {
    // What an inventory would contain, and does not, does not exist.
    if (inventory !== undefined && listsObject(inventory, kind ?? "", id ?? "")) return;
    // A state records no inputs of a resource that `.get` read.
    add(kind, id, Object.keys(inputs).length > 0 ? inputs : outputs);
  };
  for (const { kind, uid, inputs } of inventory?.objects ?? []) add(kind, uid, inputs);
  for (const resource of before?.resources ?? []) addResource(resource);
  for (const { op, before: old } of preview.steps) if (old && !IMPORT.test(op)) addResource(old);
  return objects;
}
