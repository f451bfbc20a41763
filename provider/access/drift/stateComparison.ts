import { diffInputs } from "../../fields/diff";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { Props } from "../../fields/values";
import { mergeLive, NORMALIZED } from "../../fields/mergeLive";
import type { Directory } from "../graph/directory";
import { topProperty } from "../graph/references";
import { describeEffects, mayWiden } from "../effects";
import type { EffectContext, FieldEffect } from "../effects";
import type { ComparisonScope } from "./comparisonScope";
import type { ComparedResource, DetectedDifference, ManagedResource } from "./difference";
import type { DifferenceDescriber } from "./differenceDescriber";
import type { DriftNotes } from "./driftNotes";
import { LiveArguments } from "./liveArguments";
import type { ManagedResources } from "./managedResources";
import { recordedArguments } from "./secretValues";

const isIgnored = (property: string, ignored: readonly string[]): boolean =>
  ignored.some((path) => {
    if (path === "*") return true;
    return property === path || property.startsWith(`${path}.`) || property.startsWith(`${path}[`);
  });

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
