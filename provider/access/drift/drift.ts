import { Directory } from "../graph/directory";
import { specs } from "../documents/specs";
import { describeEffects } from "../effects";
import type { EffectContext, EffectSide } from "../effects";
import type { Coverage, DriftReport, ManagedCount } from "../report/report";
import { Languages } from "../trust/languages";
import { ComparisonScope } from "./comparisonScope";
import { DriftNotes } from "./difference";
import type { ComparedResource, DetectedDifference } from "./difference";
import { DifferenceDescriber } from "./differenceDescriber";
import { findingOf, reportDifference, reportDrift, sortDriftFindings } from "./driftReport";
import { bindingKeysOfCollections, compareDrift } from "./driftGraphs";
import { ManagedResources } from "./managedResources";
import type { DriftRequest } from "./request";
import { StateComparison } from "./stateComparison";
import { UnmanagedObjects, isUndeclarable } from "./unmanagedObjects";
import type { InventoryObject } from "../documents/inventory";
import { parentOf } from "../../text/uid";
import { compareTexts } from "../../fields/values";
import { entityOfObject } from "../graph/entities";
import { findLastOwners, isOwnerOfRoot } from "../rules/builtInRoles";
import { bindingKeys } from "../graph/accessKinds";

/** What coverage is measured from. */
interface CoverageSources {
  readonly directory: Directory;
  readonly managed: ManagedResources;
  readonly resources: readonly ComparedResource[];
  readonly scope: ComparisonScope;
}

class Counter {
  private readonly counts = new Map<string, { managed: number; total: number }>();

  add(key: string, isManaged: boolean): void {
    const count = this.counts.get(key) ?? { managed: 0, total: 0 };
    this.counts.set(key, count);
    count.total += 1;
    if (isManaged) count.managed += 1;
  }

  entries(): [string, ManagedCount][] {
    return [...this.counts].sort(([a], [b]) => compareTexts(a, b));
  }
}

/** Measures what share of the live organisation its programs declare, of all that a program can declare. */
function measureCoverage({ directory, managed, resources, scope }: CoverageSources): Coverage {
  const declared = bindingKeysOfCollections(resources, "before");
  const [all, kinds, groups] = [new Counter(), new Counter(), new Counter()];
  for (const object of directory.all()) {
    const { kind, uid } = object;
    const spec = specs[kind];
    if (spec === undefined || isUndeclarable(spec, object, scope)) continue;
    const keys = bindingKeys(entityOfObject(object));
    const isManaged =
      managed.ownersOf(kind, uid).length > 0 || (keys.length > 0 && keys.every((key) => declared.has(key)));
    all.add("", isManaged);
    kinds.add(kind, isManaged);
    groups.add((spec.sharesParentUid ? uid : parentOf(uid)) ?? "", isManaged);
  }
  const [[, total] = ["", { managed: 0, total: 0 }]] = all.entries();
  return {
    ...total,
    byKind: kinds.entries().map(([kind, count]) => ({ kind, ...count })),
    byGroup: groups.entries().map(([uid, count]) => ({ uid, path: directory.pathOf(uid), ...count })),
  };
}

/** Compares an older inventory with a newer one, whoever manages the objects. */
class InventoryComparison {
  readonly differences: DetectedDifference[] = [];
  compared = 0;
  private readonly kinds: ReadonlySet<string>;
  private readonly refused: ReadonlySet<string>;

  constructor(
    private readonly older: Directory,
    private readonly directory: Directory,
    private readonly scope: ComparisonScope,
    private readonly describer: DifferenceDescriber,
    private readonly effects: EffectContext,
  ) {
    this.kinds = new Set(older.inventories.flatMap(({ kinds }) => kinds));
    this.refused = new Set(older.inventories.flatMap(({ refused }) => refused.map(({ kind }) => kind)));
  }

  run(notes: DriftNotes): void {
    for (const kind of this.kinds) {
      if (this.directory.inventories.every(({ kinds }) => kinds.includes(kind))) continue;
      notes.incomplete.add(
        `${specs[kind]?.noun ?? kind}: not compared: only one of the inventories contains it`,
      );
    }
    for (const object of this.older.all()) this.compare(object);
  }

  /** Whether an object was created after the older inventory. */
  isNew({ kind, uid }: InventoryObject): boolean {
    return this.kinds.has(kind) && !this.refused.has(kind) && this.older.find(kind, uid) === undefined;
  }

  private compare(older: InventoryObject): void {
    const { kind, uid, inputs, builtIn } = older;
    const spec = specs[kind];
    if (spec === undefined || !this.scope.includes(spec, uid)) return;
    const now = this.directory.find(kind, uid);
    if (now === undefined) {
      if (builtIn !== undefined || !this.scope.lists(kind, uid)) return;
      this.compared += 1;
      this.differences.push(this.describer.describeRemoved(spec, older));
      return;
    }
    this.compared += 1;
    const changes = describeEffects(spec, inputs, now.inputs, this.effects);
    if (changes.length > 0) this.differences.push(this.describer.describeEdited(spec, older, now, changes));
  }
}

function sideOfDirectory({ capabilities }: Directory): EffectSide {
  return { findName: (uid) => uid, findCapabilities: capabilities };
}

