import { isDelegation, isSupplyChain, isTakeover, capabilitiesOf } from "../graph/capabilities";
import { mayWiden } from "../effects";
import { GrantIndex } from "../graph/grantIndex";
import type { Entity } from "../graph/model";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import type { Grant, GrantChange } from "../graph/grant";
import { limitLines, labelOf, plural, listFirst, textAt } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";

const scopeText = (grant: Grant): string => `on ${grant.group.path} and everything below it`;
const roleName = (grant: Grant): string => grant.role.name ?? grant.role.uid ?? grant.role.key;

/** Who gets it: said where more than one outsider can be it. */
const subjectName = ({ subject }: Grant): string => {
  if (!subject.matchesMany) return subject.displayName;
  const anyone = subject.type === "identity" ? "anyone matching this pattern" : "anyone who has it";
  return `${subject.displayName} (${anyone})`;
};

/** What it was before, where that was not nothing. */
function priorReason({ before, reason }: GrantChange): string[] {
  return before === undefined ? [] : [reason];
}

/** Changes that bring something of a family which the subject did not hold, but for those that bring `owner`. */
function* grantsWithNewCapabilities(
  facts: Facts,
  isOfFamily: (capability: string) => boolean,
): Generator<{ change: GrantChange; capabilities: string[]; all: string[] }> {
  for (const change of facts.newOrWiderGrants()) {
    if (facts.isOwner(change.grant.role)) continue;
    const all = facts.newCapabilities(change);
    const capabilities = all.filter(isOfFamily);
    if (capabilities.length > 0) yield { change, capabilities, all };
  }
}

const ownerGrant: Rule = {
  id: "G1",
  name: "owner-grant",
  severities: ["critical", "high"],
  when: "critical at a root group, or where more than one outsider can be the subject (a pattern, an open invite); high elsewhere",
  what: "A role binding, an invite, a group mapping, a service binding or the default role of an identity provider gives the role `owner`, or a role that holds every capability of `owner` which changes something of IAM. Which capabilities these are is read from the organisation's own role `owner` (a state, a preview or an inventory that holds it). Where that is not known, a role is as good as `owner` if it can bind roles, change roles and change identities. A grant that was there before, unchanged, is not reported.",
  why: "An owner can give any role to anyone, itself included, can change who every identity is, and can remove every other owner. Below a root it owns that part; at the root it owns everything.",
  fix: "Bind the smallest role that does the work (`editor`, `registry.push`, a Role of your own), on the lowest group that it is needed on. People who must be owners get a binding of their own, never a pattern.",
  except:
    "For the few owners that an organisation must have, each by its uid or name, with a date on which somebody looks at it again.",
  exampleMatch: { subject: "break-glass", group: "acme" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const change of facts.newOrWiderGrants()) {
      const { grant, before } = change;
      if (!facts.isOwner(grant.role)) continue;
      const isRoot = grant.group.isRoot;
      const like = grant.role.name === "owner" ? "owner" : `${roleName(grant)}, which is as good as owner`;
      findings.push(
        facts.aboutGrant(grant, {
          severity: isRoot || grant.subject.matchesMany ? "critical" : "high",
          message: `${subjectName(grant)} becomes ${like} ${scopeText(grant)}`,
          details: [
            ...priorReason(change),
            ...(before !== undefined && facts.isOwner(before.role)
              ? ["it already owned a smaller scope"]
              : []),
          ],
          advice: `bind a smaller role${isRoot ? ", on the lowest group that needs it" : ""}: editor, or a Role with just the capabilities that are used`,
        }),
      );
    }
    return findings;
  },
};

