import { listFirst } from "../../text/plain";
import { printable } from "../../text/printable";
import { sortedJson } from "../../fields/formats";
import { SECRET_MASK, UNKNOWN, groupBy, isObject, stringOrEmpty, ownMember } from "../../fields/values";
import { sha256 } from "./digest";
import { cliVersionOf, isDefaultProvider, readState, urnParts, withoutSecrets } from "./engineState";
import { DocumentError, parseJson, checkNameLengths, labelOfUrn } from "./jsonText";
import { isRest } from "./preview";
import type { Preview, PreviewStep, WrittenState } from "./preview";
import { recordLine } from "./stateExport";

type Members = Readonly<Record<string, unknown>>;

/** What an update plan allows for one resource. */
interface PlannedResource {
  readonly urn: string;
  /** In the engine's words, in order. */
  readonly steps: readonly string[];
  /** What the engine holds the program to. Undefined of a delete. */
  readonly goal?: Members;
}

/** An update plan, as `pulumi preview --save-plan` writes it. */
export interface UpdatePlan {
  /** SHA-256 of the file as it is, hex: the engine may read a file otherwise than this parser does. */
  readonly digest: string;
  /** The version of the CLI that wrote it. */
  readonly cli?: string;
  readonly resources: readonly PlannedResource[];
  /** Members that this version does not know, which may allow anything. */
  readonly unknownMembers: readonly string[];
}

/** Members of a goal that are equal in the preview, with the member of its state. */
const SAME_VALUE = {
  type: "type",
  custom: "custom",
  parent: "parent",
  provider: "provider",
  protect: "protect",
  id: "importID",
  customTimeouts: "customTimeouts",
} as const;

/** Lists of a goal that have the same items in the preview. */
const SAME_ITEMS = [
  "dependencies",
  "ignoreChanges",
  "ignoreRefreshChanges",
  "additionalSecretOutputs",
] as const;

/** Members of a state that nothing has which a goal describes: it was read only, or is the rest of a replacement. */
const NOT_IN_GOAL = ["external", "delete"] as const;

/** The keys of a plan, by the object that has them. The engine finds them in any case, so no other key is accepted. */
const KNOWN = {
  plan: ["manifest", "config", "resourcePlans"],
  manifest: ["time", "magic", "version", "plugins"],
  // `state` and `seed` bind nobody: the engine does not compare them.
  resource: ["goal", "steps", "state", "seed"],
  goal: [
    ...Object.keys(SAME_VALUE),
    ...SAME_ITEMS,
    "name",
    "inputDiff",
    // Of stacks and components alone, which have no access of their own. A preview does not show it.
    "outputDiff",
    "propertyDependencies",
    // Decides about the order of operations, which `steps` holds.
    "deleteBeforeReplace",
    "aliases",
    "structuredAliases",
  ],
  diff: ["adds", "updates", "deletes"],
  alias: ["URN", "Name", "Type", "Project", "Stack", "Parent", "NoParent"],
  timeouts: ["create", "update", "delete"],
} as const;

const asMembers = (value: unknown): Members => (isObject(value) ? value : {});
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** The keys of an object that are not known, with where they are. */
function findUnknown(value: unknown, where: keyof typeof KNOWN, path: string): string[] {
  const known: readonly string[] = KNOWN[where];
  return Object.keys(asMembers(value))
    .filter((key) => !known.includes(key))
    .map((key) => `${path}${printable(key, 80)}`);
}

function findUnknownInResource(value: Members): string[] {
  const goal = asMembers(value["goal"]);
  return [
    ...findUnknown(value, "resource", ""),
    ...findUnknown(goal, "goal", "goal."),
    ...findUnknown(goal["inputDiff"], "diff", "goal.inputDiff."),
    ...findUnknown(goal["outputDiff"], "diff", "goal.outputDiff."),
    ...findUnknown(goal["customTimeouts"], "timeouts", "goal.customTimeouts."),
    ...asList(goal["structuredAliases"]).flatMap((alias) =>
      findUnknown(alias, "alias", "goal.structuredAliases."),
    ),
  ];
}

