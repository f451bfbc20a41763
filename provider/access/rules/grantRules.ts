import { givesAccess } from "../graph/accessKinds";
import { familyOf } from "./capabilityEffects";
import type { CapabilityEffect } from "./capabilityEffects";
import { reportedEffects } from "./data/capabilityFamilies";
import type { ReportedEffect } from "./data/capabilityFamilies";
import { pathIn, roleOn, tupleOf } from "../graph/grant";
import type { Grant, GroupNode } from "../graph/grant";
import { GrantIndex } from "../graph/grantIndex";
import { groupBy, once } from "../../fields/values";
import { worstOf } from "../review/finding";
import type { Severity } from "../review/finding";
import { HELD_BY_HAND } from "../review/recordedAccess";
import {
  ADVICE_OF_PROVIDER,
  changeReason,
  grantLine,
  labelEntity,
  roleName,
  scopeText,
  subjectName,
} from "./wording";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { isAssumable } from "./rule";
import { isOfKnownToken, massGrant, signInProvider } from "./signIn";
import { readRoleCapabilities } from "../graph/resolveGrants";
import type { AccessGraph, Entity } from "../graph/model";
import { textAt } from "../graph/describedFields";
import { hasWideReach } from "./subjectTrust";
import { limitLines, listFirst, plural } from "../../text/plain";
import { isUid } from "../../text/uid";
import { isStrongGrant } from "./trustedIdentities";
import { isUnreadKey, wholeOf } from "../graph/entityKeys";

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
  const { before, after, meanwhile = after } = facts.comparison;
  // X3 reports grants whose group or role is not known.
  const grants = (side === "before" ? before : meanwhile).grants.filter(
    ({ group }) => !isUnreadKey(group.key),
  );
  return grants.flatMap((grant) =>
    [grant.role.key, wholeOf(grant.subject.key) ?? grant.subject.key].flatMap((definition) => {
      const groups = groupsOutside(facts, definition, grant, side);
      return groups.length === 0 ? [] : [{ definition, grant, groups }];
    }),
  );
}

/** Who may change roles and identities, or give that to themselves: the subjects by the group of their grant. */
class Administrators {
  /** Who loses a grant, or a part of it, has it until the end of the update. */
  private readonly atSomeTime: ReadonlyMap<string, readonly Grant[]>;
  private readonly inTheEnd: ReadonlyMap<string, readonly Grant[]>;

  constructor(
    private readonly facts: Facts,
    private readonly side: Side,
  ) {
    const { before, after, meanwhile = after } = facts.comparison;
    const administering = ({ grants }: AccessGraph) =>
      groupBy(
        grants.filter(({ role }) => facts.roles.mayAdminister(role)),
        ({ group }) => [group.key],
      );
    this.atSomeTime = administering(side === "before" ? before : meanwhile);
    this.inTheEnd = administering(side === "before" ? before : after);
  }

  /** Who administers the group of a grant. */
  holding({ grant }: Delegation): ReadonlySet<string> {
    const held = this.facts
      .groupAndAbove(grant.group.key, this.side)
      .flatMap((key) => this.inTheEnd.get(key) ?? []);
    return new Set(held.map(({ subject }) => subject.key));
  }

  /** Those of some groups who gain by a grant: neither its subject, nor who stays an administrator of its group. */
  gaining(delegation: Delegation): Map<string, string> {
    const { grant, groups } = delegation;
    const others = new Set([grant.subject.key, ...this.holding(delegation)]);
    const here = groups
      .flatMap((key) => this.atSomeTime.get(key) ?? [])
      .filter(({ subject }) => !others.has(subject.key));
    return new Map(here.map(({ subject }) => [subject.key, this.nameOf(subject)]));
  }

  /** Whom an identity accepted before has what it may do until the update gets to it. */
  private nameOf({ key, displayName }: Grant["subject"]): string {
    const [old] = this.facts.grantsBefore(key);
    return old === undefined || old.subject.displayName === displayName
      ? displayName
      : `${displayName} (until the update: ${old.subject.displayName})`;
  }
}