const takeoverCaps: Rule = {
  id: "G2",
  name: "takeover-caps",
  severities: ["high"],
  when: "always",
  what: "A subject newly holds a capability that changes what existing grants mean: to change roles (CAP_IAM_ROLES_UPDATE) or identities (CAP_IAM_IDENTITY_UPDATE), or to write identity providers, SCIM or account associations. Reading them is not reported, nor is what the subject held there (or above) before; a grant of `owner` is G1's affair.",
  why: "Whoever can change a role adds capabilities to it and holds them through a binding that is already there. Whoever can change an identity makes itself the one who signs in as it. No new binding appears anywhere.",
  fix: "Leave these capabilities to owners, and to the one pipeline that applies this program. Take them out of the role, or bind a role without them.",
  except: "For the identity that your pipeline runs as, pinned to one repository and one branch.",
  exampleMatch: { subject: "ci-platform", role: "iam-admin" },
  needsBefore: false,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isTakeover), ({ change, capabilities }) =>
      facts.aboutGrant(change.grant, {
        severity: "high",
        message: `${subjectName(change.grant)} can take over what others hold ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `by role ${roleName(change.grant)}`,
          ...priorReason(change),
          ...limitLines(capabilities.length > 3 ? capabilities : []),
        ],
        advice:
          "bind a role without these capabilities; keep them for owners and for the pipeline that applies this program",
      }),
    ),
};

const delegationCaps: Rule = {
  id: "G3",
  name: "delegation-caps",
  severities: ["high", "medium"],
  when: "high together with a capability of G2; medium else",
  what: "A subject can newly pass on what it holds: it may create or update role bindings, create invites or identities, or holds a writing capability of an IAM family that this version does not know. What it held there (or above) before is not reported; a grant of `owner` is G1's affair.",
  why: "What it can pass on is what it holds itself, to anyone, outside of this program and its reviews. With a capability of G2 it can first widen what it holds.",
  fix: "Let bindings and identities be made by this program only. For pull tokens use the platform's own `…pull_token_creator` roles, on the group that needs them.",
  except: "For a service that hands out pull tokens.",
  exampleMatch: { role: "registry.pull_token_creator", group: "acme / ci*" },
  needsBefore: false,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isDelegation), ({ change, capabilities, all }) =>
      facts.aboutGrant(change.grant, {
        severity: all.some(isTakeover) ? "high" : "medium",
        message: `${subjectName(change.grant)} can pass on what it holds ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `by role ${roleName(change.grant)}`,
          ...priorReason(change),
          ...limitLines(capabilities.length > 3 ? capabilities : []),
        ],
        advice:
          "bind a role without them, and let this program make the bindings and identities that are needed",
      }),
    ),
};

/** The severity of capabilities that a subject gains through its role, and what they are. */
function assessGain(
  facts: Facts,
  grant: Grant,
  before: Entity,
  added: readonly string[],
): [Severity, string] {
  const { isRoot } = grant.group;
  const role = { key: before.key, builtIn: false, capabilities: capabilitiesOf(before) ?? [] };
  if (facts.isOwner(grant.role) && !facts.isOwner(role)) {
    return [isRoot || grant.subject.matchesMany ? "critical" : "high", "it is now as good as owner"];
  }
  if (added.some(isTakeover)) return ["high", "it can now take over what others hold"];
  if (added.some(isDelegation)) return ["medium", "it can now pass on what it holds"];
  if (added.some(isSupplyChain)) {
    return [grant.subject.matchesMany ? "high" : "medium", "it can now change what others pull"];
  }
  return ["low", ""];
}

const roleWidened: Rule = {
  id: "G4",
  name: "role-widened",
  severities: ["critical", "high", "medium", "low"],
  when: "as the added capabilities would have by G1, G2, G3 and G6; low for others",
  what: "A role that is bound already gains capabilities. Every identity that holds it is listed with the group, whether this program manages it or not (an inventory shows all of them). A role that nobody holds is not reported, nor one that only loses capabilities.",
  why: "One line in a role changes what everybody who holds it may do, everywhere it is bound, and none of these bindings is in the diff.",
  fix: "Make a second role with the added capabilities, and bind it to those who need them. Or take the writing capabilities out again.",
  except: "When the list of those who hold the role was read and all of them are meant.",
  exampleMatch: { role: "developer" },
  needsBefore: true,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after } of facts.writes("Role")) {
      if (op === "create" || before === undefined) continue;
      const old = new Set(capabilitiesOf(before));
      const added = (capabilitiesOf(after) ?? []).filter((capability) => !old.has(capability));
      if (added.length === 0 || capabilitiesOf(before) === undefined) continue;
      const grants = facts.after.ofRole(after.key).filter((grant) => !facts.isGained(grant));
      if (grants.length === 0) continue;
      const gains = grants.map((grant) => assessGain(facts, grant, before, added));
      const severity = severities.find((each) => gains.some(([one]) => one === each)) ?? "low";
      const consequence = gains.find(([one, text]) => one === severity && text !== "")?.[1];
      const subjects = new Set(grants.map(({ subject }) => subject.key)).size;
      const groups = new Set(grants.map(({ group }) => group.key)).size;
      findings.push(
        facts.aboutEntity(after, {
          severity,
          field: "capabilities",
          message: `${labelOf(after)} gains ${listFirst(added, 3)} for ${plural(subjects, "holder")} in ${plural(groups, "group")}${consequence === undefined ? "" : `: ${consequence}`}`,
          details: limitLines([
            ...(added.length > 3 ? [`added: ${listFirst(added, 20)}`] : []),
            ...[...new Set(grants.map((grant) => `${grant.subject.displayName} ${scopeText(grant)}`))].sort(),
          ]),
          advice: "make a role of its own for the added capabilities, and bind it to those who need them",
        }),
      );
    }
    return findings;
  },
};