function readPlannedResource(urn: string, value: unknown, name: string): PlannedResource {
  checkNameLengths(name, { "a URN": urn });
  // An import has none.
  const { steps = [], goal } = asMembers(value);
  if (!Array.isArray(steps) || steps.some((step) => typeof step !== "string")) {
    throw new DocumentError(
      "PP6003",
      `${name} is not an update plan that this version can read: ${printable(urnParts(urn).name, 80)} has no steps`,
    );
  }
  return { urn, steps: steps as string[], ...(isObject(goal) ? { goal } : {}) };
}

/**
 * Reads an update plan.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parsePlan(input: string | Uint8Array, name = "the plan"): UpdatePlan {
  const value = parseJson(input, name, "write it with pulumi preview --save-plan");
  const resources = value["resourcePlans"];
  if (!isObject(resources)) {
    throw new DocumentError(
      "PP6002",
      `${name} is not an update plan: write it with pulumi preview --json --show-sames --save-plan plan.json`,
    );
  }
  return {
    digest: sha256(input),
    cli: cliVersionOf(value["manifest"]),
    resources: Object.entries(resources).map(([urn, resource]) => readPlannedResource(urn, resource, name)),
    unknownMembers: [
      ...findUnknown(value, "plan", ""),
      ...findUnknown(value["manifest"], "manifest", "manifest."),
      ...Object.values(resources).flatMap((resource) => findUnknownInResource(asMembers(resource))),
    ],
  };
}

/** Why a provider with the name of a default one cannot be compared. The engine gives its own no parent. */
function findDefaultProblem({ goal = {} }: PlannedResource): string | undefined {
  if (["parent", "propertyDependencies", "dependencies"].some((key) => Object.hasOwn(goal, key)))
    return "the program declares it with a name of the engine's own providers, so that no preview shows it: give it another name";
  return textOf(goal).includes(UNKNOWN)
    ? "the plan allows any value in place of an unknown one, and the preview does not show it"
    : undefined;
}

/** What a plan lets change of the inputs of a resource: the engine holds the program to that, and to no `detailedDiff`. */
function changedInputs(diff: Members): readonly string[] {
  const { adds, updates, deletes } = diff;
  return [
    ...Object.keys(asMembers(adds)),
    ...Object.keys(asMembers(updates)),
    ...asList(deletes).map(String),
  ];
}

/**
 * A preview with what a plan says of it: which inputs differ, as far as secrets do not show it; and the providers that the plan
 * creates or changes and the preview does not show, which the engine makes itself, or whose name looks like that. Whether
 * anything changes the engine asks the new plugin itself, which may say `same`.
 */
export function withPlanned(preview: Preview, plan: UpdatePlan | undefined): Preview {
  if (plan === undefined) return preview;
  const planned = new Map(plan.resources.map((resource) => [resource.urn, resource]));
  const steps = preview.steps.map((step): PreviewStep => {
    const resource = planned.get(step.urn);
    return resource === undefined
      ? step
      : { ...step, differing: changedInputs(asMembers(resource.goal?.["inputDiff"])) };
  });
  const shown = new Set(steps.map(({ urn }) => urn));
  const added = plan.resources.flatMap(({ urn, steps: ops, goal }): PreviewStep[] => {
    const { type } = urnParts(urn);
    if (!type.startsWith("pulumi:providers:") || shown.has(urn) || goal === undefined) return [];
    const { adds, updates } = asMembers(goal["inputDiff"]);
    const inputs = { ...asMembers(adds), ...asMembers(updates) };
    const after = readState({ urn, type, inputs }, "export");
    const isOtherPlugin = after?.plugin?.isPublished === false || after?.plugin?.version !== undefined;
    return ops.flatMap((op): PreviewStep[] => {
      if (op !== "same") return [{ op, urn, after }];
      return isOtherPlugin ? [{ op: "update", urn, after }] : [];
    });
  });
  return { ...preview, steps: [...steps, ...added] };
}