/** Whether the documents show everybody who administers a group. */
function isGroupListed(facts: Facts, key: string): boolean {
  // Nobody else knows a group that the change makes.
  if (!facts.comparison.before.entities.has(key) && !isUid(key)) return true;
  return facts.lists("RoleBinding", key);
}

/** A delegation that was not there before: by its grant, by the place of the definition, or by an administrator. */
interface NewDelegation extends Delegation {
  readonly severity: Severity;
  /** Who gains by it, as far as that is known. */
  readonly names: readonly string[];
}

function findNewDelegations(facts: Facts): NewDelegation[] {
  const keyOf = ({ definition, grant }: Delegation): string => JSON.stringify([definition, tupleOf(grant)]);
  const isStrong = ({ definition, grant }: Delegation): boolean =>
    definition === grant.role.key || isStrongGrant(facts, grant);
  const all = new Map(delegationsOf(facts, "before").map((each) => [keyOf(each), each]));
  // Who may change an identity gains by what it may do: a grant that only read below the root was none.
  const strong = new Map([...all].filter(([, each]) => isStrong(each)));
  const [before, after] = [new Administrators(facts, "before"), new Administrators(facts, "after")];
  return delegationsOf(facts, "after").flatMap((delegation): NewDelegation[] => {
    const { definition, grant, groups } = delegation;
    const was = (isStrong(delegation) ? strong : all).get(keyOf(delegation));
    // Who could do by a grant what its group let them do has lost that, and gained nothing.
    const known = new Set(was === undefined ? [] : [...before.gaining(was).keys(), ...before.holding(was)]);
    const gaining = [...after.gaining(delegation)].filter(([key]) => !known.has(key));
    const names = gaining.map(([, name]) => name);
    const places = groups.filter((key) => was?.groups.includes(key) !== true);
    const isNew = names.length > 0 || places.length > 0;
    const isElsewhere = places.some((key) => isOutOfReach(facts, key, grant));
    if (definition === grant.role.key) {
      // It can become any role.
      const severity = grant.group.isRoot || isElsewhere ? "high" : "medium";
      return isNew ? [{ ...delegation, names, severity }] : [];
    }
    const mayGain = names.length > 0 || !places.every((key) => isGroupListed(facts, key));
    if (!mayGain) return [];
    if (!isStrong(delegation) && !isElsewhere) return [];
    const administers = grant.role.capabilities !== undefined && facts.roles.mayAdminister(grant.role);
    const isHigh = administers || (isElsewhere && (isStrong(delegation) || grant.group.isRoot));
    return [{ ...delegation, names, severity: isHigh ? "high" : "medium" }];
  });
}

/** Whether a group lies in another organisation than a grant, or where the inventory shows nothing: its people are strangers. */
function isOutOfReach(facts: Facts, key: string, { group }: Grant): boolean {
  const [root, other] = [key, group.key].map((each) => facts.groupAndAbove(each).at(-1));
  return root !== other || facts.isOutsideInventory(key);
}

/** Roles and identities with grants above or beside their group, on which others gain by that. */
function* findOutsideDefinitions(facts: Facts): Generator<FindingInput> {
  const byDefinition = groupBy(findNewDelegations(facts), ({ definition }) => [definition]);
  for (const [definition, delegations] of byDefinition) {
    const entity = facts.comparison.after.entities.get(definition);
    const [place] = delegations.flatMap(({ groups }) => groups);
    // X3 reports what no document describes.
    if (entity === undefined || place === undefined) continue;
    const { path } = facts.scope(place);
    const names = [...new Set(delegations.flatMap((each) => each.names))].sort();
    const grants = delegations.map(({ grant }) => grantLine(grant));
    const isRole = delegations.some(({ grant }) => grant.role.key === definition);
    const who = names.length === 0 ? `whoever administers ${path}` : listFirst(names, 3);
    yield facts.aboutEntity(entity, {
      severity: worstOf(delegations.map(({ severity }) => severity)) ?? "medium",
      field: "parentUid",
      message: `${labelEntity(entity)} lies in ${path}, and has ${plural(grants.length, "grant")} above or beside it: ${who} can change ${isRole ? "what it gives" : "who has it"}`,
      details: limitLines([...new Set(grants)].sort()),
      pins: names,
      grants: [delegations.map(({ grant }) => grant)],
      advice: isRole
        ? "define the role in the group of its grants, or above it"
        : "bind an identity of the group of the grant, or of one above it",
    });
  }
}

