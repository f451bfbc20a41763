import { mayWiden } from "../effects";
import { accessKinds, isPrincipalField } from "../graph/accessKinds";
import { labelOf, plural, limitLines } from "./wording";
import type { FindingInput } from "./findingInput";
import type { Rule } from "./rule";
import { anySubject, sharedIssuer, pullRequestRef } from "./subjectTrust";
import { anyIssuer, looseMatch } from "./tokenTrust";
import { listGrants } from "./trustedIdentities";

const trustChanged: Rule = {
  id: "T5",
  name: "trust-changed",
  severities: ["high"],
  when: "always",
  what: "The trust of an identity that holds grants changes, so that a different principal holds them: its issuer, subject, audience, claims, keys or AWS match change, or it goes from one way of proving itself to another. What the new holder inherits is listed. Of identity providers the issuer, the client id, the claim that holds the groups and the correlation rule count. A change after which it accepts the same or less is not reported, such as a further claim or a pattern within the old one; one that cannot be judged is. Nor is an identity without grants, a new description, or another end of its keys.",
  why: "No binding changes, so nothing in the diff says that a different principal now holds all of this.",
  fix: "Make a new identity for the new holder, bind what it needs, and remove the old one. If it is the same holder under another name, say so in the pull request.",
  except:
    "After a move of a repository or of an issuer, for that identity, for as long as the pull request is open.",
  exampleMatch: { name: "ci-deployer", subject: "repo:acme/pay:*" },
  needsBefore: true,
  driftAdvice:
    "restore the trust unless one of you changed it; then change it in the program, and have it reviewed",
  find: (facts) => {
    const findings: FindingInput[] = [];
    for (const { op, before, after, fields } of facts.writes(
      (kind) => accessKinds[kind]?.principal !== undefined,
    )) {
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
          message: `the trust of ${labelOf(after)} changes: a different principal inherits ${plural(grants.length, "grant")}: ${changed.map(({ path }) => path).join(", ")}`,
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
          advice:
            "make a new identity for the new holder and bind what it needs, instead of changing who this one is",
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