/** What a preview of a refresh does first, and what only reads, is in no plan. */
const NOT_PLANNED: ReadonlySet<string> = new Set(["refresh", "read"]);

/**
 * The resources of which a preview says that its refresh found another state than the stack records. Neither the plan nor the stack
 * proves that it did.
 */
function listRefreshed(steps: readonly PreviewStep[]): string[] {
  // The rest of an earlier replacement is another object, and what a run replaces is marked as such a rest in that run. A refresh
  // records more of what is only read.
  const shown = steps.filter((step) => step.op !== "read" && !isRest(step));
  const lineOf = ({ before }: PreviewStep): string | undefined =>
    before && recordLine({ ...before, pendingDelete: false });
  const recorded = new Map(
    shown.flatMap((step) => (step.op === "refresh" ? [[step.urn, lineOf(step)] as const] : [])),
  );
  const changed = shown.filter(
    (step) => step.before !== undefined && recorded.has(step.urn) && recorded.get(step.urn) !== lineOf(step),
  );
  return [...new Set(changed.map(({ urn }) => urn))];
}

/** What one `replace` of a preview stands for in a plan. */
const REPLACEMENT = ["create-replacement", "replace", "delete-replaced"];
/** The same where the program only reads what it replaces the old object by. */
const REPLACEMENT_BY_READ = ["delete-replaced"];

const isRead = ({ written }: PreviewStep): boolean => written?.after?.["external"] === true;

/** Whether a resource takes over what had another urn. */
const isByAlias = ({ urn, before }: PreviewStep): boolean => before !== undefined && before.urn !== urn;

/** The steps of a preview; what a replacement by an alias deletes has the old urn, and no step of its own. */
const withDeleted = (steps: readonly PreviewStep[]): readonly PreviewStep[] =>
  steps.flatMap((step) =>
    step.op === "replace" && isByAlias(step)
      ? [step, { op: "delete-replaced", urn: step.before?.urn ?? step.urn, before: step.before }]
      : [step],
  );

/** The operations that a preview shows, as a plan has them. The goal of an import is planned, and no step of it. */
function plannedOps(steps: readonly PreviewStep[]): readonly string[] {
  const isSplit = steps.some(({ op }) => op === "create-replacement");
  return steps.flatMap((step) => {
    if (step.op === "import") return [];
    if (isRest(step)) return ["delete-replaced"];
    if (step.op !== "replace" || isSplit) return [step.op];
    const ops = isRead(step) ? REPLACEMENT_BY_READ : REPLACEMENT;
    return isByAlias(step) ? ops.filter((op) => op !== "delete-replaced") : ops;
  });
}

const inOrder = (values: readonly unknown[]): string[] => [...new Set(values.map(String))].sort();

/** A value as a text that tells it from others. A secret has the same text as in a preview, which shows none. */
const textOf = (value: unknown): string => sortedJson(withoutSecrets(value) ?? null);

/** An absent member and an empty one mean the same, and the engine writes no empty ones in some places. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  (isEmpty(a) && isEmpty(b)) || textOf(a) === textOf(b);

const isSameSet = (a: unknown, b: unknown): boolean =>
  inOrder(asList(a)).join("\n") === inOrder(asList(b)).join("\n");

/** Compares by property: the engine does not compare the dependencies of a property that the plan leaves out. */
function isSameDependencies(planned: Members, shown: Members): boolean {
  const keys = inOrder([...Object.keys(planned), ...Object.keys(shown)]);
  return keys.every(
    (key) =>
      Object.hasOwn(planned, key) === Object.hasOwn(shown, key) &&
      isSameSet(ownMember(planned, key), ownMember(shown, key)),
  );
}

/** A secret is masked in a preview, so its two sides may look the same. */
const hasMask = (value: unknown): boolean => textOf(value).includes(SECRET_MASK);

/**
 * The inputs of which the plan allows another value than the preview shows, or another change: an input that only one of the
 * two changes has another value before it than the preview says.
 */