const scopeWidened: Rule = {
  id: "G5",
  name: "scope-widened",
  severities: ["high", "medium"],
  when: "high where it reaches a root group; medium else",
  what: "A subject that holds a role on a group now holds the same role on a group above it, instead. The groups that are newly reached are listed. A move down or sideways is not reported here.",
  why: "A binding applies to everything below its group, and to what is created there later. One level up is often every other team.",
  fix: "Keep the binding where it was, and add one for each further group that needs it.",
  except: "When the subject is meant for all groups below, as a central team is.",
  exampleMatch: { subject: "sre*", role: "viewer", group: "acme" },
  needsBefore: true,
  find: (facts) => {
    const gone = facts.comparison.grants.filter(({ change }) => change === "lost");
    const lost = new GrantIndex(gone.map(({ grant }) => grant));
    const findings: FindingInput[] = [];
    for (const { change, grant, before } of facts.comparison.grants) {
      // What was held there before, and means more now, comes in the place of nothing.
      if (change !== "gained" && (change !== "widened" || before?.group.key === grant.group.key)) continue;
      const same = (old: Grant): boolean =>
        old.subject.key === grant.subject.key &&
        old.role.key === grant.role.key &&
        old.group.key !== grant.group.key &&
        facts.isWithin(old.group.key, grant.group.key);
      const from =
        before !== undefined && same(before) ? before : lost.ofSubject(grant.subject.key).find(same);
      if (from === undefined) continue;
      const reached = facts.newlyReachedGroups(grant.group.key, from.group.key);
      findings.push(
        facts.aboutGrant(grant, {
          severity: grant.group.isRoot ? "high" : "medium",
          field: "parentUid",
          message: `${subjectName(grant)} holds ${roleName(grant)} on ${grant.group.path} instead of ${from.group.path}: ${plural(reached.length, "more group")} reached`,
          details: limitLines(reached.map(({ path }) => path).sort()),
          advice: `keep it on ${from.group.path}, and add a binding for each further group that needs it`,
        }),
      );
    }
    return findings;
  },
};