/** The severity of capabilities that a subject gains through its role, and what they are. */
function assessGain(
  facts: Facts,
  grant: Grant,
  before: Entity,
  added: readonly string[],
): [Severity, string] {
  const isWide = hasWideReach(facts, grant);
  const role = { key: before.key, builtIn: false, capabilities: readRoleCapabilities(before) ?? [] };
  if (facts.roles.isOwner(grant.role) && !facts.roles.isOwner(role)) {
    return [isWide ? "critical" : "high", "it is now equivalent to owner"];
  }
  const isProvider = grant.subject.type === "identityProvider" && !isOfKnownToken(facts, grant);
  if (isProvider && facts.roles.capabilitiesBeyondViewer({ ...role, capabilities: added }).length > 0)
    return ["high", "everyone who signs in can do more than viewer"];
  for (const { effect, severity } of reportedEffects) {
    const worst = added.find((capability) => facts.roles.effectOf(capability) === effect);
    if (worst === undefined) continue;
    return [severity === "high" || isWide ? "high" : "medium", `it can now ${familyOf(worst).can}`];
  }
  return grant.subject.matchesMany || grant.subject.type === "invite"
    ? ["medium", "many can hold it"]
    : ["low", ""];
}

const isRole = (kind: string): boolean => kind === "Role";

const roleWidened: Rule = {
  id: "G4",
  name: "role-widened",
  severities: ["critical", "high", "medium", "low"],
  when: "the severity that G1, G2, G3, G6, G7 or G9 gives the added capabilities. Otherwise medium where many can hold the role, or an invite gives it, and low",
  what: "A role that is already bound gains capabilities. The finding lists every subject that has the role, and on which group; an inventory adds those that this program does not manage. Those whose grant the update deletes count too: it deletes last. Not reported: a role without bindings, and a role that only loses capabilities.",
  why: "One line in a role changes what each of its subjects can do, wherever the role is bound. The diff shows none of these bindings.",
  fix: "Create a second role with the added capabilities, and bind it to those who need them. Or remove the write capabilities again.",
  except: "After a reviewer has checked that every listed subject needs the added capabilities.",
  exampleMatch: { role: "developer" },
  needsBefore: "object",
  about: isRole,
  *find(facts) {
    for (const { op, before, after } of facts.writes(isRole)) {
      if (op === "create" || before === undefined) continue;
      // Of what was not read before, all counts as added.
      const old = new Set(readRoleCapabilities(before));
      const added = (readRoleCapabilities(after) ?? []).filter((capability) => !old.has(capability));
      if (added.length === 0) continue;
      const kept = facts.after.ofRole(after.key).filter((grant) => !facts.isGained(grant));
      const known = new Set(kept.map(tupleOf));
      const lost = facts.before.ofRole(after.key).filter((grant) => !known.has(tupleOf(grant)));
      // The update deletes last.
      const grants = [...kept, ...lost];
      if (grants.length === 0) continue;
      const gains = grants.map((grant) => assessGain(facts, grant, before, added));
      const severity = worstOf(gains.map(([gained]) => gained)) ?? "low";
      const consequence = gains.find(([gained, text]) => gained === severity && text !== "")?.[1];
      const subjects = new Set(grants.map(({ subject }) => subject.key)).size;
      const groups = new Set(grants.map(({ group }) => group.key)).size;
      yield facts.aboutEntity(after, {
        severity,
        field: "capabilities",
        message: `${labelEntity(after)} gains ${listFirst(added, 3)} for ${plural(subjects, "subject")} in ${plural(groups, "group")}${consequence === undefined ? "" : `: ${consequence}`}`,
        details: limitLines([
          ...(added.length > 3 ? [`added: ${listFirst(added, 20)}`] : []),
          ...[...new Set(grants.map((grant) => `${grant.subject.displayName} ${scopeText(grant)}`))].sort(),
        ]),
        advice: "create a separate role for the added capabilities, and bind it to those who need them",
      });
    }
  },
};