function findOtherInputs(diff: Members, before: Members, after: Members): string[] {
  const [adds, updates] = [asMembers(diff["adds"]), asMembers(diff["updates"])];
  const deletes = new Set(asList(diff["deletes"]).map(String));
  const allowed = (key: string): unknown => {
    if (Object.hasOwn(adds, key)) return adds[key];
    if (Object.hasOwn(updates, key)) return updates[key];
    return deletes.has(key) ? undefined : ownMember(before, key);
  };
  const isTwofold = (key: string): boolean =>
    [Object.hasOwn(adds, key), Object.hasOwn(updates, key), deletes.has(key)].filter(Boolean).length > 1;
  const changes = new Set(changedInputs(diff));
  const isOtherChange = (key: string): boolean => {
    const [old, now] = [ownMember(before, key), ownMember(after, key)];
    // The engine distinguishes null from nothing, and a preview does not.
    const isAbsent = !deletes.has(key) && (old ?? null) === null && (now ?? null) === null;
    return !isAbsent && changes.has(key) === (textOf(old) === textOf(now)) && !hasMask([old, now]);
  };
  return inOrder([...Object.keys(before), ...Object.keys(after), ...changes]).filter(
    (key) => isTwofold(key) || textOf(allowed(key)) !== textOf(ownMember(after, key)) || isOtherChange(key),
  );
}

/** The members of an alias that are set. */
function membersOfAlias(alias: unknown): Readonly<Record<string, unknown>> {
  const members = typeof alias === "string" ? { URN: alias } : asMembers(alias);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)));
}

/** The urn that the engine gives to a resource: that of its parent, of which the types count, and what is its own. */
function createUrn(name: string, type: string, parent: string, project: string, stack: string): string {
  const isTop = parent === "" || urnParts(parent).types === "pulumi:pulumi:Stack";
  const start = isTop ? `urn:pulumi:${stack}::${project}::` : `${parent.slice(0, parent.lastIndexOf("::"))}$`;
  return `${start}${type}::${name}`;
}

/** What a step of the preview changes, and the inputs from which the plan says what differs. */
interface WrittenChange {
  readonly before: WrittenState | undefined;
  readonly after: WrittenState;
  readonly oldInputs: Members;
}

/** Whether the engine held the program to nothing, and keeps the resource as it is: the program was not asked for it, or lacks it. */
const isLeftOut = ({ goal }: PlannedResource, steps: readonly PreviewStep[]): boolean =>
  goal === undefined && steps.length > 0 && steps.every(({ op }) => op === "same");

/** Whether a replacement has all inputs in the plan as new, and in the preview as they were. */
function isReplacedByOption({ goal }: PlannedResource, { op, written }: PreviewStep): boolean {
  const [old, now] = [written?.before, written?.after].map((state) => asMembers(state?.["inputs"]));
  const added = asMembers(asMembers(goal?.["inputDiff"])["adds"]);
  return op === "replace" && textOf(old) === textOf(now) && textOf(added) === textOf(now) && !isEmpty(now);
}

/** Where the plan and the preview of the whole run differ for one resource. */
class PlanComparison {
  /** The urns of the states before the change that the preview shows. */
  private readonly existing: ReadonlySet<unknown>;
  /** The urn that the state has for a resource of the preview. */
  private readonly oldUrns: ReadonlyMap<string, unknown>;

  constructor(steps: readonly PreviewStep[]) {
    // The rest of an earlier replacement has no alias.
    const shown = steps.flatMap((step) =>
      step.written?.before === undefined || isRest(step)
        ? []
        : [[step.urn, step.written.before["urn"]] as const],
    );
    this.existing = new Set(shown.map(([, old]) => old));
    this.oldUrns = new Map(shown);
  }

  /** The urn that a resource of the plan has in the state, where it takes that over by an alias. */
  private aliasOf(urn: string): string | undefined {
    const old = this.oldUrns.get(urn);
    return typeof old === "string" && old !== urn ? old : undefined;
  }

