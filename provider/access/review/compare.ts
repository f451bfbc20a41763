import { describeEffects, sideOf } from "../effects";
import type { EffectContext } from "../effects";
import { HIDDEN, urnParts } from "../documents/engineState";
import { diffGrants } from "./grantChanges";
import { accessKinds, compareGrants, label, Places } from "../graph/grants";
import { changesByMoves } from "./groupMoves";
import type { Entities } from "../graph/grants";
import type { Inventory } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import type { Comparison, ResourceChange, World } from "../graph/model";
import type { Preview } from "../documents/preview";
import { recordedObjects } from "../graph/recorded";
import { specs } from "../graph/references";
import type { GroupNode, GrantChange } from "../report/report";
import type { StateExport } from "../documents/stateExport";
import { Languages } from "../trust/languages";
import { buildWorlds, fatesOf } from "../graph/worlds";
import type { Change } from "../graph/worlds";

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

function changesMeaning({ kind, op, fields }: ResourceChange): boolean {
  if (op !== "update") return op !== "create";
  const meaning = accessKinds[kind]?.meaning ?? [];
  return fields.some(({ path }) => meaning.includes(path.split(/[.[]/)[0] ?? ""));
}

function changeOf(
  { fate, kind, before, after, notReviewed, stays, isRefused }: Change,
  context: EffectContext,
): ResourceChange {
  const op = fate.op === "import" ? "read" : fate.op;
  const spec = specs[kind];
  const both = before !== undefined && after !== undefined && op !== "same";
  const hidden = (after?.hidden ?? []).filter((path) => before?.hidden.includes(path));
  const secret = op === "update" || op === "replace" ? hidden : [];
  return {
    op,
    kind,
    urn: fate.urn,
    before,
    after,
    fields: spec !== undefined && both ? describeEffects(spec, before.inputs, after.inputs, context) : [],
    secretsMayHaveChanged: secret,
    ...(stays ? { stays } : {}),
    ...(isRefused ? { isRefused } : {}),
    ...(notReviewed === undefined
      ? {}
      : { notReviewed, location: fate.after?.location ?? fate.before?.location }),
  };
}

/** The groups of both sides, with what has changed about each. */
export function groupNodes(before: Entities, after: Entities): GroupNode[] {
  const places = { before: new Places(before), after: new Places(after) };
  const keys = [...before.values(), ...after.values()]
    .filter(({ kind }) => kind === "Group")
    .map(({ key }) => key);
  const nodes = [...new Set(keys)].map((key): GroupNode => {
    const [old, now] = [before.get(key), after.get(key)];
    const at = now === undefined ? places.before : places.after;
    const change =
      old === undefined
        ? "added"
        : now === undefined
          ? "removed"
          : places.before.parent(key) !== places.after.parent(key)
            ? "moved"
            : old.name !== now.name
              ? "renamed"
              : "same";
    const parentKey = at.parent(key);
    return { ...at.scope(key), change, ...(parentKey === undefined ? {} : { parentKey }) };
  });
  return nodes.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.key < b.key ? -1 : 1));
}

/** What a reader of the changes cannot know. */
export function unresolvedGrants(changes: readonly GrantChange[], after: World): string[] {
  const lines = new Set<string>();
  for (const { grant } of changes) {
    const { role, subject } = grant;
    if (role.capabilities === undefined && role.uid !== undefined && role.name === undefined) {
      lines.add(`role ${role.uid}: its name and what it allows are not known: give --inventory`);
    } else if (role.capabilities === undefined && (role.uid !== undefined || after.entities.has(role.key))) {
      // A reference that leads nowhere yet is told where it stands.
      lines.add(`role ${role.name ?? label(after.entities, role.key)}: what it allows is not known`);
    }
    if (subject.type === "identity" && subject.urn === undefined && subject.name === undefined) {
      lines.add(`identity ${subject.uid ?? subject.key}: who it is is not known: give --inventory`);
    }
  }
  return [...lines];
}

/** Why the comparison does not see all that it should, a line each. */
function gaps(
  { preview, before, inventory }: Sources,
  changes: readonly ResourceChange[],
  isEmpty: boolean,
): string[] {
  const covered = before !== undefined || inventory?.complete === true;
  const changed = changes.filter(({ op }) => op !== "same" && op !== "read");
  const touched = changed.filter((change) => isReferredTo(change.kind) && changesMeaning(change));
  const hides = preview.hiddenSames > 0 && !covered;
  const refused = (inventory?.refused ?? []).map(
    ({ kind, code }) => `the inventory lacks ${kind}: the server answered ${code}`,
  );
  const pending = before?.pendingOperations ?? 0;
  return [
    ...preview.problems,
    ...(isEmpty && preview.hiddenSames <= 1
      ? ["nothing was compared: the preview names no resource of the platform"]
      : []),
    ...(hides && touched.length > 0
      ? [
          `what holds for unchanged resources is not shown, though what they refer to changes (${touched
            .slice(0, 3)
            .map(({ urn }) => urnParts(urn ?? "").name)
            .join(", ")}): write the preview with --show-sames, or give --before`,
        ]
      : []),
    ...refused,
    ...(inventory?.complete === false && refused.length === 0 ? ["the inventory is not complete"] : []),
    ...(pending > 0 ? [`an update of the stack was broken off: ${pending} operations are open`] : []),
  ];
}

/**
 * Compares access before and after what a preview foresees.
 *
 * @throws DocumentError where the documents are of different stacks.
 */
export function compare(sources: Sources): Comparison {
  const { preview, before: recorded, inventory } = sources;
  const stacks = [recorded?.stack, preview.stack];
  if (stacks.every((stack) => stack !== undefined) && stacks[0] !== stacks[1]) {
    throw new DocumentError(
      `--before is an export of stack ${stacks[0]}, and the preview is of ${stacks[1]}: give both of one stack`,
    );
  }
  const worlds = buildWorlds(fatesOf(preview.steps, recorded), inventory);
  const entities = { before: worlds.before.entities, after: worlds.after.entities };
  const languages = new Languages();
  const context = { before: sideOf(entities.before), after: sideOf(entities.after), languages };
  const changes = worlds.changes.map((change) => changeOf(change, context));
  const { changes: own, kept } = diffGrants(worlds.before, worlds.after, languages);
  const grants = [...own, ...changesByMoves(worlds.before, worlds.after)].sort((a, b) =>
    compareGrants(a.grant, b.grant),
  );
  const secrets = changes.flatMap(({ urn, kind, secretsMayHaveChanged }) =>
    secretsMayHaveChanged.map(
      (path) => `${kind} ${urnParts(urn ?? "").name}: ${path} is ${HIDDEN}: it may have changed`,
    ),
  );
  const incomplete = gaps(sources, changes, entities.before.size + entities.after.size === 0);
  const isSilent = preview.hiddenSames > 0 && recorded === undefined && inventory === undefined;
  const changed = changes.some(({ op }) => op !== "same" && op !== "read");
  return {
    stack: preview.stack ?? recorded?.stack,
    before: worlds.before,
    after: worlds.after,
    changes,
    grants,
    kept,
    groups: groupNodes(entities.before, entities.after),
    unresolved: [
      ...worlds.unresolved,
      ...unresolvedGrants(grants, worlds.after),
      ...secrets,
      ...(isSilent && changed
        ? [
            `${preview.hiddenSames} unchanged resources are not shown, so their names are missing: write the preview with --show-sames`,
          ]
        : []),
    ],
    complete: incomplete.length === 0,
    incomplete,
    inventory,
    languages,
    recorded: recordedObjects(preview, recorded, inventory),
  };
}
