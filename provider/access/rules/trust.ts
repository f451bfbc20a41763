import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import type { Entity } from "../graph/model";
import { fieldsWhere } from "./describedFields";
import { isPrincipalField } from "../graph/accessKinds";
import { labelOf, plural, limitLines } from "./wording";
import type { FindingInput } from "./findingInput";
import { hasPrincipal } from "./kindConditions";
import type { Rule } from "./rule";
import { anySubject, sharedIssuer, pullRequestRef } from "./subjectTrust";
import { anyIssuer, looseMatch } from "./tokenTrust";
import { listGrants } from "./trustedIdentities";

const keySets = fieldsWhere(({ access }) => access === "keys");

/** What the change of the trust of an identity means, and what to do: new keys may be a rotation, which no rule can tell. */
function describeTrustChange(
  after: Entity,
  changed: readonly FieldEffect[],
  grants: number,
): Pick<FindingInput, "message" | "advice"> {
  const areKeys = changed.every(({ path }) => keySets(after.kind).some((field) => field.path === path));
  if (areKeys) {
    return {
      message: `the keys of ${labelOf(after)} change: whoever has a new one gets ${plural(grants, "grant")}: ${changed.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`,
      advice:
        "if you rotate the keys of the same principal, suppress this for the identity until the pull request is merged; otherwise remove the new keys",
    };
  }
  return {
    message: `the trust of ${labelOf(after)} changes: a different principal inherits ${plural(grants, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
    advice:
      "create a new identity for the new principal and bind what it needs, instead of changing this one",
  };
}

const trustChanged: Rule = {
  id: "T5",
  name: "trust-changed",
  severities: ["high"],
  when: "always",
  what: "The trust of an identity that has grants changes, so that a different principal gets these grants. Its issuer, subject, audience, claims, keys or AWS match change, or it authenticates in another way. The finding lists the inherited grants. Of identity providers, the rule checks the issuer, the client id, the groups claim and the correlation rule. A change that cannot be judged is reported. Not reported: a change that accepts no more than before, such as a further claim; identities without grants; a new description or expiry of keys.",
  why: "No binding changes, so nothing in the diff shows that a different principal now has this access.",
  fix: "Create a new identity for the new principal, bind what it needs, and remove the old one. If it is the same principal under another name, say so in the pull request. To rotate keys, add the new key beside the old one, and remove the old one in a second change.",
  except:
    "After a repository or an issuer has moved, or to rotate keys, for that identity, while the pull request is open.",
  exampleMatch: { name: "ci-deployer", subject: "repo:acme/pay:*" },
  needsBefore: true,
  driftAdvice: "restore the trust, unless your team changed it; then change the program and have it reviewed",
  about: hasPrincipal,
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after, fields } of facts.writes(hasPrincipal)) {
      if (op === "create" || before === undefined) continue;
      const changed = fields.filter(
        ({ path, direction }) => isPrincipalField(after.kind, path) && mayWiden(direction),
      );
      if (changed.length === 0) continue;
      const grants = facts.grantsThrough(after.key);
      if (grants.length === 0) continue;
      findings.push(
        facts.aboutEntity(after, {
          severity: "high",
          field: changed[0]?.path ?? "",
          ...describeTrustChange(after, changed, grants.length),
          details: [
            ...limitLines(
              changed.map(
                ({ path, before: old, after: now, direction, reason }) =>
                  `${path}: ${old ?? "not set"} → ${now ?? "not set"}${direction === "unknown" ? ` (${reason})` : ""}`,
              ),
            ),
            "inherits:",
            ...listGrants(grants),
          ],
        }),
      );
    }
    return findings;
  },
};

export const trustRules: readonly Rule[] = [
  anySubject,
  anyIssuer,
  sharedIssuer,
  pullRequestRef,
  trustChanged,
  looseMatch,
];