const LAST_OWNER_ADVICE = "adopt it into a program, or suppress it; bind a second owner before you remove it";

/** A difference without the command that would delete the last owner of a root group, or what makes it one. */
function keepLastOwner(
  difference: DetectedDifference,
  lastOwners: ReturnType<typeof findLastOwners>,
): DetectedDifference {
  const { kind, uid, details } = difference;
  const root = kind === "unmanaged" ? lastOwners.get(uid) : undefined;
  if (root === undefined) return difference;
  return {
    ...difference,
    revert: undefined,
    advice: LAST_OWNER_ADVICE,
    details: [...details, `not to be deleted: without it ${root.path} has no owner`],
  };
}

/** Finds how the live organisation differs from what programs declare, or from an older inventory. */
class DriftDetector {
  private readonly notes = new DriftNotes();
  private readonly directory: Directory;
  private readonly older: Directory | undefined;
  private readonly effects: EffectContext;
  private readonly scope: ComparisonScope;
  private readonly describer: DifferenceDescriber;
  private readonly managed: ManagedResources;
  private readonly unmanaged: UnmanagedObjects;
  private differences: readonly DetectedDifference[] = [];
  private resources: readonly ComparedResource[] = [];
  private compared = 0;

  constructor(private readonly request: DriftRequest) {
    const { inventories, since, states, now } = request;
    this.directory = new Directory(inventories);
    this.older = since && new Directory(since);
    const side = sideOfDirectory(this.directory);
    this.effects = { before: side, after: side, languages: new Languages() };
    this.scope = new ComparisonScope(request, this.notes);
    this.describer = new DifferenceDescriber(this.directory, this.older, now);
    this.managed = new ManagedResources(states, this.notes);
    this.unmanaged = new UnmanagedObjects(this.directory, this.scope, this.describer, this.managed);
  }

  async detect(): Promise<DriftReport> {
    this.noteRefusals();
    if (this.request.states.length > 0) await this.compareStates();
    else if (this.older !== undefined) this.compareInventories(this.older);
    if (this.compared === 0 && this.request.onlyUids === undefined) {
      this.notes.incomplete.add(
        "nothing was compared: the states contain no resource of this package below the groups of the inventories",
      );
    }
    return this.report();
  }

  private noteRefusals(): void {
    for (const { refused } of this.request.inventories) {
      for (const { kind, scope, code, message } of refused) {
        const at = scope === undefined ? "" : ` at ${this.directory.pathOf(scope)}`;
        this.notes.incomplete.add(`${specs[kind]?.noun ?? kind}${at}: not compared: ${code}: ${message}`);
      }
    }
  }

  private async compareStates(): Promise<void> {
    const { directory, scope, describer, effects, notes, managed } = this;
    const states = new StateComparison({ directory, scope, describer, effects, notes }, managed);
    await states.run();
    this.resources = states.compared;
    this.compared = states.compared.length;
    const unmanaged = this.unmanaged.find(
      ({ kind, uid }) => !managed.isKnown(kind, uid),
      states.differences.filter(({ kind }) => kind === "deleted"),
      false,
    );
    this.differences = [...states.differences, ...unmanaged];
  }

  private compareInventories(older: Directory): void {
    const effects = { ...this.effects, before: sideOfDirectory(older) };
    const inventories = new InventoryComparison(older, this.directory, this.scope, this.describer, effects);
    inventories.run(this.notes);
    this.compared = inventories.compared;
    const created = this.unmanaged.find((object) => inventories.isNew(object), [], true);
    this.differences = [...inventories.differences, ...created];
  }

  private report(): DriftReport {
    const { request, notes, compared, directory } = this;
    const comparison = compareDrift({
      directory,
      compared: this.resources,
      differences: this.differences,
      isComplete: this.scope.isComplete && notes.incomplete.size === 0,
      languages: this.effects.languages,
    });
    const lastOwners = findLastOwners(comparison.after);
    const detected = this.differences
      .map((difference) => keepLastOwner(difference, lastOwners))
      .map((difference) => ({ difference, finding: findingOf(difference) }));
    const byFinding = new Map(detected.map(({ difference, finding }) => [finding, difference]));
    const risks = (request.rules?.(comparison) ?? []).map((risk) =>
      risk.grant !== undefined && isOwnerOfRoot(risk.grant) && lastOwners.has(risk.grant.uid ?? "")
        ? { ...risk, advice: LAST_OWNER_ADVICE }
        : risk,
    );
    const findings = sortDriftFindings([...byFinding.keys(), ...risks]);
    const differences = findings.flatMap((finding) => {
      const difference = byFinding.get(finding);
      return difference === undefined ? [] : [reportDifference(difference, finding, request)];
    });
    const { managed, resources, scope } = this;
    const coverage =
      request.states.length > 0 && scope.isComplete
        ? measureCoverage({ directory, managed, resources, scope })
        : undefined;
    return reportDrift({ request, notes, comparison, compared, findings, differences, coverage });
  }
}

/**
 * Compares what stacks record with the live organisation: what was changed, what was deleted, what no stack manages, and
 * what two resources manage. An object has changed only if the provider's own diff of the recorded arguments and the live
 * ones says so.
 */
export function findDrift(request: DriftRequest): Promise<DriftReport> {
  return new DriftDetector(request).detect();
}
