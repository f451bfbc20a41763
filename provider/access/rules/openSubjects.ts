import { isObject } from "../../engine/values/values";
import type { Json } from "../../engine/description";
import { filterSharedIssuers, sharedIssuerOf } from "../trust/issuers";
import type { SharedIssuer } from "../trust/issuers";
import { findPatternProblem } from "../trust/judgement";
import type { Owner, PatternJudgement } from "../trust/judgement";
import { exactPattern } from "../trust/languages";
import { judgeIssuer, SERVICE } from "../trust/ownedIssuers";
import {
  judgeOwnerClaim,
  judgePrincipal,
  judgeSubject,
  judgeUnknownSubject,
  judgeUserId,
  ownerOfClaim,
  ownerOfSubject,
} from "../trust/ownedSubjects";
import { textAt } from "./inputValues";
import type { Facts } from "./facts";
import { judge, judgementOf, languagesOf } from "./openPatterns";
import type { OpenPattern } from "./openPatterns";
import { readClaimConditions } from "./trustedIdentities";

/** The issuers that sign for many customers among those that an identity trusts. */
export function sharedIssuersOf(facts: Facts, claimMatch: Json | undefined): readonly SharedIssuer[] {
  const issuer = textAt(claimMatch, "issuer");
  if (issuer !== undefined) return [sharedIssuerOf(issuer) ?? []].flat();
  const pattern = textAt(claimMatch, "issuerPattern");
  if (pattern === undefined || findPatternProblem(languagesOf(facts), pattern) !== undefined) return [];
  return filterSharedIssuers((shared) =>
    [shared.issuer, `${shared.issuer}/`].some((text) => languagesOf(facts).matches(pattern, text)),
  );
}

/** Who runs the issuers that an identity trusts; undefined for an identity that trusts none. */
export function judgeIssuersOf(facts: Facts, claimMatch: Json | undefined): PatternJudgement | undefined {
  const issuer = textAt(claimMatch, "issuer");
  const pattern = issuer === undefined ? textAt(claimMatch, "issuerPattern") : exactPattern(issuer);
  return pattern === undefined ? undefined : judgementOf(facts, "issuer", pattern, judgeIssuer);
}

/** Whether an identity trusts issuers beside those that sign for many customers. */
function trustsOtherIssuers(facts: Facts, claimMatch: Json | undefined): boolean {
  if (textAt(claimMatch, "issuer") !== undefined) return sharedIssuersOf(facts, claimMatch).length === 0;
  const judged = judgeIssuersOf(facts, claimMatch);
  return judged?.kind !== "pinned" || judged.owners.some(({ what }) => what !== SERVICE);
}

/** The owners that each claim pins, of those that are proven to pin. */
export function ownersByClaims(
  facts: Facts,
  claimMatch: Json | undefined,
  issuer: SharedIssuer,
): readonly (readonly Owner[])[] {
  const languages = languagesOf(facts);
  const exact = readClaimConditions(claimMatch, "claims").flatMap(([name, value]) => {
    const owner = ownerOfClaim(languages, name, value, issuer);
    return owner === undefined ? [] : [[owner]];
  });
  const patterns = readClaimConditions(claimMatch, "claimPatterns").flatMap(([name, pattern]) => {
    const judged = judgementOf(facts, `${issuer.issuer} ${name}`, pattern, (languages, text) =>
      judgeOwnerClaim(languages, name, text, issuer),
    );
    return judged.kind === "pinned" ? [judged.owners] : [];
  });
  return [...exact, ...patterns];
}

