import { compareTexts, UNCONFIRMED } from "../../fields/values";
import { describeEffects, createEffectSide } from "../effects";
import type { EffectContext } from "../effects";
import { SECRET_MASK, urnParts } from "../documents/engineState";
import { recordedSide } from "./asRecorded";
import { diffGrants } from "./grantChanges";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import { labelByKey, GroupHierarchy } from "../graph/groupHierarchy";
import { compareGrants } from "../graph/grant";
import { changesByMoves } from "./groupMoves";
import type { AccessGraph, Entities } from "../graph/model";
import type { Inventory } from "../documents/inventory";
import { inventoryGaps } from "../documents/inventoryGaps";
import { DocumentError } from "../documents/jsonText";
import type { Comparison, ResourceChange } from "./comparison";
import type { Preview } from "../documents/preview";
import { recordedObjects } from "../graph/recorded";
import { specs } from "../documents/specs";
import type { GrantChange, GroupNode } from "../graph/grant";
import type { StateExport } from "../documents/stateExport";
import { Languages } from "../trust/languages";
import { buildGraphs } from "../graph/graphBuilder";
import { isPathWithin } from "../graph/references";
import { planResources } from "../graph/resourcePlan";
import type { AccessGraphs, PlannedChange } from "../graph/graphBuilder";