  /** The urns to which the aliases of a goal lead, and those that it inherits by the alias of its parent, as the engine makes them. */
  private aliasUrns(urn: string, goal: Members): string[] {
    const own = urnParts(urn);
    const parent = stringOrEmpty(goal["parent"]);
    const type = stringOrEmpty(goal["type"]);
    const urns = [...asList(goal["structuredAliases"]), ...asList(goal["aliases"])].map((alias) => {
      const { URN: whole, ...members } = membersOfAlias(alias);
      if (typeof whole === "string") return whole;
      const named = stringOrEmpty(members["Parent"]);
      const under = named === "" ? parent : (this.aliasOf(named) ?? named);
      return createUrn(
        stringOrEmpty(members["Name"]) || own.name,
        stringOrEmpty(members["Type"]) || type,
        members["NoParent"] === true ? "" : under,
        stringOrEmpty(members["Project"]) || own.project,
        stringOrEmpty(members["Stack"]) || own.stack,
      );
    });
    const old = this.aliasOf(parent);
    if (old === undefined) return urns;
    // A name that begins with that of the parent is taken for one that is made of it.
    const [now, then] = [urnParts(parent).name, urnParts(old).name];
    const inherit = (name: string, typeOfChild: string): string => {
      const oldName = name.startsWith(now) ? `${then}${name.slice(now.length)}` : name;
      return createUrn(oldName, typeOfChild, old, own.project, own.stack);
    };
    return [
      ...urns,
      inherit(own.name, type),
      ...urns.map((each) => inherit(urnParts(each).name, urnParts(each).type)),
    ];
  }

  /**
   * Whether the plan lets the resource take over another one of the state than the preview shows. A resource that exists uses no
   * alias; the engine does not compare the order of aliases, so only one of them may lead to something.
   */
  private hasOtherAlias(urn: string, goal: Members, before: WrittenState | undefined): boolean {
    if (before?.["urn"] === urn) return false;
    const found = new Set(this.aliasUrns(urn, goal).filter((each) => this.existing.has(each)));
    if (before === undefined) return found.size > 0;
    return this.existing.has(urn) || found.size !== 1 || !found.has(String(before["urn"]));
  }

  /** What differs, in words: of each step, since a replacement has several. */
  private findDifferences(planned: PlannedResource, steps: readonly PreviewStep[]): string[] {
    const { goal } = planned;
    // A preview does not show the object that an import reads, and the plan has what differs from it: the update refuses others.
    const changes = new Set(changedInputs(asMembers(goal?.["inputDiff"])));
    const asRead = (inputs: Members): Members =>
      Object.fromEntries(Object.entries(inputs).filter(([key]) => !changes.has(key)));
    const written = steps.flatMap(({ op, written: states }): WrittenChange[] => {
      if (states?.after === undefined) return [];
      const { before, after } = states;
      const oldInputs = op === "import" ? asRead(asMembers(after["inputs"])) : asMembers(before?.["inputs"]);
      return [{ before, after, oldInputs }];
    });
    if (written.length === 0) return goal === undefined ? [] : ["goal"];
    if (goal === undefined) return steps.some(isRead) ? [] : ["no goal"];
    return [...new Set(written.flatMap((states) => this.compareGoal(planned.urn, goal, states)))];
  }

  private compareGoal(urn: string, goal: Members, { before, after, oldInputs }: WrittenChange): string[] {
    const diff = asMembers(goal["inputDiff"]);
    const inputs = findOtherInputs(diff, oldInputs, asMembers(after["inputs"]));
    return [
      ...(goal["name"] === urnParts(urn).name ? [] : ["name"]),
      ...Object.entries(SAME_VALUE).flatMap(([key, shown]) =>
        isSameValue(goal[key], after[shown]) ? [] : [key],
      ),
      ...NOT_IN_GOAL.filter((key) => after[key] === true),
      ...SAME_ITEMS.filter((key) => !isSameSet(goal[key], after[key])),
      ...(isSameDependencies(
        asMembers(goal["propertyDependencies"]),
        asMembers(after["propertyDependencies"]),
      )
        ? []
        : ["propertyDependencies"]),
      ...(this.hasOtherAlias(urn, goal, before) ? ["aliases"] : []),
      ...inputs.map((key) => `input ${printable(key, 80)}`),
    ];
  }