const supplyChainWrite: Rule = {
  id: "G6",
  name: "supply-chain-write",
  severities: ["high", "medium"],
  when: "high where more than one outsider can be the subject; medium else",
  what: "A subject can newly create, change or delete manifests, tags, repositories or packages, or edit image overlays. Reading and pulling are not reported, nor is what it held there (or above) before; a grant of `owner` is G1's affair.",
  why: "Whoever moves a tag or edits an overlay decides what runs in production at the next pull, without any deployment of its own.",
  fix: "Pull with `registry.pull`. Let one pinned identity push, on the group of its own repositories.",
  except: "For the identity of a build pipeline, pinned to its repository and branch.",
  exampleMatch: { subject: "ci-*", role: "registry.push" },
  needsBefore: false,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isSupplyChain), ({ change, capabilities }) =>
      facts.aboutGrant(change.grant, {
        severity: change.grant.subject.matchesMany ? "high" : "medium",
        message: `${subjectName(change.grant)} can change what others pull ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `by role ${roleName(change.grant)}`,
          ...priorReason(change),
          ...limitLines(capabilities.length > 3 ? capabilities : []),
        ],
        advice:
          "bind registry.pull for pulling; for pushing, one pinned identity on the group of its own repositories",
      }),
    ),
};

const massGrant: Rule = {
  id: "G7",
  name: "mass-grant",
  severities: ["high"],
  when: "always",
  what: "Everybody who signs in through an identity provider gets a default role that reaches beyond the built-in `viewer` (where that is not known: that does more than list); or a group of the identity provider is mapped to a role with capabilities of G1 or G2.",
  why: "Who is in the directory, or in that group of it, is decided elsewhere, by other people, and no review here shows it. One addition there, or one stray account, holds the role.",
  fix: "Set `viewer` (or a role that reads less) as `defaultRole`, and bind more to those who need it, one by one. Map groups to roles that cannot change IAM.",
  except: "For a directory group whose members are reviewed as strictly as this program.",
  exampleMatch: { subject: "platform-admins", role: "owner" },
  needsBefore: false,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { grant } of facts.newOrWiderGrants()) {
      const { subject, role } = grant;
      const isOwner = facts.isOwner(role);
      if (subject.type === "identityProvider") {
        const beyond = facts.capabilitiesBeyondViewer(role);
        if (!isOwner && beyond.length === 0) continue;
        findings.push(
          facts.aboutGrant(grant, {
            severity: "high",
            field: "defaultRole",
            message: `${grant.sourceKind === "IdentityProvider" ? `everybody who signs in through ${subject.name ?? subject.displayName} holds` : `${subject.displayName} lets anyone in who then holds`} ${roleName(grant)} ${scopeText(grant)}`,
            details: beyond.length > 0 ? [`beyond viewer: ${listFirst(beyond, 10)}`] : [],
            advice: "set viewer as defaultRole, and bind more to those who need it",
          }),
        );
      } else if (subject.type === "externalGroup") {
        const strong = (role.capabilities ?? []).filter(isTakeover);
        if (!isOwner && strong.length === 0) continue;
        findings.push(
          facts.aboutGrant(grant, {
            severity: "high",
            field: "roleUid",
            message: `${subject.displayName}: all its members hold ${roleName(grant)} ${scopeText(grant)}`,
            details: strong.length > 0 ? [`with ${listFirst(strong, 10)}`] : [],
            advice: "map the group to a role that cannot change IAM; bind owners one by one",
          }),
        );
      }
    }
    return findings;
  },
};

/** What decides who signs in by an identity provider, and into which groups. */
const SIGN_IN = /^(?:oidc|scimEnabled)\b/;

const identityProvider: Rule = {
  id: "G8",
  name: "identity-provider",
  severities: ["high"],
  when: "always",
  what: "An identity provider or a SCIM token is new, or an existing provider changes who signs in by it: its issuer, its client, its scopes, the claim that names groups, PKCE, or provisioning by SCIM. Whatever role it gives is named. A change of its name is not reported, nor is one that only narrows who signs in (a scope removed, PKCE added).",
  why: "Whoever runs the issuer says who signs in, and into which groups; whoever has the SCIM token does so too. Each of them gets the default role, and what the groups are mapped to.",
  fix: "Let people who run the directory review it. Register it in a change of its own, and read the issuer letter by letter.",
  except: "For the directory of your own company, by its uid.",
  exampleMatch: { name: "staff" },
  needsBefore: true,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, after, fields } of facts.writes("IdentityProvider", "ScimToken")) {
      const changed = fields
        .filter(({ path, direction }) => SIGN_IN.test(path) && mayWiden(direction))
        .map(({ path }) => path);
      if (op === "update" && changed.length === 0) continue;
      const grants = facts.after.ofResource(after);
      const isProvider = after.kind === "IdentityProvider";
      const issuer = textAt(after.inputs["oidc"], "issuer");
      const whom = !isProvider
        ? "whoever has it says who is in the directory"
        : `${issuer ?? "an issuer that was not read"} says who signs in`;
      findings.push(
        facts.aboutEntity(after, {
          severity: "high",
          field: op === "update" ? changed.join(", ") : isProvider ? "oidc.issuer" : "parentUid",
          message: `${labelOf(after)} ${op === "update" ? `changes ${listFirst(changed, 3)}` : "is new"}: ${whom}`,
          details: limitLines(
            [...new Set(grants.map((grant) => `they hold ${roleName(grant)} ${scopeText(grant)}`))].sort(),
          ),
          advice: isProvider
            ? "make it in a change of its own, reviewed by those who run the directory"
            : "make it in a change of its own, and hand it to the directory alone",
        }),
      );
    }
    return findings;
  },
};

export const grantRules: readonly Rule[] = [
  ownerGrant,
  takeoverCaps,
  delegationCaps,
  roleWidened,
  scopeWidened,
  supplyChainWrite,
  massGrant,
  identityProvider,
];