const scopeWidened: Rule = {
  id: "G5",
  name: "scope-widened",
  severities: ["high", "medium"],
  when: "high if it reaches a root group; otherwise medium",
  what: "A subject that had a role on a group now has the same role on a group above it, instead or besides. The finding lists the groups that it newly reaches. A move to a lower group or to another branch is not reported.",
  why: "A binding applies to everything below its group, including what is created there later. One level up often includes every other team.",
  fix: "Keep the binding where it was, and add one for each further group that needs it.",
  except: "For a subject that is meant to reach all groups below, such as a central team.",
  exampleMatch: { subject: "sre*", role: "viewer", group: "acme" },
  needsBefore: true,
  about: givesAccess,
  *find(facts) {
    const lostChanges = facts.comparison.grants.filter(({ change }) => change === "lost");
    const lost = new GrantIndex(lostChanges.map(({ grant }) => grant));
    for (const { change, grant, before } of facts.comparison.grants) {
      // What was held there before, and means more now, comes in the place of nothing.
      if (change !== "gained" && (change !== "widened" || before?.group.key === grant.group.key)) continue;
      const same = (old: Grant): boolean =>
        old.subject.key === grant.subject.key &&
        old.role.key === grant.role.key &&
        old.group.key !== grant.group.key &&
        facts.isWithin(old.group.key, grant.group.key);
      // A grant that stays below may go in a later change: together they are a move.
      const held = [...lost.ofSubject(grant.subject.key), ...facts.grantsBefore(grant.subject.key)];
      const from = [...(before === undefined ? [] : [before]), ...held].find(same);
      if (from === undefined) continue;
      const reached = facts.newlyReachedGroups(grant.group.key, from.group.key);
      yield facts.aboutGrant(grant, {
        severity: grant.group.isRoot ? "high" : "medium",
        field: "parentUid",
        message: `${subjectName(grant)} has ${roleOn(grant)}, no longer on ${pathIn(from.group.path)} alone, and reaches ${plural(reached.length, "more group")}`,
        details: limitLines(reached.map(({ path }) => path).sort()),
        advice: `bind it on ${pathIn(from.group.path)} only, and add a binding for each further group that needs it`,
      });
    }
  },
};

/** What a rule says of a grant that brings capabilities of its families. */
interface Judgement {
  readonly severity: Severity;
  /** What the subject can now do, where the table of families does not say it: "give its access to others". */
  readonly can?: string;
  readonly advice: string;
}

