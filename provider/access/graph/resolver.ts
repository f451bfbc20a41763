import { urnParts } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import { specs } from "../documents/specs";
import { containsSecret, referredKindOf } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import type { Leaf } from "./references";
import type { UnreadValue } from "./unread";
import { reasonWords } from "./unread";
import { groupBy } from "../../fields/values";
import type { ResourcePlan } from "./resourcePlan";

/** Names in a line, so that thousands stay readable. */
const MOST_NAMES = 5;

function abbreviateList(items: readonly string[]): string {
  const more = items.length - MOST_NAMES;
  return [...items.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

const hasSecret = ({ fields, outputs = {} }: ResourceSpec): boolean =>
  [...Object.values(fields), ...Object.values(outputs)].some((field) => containsSecret(field));

/** "RoleBinding deploys". */
function describeResource({ urn }: RecordedResource): string {
  const { type, name } = urnParts(urn);
  return `${type.slice(type.lastIndexOf(":") + 1)} ${name}`;
}

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
export class ReferenceResolver {
  /** What each property of each resource leads to, found once for all its values. */
  private readonly sources = new Map<string, ReferenceTargets>();
  private readonly problems: string[] = [];

  constructor(
    private readonly byUrn: ReadonlyMap<string, ResourcePlan>,
    private readonly keyOf: (plan: ResourcePlan) => string,
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
    const plans = urns.flatMap((urn) => this.byUrn.get(urn) ?? []);
    const kindOf = ({ after, before }: ResourcePlan): string | undefined => (after ?? before)?.kind;
    const ofKind = plans.filter((plan) => {
      const kind = kindOf(plan);
      return kind !== undefined && (wantedKind === undefined || kind === wantedKind);
    });
    // An object or a map contains several references: only the id of a new resource can be the unknown one.
    const candidates = isInsideProperty
      ? ofKind.filter(({ op }) => op === "create" || op === "replace")
      : ofKind;
    const keys = candidates.map(this.keyOf);
    const [only] = keys;
    if (only !== undefined && keys.length === 1 && (isInsideProperty || urns.length === 1))
      return { one: only };
    // What comes from elsewhere, as from another stack, can have any value.
    const isAllKnown = plans.length === urns.length && plans.every((plan) => kindOf(plan) !== undefined);
    return keys.length > 1 && isAllKnown ? { several: keys } : {};
  }

  /** By property: the keys of the resources that a value of it depends on, as far as these have a secret. */
  secretSources({ dependencies = {} }: RecordedResource): Readonly<Record<string, readonly string[]>> {
    const found = Object.entries(dependencies).map(([property, urns]): [string, string[]] => [
      property,
      urns.flatMap((urn) => {
        const plan = this.byUrn.get(urn);
        const spec = specs[(plan?.after ?? plan?.before)?.kind ?? ""];
        return plan !== undefined && spec !== undefined && hasSecret(spec) ? [this.keyOf(plan)] : [];
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
      const paths = abbreviateList([first, ...others].map(({ path }) => path));
      const cause = reason === "unknown" ? this.causeOf(resource, property) : "";
      this.problems.push(`${describeResource(resource)}: ${paths} ${reasonWords(reason)}${cause}`);
    }
  }

  private causeOf({ dependencies }: RecordedResource, property: string): string {
    const names = (dependencies?.[property] ?? []).map((urn) => urnParts(urn).name).sort();
    return names.length === 0
      ? ": the document does not tell what it depends on"
      : `: it depends on ${abbreviateList(names)}, and which of these is unknown`;
  }

  problemLines(): readonly string[] {
    return this.problems;
  }
}
