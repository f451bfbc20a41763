import { isTakeover } from "./capabilityEffects";
import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import { accessKinds, isAccessField } from "../graph/accessKinds";
import { ADVICE_OF_PROVIDER, labelEntity, roleName, scopeText } from "./wording";
import { pathsMeant, textAt, textAtPath, textMeant } from "../graph/describedFields";
import type { Entity } from "../graph/model";
import { hasPassed } from "./facts";
import type { Facts } from "./facts";
import type { Rule } from "./rule";
import { decidesSignIn, isIdentityProvider } from "./rule";
import type { Severity } from "../review/finding";
import type { ChangeWithAfter, ResourceChange } from "../review/compare";
import { shortName } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { limitLines, listFirst } from "../../text/plain";

/** Whether a grant comes by a directory token that was there before: its provider, or the mapped group, has the same one. */
export function isOfKnownToken(facts: Facts, { sourceKind, urn, uid }: Grant): boolean {
  if (accessKinds[sourceKind]?.impersonates === undefined) return false;
  return facts.before.ofResource({ kind: sourceKind, urn, uid }).length > 0;
}

export const massGrant: Rule = {
  id: "G7",
  name: "mass-grant",
  severities: ["high", "medium"],
  when: "medium for a mapping to another role on a root group; otherwise high",
  what: "The default role of an identity provider can do more than the built-in `viewer`. If the capabilities of `viewer` are unknown, all but listing are reported. Or a group of the identity provider is mapped to a role with capabilities of G1 or G2. On a root group any role is reported.",
  why: "Everyone who signs in, or every member of that group, gets the role. Other people decide who that is, and no review of this program shows it.",
  fix: "Set `defaultRole` to `viewer` or to a role that reads less, and bind more to each person who needs it. Map groups to roles that cannot change IAM.",
  except: "For a directory group whose members are reviewed as strictly as this program.",
  about: (kind) => decidesSignIn(kind) || accessKinds[kind]?.mapsGroups === true,
  *find(facts) {
    for (const { grant } of facts.newOrWiderGrants()) {
      const { subject, role } = grant;
      const isOwner = facts.roles.isOwner(role);
      if (subject.type === "identityProvider") {
        if (isOfKnownToken(facts, grant)) continue;
        const beyond = facts.roles.capabilitiesBeyondViewer(role);
        if (!isOwner && beyond.length === 0) continue;
        yield facts.aboutGrant(grant, {
          severity: "high",
          field: "defaultRole",
          message: `${accessKinds[grant.sourceKind]?.impersonates === undefined ? `everyone who signs in through ${shortName(subject)} gets` : `${subject.displayName} can add people, who get`} ${roleName(grant)} ${scopeText(grant)}`,
          details: beyond.length > 0 ? [`more than viewer: ${listFirst(beyond, 10)}`] : [],
          advice: ADVICE_OF_PROVIDER,
        });
      } else if (subject.type === "externalGroup") {
        const strong = (role.capabilities ?? []).filter(isTakeover);
        const isStrong = isOwner || strong.length > 0;
        if (!isStrong && !grant.group.isRoot) continue;
        yield facts.aboutGrant(grant, {
          severity: isStrong ? "high" : "medium",
          field: "roleUid",
          message: `every member of ${subject.displayName} gets ${roleName(grant)} ${scopeText(grant)}`,
          details: strong.length > 0 ? [`including ${listFirst(strong, 10)}`] : [],
          advice: isStrong
            ? "map the group to a role that cannot change IAM; bind owners one by one"
            : "check who is in the group: most directories have one of everybody",
        });
      }
    }
  },
};

/** What decides who can sign in. */
const describeSignIn = (facts: Facts, provider: Entity): string[] =>
  facts
    .effectsOf(provider)
    .filter(({ path, after }) => after !== undefined && isAccessField(provider.kind, path))
    .map(({ path, after = "" }) => `${path}: ${after}`);

/** Whether the token of a directory had ended: made anew, it counts again. */
const hadEnded = (facts: Facts, { kind, before }: ResourceChange): boolean =>
  pathsMeant(kind, "signIn.tokenEnd").some((path) => hasPassed(facts, textAtPath(before?.inputs, path)));

