import { isTakeover, isDelegation, isSupplyChain } from "./capabilities";
import type { GrantChange } from "../graph/grant";
import { listFirst, limitLines } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { roleName, subjectName, scopeText, priorReason } from "./grantText";
import { massGrant, identityProvider } from "./signIn";
import { roleWidened, scopeWidened } from "./widening";

/** Changes that bring something of a family which the subject did not hold, but for those that bring `owner`. */
function* grantsWithNewCapabilities(
  facts: Facts,
  isOfFamily: (capability: string) => boolean,
): Generator<{ change: GrantChange; capabilities: string[]; all: string[] }> {
  for (const change of facts.newOrWiderGrants()) {
    if (facts.roles.isOwner(change.grant.role)) continue;
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
      if (!facts.roles.isOwner(grant.role)) continue;
      const isRoot = grant.group.isRoot;
      const like = grant.role.name === "owner" ? "owner" : `${roleName(grant)}, which is as good as owner`;
      findings.push(
        facts.aboutGrant(grant, {
          severity: isRoot || grant.subject.matchesMany ? "critical" : "high",
          message: `${subjectName(grant)} becomes ${like} ${scopeText(grant)}`,
          details: [
            ...priorReason(change),
            ...(before !== undefined && facts.roles.isOwner(before.role)
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