/** A finding for each grant, but for those of `owner`, that brings capabilities which a rule reports and the subject did not hold. */
function* findGrantsWith(
  facts: Facts,
  rule: ReportedEffect["rule"],
  judge: (grant: Grant, found: ReadonlySet<CapabilityEffect>) => Judgement,
): Generator<FindingInput> {
  const effects = new Set<CapabilityEffect>(
    reportedEffects.filter((each) => each.rule === rule).map(({ effect }) => effect),
  );
  for (const change of facts.newOrWiderGrants()) {
    const { grant } = change;
    if (facts.roles.isOwner(grant.role)) continue;
    const all = facts.newCapabilities(change, "stacks");
    const capabilities = all.filter((each) => effects.has(facts.roles.effectOf(each)));
    if (capabilities.length === 0) continue;
    const found = new Set(all.map((each) => facts.roles.effectOf(each)));
    const { severity, can, advice } = judge(grant, found);
    const unheld = new Set(facts.newCapabilities(change, "anybody"));
    // Whoever else holds it from now on did not hold it.
    const isSameHolder = (change.before ?? grant).subject.displayName === grant.subject.displayName;
    const isHeld = isSameHolder && !capabilities.some((each) => unheld.has(each));
    const cans = [...new Set(capabilities.map((each) => familyOf(each).can))];
    yield facts.aboutGrant(grant, {
      severity,
      message: `${subjectName(grant)} can ${can ?? listFirst(cans, 3)} ${scopeText(grant)}: ${listFirst(capabilities, 3)}`,
      details: [
        `through role ${roleName(grant)}${capabilities.length > 3 ? `: ${listFirst(capabilities, 20)}` : ""}`,
        ...(isHeld ? [HELD_BY_HAND] : []),
        ...changeReason(change),
      ],
      advice,
    });
  }
}

const ownerGrant: Rule = {
  id: "G1",
  name: "owner-grant",
  severities: ["critical", "high"],
  when: "critical at a root group, or if several can be the subject; otherwise high. Several are an open invite, and a pattern that is not proven to list whom it accepts",
  what: "A role binding, an invite, a group mapping, a service binding or the default role of an identity provider grants `owner`. A role that can bind roles, change roles and change identities is equivalent to `owner`: it can take the rest. Unchanged grants are not reported.",
  why: "An owner can give any role to anyone, change who can assume each identity, and remove every other owner. Below a root group it controls that part; at the root group, the whole organisation.",
  fix: "Bind the smallest role that does the work (`editor`, `registry.push`, or your own Role) on the lowest group that needs it. Give each person who must be an owner a binding, never a pattern.",
  except:
    "For the few owners that every organisation needs: each by uid or name, with an expiry date for the next check.",
  exampleMatch: { subject: "break-glass", group: "acme" },
  about: givesAccess,
  *find(facts) {
    for (const change of facts.newOrWiderGrants()) {
      const { grant, before } = change;
      if (!facts.roles.isOwner(grant.role)) continue;
      const isRoot = grant.group.isRoot;
      const like =
        grant.role.name === "owner" ? "owner" : `${roleName(grant)}, which is equivalent to owner,`;
      yield facts.aboutGrant(grant, {
        severity: hasWideReach(facts, grant) ? "critical" : "high",
        message: `${subjectName(grant)} becomes ${like} ${scopeText(grant)}`,
        details: [
          ...changeReason(change),
          ...(before !== undefined && facts.roles.isOwner(before.role)
            ? ["it already owned a smaller scope"]
            : []),
        ],
        advice: `bind a smaller role${isRoot ? ", on the lowest group that needs it" : ""}: editor, or a Role with only the capabilities that are needed`,
      });
    }
  },
};

const takeoverCaps: Rule = {
  id: "G2",
  name: "takeover-caps",
  severities: ["high"],
  when: "always",
  what: "A subject gains a capability that can change what existing grants allow. These are `CAP_IAM_ROLES_UPDATE`, `CAP_IAM_IDENTITY_UPDATE`, and writing identity providers, SCIM tokens or account associations. A name that says nothing, such as `CAP_INTERNAL`, counts too. Not reported: read capabilities, what the subject could already do there or above by what the stack records, and a grant of `owner` (G1).",
  why: "Whoever can change a role can add capabilities to it and use them through an existing binding. Whoever can change an identity can make itself the one who assumes it. Neither adds a binding that a reviewer would see.",
  fix: "Keep these capabilities for owners and for the one pipeline that applies this program. Remove them from the role, or bind a role without them.",
  except: "For the identity that your pipeline runs as, pinned to one repository and one branch.",
  exampleMatch: { subject: "ci-platform", role: "iam-admin" },
  about: givesAccess,
  find: (facts) =>
    findGrantsWith(facts, "G2", () => ({
      severity: "high",
      advice:
        "bind a role without these capabilities; keep them for owners and for the pipeline that applies this program",
    })),
};

