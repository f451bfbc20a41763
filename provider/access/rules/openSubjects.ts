import { isObject } from "../../fields/values";
import type { Json } from "../../fields/values";
import { INTRUDER, MAIL_DOMAIN_OWNER } from "../trust/data/pins";
import { filterSharedIssuers, sharedIssuerOf } from "../trust/issuers";
import type { SharedIssuer } from "../trust/issuers";
import { findPatternProblem } from "../trust/judgement";
import type { Owner, PatternJudgement } from "../trust/judgement";
import { exactPattern } from "../trust/languages";
import { judgeIssuer, SERVICE } from "../trust/ownedIssuers";
import {
  judgeOwnerClaim,
  judgeOwnPart,
  judgePrincipal,
  judgeSubject,
  judgeUserId,
  ownerOfClaim,
  ownerOfSubject,
  pinningClaims,
  SUBJECT,
} from "../trust/ownedSubjects";
import { textAt } from "./inputValues";
import type { Facts } from "./facts";
import { judgePattern, judgementOf, languagesOf, openPatternOf } from "./openPatterns";
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
export function trustsOtherIssuers(facts: Facts, claimMatch: Json | undefined): boolean {
  if (textAt(claimMatch, "issuer") !== undefined) return sharedIssuersOf(facts, claimMatch).length === 0;
  const judged = judgeIssuersOf(facts, claimMatch);
  return judged?.kind !== "pinned" || judged.owners.some(({ what }) => what !== SERVICE);
}

/** Judges a pattern of a part of tokens at issuers that one owner runs. */
export function judgeAtOwnIssuers(
  facts: Facts,
  claimMatch: Json | undefined,
  part: string,
  pattern: string,
): PatternJudgement {
  const judged = judgeIssuersOf(facts, claimMatch);
  const owners = judged?.kind === "pinned" ? judged.owners.filter(({ what }) => what !== SERVICE) : [];
  const about = JSON.stringify([part, ...new Set(owners.map(({ what }) => what))]);
  return judgementOf(facts, about, pattern, (languages, text) => judgeOwnPart(languages, part, text, owners));
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
    const judged = judgeClaimAt(facts, issuer, name, pattern);
    return judged.kind === "pinned" ? [judged.owners] : [];
  });
  return [...exact, ...patterns];
}

