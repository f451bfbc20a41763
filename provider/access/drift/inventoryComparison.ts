import { specOf } from "../graph/directory";
import type { Directory } from "../graph/directory";
import { describeEffects } from "../effects";
import type { EffectContext } from "../effects";
import type { InventoryObject } from "../documents/inventory";
import type { ComparisonScope } from "./comparisonScope";
import type { DetectedDifference } from "./difference";
import type { DifferenceDescriber } from "./differenceDescriber";
import type { DriftNotes } from "./driftNotes";

/** Compares an older inventory with a newer one, whoever manages the objects. */
export class InventoryComparison {
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
        `${specOf(kind)?.noun ?? kind}: not compared: only one of the inventories contains it`,
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
    const spec = specOf(kind);
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