const delegationCaps: Rule = {
  id: "G3",
  name: "delegation-caps",
  severities: ["high", "medium"],
  when: "high with a capability of G2 or to bind roles, at a root group, or for several subjects as in G1; otherwise medium. Medium for an identity that others may change, but high for one that may change roles, identities or bindings. For a role, high at a root group. High for both where they lie in another organisation, or outside of the inventory: medium for an identity that only reads, below the root",
  what: "A subject gains a capability to give access to others: to create or update role bindings, to create invites or identities, or to fetch tokens. A write capability of an IAM family that this version does not know is included. The platform's own `…pull_token_creator` roles do not count as roles that can bind roles. Or a role gives something above or beside the group that it lies in: whoever administers that group can change what it gives. Or an identity holds there what does more than read, and somebody administers its group who does not administer that of the grant. A new grant, a move and a new administrator of the group are reported. Without an inventory every such group counts as administered by others. Not reported: what the subject could already do there or above by what the stack records, and a grant of `owner` (G1).",
  why: "It can give access to anyone, outside of this program and its reviews. The API does not promise to refuse a binding that gives more than its author has, up to `owner`. With a capability of G2 it can first widen its own access. Whoever may change a role or an identity has what its grants give, wherever these are.",
  fix: "Create bindings and identities in this program only. For pull tokens use the platform's own `…pull_token_creator` roles, on the group that needs them. Define a role in the group where it is bound, or above it.",
  except: "For a service that issues pull tokens.",
  exampleMatch: { role: "registry.pull_token_creator", group: "acme / ci*" },
  about: (kind) => givesAccess(kind) || isAssumable(kind) || kind === "Role",
  find: (facts) => [
    ...findGrantsWith(facts, "G3", (grant, found) => {
      const bindsAny = found.has("binding") && facts.roles.bindsAnyRole(grant.role);
      return {
        severity: bindsAny || found.has("takeover") || hasWideReach(facts, grant) ? "high" : "medium",
        can: bindsAny ? "give roles to others" : "give its access to others",
        advice:
          "bind a role without them, and create the bindings and identities that are needed in this program",
      };
    }),
    ...findOutsideDefinitions(facts),
  ],
};

/**
 * Finds the set-up that the rule recommends: one pinned identity pushes to a group, and the same change makes both. Nothing is pulled
 * from there yet, and whoever may change the identity has the group too, since it lies there or above.
 */
function createOwnPipelineCheck(facts: Facts): (grant: Grant) => boolean {
  const { groups, after, drift } = facts.comparison;
  // A group that drift finds in no stack may be older than all, and in use.
  const isMade = ({ change }: GroupNode): boolean => drift === undefined && change === "added";
  const made = new Set(groups.filter(isMade).map(({ key }) => key));
  const isOfMadeGroup = ({ role, group }: Grant): boolean =>
    made.has(group.key) &&
    (role.capabilities?.some((each) => facts.roles.effectOf(each) === "supplyChain") ?? true);
  const writers = groupBy(after.grants.filter(isOfMadeGroup), ({ group }) => [group.key]);
  const isOwnOf = (group: string, identity: Entity | undefined): boolean =>
    identity !== undefined &&
    identity.uid === undefined &&
    facts.groupAndAbove(group).includes(textAt(identity.inputs, "parentUid") ?? "");
  return ({ subject, group }) =>
    subject.type === "identity" &&
    !group.isRoot &&
    !subject.matchesMany &&
    isOwnOf(group.key, after.entities.get(subject.key)) &&
    writers.get(group.key)?.every((other) => other.subject.key === subject.key) === true;
}

