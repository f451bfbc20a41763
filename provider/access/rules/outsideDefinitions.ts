import { isUid } from "../../text/uid";
import { listsObject } from "../documents/inventoryScope";
import { nameIn, tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { groupBy } from "../graph/grantIndex";
import { isSummary, isUnreadKey, ownerOf } from "../graph/keys";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { labelEntity, limitLines, listFirst } from "./wording";
import { plural } from "../../text/plain";

/*
 * A role says what its grants give, and an identity who has its own. Whoever administers the group of a role or an identity
 * decides that, also of a grant above or beside this group, where they hold nothing themselves.
 */

type Side = "before" | "after";

/** A part of a grant that lies in groups that the grant does not lie in. */
interface Delegation {
  /** The key of the role, or of what says who the subject is. */
  readonly definition: string;
  readonly grant: Grant;
  /** These groups, from below. */
  readonly groups: readonly string[];
}

/** The groups that something lies in, from below, without those that a grant lies in. */
function groupsOutside(facts: Facts, key: string, { group }: Grant, side: Side): string[] {
  const own = new Set(facts.groupAndAbove(group.key, side));
  return facts.groupAndAbove(key, side).filter((at) => at !== key && !own.has(at) && facts.isGroup(at, side));
}

function delegationsOf(facts: Facts, side: Side): Delegation[] {
  // X3 reports grants whose group or role is not known.
  const grants = facts.comparison[side].grants.filter(
    ({ group, role }) => !isUnreadKey(group.key) && !isSummary(role.key),
  );
  return grants.flatMap((grant) =>
    [grant.role.key, ownerOf(grant.subject.key) ?? grant.subject.key].flatMap((definition) => {
      const groups = groupsOutside(facts, definition, grant, side);
      return groups.length === 0 ? [] : [{ definition, grant, groups }];
    }),
  );
}

/** Who may change roles and identities, or give that to themselves: the subjects by the group of their grant. */
class Administrators {
  private readonly byGroup: ReadonlyMap<string, readonly Grant[]>;

  constructor(
    private readonly facts: Facts,
    private readonly side: Side,
  ) {
    const grants = facts.comparison[side].grants.filter(({ role }) => facts.roles.mayAdminister(role));
    this.byGroup = groupBy(grants, ({ group }) => [group.key]);
  }

  /** Those of some groups who gain by a grant: neither its subject, nor an administrator of its group. */
  gaining({ grant, groups }: Delegation): Map<string, string> {
    const held = this.facts.groupAndAbove(grant.group.key, this.side).flatMap((key) => this.of(key));
    const others = new Set([grant.subject.key, ...held.map(({ subject }) => subject.key)]);
    const here = groups.flatMap((key) => this.of(key)).filter(({ subject }) => !others.has(subject.key));
    return new Map(here.map(({ subject }) => [subject.key, subject.displayName]));
  }

  private of(group: string): readonly Grant[] {
    return this.byGroup.get(group) ?? [];
  }
}

/** Whether the documents show everybody who administers a group. */
function isGroupListed({ comparison: { inventory, before } }: Facts, key: string): boolean {
  // Nobody else knows a group that the change makes.
  if (!before.entities.has(key) && !isUid(key)) return true;
  return inventory !== undefined && listsObject(inventory, "RoleBinding", key);
}

/** A delegation that was not there before: by its grant, by the place of the definition, or by an administrator. */
interface NewDelegation extends Delegation {
  readonly severity: Severity;
  /** Who gains by it, as far as that is known. */
  readonly names: readonly string[];
}

function findNewDelegations(facts: Facts): NewDelegation[] {
  const keyOf = ({ definition, grant }: Delegation): string => JSON.stringify([definition, tupleOf(grant)]);
  const old = new Map(delegationsOf(facts, "before").map((each) => [keyOf(each), each]));
  const [before, after] = [new Administrators(facts, "before"), new Administrators(facts, "after")];
  return delegationsOf(facts, "after").flatMap((delegation): NewDelegation[] => {
    const { definition, grant, groups } = delegation;
    const was = old.get(keyOf(delegation));
    const known = was === undefined ? undefined : before.gaining(was);
    const gaining = [...after.gaining(delegation)].filter(([key]) => known?.has(key) !== true);
    const names = gaining.map(([, name]) => name);
    const places = groups.filter((key) => was?.groups.includes(key) !== true);
    const isNew = names.length > 0 || places.length > 0;
    if (definition === grant.role.key) {
      // It can become any role.
      return isNew ? [{ ...delegation, names, severity: grant.group.isRoot ? "high" : "medium" }] : [];
    }
    const mayGain = names.length > 0 || !places.every((key) => isGroupListed(facts, key));
    return mayGain && facts.roles.mayWrite(grant.role) ? [{ ...delegation, names, severity: "medium" }] : [];
  });
}

/** Roles and identities with grants above or beside their group, on which others gain by that. */
export function findOutsideDefinitions(facts: Facts): FindingInput[] {
  const byDefinition = groupBy(findNewDelegations(facts), ({ definition }) => [definition]);
  return [...byDefinition].flatMap(([definition, delegations]): FindingInput[] => {
    const entity = facts.comparison.after.entities.get(definition);
    const [place] = delegations.flatMap(({ groups }) => groups);
    // X3 reports what no document describes.
    if (entity === undefined || place === undefined) return [];
    const { path } = facts.scope(place);
    const names = [...new Set(delegations.flatMap((each) => each.names))].sort();
    const grants = delegations.map(
      ({ grant: { subject, role, group } }) => `${subject.displayName}: ${nameIn(role)} on ${group.path}`,
    );
    const isRole = delegations.some(({ grant }) => grant.role.key === definition);
    const who = names.length === 0 ? `whoever administers ${path}` : listFirst(names, 3);
    return [
      facts.aboutEntity(entity, {
        severity:
          severities.find((level) => delegations.some(({ severity }) => severity === level)) ?? "medium",
        field: "parentUid",
        message: `${labelEntity(entity)} lies in ${path}, and has ${plural(grants.length, "grant")} above or beside it: ${who} can change ${isRole ? "what it gives" : "who has it"}`,
        details: limitLines([...new Set(grants)].sort()),
        pins: [...delegations.map(({ grant }) => tupleOf(grant)).sort(), names],
        advice: isRole
          ? "define the role in the group of its grants, or above it"
          : "bind an identity of the group of the grant, or of one above it",
      }),
    ];
  });
}
