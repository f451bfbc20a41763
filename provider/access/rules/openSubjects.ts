import { isObject } from "../../engine/values/values";
import type { Json } from "../../engine/description";
import { multiTenantIssuerOf, filterMultiTenantIssuers } from "../trust/issuers";
import type { MultiTenantIssuer } from "../trust/issuers";
import { findPatternProblem } from "../trust/judgement";
import {
  judgeSubject,
  judgeOwnerClaim,
  judgeUnknownSubject,
  judgePrincipal,
  judgeUserId,
} from "../trust/ownedSubjects";
import { textAt } from "./inputValues";
import type { Facts } from "./facts";
import { judge, languagesOf } from "./openPatterns";
import type { OpenPattern } from "./openPatterns";
import { readClaimConditions } from "./trustedIdentities";

export const judgeSubjectAt = (
  facts: Facts,
  vendor: MultiTenantIssuer,
  pattern: string | undefined,
): OpenPattern | undefined =>
  judge(facts, vendor.issuer, pattern, (languages, text) => judgeSubject(languages, text, vendor.forms));

/** The issuers that serve everybody among those that an identity trusts. */
export function multiTenantIssuersOf(
  facts: Facts,
  claimMatch: Json | undefined,
): readonly MultiTenantIssuer[] {
  const issuer = textAt(claimMatch, "issuer");
  if (issuer !== undefined) return [multiTenantIssuerOf(issuer) ?? []].flat();
  const pattern = textAt(claimMatch, "issuerPattern");
  if (pattern === undefined || findPatternProblem(languagesOf(facts), pattern) !== undefined) return [];
  return filterMultiTenantIssuers((vendor) => languagesOf(facts).matches(pattern, vendor.issuer));
}

/** Whether a claim names the owner: by its exact value, or by a pattern that matches no outsider. */
export function isPinnedByClaims(
  facts: Facts,
  claimMatch: Json | undefined,
  vendor: MultiTenantIssuer,
): boolean {
  if (
    readClaimConditions(claimMatch, "claims").some(
      ([name, value]) => vendor.pinningClaims.includes(name) && value !== "",
    )
  ) {
    return true;
  }
  return readClaimConditions(claimMatch, "claimPatterns").some(
    ([name, text]) =>
      vendor.pinningClaims.includes(name) &&
      judgeOwnerClaim(languagesOf(facts), name, text).kind === "pinned",
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
  const vendors = multiTenantIssuersOf(facts, claimMatch);
  for (const vendor of vendors.filter((issuer) => !isPinnedByClaims(facts, claimMatch, issuer))) {
    const open = judgeSubjectAt(facts, vendor, pattern);
    const advice = `name the ${vendor.owner} in an anchored pattern, as in ${JSON.stringify(vendor.example)}, or use subject`;
    if (open !== undefined) return { field, pattern, open, advice, claims: [] };
  }
  if (vendors.length > 0) return undefined;
  const open = judge(facts, "subject", pattern, judgeUnknownSubject);
  if (open === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice:
      "name the subject exactly (subject), or anchor the pattern with ^(?:…)$ and let it vary only where it must",
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
