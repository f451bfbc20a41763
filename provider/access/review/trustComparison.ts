import { createEffectSide, describeEffects, combineDirections } from "../effects";
import type { EffectContext, FieldEffect, Direction } from "../effects";
import type { ResolvedGrant } from "../graph/grants";
import { isAccessField } from "../graph/accessKinds";
import { withoutRetained } from "../graph/keys";
import type { Entities } from "../graph/model";
import { specs } from "../documents/specs";
import type { Languages } from "../trust/languages";

/** What becomes of who can be a holder, for everyone by whom grants are held before or after. */
export class TrustComparison {
  private readonly context: EffectContext;
  private readonly known = new Map<string, readonly FieldEffect[]>();

  constructor(
    private readonly before: Entities,
    private readonly after: Entities,
    languages: Languages,
  ) {
    this.context = { before: createEffectSide(before), after: createEffectSide(after), languages };
  }

  private findTrustEffects(key: string): readonly FieldEffect[] {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const [before, after] = [this.before.get(withoutRetained(key)), this.after.get(key)];
    const kind = after?.kind ?? "";
    const spec = specs[kind];
    const effects =
      before === undefined || after === undefined || spec === undefined
        ? []
        : describeEffects(spec, before.inputs, after.inputs, this.context).filter(({ path }) =>
            isAccessField(kind, path),
          );
    this.known.set(key, effects);
    return effects;
  }

  compare(old: ResolvedGrant, now: ResolvedGrant): HolderChange {
    const retained = new Set(now.subjectEntityKeys.map(withoutRetained));
    const subjectEntityKeys = new Set([
      // The old object of a replacement, left at the server by `retainOnDelete`, is compared with itself.
      ...old.subjectEntityKeys.filter((key) => !retained.has(key)),
      ...now.subjectEntityKeys,
    ]);
    const effects = [...subjectEntityKeys].flatMap((key) => this.findTrustEffects(key));
    const direction = combineDirections(effects.map((effect) => effect.direction));
    if (direction === "neutral") return { direction, reasons: [] };
    const [before, after] = [old.grant.subject.displayName, now.grant.subject.displayName];
    const what =
      before === after ? "how the holder proves who it is changes" : `who holds it changes: it was ${before}`;
    const doubt = effects.find((effect) => effect.direction === "unknown");
    const isDoubtful = direction === "unknown" && doubt !== undefined;
    return {
      direction,
      reasons: [
        what,
        ...(isDoubtful ? [`whether to more cannot be judged: ${doubt.path}: ${doubt.reason}`] : []),
      ],
    };
  }
}

export interface HolderChange {
  readonly direction: Direction;
  readonly reasons: readonly string[];
}
