import type { RecordedResource } from "../documents/engineState";
import { decidedOp } from "../documents/preview";
import type { Op, PreviewStep } from "../documents/preview";
import type { StateExport } from "../documents/stateExport";
import type { ConcealedValue, Entity } from "./model";
import { containsUnknown, isObject, isUnknown, SECRET_MASK } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { specs } from "../documents/specs";
import { mapLeaves, ownMember } from "./references";
import type { Leaf } from "./references";
import { isUnread } from "./unread";

/** All that is known of one urn, its steps taken together. */
export interface ResourcePlan {
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
  /** The paths that the engine found to differ, those of secrets too. */
  readonly differing?: readonly string[];
}
/**
 * One plan for each URN, from the steps of a preview. After a refresh the later step has the live values; what is left of
 * an earlier replacement belongs to no resource.
 */
export function planResources(
  steps: readonly PreviewStep[],
  recorded: StateExport | undefined,
): ResourcePlan[] {
  const plans = new Map<string, ResourcePlan>();
  for (const resource of recorded?.resources ?? []) {
    plans.set(resource.urn, { urn: resource.urn, op: "same", before: resource, after: resource });
  }
  const whole = new Set<string>();
  for (const step of steps) {
    const { op: operation, urn, before, after, differing } = step;
    const op = decidedOp(step);
    if (op === undefined) continue;
    if (operation === "create-replacement" && whole.has(urn)) continue;
    if (operation === "replace") whole.add(urn);
    const earlier = plans.get(urn);
    const unrefreshed = operation === "refresh" ? before : earlier?.unrefreshed;
    plans.set(urn, {
      urn,
      op,
      // Deleted by hand, and made again: there is nothing before.
      before: op === "create" ? undefined : (before ?? earlier?.before),
      after: op === "delete" ? undefined : after,
      ...(differing === undefined ? {} : { differing }),
      ...(unrefreshed === undefined ? {} : { unrefreshed }),
    });
  }
  return revealConcealed([...plans.values()]);
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
  const hidden = new Map<string, Leaf>();
  const spec = specs[kind ?? ""];
  if (spec === undefined || secretPaths.length === 0) return hidden;
  const secret = new Set(secretPaths);
  mapLeaves(spec, inputs, (value, leaf) => {
    if (value === SECRET_MASK && secret.has(leaf.path) && leaf.field.secret !== true) {
      hidden.set(leaf.path, leaf);
    }
    return value;
  });
  return hidden;
}

const isEmpty = (value: Json | undefined): boolean =>
  (value ?? "") === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);

/** Takes hidden values that decide access from their places on the other side of a change, if that shows them. */
class Revealing {
  readonly leaves: Leaf[] = [];

  /** @param replaced the uids of what goes: a reference to it cannot stay as it is. */
  constructor(
    private readonly hidden: HiddenValues,
    private readonly hiddenOthers: HiddenValues,
    private readonly replaced: ReadonlySet<string>,
  ) {}

  revealMembers(values: Props, others: Props, path = ""): Props {
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        this.reveal(value, ownMember(others, key), path === "" ? key : `${path}.${key}`),
      ]),
    );
  }

  private reveal(value: Json | undefined, other: Json | undefined, path: string): Json | undefined {
    const leaf = this.hidden.get(path);
    if (leaf !== undefined) {
      if (!leaf.decidesAccess || isEmpty(other) || !this.isShown(other, path)) return value;
      this.leaves.push(leaf);
      return other;
    }
    if (Array.isArray(value) && Array.isArray(other)) return this.revealItems(value, other, path);
    return isObject(value) && isObject(other) ? this.revealMembers(value, other, path) : value;
  }

  /** Items have no names: a place tells which item it is only if all that is shown is in its place. */
  private revealItems(items: readonly Json[], others: readonly Json[], path: string): Json[] {
    return this.isAsOther([...items], [...others], path)
      ? items.map((item, i) => this.reveal(item, others[i], `${path}[${i}]`) ?? null)
      : [...items];
  }

  private isAsOther(value: Json | undefined, other: Json | undefined, path: string): boolean {
    if (this.hidden.has(path)) return true;
    if (Array.isArray(value) && Array.isArray(other)) {
      return (
        value.length === other.length &&
        value.every((item, i) => this.isAsOther(item, other[i], `${path}[${i}]`))
      );
    }
    if (!isObject(value) || !isObject(other)) return value === other;
    return [...new Set([...Object.keys(value), ...Object.keys(other)])].every((key) =>
      this.isAsOther(ownMember(value, key), ownMember(other, key), `${path}.${key}`),
    );
  }

  private isShown(value: Json | undefined, path: string): boolean {
    if (typeof value === "string") {
      return !this.hiddenOthers.has(path) && !isUnknown(value) && !this.replaced.has(value);
    }
    if (Array.isArray(value)) return value.every((item, i) => this.isShown(item, `${path}[${i}]`));
    if (!isObject(value)) return true;
    return Object.entries(value).every(([key, member]) => this.isShown(member, `${path}.${key}`));
  }
}

/** A side of a change with the values of the other side in the place of its secrets, and which these are. */
function revealBy(
  side: RecordedResource,
  other: RecordedResource,
  replaced: ReadonlySet<string>,
): { readonly resource: RecordedResource; readonly leaves: readonly Leaf[] } {
  const hidden = hiddenValues(side);
  if (hidden.size === 0 || side.kind !== other.kind) return { resource: side, leaves: [] };
  const revealing = new Revealing(hidden, hiddenValues(other), replaced);
  const inputs = revealing.revealMembers(side.inputs, other.inputs);
  return { resource: { ...side, inputs }, leaves: revealing.leaves };
}

/**
 * Takes a value that an update makes secret for the one that it was, and names it: the finding that it cannot be judged
 * stands for all that it may change. An update changes nothing of what the engine calls unchanged, so there both sides
 * show what one of them shows.
 */
function revealConcealed(plans: readonly ResourcePlan[]): ResourcePlan[] {
  const replaced = new Set(
    plans.flatMap(({ op, before }) =>
      (op === "delete" || op === "replace") && before?.id !== undefined ? [before.id] : [],
    ),
  );
  return plans.map((plan): ResourcePlan => {
    const { op, before, after } = plan;
    if (before === undefined || after === undefined || (op !== "same" && op !== "update")) return plan;
    const isUnchanged = op === "same";
    const { resource, leaves } = revealBy(after, before, replaced);
    const concealed = leaves.map(({ path, property }): ConcealedValue => ({ path, property, isUnchanged }));
    return {
      ...plan,
      before: isUnchanged ? revealBy(before, after, replaced).resource : before,
      after: resource,
      ...(concealed.length === 0 ? {} : { concealed }),
    };
  });
}