  findProblem(
    urn: string,
    planned: PlannedResource | undefined,
    steps: readonly PreviewStep[],
  ): string | undefined {
    const who = labelOfUrn(urn);
    const ops = steps.map(({ op }) => op);
    if (planned === undefined)
      return `${who} is in the preview (${inOrder(ops).join(", ")}) and not in the plan`;
    const allowed = inOrder(planned.steps);
    if (isDefaultProvider(urn)) {
      const problem = findDefaultProblem(planned);
      return problem === undefined ? undefined : `${who}: ${problem}`;
    }
    if (ops.length === 0) {
      const advice = allowed.includes("remove-pending-replace")
        ? ": an interrupted update has deleted its old object and made no new one; keep it in the program for one more update, then remove it"
        : "";
      return `${who} is in the plan (${allowed.join(", ")}) and not in the preview${advice}`;
    }
    const areShown = (expected: readonly string[]): boolean =>
      [...expected].sort().join() === [...plannedOps(steps)].sort().join();
    if (!areShown(planned.steps)) {
      if (areShown(planned.steps.filter((op) => op !== "delete-replaced")))
        return `${who}: an interrupted update replaced it and left the old object, which this one deletes, and the preview does not show that: write it with --show-replacement-steps, or give --before`;
      return `${who}: the plan allows ${allowed.join(", ")}, and the preview shows ${inOrder(ops).join(", ")}`;
    }
    if (isLeftOut(planned, steps))
      return `${who}: the preview and the plan leave out what the program makes of it (--target or --exclude): write them without these options`;
    if (steps.some((step) => isReplacedByOption(planned, step)))
      return `${who}: --replace or a taint replaces it, so that the plan does not tell what differs: take the taint back (pulumi state untaint), replace it by a change of the program, or review this update without --plan`;
    const differences = this.findDifferences(planned, steps);
    return differences.length === 0
      ? undefined
      : `${who}: the plan allows another ${differences.join(", ")} than the preview shows`;
  }
}

/**
 * Where a plan allows something else than a preview shows, a line each: one of them is forged, or of another run. Only
 * the goal of a plan binds the engine.
 */
export function comparePlan(
  { resources, unknownMembers }: UpdatePlan,
  { steps, omittedUnchanged }: Preview,
): string[] {
  const shown = groupBy(withDeleted(steps), ({ op, urn }) => (NOT_PLANNED.has(op) ? [] : [urn]));
  const planned = new Map(resources.map((resource) => [resource.urn, resource]));
  const comparison = new PlanComparison(steps);
  const isHidden = (urn: string): boolean =>
    omittedUnchanged > 0 && !shown.has(urn) && planned.get(urn)?.steps.join() === "same";
  const urns = [...new Set([...shown.keys(), ...planned.keys()])];
  const hidden = urns.filter((urn) => isHidden(urn) && !isDefaultProvider(urn)).length;
  const refreshed = listRefreshed(steps).map((urn) => printable(urnParts(urn).name, 80));
  return [
    ...(refreshed.length === 0
      ? []
      : [
          `the preview says that its refresh found changes by hand of ${listFirst(refreshed)}, which no plan proves: answer what drift says of them first, since a refresh records them as meant; then run pulumi refresh, and write the preview and the plan again`,
        ]),
    ...inOrder(unknownMembers).map(
      (member) => `the plan has the member ${member}, which this version does not know: use a newer one`,
    ),
    ...(hidden === 0
      ? []
      : [
          `the preview does not show ${hidden} unchanged resources of the plan, so they cannot be compared: write it with --show-sames`,
        ]),
    ...urns
      .filter((urn) => !isHidden(urn))
      .sort()
      .flatMap((urn) => comparison.findProblem(urn, planned.get(urn), shown.get(urn) ?? []) ?? []),
  ];
}
