import { isTakeover } from "./capabilities";
import { mayWiden } from "../effects";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import { listFirst, labelOf, limitLines } from "./wording";
import { textAt } from "./inputValues";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { roleName, scopeText } from "./grantText";

export const massGrant: Rule = {
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
      const isOwner = facts.roles.isOwner(role);
      if (subject.type === "identityProvider") {
        const beyond = facts.roles.capabilitiesBeyondViewer(role);
        if (!isOwner && beyond.length === 0) continue;
        findings.push(
          facts.aboutGrant(grant, {
            severity: "high",
            field: "defaultRole",
            message: `${accessKinds[grant.sourceKind]?.impersonates === undefined ? `everybody who signs in through ${subject.name ?? subject.displayName} holds` : `${subject.displayName} lets anyone in who then holds`} ${roleName(grant)} ${scopeText(grant)}`,
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

export const identityProvider: Rule = {
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
    for (const { op, after, fields } of facts.writes((kind) => accessKinds[kind]?.signIn !== undefined)) {
      const isProvider = accessKinds[after.kind]?.signIn === "provider";
      const changed = fields
        .filter(({ path, direction }) => isProvider && isAccessField(after.kind, path) && mayWiden(direction))
        .map(({ path }) => path);
      if (op === "update" && changed.length === 0) continue;
      const grants = facts.after.ofResource(after);
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