/** Finds the grants of a rule, with the severity of their reach: a group's own pipeline reaches nobody else yet. */
function* findGrantsByReach(facts: Facts, rule: "G6" | "G9", advice: string): Generator<FindingInput> {
  const isOwnPipeline = once(() => createOwnPipelineCheck(facts));
  const adviceTo = ({ subject }: Grant): string => {
    const identity = subject.type === "identity" && rule === "G6" ? facts.entity(subject.key) : undefined;
    const seesRegistry = identity === undefined || facts.groupOf(identity)?.isRoot !== false;
    return seesRegistry
      ? ""
      : "; define the identity in the organisation: one of a group below does not see the registry";
  };
  yield* findGrantsWith(facts, rule, (grant) => {
    const isOwn = isOwnPipeline()(grant);
    const own = "check that the identity is the pipeline of the repositories that the group is for";
    const severity = isOwn ? "low" : hasWideReach(facts, grant) ? "high" : "medium";
    const isOfProvider = grant.subject.type === "identityProvider";
    const general = isOfProvider ? ADVICE_OF_PROVIDER : advice;
    return { severity, advice: `${isOwn ? own : general}${adviceTo(grant)}` };
  });
}

const supplyChainWrite: Rule = {
  id: "G6",
  name: "supply-chain-write",
  severities: ["high", "medium", "low"],
  when: "high at a root group, or if several can be the subject, as in G1. Low for the pipeline of a new group, as the fix describes it; otherwise medium",
  what: "A subject gains a capability to change what others pull, build or run. That is to write manifests, tags, repositories, packages, libraries or skills, to edit image overlays, to start builds or to sign. To change policies or advisories counts too. Low: the change makes the group and the identity, which lies in it or above it. It trusts one principal, and nobody else gets this there. Not reported: reading and pulling, what the subject could already do there or above by what the stack records, and a grant of `owner` (G1).",
  why: "Whoever moves a tag or edits an overlay decides what runs in production at the next pull, without a deployment.",
  fix: "Pull with `registry.pull`. Let one pinned identity push, on the group of its own repositories. Define it in the organisation, since an identity of a group below does not see the registry. Make the group, the identity and the binding in one change.",
  except: "For the identity of a build pipeline, pinned to its repository and branch.",
  exampleMatch: { subject: "ci-*", role: "registry.push" },
  about: givesAccess,
  find: (facts) =>
    findGrantsByReach(
      facts,
      "G6",
      "bind registry.pull to pull, and let a pipeline push: one pinned identity, with its binding on the group of its own repositories, made in one change",
    ),
};

const disruptiveCaps: Rule = {
  id: "G9",
  name: "disruptive-caps",
  severities: ["high", "medium", "low"],
  when: "high at a root group, or if several can be the subject, as in G1. Low for the pipeline of a new group, as G6 describes it; otherwise medium",
  what: "A subject gains a capability that is not proven to only read, and that no other rule reports. That is to delete role bindings, roles, identities, invites or groups, to create or change groups, or to decide where events and logs go. To accept terms, to call tools and to change requests for packages count too. So does a capability that this version does not know, whatever its name says. Proven to read are those of built-in roles that only read, such as `viewer`. Not reported: what the subject could already do there or above by what the stack records, and a grant of `owner` (G1).",
  why: "It can lock others out, or remove the alerts before it does something else. New subscriptions show it who does what. Logs and internal data may hold secrets of others.",
  fix: "Delete in this program only. Bind `viewer`, or a role without these capabilities.",
  except: "For a service that cleans up, on the group that it cleans up.",
  exampleMatch: { subject: "cleaner", group: "acme / sandbox" },
  about: givesAccess,
  find: (facts) =>
    findGrantsByReach(
      facts,
      "G9",
      "bind a role without these capabilities: use viewer to read, and this program to delete",
    ),
};

export const grantRules: readonly Rule[] = [
  ownerGrant,
  takeoverCaps,
  delegationCaps,
  roleWidened,
  scopeWidened,
  supplyChainWrite,
  massGrant,
  signInProvider,
  disruptiveCaps,
];