/** The owners that a subject pins at issuers that sign for many customers; undefined if it pins none. */
export function ownersBySubject(
  facts: Facts,
  claimMatch: Json | undefined,
  issuers: readonly SharedIssuer[],
): readonly Owner[] | undefined {
  const subject = textAt(claimMatch, "subject");
  if (subject !== undefined) {
    const owners = issuers.flatMap((issuer) => ownerOfSubject(languagesOf(facts), subject, issuer) ?? []);
    return owners.length > 0 ? owners : undefined;
  }
  const pattern = textAt(claimMatch, "subjectPattern");
  if (pattern === undefined) return undefined;
  const judged = judgeSubjectsAt(facts, issuers, pattern);
  return judged.kind === "pinned" ? judged.owners : undefined;
}

function judgeSubjectsAt(facts: Facts, issuers: readonly SharedIssuer[], pattern: string): PatternJudgement {
  const about = issuers.map(({ issuer }) => issuer).join(" ");
  return judgementOf(facts, about, pattern, (languages, text) => judgeSubject(languages, text, issuers));
}

/** The issuers that sign for many customers and at which no claim pins an owner. */
export function issuersToPin(facts: Facts, claimMatch: Json | undefined): readonly SharedIssuer[] {
  return sharedIssuersOf(facts, claimMatch).filter(
    (issuer) => ownersByClaims(facts, claimMatch, issuer).length === 0,
  );
}

interface OpenSubject {
  readonly field: string;
  readonly pattern: string;
  readonly open: OpenPattern;
  readonly advice: string;
  /** Claims that narrow it, of an issuer that nothing is known of. */
  readonly claims: readonly string[];
}

export function findOpenSubject(facts: Facts, claimMatch: Json | undefined): OpenSubject | undefined {
  const pattern = textAt(claimMatch, "subjectPattern");
  if (pattern === undefined) return undefined;
  const field = "claimMatch.subjectPattern";
  const issuers = issuersToPin(facts, claimMatch);
  const [issuer] = issuers;
  if (issuer !== undefined) {
    const about = issuers.map(({ issuer: address }) => address).join(" ");
    const open = judge(facts, about, pattern, (languages, text) => judgeSubject(languages, text, issuers));
    const advice = `name the ${issuer.owner} in an anchored pattern, as in ${JSON.stringify(issuer.example)}, or use subject`;
    if (open !== undefined) return { field, pattern, open, advice, claims: [] };
  }
  if (!trustsOtherIssuers(facts, claimMatch)) return undefined;
  const open = judge(facts, "subject", pattern, judgeUnknownSubject);
  if (open === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice:
      "write the subject (subject), or each one in an anchored pattern: ^(?:a|b)$; a pattern may vary below a Kubernetes namespace, a SPIFFE trust domain, a mail domain, an organisation of a GitHub or a group of a GitLab",
    claims: readClaimConditions(claimMatch, "claims").map(([name]) => name),
  };
}

/** An AWS principal must match both the ARN and the user id, so it is enough that one of them is exact. */
export function findOpenPrincipal(facts: Facts, aws: Json | undefined): OpenSubject | undefined {
  if (!isObject(aws) || textAt(aws, "arn") !== undefined || textAt(aws, "userId") !== undefined)
    return undefined;
  const account = textAt(aws, "awsAccount") ?? "123456789012";
  const arnPattern = textAt(aws, "arnPattern");
  const userIdPattern = textAt(aws, "userIdPattern");
  const arn = judge(facts, `principal ${account}`, arnPattern, (languages, text) =>
    judgePrincipal(languages, text, account),
  );
  const userId = judge(facts, "user id", userIdPattern, judgeUserId);
  if (arnPattern !== undefined && arn === undefined) return undefined;
  if (userIdPattern !== undefined && userId === undefined) return undefined;
  const [field, pattern, open] =
    arn === undefined
      ? ["awsIdentity.userIdPattern", userIdPattern, userId]
      : ["awsIdentity.arnPattern", arnPattern, arn];
  if (open === undefined || pattern === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice: `name the role, as in ${JSON.stringify(`^arn:aws:sts::${account}:assumed-role/deployer/[\\w=,.@-]+$`)}`,
    claims: [],
  };
}