function judgeClaimAt(facts: Facts, issuer: SharedIssuer, name: string, pattern: string): PatternJudgement {
  return judgementOf(facts, `${issuer.issuer} ${name}`, pattern, (languages, text) =>
    judgeOwnerClaim(languages, name, text, issuer),
  );
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

/** A pattern that may pin the owner at issuers that sign for many customers, and that cannot be judged. */
export function findUnjudgedPattern(
  facts: Facts,
  claimMatch: Json | undefined,
  issuers: readonly SharedIssuer[],
): Pick<OpenSubject, "field" | "pattern" | "open"> | undefined {
  const find = (
    field: string,
    pattern: string,
    judged: PatternJudgement,
  ): Pick<OpenSubject, "field" | "pattern" | "open">[] => {
    const open = judged.kind === "unjudged" ? openPatternOf(judged) : undefined;
    return open === undefined ? [] : [{ field, pattern, open }];
  };
  const pattern = textAt(claimMatch, "subjectPattern");
  const subject =
    pattern === undefined || issuers.length === 0
      ? []
      : find("claimMatch.subjectPattern", pattern, judgeSubjectsAt(facts, issuers, pattern));
  const claims = readClaimConditions(claimMatch, "claimPatterns").flatMap(([name, text]) =>
    issuers
      .filter((issuer) => pinningClaims(issuer).includes(name))
      .flatMap((issuer) =>
        find(`claimMatch.claimPatterns.${name}`, text, judgeClaimAt(facts, issuer, name, text)),
      ),
  );
  return [...subject, ...claims][0];
}

export interface OpenSubject {
  readonly field: string;
  readonly pattern: string;
  readonly open: OpenPattern;
  readonly advice: string;
  /** Claims that narrow it and do not pin it: of an issuer that nothing is known of, or to the addresses of a domain. */
  readonly claims: readonly string[];
}

/** The claims whose mail addresses are all at domains that a pattern writes out: who has left a domain may have one still. */
function mailClaims(facts: Facts, claimMatch: Json | undefined, issuer: SharedIssuer): string[] {
  return readClaimConditions(claimMatch, "claimPatterns").flatMap(([name, text]) => {
    const judged = pinningClaims(issuer).includes(name)
      ? judgementOf(facts, `own ${name}`, text, (languages, pattern) =>
          judgeOwnPart(languages, name, pattern, []),
        )
      : undefined;
    const isAtDomains =
      judged?.kind === "pinned" && judged.owners.every(({ what }) => what === MAIL_DOMAIN_OWNER);
    return isAtDomains ? [name] : [];
  });
}

export function findOpenSubject(facts: Facts, claimMatch: Json | undefined): OpenSubject | undefined {
  const pattern = textAt(claimMatch, "subjectPattern");
  if (pattern === undefined) return undefined;
  const field = "claimMatch.subjectPattern";
  const issuers = issuersToPin(facts, claimMatch);
  const [issuer] = issuers;
  if (issuer !== undefined) {
    const open = openPatternOf(judgeSubjectsAt(facts, issuers, pattern));
    const advice = `name the ${issuer.owner} in an anchored pattern, as in ${JSON.stringify(issuer.example)}, or use subject`;
    if (open !== undefined) {
      const unjudged = findUnjudgedPattern(facts, claimMatch, issuers);
      return { field, pattern, open, ...unjudged, advice, claims: mailClaims(facts, claimMatch, issuer) };
    }
  }
  if (!trustsOtherIssuers(facts, claimMatch)) return undefined;
  const open = openPatternOf(judgeAtOwnIssuers(facts, claimMatch, SUBJECT, pattern));
  if (open === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice:
      "write the subject (subject), or each one in an anchored pattern: ^(?:a|b)$; a pattern may vary below a Kubernetes namespace, a SPIFFE trust domain, a mail domain, an organisation of a GitHub, a group of a GitLab, or a project of a CI service",
    claims: readClaimConditions(claimMatch, "claims").map(([name]) => name),
  };
}

/** The mail domains whose every account can meet a trust: a pattern of subjects accepts them, and nothing names an account. */
export function findOpenDomains(facts: Facts, claimMatch: Json | undefined): readonly Owner[] {
  const pattern = textAt(claimMatch, "subjectPattern");
  if (pattern === undefined) return [];
  const isDomain = ({ what }: Owner): boolean => what === MAIL_DOMAIN_OWNER;
  const shared = sharedIssuersOf(facts, claimMatch);
  const byClaims = shared.flatMap((issuer) => ownersByClaims(facts, claimMatch, issuer));
  const isNamed =
    ownersBySubject(facts, claimMatch, shared) !== undefined ||
    byClaims.some((owners) => !owners.every(isDomain));
  const mailboxes = readClaimConditions(claimMatch, "claims").filter(([name]) => name === "email");
  const hasMailbox = ({ name }: Owner): boolean =>
    mailboxes.some(([, address]) => address.toLowerCase().endsWith(`@${name}`));
  const atShared = isNamed ? [] : (byClaims[0] ?? []).filter((domain) => !hasMailbox(domain));
  const judged = trustsOtherIssuers(facts, claimMatch)
    ? judgeAtOwnIssuers(facts, claimMatch, SUBJECT, pattern)
    : undefined;
  const atOwn = judged?.kind === "pinned" ? judged.owners.filter(isDomain) : [];
  const accepts = ({ name }: Owner): boolean => languagesOf(facts).matches(pattern, `${INTRUDER}@${name}`);
  return [...atShared, ...atOwn.filter(accepts)];
}

/** An AWS principal must match both the ARN and the user id, so it is enough that one of them is exact. */
export function findOpenPrincipal(facts: Facts, aws: Json | undefined): OpenSubject | undefined {
  if (!isObject(aws) || textAt(aws, "arn") !== undefined || textAt(aws, "userId") !== undefined)
    return undefined;
  const account = textAt(aws, "awsAccount") ?? "123456789012";
  const arnPattern = textAt(aws, "arnPattern");
  const userIdPattern = textAt(aws, "userIdPattern");
  const arn = judgePattern(facts, `principal ${account}`, arnPattern, (languages, text) =>
    judgePrincipal(languages, text, account),
  );
  const userId = judgePattern(facts, "user id", userIdPattern, judgeUserId);
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