/** What a comparison is made from. */
export interface Sources {
  readonly preview: Preview;
  /** The stack before, where the preview does not show what stays as it is. */
  readonly before?: StateExport;
  /** The live organisation: what no program knows, names and capabilities of built-in roles, last sign-ins. */
  readonly inventory?: Inventory;
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
function mayDiffer(secret: string, { differing }: PlannedChange["plan"]): boolean {
  if (differing === undefined || differing.length === 0) return true;
  return differing.some((path) => isPathWithin(secret, path) || isPathWithin(path, secret));
}

/** Whether an update changes only what the stack records: the provider compares the arguments with the recorded outputs. */
function sendsNothing({ op, before, after }: PlannedChange["plan"], kind: string): boolean {
  if (op !== "update" || before === undefined || after === undefined) return false;
  const olds = { ...before.inputs, ...before.outputs };
  const isConfirmed = olds[UNCONFIRMED] !== true;
  return isConfirmed && specs[kind]?.operations?.sendsNothing?.(olds, after.inputs) === true;
}

/** The paths that the program ignores from now on. */
function newlyIgnored({ before, unrefreshed, after }: PlannedChange["plan"]): string[] {
  const olds = (unrefreshed ?? before)?.ignoreChanges ?? [];
  return (after?.ignoreChanges ?? []).filter((path) => !olds.includes(path));
}

function changeOf(
  { plan, kind, before, after, notReviewed, packageVersion, recorded, planned, ...known }: PlannedChange,
  context: EffectContext,
): ResourceChange {
  const op = plan.op === "import" ? "read" : plan.op;
  const spec = specs[kind];
  const both = before !== undefined && after !== undefined && op !== "same";
  const ignored = newlyIgnored(plan);
  const secretPaths = (after?.secretPaths ?? []).filter((path) => before?.secretPaths.includes(path));
  const secret =
    op === "update" || op === "replace" ? secretPaths.filter((path) => mayDiffer(path, plan)) : [];
  return {
    op,
    kind,
    urn: plan.urn,
    before,
    after,
    fields: spec !== undefined && both ? describeEffects(spec, before.inputs, after.inputs, context) : [],
    secretsMayHaveChanged: secret,
    ...(ignored.length === 0 ? {} : { newlyIgnored: ignored }),
    ...(secret.length === 0 && sendsNothing(plan, kind) ? { sendsNothing: true } : {}),
    ...known,
    ...(recorded === undefined || recorded.external === true ? {} : { recorded }),
    ...(planned === undefined || planned.external === true ? {} : { planned }),
    ...(notReviewed === undefined
      ? {}
      : {
          notReviewed,
          packageVersion,
          inputsDigest: (plan.after ?? plan.before)?.inputsDigest,
          location: plan.after?.location ?? plan.before?.location,
        }),
  };
}

/** The groups of both sides, with what has changed about each. */
export function groupNodes(before: Entities, after: Entities): GroupNode[] {
  const hierarchies = { before: new GroupHierarchy(before), after: new GroupHierarchy(after) };
  const keys = [...before.values(), ...after.values()]
    .filter(({ kind }) => kind === "Group")
    .map(({ key }) => key);
  const nodes = [...new Set(keys)].map((key): GroupNode => {
    const [old, now] = [before.get(key), after.get(key)];
    const at = now === undefined ? hierarchies.before : hierarchies.after;
    const change =
      old === undefined
        ? "added"
        : now === undefined
          ? "removed"
          : hierarchies.before.parentOf(key) !== hierarchies.after.parentOf(key)
            ? "moved"
            : old.name !== now.name
              ? "renamed"
              : "same";
    const parentKey = at.parentOf(key);
    return { ...at.scope(key), change, ...(parentKey === undefined ? {} : { parentKey }) };
  });
  return nodes.sort((a, b) => compareTexts(a.path, b.path) || compareTexts(a.key, b.key));
}

/** What a reader of the changes cannot know. */
export function unresolvedGrants(changes: readonly GrantChange[], after: AccessGraph): string[] {
  const lines = new Set<string>();
  for (const { grant } of changes) {
    const { role, subject } = grant;
    if (role.capabilities === undefined && role.uid !== undefined && role.name === undefined) {
      lines.add(`role ${role.uid}: its name and its capabilities are not known: give --inventory`);
    } else if (role.capabilities === undefined && (role.uid !== undefined || after.entities.has(role.key))) {
      // A reference that leads nowhere yet is told where it stands.
      lines.add(`role ${role.name ?? labelByKey(after.entities, role.key)}: its capabilities are not known`);
    }
    if (subject.type === "identity" && subject.urn === undefined && subject.name === undefined) {
      lines.add(`identity ${subject.uid ?? subject.key}: who may assume it is not known: give --inventory`);
    }
  }
  return [...lines];
}

/** Whether a preview leaves out unchanged resources. One may be the stack itself, which every preview counts. */
const mayOmitResources = ({ omittedUnchanged }: Preview): boolean => omittedUnchanged > 1;

/** Why the comparison does not see all that it should, a line each. */
function findGaps(
  { preview, before, inventory }: Sources,
  changes: readonly ResourceChange[],
  isEmpty: boolean,
): string[] {
  const covered = before !== undefined || inventory?.complete === true;
  const changed = changes.filter(({ op }) => op !== "same" && op !== "read");
  const changedReferents = changed.filter(
    (change) => isReferredTo(change.kind) && changesAccessFields(change),
  );
  const lacksUnchanged = preview.omittedUnchanged > 0 && !covered;
  const pending = before?.pendingOperations ?? 0;
  return [
    ...preview.problems,
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
    ...changes
      .filter(({ isOfOtherKind }) => isOfOtherKind)
      .map(
        ({ kind, urn }) =>
          `${kind} ${urnParts(urn ?? "").name}: the object with the uid that the stack records is of another kind: import the stack's state again, or delete the resource from it (pulumi state delete)`,
      ),
    ...(pending > 0
      ? [
          `an update of the stack was interrupted, and its state does not say how ${pending === 1 ? "1 operation" : `${pending} operations`} ended: run pulumi refresh, export the state again (pulumi stack export), and review again`,
        ]
      : []),
  ];
}

/** @throws DocumentError where the two documents are of different stacks. */
function checkStacks({ preview, before }: Sources): void {
  if (before?.stack === undefined || preview.stack === undefined || before.stack === preview.stack) return;
  throw new DocumentError(
    "PP6004",
    `--before is an export of stack ${before.stack}, and the preview is of ${preview.stack}: give both of one stack`,
  );
}

/** What a reader of the comparison cannot know, a line each. */
function findUnresolved(
  { preview, before, inventory }: Sources,
  graphs: AccessGraphs,
  changes: readonly ResourceChange[],
  grants: readonly GrantChange[],
): string[] {
  const secrets = changes.flatMap(({ urn, kind, secretsMayHaveChanged }) =>
    secretsMayHaveChanged.map(
      (path) => `${kind} ${urnParts(urn ?? "").name}: ${path} is ${SECRET_MASK}: it may have changed`,
    ),
  );
  const isSilent = preview.omittedUnchanged > 0 && before === undefined && inventory === undefined;
  const hasChanges = changes.some(({ op }) => op !== "same" && op !== "read");
  return [
    ...graphs.unresolved,
    ...unresolvedGrants(grants, graphs.after),
    ...secrets,
    ...(isSilent && hasChanges
      ? [
          `${preview.omittedUnchanged} unchanged resources are not shown, so their names are missing: write the preview with --show-sames`,
        ]
      : []),
  ];
}

/** What lies between two graphs. */
function compareSides(
  before: AccessGraph,
  after: AccessGraph,
  languages: Languages,
): Pick<Comparison, "grants" | "unchanged" | "groups"> {
  const { changes, unchanged } = diffGrants(before, after, languages);
  const grants = [...changes, ...changesByMoves(before, after)].sort((a, b) =>
    compareGrants(a.grant, b.grant),
  );
  return { grants, unchanged, groups: groupNodes(before.entities, after.entities) };
}

/**
 * Compares access before and after what a preview foresees.
 *
 * @throws DocumentError where the documents are of different stacks.
 */
export function compare(sources: Sources): Comparison {
  checkStacks(sources);
  const { preview, before: recorded, inventory } = sources;
  const graphs = buildGraphs(planResources(preview.steps, recorded), inventory);
  const { before, after } = graphs;
  const languages = new Languages();
  const context = {
    before: createEffectSide(before.entities),
    after: createEffectSide(after.entities),
    languages,
  };
  const changes = graphs.changes.map((change) => changeOf(change, context));
  const sides = compareSides(before, after, languages);
  const incomplete = findGaps(sources, changes, before.entities.size + after.entities.size === 0);
  const comparison: Comparison = {
    stack: preview.stack ?? recorded?.stack,
    before,
    after,
    changes,
    ...sides,
    unresolved: findUnresolved(sources, graphs, changes, sides.grants),
    complete: incomplete.length === 0,
    incomplete,
    inventory,
    languages,
    recorded: recordedObjects(preview, recorded, inventory),
  };
  const pairs = graphs.changes.map((planned, index) => [planned, changes[index] as ResourceChange] as const);
  const side =
    inventory === undefined ? undefined : recordedSide(before, pairs, context, mayOmitResources(preview));
  if (side === undefined) return comparison;
  const { kept, isFirstImport, ...own } = side;
  const asRecorded = { ...comparison, ...own, ...compareSides(own.before, after, languages) };
  return { ...comparison, asRecorded: { comparison: asRecorded, kept, isFirstImport } };
}
