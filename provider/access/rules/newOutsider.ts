import { AZURE_TENANT, CIRCLECI_ORGANISATION } from "../trust/data/issuerHosts";
import { GITHUB_ORGANISATION } from "../trust/data/pins";
import { customerOf } from "../trust/issuers";
import type { Owner } from "../trust/judgement";
import { judgeUnknownSubject, mailOwnerOf } from "../trust/ownedSubjects";
import type { Entity } from "../graph/model";
import type { Grant } from "../graph/grant";
import type { Severity } from "../review/finding";
import { isWriting } from "./capabilities";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { textAt } from "./inputValues";
import { isAssumable, isInvite } from "./kindConditions";
import { KnownBefore } from "./knownBefore";
import { judgementOf, languagesOf } from "./openPatterns";
import { judgeIssuersOf, ownersByClaims, ownersBySubject, sharedIssuersOf } from "./openSubjects";
import type { Rule } from "./rule";
import { boundBefore, identitiesToJudge, listGrants } from "./trustedIdentities";
import { labelEntity, listFirst } from "./wording";

const ADVICE =
  "compare the name letter by letter with the one that you mean; bind outsiders to a role that only reads, below the root";

const listOwners = (owners: readonly Owner[]): string =>
  listFirst(owners.map(({ what, name }) => `${what} ${JSON.stringify(name)}`));

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
  if (judged.kind !== "pinned") return [];
  return judged.owners.flatMap((owner) =>
    owner.what === "mail domain" ? [owner] : (mailOwnerOf(languagesOf(facts), owner.name) ?? []),
  );
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

/** The owner without its number, which a program may leave out. */
function withoutNumber({ what, name }: Owner): Owner | undefined {
  const [, bare] = /^([^@]+)@[0-9]+$/.exec(name) ?? [];
  return bare === undefined || what !== GITHUB_ORGANISATION ? undefined : { what, name: bare };
}

const anyNumber = ({ what, name }: Owner): string => JSON.stringify([what, name, "any number"]);

/** A name with a number makes the name alone known, and a name alone makes it known with any number. */
function keysMadeKnown(owner: Owner): string[] {
  const bare = withoutNumber(owner);
  return [keyOfOwner(owner), ...(bare === undefined ? [] : [anyNumber(bare)])];
}

function keysToKnow(owner: Owner): string[] {
  return [keyOfOwner(owner), keyOfOwner(withoutNumber(owner) ?? owner), anyNumber(owner)];
}

/** The owners that identities with a grant trusted before. */
function knownOwners(facts: Facts): KnownBefore {
  const known = new KnownBefore(facts);
  for (const { entity, groups } of boundBefore(facts)) {
    for (const owner of ownersOf(facts, entity)) {
      for (const key of keysMadeKnown(owner)) known.add(key, groups);
    }
  }
  return known;
}

/** An owner that gets access where nobody has trusted it yet. */
interface Outsider {
  readonly owners: readonly Owner[];
  readonly grants: readonly Grant[];
  readonly severity: Severity;
  readonly words: string;
}

function findOutsider(
  known: KnownBefore,
  owners: readonly Owner[],
  grants: readonly Grant[],
): Outsider | undefined {
  const strangers = owners.filter((owner) => !keysToKnow(owner).some((key) => known.has(key)));
  if (strangers.length > 0) {
    // Where nobody is known yet, everybody is new, and the first one most of all.
    const severity = !known.isEmpty && grants.some(isStrong) ? "high" : "medium";
    return { owners: strangers, grants, severity, words: "which no identity with a grant trusted before" };
  }
  const isNewAt =
    ({ group }: Grant) =>
    (owner: Owner): boolean =>
      !keysToKnow(owner).some((key) => known.isKnownAt(key, group.key));
  const elsewhere = grants.filter((grant) => owners.some(isNewAt(grant)));
  if (elsewhere.length === 0) return undefined;
  return {
    owners: owners.filter((owner) => elsewhere.some((grant) => isNewAt(grant)(owner))),
    grants: elsewhere,
    severity: elsewhere.some(isStrong) ? "medium" : "low",
    words: "which identities trusted before only on other groups",
  };
}

export const newOutsider: Rule = {
  id: "T7",
  name: "new-outsider",
  severities: ["high", "medium", "low"],
  when: "high with a write capability, an unknown role, or a grant on a root group. Otherwise medium, and medium where no identity with a grant was there before. One level lower for an outsider that was trusted before, on other groups only",
  what: "An identity with a grant trusts an organisation, tenant, account or mail domain that is new there. No identity with a grant on that group, or above it, trusted it before. It is an organisation of GitHub Actions, a group of GitLab, a tenant of Azure, an organisation of CircleCI, an account of AWS, and others. An identity without a grant makes nobody known. An invite to a new mail domain is reported too, as medium. The rule needs `--inventory`, and reads the subject first, then the claims. Not reported: who is trusted already, an issuer that is new as a whole (T2), and what pins nobody (T1, T3).",
  why: "The subject pins one owner, but nobody has said that the owner is one of yours. `acme` and `acme-inc` are two organisations. Who administers one group can create an identity there, and make an outsider look known.",
  fix: "Compare the name letter by letter with the one that you mean. Bind outsiders to a role that only reads, on a group below the root. Let identities of your own organisation write.",
  except: "For a partner, by the fingerprint of the finding, until the change is merged.",
  exampleMatch: {},
  needsBefore: true,
  // Drift reports each identity that no program declares, and each change of trust.
  planOnly: true,
  about: (kind) => isAssumable(kind) || isInvite(kind),
  find: (facts) => {
    // Without an inventory everybody is new.
    if (facts.comparison.inventory === undefined) return [];
    let known: KnownBefore | undefined;
    const findings: FindingInput[] = [];
    for (const entity of identitiesToJudge(facts)) {
      const grants = facts.grantsThrough(entity.key);
      const owners = grants.length === 0 ? [] : ownersOf(facts, entity);
      if (owners.length === 0) continue;
      known ??= knownOwners(facts);
      const outsider = findOutsider(known, owners, grants);
      if (outsider === undefined) continue;
      findings.push(
        facts.aboutEntity(entity, {
          severity: outsider.severity,
          field: fieldOf(entity),
          message: `${labelEntity(entity)} trusts ${listOwners(outsider.owners)}, ${outsider.words}`,
          details: ["whoever assumes it gets:", ...listGrants(outsider.grants)],
          advice: ADVICE,
        }),
      );
    }
    for (const { after } of facts.writes(isInvite)) {
      const address = textAt(after.inputs, "email");
      const owner = address === undefined ? undefined : mailOwnerOf(languagesOf(facts), address);
      if (owner === undefined) continue;
      known ??= knownOwners(facts);
      if (keysToKnow(owner).some((key) => known?.has(key))) continue;
      findings.push(
        facts.aboutEntity(after, {
          severity: "medium",
          field: "email",
          message: `${labelEntity(after)} invites somebody of ${listOwners([owner])}, which no identity with a grant trusted before`,
          advice: ADVICE,
        }),
      );
    }
    return findings;
  },
};
