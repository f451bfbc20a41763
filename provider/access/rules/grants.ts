import { isTakeover, isDelegation, isSupplyChain } from "./capabilities";
import { hasWideReach } from "../graph/grant";
import type { GrantChange } from "../graph/grant";
import { listFirst, limitLines } from "./wording";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { givesAccess } from "./kindConditions";
import type { Rule } from "./rule";
import { roleName, subjectName, scopeText, changeReason } from "./grantText";
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
  when: "critical at a root group, or if several outsiders can be the subject (a pattern, an open invite); otherwise high",
  what: "A role binding, an invite, a group mapping, a service binding or the default role of an identity provider grants `owner`. A role with every capability of `owner` that changes IAM is equivalent to `owner`. These capabilities are read from the organisation's own role `owner` in the state, the preview or the inventory. If none of them contains it, a role is equivalent to `owner` if it can bind roles, change roles and change identities. Unchanged grants are not reported.",
  why: "An owner can give any role to anyone, change who can assume each identity, and remove every other owner. Below a root group it controls that part; at the root group, the whole organisation.",
  fix: "Bind the smallest role that does the work (`editor`, `registry.push`, or your own Role) on the lowest group that needs it. Give each person who must be an owner a binding, never a pattern.",
  except:
    "For the few owners that every organisation needs: each by uid or name, with an expiry date for the next check.",
  exampleMatch: { subject: "break-glass", group: "acme" },
  needsBefore: false,
  about: givesAccess,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const change of facts.newOrWiderGrants()) {
      const { grant, before } = change;
      if (!facts.roles.isOwner(grant.role)) continue;
      const isRoot = grant.group.isRoot;
      const like =
        grant.role.name === "owner" ? "owner" : `${roleName(grant)}, which is equivalent to owner,`;
      findings.push(
        facts.aboutGrant(grant, {
          severity: hasWideReach(grant) ? "critical" : "high",
          message: `${subjectName(grant)} becomes ${like} ${scopeText(grant)}`,
          details: [
            ...changeReason(change),
            ...(before !== undefined && facts.roles.isOwner(before.role)
              ? ["it already owned a smaller scope"]
              : []),
          ],
          advice: `bind a smaller role${isRoot ? ", on the lowest group that needs it" : ""}: editor, or a Role with only the capabilities that are needed`,
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
  what: "A subject gains a capability that can change what existing grants allow. These are `CAP_IAM_ROLES_UPDATE`, `CAP_IAM_IDENTITY_UPDATE`, and writing identity providers, SCIM tokens or account associations. A name that says nothing, such as `CAP_INTERNAL`, counts too. Not reported: read capabilities, what the subject could already do there or on a group above, and a grant of `owner` (G1).",
  why: "Whoever can change a role can add capabilities to it and use them through an existing binding. Whoever can change an identity can make itself the one who assumes it. Neither adds a binding that a reviewer would see.",
  fix: "Keep these capabilities for owners and for the one pipeline that applies this program. Remove them from the role, or bind a role without them.",
  except: "For the identity that your pipeline runs as, pinned to one repository and one branch.",
  exampleMatch: { subject: "ci-platform", role: "iam-admin" },
  needsBefore: false,
  about: givesAccess,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isTakeover), ({ change, capabilities }) =>
      facts.aboutGrant(change.grant, {
        severity: "high",
        message: `${subjectName(change.grant)} can take over the access of others ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `through role ${roleName(change.grant)}`,
          ...changeReason(change),
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
  when: "high at a root group, if several outsiders can be the subject, or together with a capability of G2; otherwise medium",
  what: "A subject gains a capability to give access to others: to create or update role bindings, to create invites or identities, or to fetch tokens. A write capability of an IAM family that this version does not know is included. Not reported: what the subject could already do there or on a group above, and a grant of `owner` (G1).",
  why: "It can give its own access to anyone, outside of this program and its reviews. With a capability of G2 it can first widen its own access.",
  fix: "Create bindings and identities in this program only. For pull tokens use the platform's own `…pull_token_creator` roles, on the group that needs them.",
  except: "For a service that issues pull tokens.",
  exampleMatch: { role: "registry.pull_token_creator", group: "acme / ci*" },
  needsBefore: false,
  about: givesAccess,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isDelegation), ({ change, capabilities, all }) =>
      facts.aboutGrant(change.grant, {
        severity: all.some(isTakeover) || hasWideReach(change.grant) ? "high" : "medium",
        message: `${subjectName(change.grant)} can give its access to others ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `through role ${roleName(change.grant)}`,
          ...changeReason(change),
          ...limitLines(capabilities.length > 3 ? capabilities : []),
        ],
        advice:
          "bind a role without them, and create the bindings and identities that are needed in this program",
      }),
    ),
};

const supplyChainWrite: Rule = {
  id: "G6",
  name: "supply-chain-write",
  severities: ["high", "medium"],
  when: "high at a root group, or if several outsiders can be the subject; otherwise medium",
  what: "A subject gains a capability to change what others pull, build or run. That is to write manifests, tags, repositories, packages, libraries or skills, to edit image overlays, to start builds or to sign. To change policies or advisories counts too. Not reported: reading and pulling, what the subject could already do there or on a group above, and a grant of `owner` (G1).",
  why: "Whoever moves a tag or edits an overlay decides what runs in production at the next pull, without a deployment.",
  fix: "Pull with `registry.pull`. Let one pinned identity push, on the group of its own repositories.",
  except: "For the identity of a build pipeline, pinned to its repository and branch.",
  exampleMatch: { subject: "ci-*", role: "registry.push" },
  needsBefore: false,
  about: givesAccess,
  find: (facts) =>
    Array.from(grantsWithNewCapabilities(facts, isSupplyChain), ({ change, capabilities }) =>
      facts.aboutGrant(change.grant, {
        severity: hasWideReach(change.grant) ? "high" : "medium",
        message: `${subjectName(change.grant)} can change what others pull ${scopeText(change.grant)}: ${listFirst(capabilities, 3)}`,
        details: [
          `through role ${roleName(change.grant)}`,
          ...changeReason(change),
          ...limitLines(capabilities.length > 3 ? capabilities : []),
        ],
        advice:
          "bind registry.pull to pull; to push, use one pinned identity on the group of its own repositories",
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
