import { AZURE_TENANT, CIRCLECI_ORGANISATION } from "../trust/data/issuerHosts";
import { customerOf } from "../trust/issuers";
import type { Owner } from "../trust/judgement";
import { judgeUnknownSubject, mailOwnerOf } from "../trust/ownedSubjects";
import type { Entity } from "../graph/model";
import type { Grant } from "../graph/grant";
import { isWriting } from "./capabilities";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { textAt } from "./inputValues";
import { isAssumable } from "./kindConditions";
import { judgementOf, languagesOf } from "./openPatterns";
import { judgeIssuersOf, ownersByClaims, ownersBySubject, sharedIssuersOf } from "./openSubjects";
import type { Rule } from "./rule";
import { boundBefore, identitiesToJudge, listGrants } from "./trustedIdentities";
import { labelEntity, listFirst } from "./wording";

export const keyOfOwner = ({ what, name }: Owner): string => JSON.stringify([what, name]);

/** Whether an owner is a customer of an issuer that has an address for each. */
export const isCustomer = ({ what }: Owner): boolean => [AZURE_TENANT, CIRCLECI_ORGANISATION].includes(what);

/** The customers that the address of an issuer names. */
function customersOf(facts: Facts, { inputs }: Entity): readonly Owner[] {
  const issuer = textAt(inputs["claimMatch"], "issuer");
  if (issuer !== undefined) return [customerOf(issuer) ?? []].flat();
  const judged = judgeIssuersOf(facts, inputs["claimMatch"]);
  return judged?.kind === "pinned" ? judged.owners.filter(isCustomer) : [];
}

/** The domain of the mail addresses that an issuer of one owner vouches for. */
function mailOwnersOf(facts: Facts, { inputs }: Entity): readonly Owner[] {
  const subject = textAt(inputs["claimMatch"], "subject");
  if (subject !== undefined) return [mailOwnerOf(languagesOf(facts), subject) ?? []].flat();
  const pattern = textAt(inputs["claimMatch"], "subjectPattern");
  if (pattern === undefined) return [];
  const judged = judgementOf(facts, "subject", pattern, judgeUnknownSubject);
  return judged.kind === "pinned" ? judged.owners.filter(({ what }) => what === "mail domain") : [];
}

/**
 * The organisations, tenants, accounts and mail domains whose principals can assume an identity. Only the first thing
 * that pins decides: a second one that never holds together with it must not make its owner known.
 */
function ownersOf(facts: Facts, entity: Entity): readonly Owner[] {
  const { claimMatch, awsIdentity } = entity.inputs;
  const account = textAt(awsIdentity, "awsAccount");
  if (account !== undefined) return [{ what: "account of AWS", name: account }];
  const shared = sharedIssuersOf(facts, claimMatch);
  if (shared.length > 0) {
    const bySubject = ownersBySubject(facts, claimMatch, shared);
    const [byClaim = []] = shared.flatMap((issuer) => ownersByClaims(facts, claimMatch, issuer));
    return [...(bySubject ?? byClaim), ...customersOf(facts, entity)];
  }
  const customers = customersOf(facts, entity);
  return customers.length > 0 ? customers : mailOwnersOf(facts, entity);
}

/** The field that says who the principal is. */
function fieldOf({ inputs }: Entity): string {
  if (textAt(inputs["awsIdentity"], "awsAccount") !== undefined) return "awsIdentity.awsAccount";
  return textAt(inputs["claimMatch"], "subject") === undefined
    ? "claimMatch.subjectPattern"
    : "claimMatch.subject";
}

/** Whether a grant allows an outsider more than to read below the root. */
const isStrong = ({ role, group }: Grant): boolean =>
  group.isRoot || (role.capabilities?.some(isWriting) ?? true);

export const newOutsider: Rule = {
  id: "T7",
  name: "new-outsider",
  severities: ["high", "medium"],
  when: "high with a write capability, an unknown role, or a grant on a root group. Otherwise medium, and medium where no identity with a grant was there before",
  what: "An identity with a grant trusts an organisation, tenant, account or mail domain that no identity with a grant trusted before. That is an organisation of GitHub Actions, a group of GitLab, a tenant of Azure, an organisation of CircleCI, an account of AWS, and others. An identity without a grant makes nobody known. The rule needs `--inventory`, and reads the subject first, then the claims. Not reported: who is trusted already, an issuer that is new as a whole (T2), and what pins nobody (T1, T3).",
  why: "The subject pins one owner, but nobody has said that the owner is one of yours. `acme` and `acme-inc` are two organisations.",
  fix: "Compare the name letter by letter with the one that you mean. Bind outsiders to a role that only reads, on a group below the root. Let identities of your own organisation write.",
  except: "For a partner, by the fingerprint of the finding, until the change is merged.",
  exampleMatch: {},
  needsBefore: true,
  // Drift reports each identity that no program declares, and each change of trust.
  planOnly: true,
  about: isAssumable,
  find: (facts) => {
    // Without an inventory everybody is new.
    if (facts.comparison.inventory === undefined) return [];
    let known: ReadonlySet<string> | undefined;
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const grants = facts.grantsThrough(entity.key);
      const owners = grants.length === 0 ? [] : ownersOf(facts, entity);
      if (owners.length === 0) continue;
      known ??= new Set(boundBefore(facts).flatMap((each) => ownersOf(facts, each).map(keyOfOwner)));
      const before = known;
      const strangers = owners.filter((owner) => !before.has(keyOfOwner(owner)));
      if (strangers.length === 0) continue;
      findings.push(
        facts.aboutEntity(entity, {
          // Where nobody is known yet, everybody is new, and the first one most of all.
          severity: before.size > 0 && grants.some(isStrong) ? "high" : "medium",
          field: fieldOf(entity),
          message: `${labelEntity(entity)} trusts ${listFirst(strangers.map(({ what, name }) => `${what} ${JSON.stringify(name)}`))}, which no identity with a grant trusted before`,
          details: ["whoever assumes it gets:", ...listGrants(grants)],
          advice:
            "compare the name letter by letter with the one that you mean; bind outsiders to a role that only reads, below the root",
        }),
      );
    }
    return findings;
  },
};