/** How loud a change is: who may sign in that could not before decides. */
function severityOf(facts: Facts, change: ChangeWithAfter, changed: readonly FieldEffect[]): Severity {
  if (change.op !== "update" || hadEnded(facts, change)) return "high";
  // Made anew, the token begins again: whoever has the old one gains nothing by a later end.
  const isLaterEnd = ({ effect, after: end }: FieldEffect): boolean =>
    effect === "expiry" && end !== undefined;
  if (changed.some((field) => field.direction === "widened" && !isLaterEnd(field))) return "high";
  return facts.options.strict && changed.some(({ direction }) => direction === "unknown") ? "high" : "medium";
}

export const signInProvider: Rule = {
  id: "G8",
  name: "identity-provider",
  severities: ["high", "medium"],
  when: "high where somebody may sign in who could not before. Medium for a token that is made anew, unless it had ended or no longer ends. Medium, and high with --strict, where what then holds is not known. That is the end of provisioning by SCIM, also by the delete of its token: accounts live on that the directory would have removed",
  what: "An identity provider or a SCIM token is new, or made anew by another argument. Or a SCIM token goes, and its provider stays. Or an existing provider changes who can sign in. That is its issuer, client, scopes, groups claim, PKCE, or provisioning by SCIM. The finding names the roles that it gives. Not reported: a new name, and a change that only restricts who can sign in (a removed scope, added PKCE). S1 reports the `overlap` of a token, which changes nothing before the next rotation.",
  why: "Whoever runs the issuer, or has the SCIM token, decides who signs in and into which groups. Each of these people gets the default role and the roles of their groups.",
  fix: "Register it in a separate change, reviewed by those who run the directory. Compare the issuer character by character.",
  except: "For the directory of your own company, by the fingerprint of the finding.",
  needsBefore: true,
  about: decidesSignIn,
  *find(facts) {
    for (const change of facts.writes(decidesSignIn)) {
      const { op, after, fields, sendsNothing } = change;
      if (sendsNothing === true) continue;
      const isProvider = isIdentityProvider(after.kind);
      const effects = fields.filter(({ path, direction, effect }) =>
        // Each change of a directory token that is sent makes it anew, whatever it does to its end.
        isProvider ? isAccessField(after.kind, path) && mayWiden(direction) : effect !== "none",
      );
      if (op === "update" && effects.length === 0) continue;
      const changed = effects.map(({ path }) => path);
      const grants = facts.after.ofResource(after);
      const issuer = textMeant(after, "signIn.issuer");
      const [issuerField = ""] = pathsMeant(after.kind, "signIn.issuer");
      const consequence = !isProvider
        ? "whoever has it decides who is in the directory"
        : `${issuer ?? "an unknown issuer"} decides who signs in`;
      yield facts.aboutEntity(after, {
        severity: severityOf(facts, change, effects),
        field: op === "update" ? changed.join(", ") : isProvider ? issuerField : "parentUid",
        message: `${labelEntity(after)} ${op !== "update" ? "is new" : isProvider ? `changes ${listFirst(changed, 3)}` : `is made anew by ${listFirst(changed, 3)}`}: ${consequence}`,
        details: limitLines([
          ...(op === "update" ? [] : describeSignIn(facts, after)),
          ...[...new Set(grants.map((grant) => `they get ${roleName(grant)} ${scopeText(grant)}`))].sort(),
        ]),
        advice: isProvider
          ? `${op === "update" ? "change" : "create"} it in a change of its own, reviewed by those who run the directory`
          : op === "update"
            ? "give the new token to the directory only, before the old one ends"
            : "create it in a separate change, and give it to the directory only",
      });
    }
    for (const { op, before } of facts.removals()) {
      if (op !== "delete" || !decidesSignIn(before.kind) || isIdentityProvider(before.kind)) continue;
      const provider = textAt(before.inputs, "parentUid") ?? "";
      const isThere = [...facts.comparison.after.entities.values()].some(
        ({ kind, inputs }) => kind === before.kind && textAt(inputs, "parentUid") === provider,
      );
      if (isThere || facts.isDeleted(provider)) continue;
      yield facts.aboutEntity(before, {
        severity: facts.options.strict ? "high" : "medium",
        field: "parentUid",
        message: `${labelEntity(before)} is deleted: nobody is deprovisioned by it any more`,
        advice: "check that the directory has another token, or takes away by hand who leaves",
      });
    }
  },
};
