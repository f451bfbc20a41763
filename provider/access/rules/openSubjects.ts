import { fieldName, isOfTokens, readClaimConditions } from "../graph/trust";
import { getOrCompute } from "../../fields/values";
import type { Trust } from "../graph/trust";
import { INTRUDER, MAIL_DOMAIN_OWNER } from "../trust/data/pins";
import { sharedIssuerOf } from "../trust/issuers";
import type { SharedIssuer } from "../trust/issuers";
import { findPatternProblem } from "../trust/judgement";
import type { TrustedOwner, PatternJudgement } from "../trust/judgement";
import { exactPattern } from "../trust/patternComparer";
import type { PatternComparer } from "../trust/patternComparer";
import { SERVICE, judgeIssuer } from "../trust/ownedIssuers";
import {
  judgeOwnPart,
  judgeOwnerClaim,
  judgePrincipal,
  judgeSubject,
  judgeUserId,
  ownerOfPart,
} from "../trust/ownedSubjects";
import { sharedIssuers, SUBJECT } from "../trust/data/sharedIssuers";
import { rememberByFacts } from "./facts";
import type { Facts } from "./facts";

/** What a pattern lets in that it should not. */
interface OpenPattern {
  /** A text that it lets in; undefined where none was found. */
  readonly example: string | undefined;
  /** Whether an outsider is known to have such texts, or nobody can judge that; otherwise it is only not proven that none has. */
  readonly isOutsiders: boolean;
  /** Ends the sentence "… is accepted: ": "the pattern is not anchored at its end". */
  readonly reason: string;
}

/** What is not proven to be pinned is open, also what cannot be judged. */
function openPatternOf(judged: PatternJudgement): OpenPattern | undefined {
  if (judged.kind === "pinned") return undefined;
  const { kind, reason } = judged;
  return {
    example: kind === "unjudged" ? undefined : judged.example,
    isOutsiders: kind !== "unproven",
    reason: kind === "unjudged" ? `it cannot be judged: ${reason}` : reason,
  };
}

const judgements = rememberByFacts(() => new Map<string, PatternJudgement>());

/** The judgement of a text; the same text is judged once. */
function judgementOf(
  facts: Facts,
  about: string,
  text: string,
  find: (comparer: PatternComparer, pattern: string) => PatternJudgement,
): PatternJudgement {
  return getOrCompute(judgements(facts, about), text, () => find(facts.comparer, text));
}

export function judgePattern(
  facts: Facts,
  about: string,
  text: string | undefined,
  find: (comparer: PatternComparer, pattern: string) => PatternJudgement,
): OpenPattern | undefined {
  return text === undefined ? undefined : openPatternOf(judgementOf(facts, about, text, find));
}

/** "accepts “x”: why", or why alone. */
export const describeOpenPattern = ({ example, reason }: OpenPattern): string =>
  example === undefined ? reason.replace(/^it /, "") : `accepts ${JSON.stringify(example)}: ${reason}`;
export const counterexampleOf = ({ example }: OpenPattern): { counterexample?: string } =>
  example === undefined ? {} : { counterexample: example };

/** The issuers that sign for many customers among those that an identity trusts. */
export function sharedIssuersOf(facts: Facts, trust: Trust): readonly SharedIssuer[] {
  const issuer = trust.issuer?.exact;
  if (issuer !== undefined) return [sharedIssuerOf(issuer) ?? []].flat();
  const pattern = trust.issuer?.pattern;
  if (pattern === undefined || findPatternProblem(facts.comparer, pattern) !== undefined) return [];
  return sharedIssuers.filter((shared) =>
    [shared.issuer, `${shared.issuer}/`].some((text) => facts.comparer.matches(pattern, text)),
  );
}

/** Who runs the issuers that an identity trusts; undefined for an identity that trusts none. */
export function judgeIssuersOf(facts: Facts, trust: Trust): PatternJudgement | undefined {
  const issuer = trust.issuer?.exact;
  const pattern = issuer === undefined ? trust.issuer?.pattern : exactPattern(issuer);
  return pattern === undefined ? undefined : judgementOf(facts, "issuer", pattern, judgeIssuer);
}

/** Whether an identity trusts issuers beside those that sign for many customers. */
export function trustsOtherIssuers(facts: Facts, trust: Trust): boolean {
  if (trust.issuer?.exact !== undefined) return sharedIssuersOf(facts, trust).length === 0;
  const judged = judgeIssuersOf(facts, trust);
  return judged?.kind !== "pinned" || judged.owners.some(({ what }) => what !== SERVICE);
}

/** Judges a pattern of a part of tokens at issuers that one owner runs. */
export function judgeAtOwnIssuers(
  facts: Facts,
  trust: Trust,
  part: string,
  pattern: string,
): PatternJudgement {
  const judged = judgeIssuersOf(facts, trust);
  const owners = judged?.kind === "pinned" ? judged.owners.filter(({ what }) => what !== SERVICE) : [];
  const about = JSON.stringify([part, ...new Set(owners.map(({ what }) => what))]);
  return judgementOf(facts, about, pattern, (comparer, text) => judgeOwnPart(comparer, part, text, owners));
}

/** The owners that each claim pins, of those that are proven to pin. */
export function ownersByClaims(
  facts: Facts,
  trust: Trust,
  issuer: SharedIssuer,
): readonly (readonly TrustedOwner[])[] {
  const { comparer } = facts;
  const exact = readClaimConditions(trust, "exact").flatMap(([name, value]) => {
    const owner = ownerOfPart(comparer, name, value, issuer);
    return owner === undefined ? [] : [[owner]];
  });
  const patterns = readClaimConditions(trust, "patterns").flatMap(([name, pattern]) => {
    const judged = judgeClaimAt(facts, issuer, name, pattern);
    return judged.kind === "pinned" ? [judged.owners] : [];
  });
  return [...exact, ...patterns];
}

function judgeClaimAt(facts: Facts, issuer: SharedIssuer, name: string, pattern: string): PatternJudgement {
  return judgementOf(facts, `${issuer.issuer} ${name}`, pattern, (comparer, text) =>
    judgeOwnerClaim(comparer, name, text, issuer),
  );
}

/** The owners that a subject pins at issuers that sign for many customers; undefined if it pins none. */
export function ownersBySubject(
  facts: Facts,
  trust: Trust,
  issuers: readonly SharedIssuer[],
): readonly TrustedOwner[] | undefined {
  const subject = trust.subject?.exact;
  if (subject !== undefined) {
    const owners = issuers.flatMap((issuer) => ownerOfPart(facts.comparer, SUBJECT, subject, issuer) ?? []);
    return owners.length > 0 ? owners : undefined;
  }
  const pattern = trust.subject?.pattern;
  if (pattern === undefined) return undefined;
  const judged = judgeSubjectsAt(facts, issuers, pattern);
  return judged.kind === "pinned" ? judged.owners : undefined;
}

function judgeSubjectsAt(facts: Facts, issuers: readonly SharedIssuer[], pattern: string): PatternJudgement {
  const about = issuers.map(({ issuer }) => issuer).join(" ");
  return judgementOf(facts, about, pattern, (comparer, text) => judgeSubject(comparer, text, issuers));
}

/** The issuers that sign for many customers and at which no claim pins an owner. */
export function issuersToPin(facts: Facts, trust: Trust): readonly SharedIssuer[] {
  return sharedIssuersOf(facts, trust).filter((issuer) => ownersByClaims(facts, trust, issuer).length === 0);
}

/** Whether a pattern of subjects at issuers that sign for many customers cannot be judged. */
export function isSubjectUnjudged(facts: Facts, trust: Trust, issuers: readonly SharedIssuer[]): boolean {
  const pattern = trust.subject?.pattern;
  return pattern !== undefined && judgeSubjectsAt(facts, issuers, pattern).kind === "unjudged";
}

export interface OpenSubject {
  readonly field: string;
  readonly pattern: string;
  readonly open: OpenPattern;
  readonly advice: string;
  /** Claims that narrow it and do not pin it, of an issuer that nothing is known of. */
  readonly claims: readonly string[];
}

export function findOpenSubject(facts: Facts, trust: Trust): OpenSubject | undefined {
  const { pattern, patternPath: field, exactPath } = trust.subject ?? {};
  if (pattern === undefined || field === undefined || !isOfTokens(trust)) return undefined;
  const exact = fieldName(exactPath ?? field);
  const issuers = issuersToPin(facts, trust);
  const [issuer] = issuers;
  if (issuer !== undefined) {
    const open = openPatternOf(judgeSubjectsAt(facts, issuers, pattern));
    const advice = `name the ${issuer.owner} in an anchored pattern, as in ${JSON.stringify(issuer.example)}, or use ${exact}`;
    if (open !== undefined) return { field, pattern, open, advice, claims: [] };
  }
  if (!trustsOtherIssuers(facts, trust)) return undefined;
  const open = openPatternOf(judgeAtOwnIssuers(facts, trust, SUBJECT, pattern));
  if (open === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice: `write the subject (${exact}), or each one in an anchored pattern: ^(?:a|b)$; a pattern may vary below a Kubernetes namespace, a SPIFFE trust domain, a mail domain, an organisation of a GitHub, a group of a GitLab, or a project of a CI service`,
    claims: readClaimConditions(trust, "exact").map(([name]) => name),
  };
}

/** The mail domains whose every account can meet a trust: a pattern of subjects accepts them, and nothing names an account. */
export function findOpenDomains(facts: Facts, trust: Trust): readonly TrustedOwner[] {
  const pattern = trust.subject?.pattern;
  if (pattern === undefined) return [];
  const isDomain = ({ what }: TrustedOwner): boolean => what === MAIL_DOMAIN_OWNER;
  const shared = sharedIssuersOf(facts, trust);
  const byClaims = shared.flatMap((issuer) => ownersByClaims(facts, trust, issuer));
  const isNamed =
    ownersBySubject(facts, trust, shared) !== undefined || byClaims.some((owners) => !owners.every(isDomain));
  const mailboxes = readClaimConditions(trust, "exact").filter(([name]) => name === "email");
  const hasMailbox = ({ name }: TrustedOwner): boolean =>
    mailboxes.some(([, address]) => address.toLowerCase().endsWith(`@${name}`));
  const atShared = isNamed ? [] : (byClaims[0] ?? []).filter((domain) => !hasMailbox(domain));
  const judged = trustsOtherIssuers(facts, trust)
    ? judgeAtOwnIssuers(facts, trust, SUBJECT, pattern)
    : undefined;
  const atOwn = judged?.kind === "pinned" ? judged.owners.filter(isDomain) : [];
  const accepts = ({ name }: TrustedOwner): boolean => facts.comparer.matches(pattern, `${INTRUDER}@${name}`);
  return [...atShared, ...atOwn.filter(accepts)];
}

/** An AWS principal must match both the ARN and the user id, so it is enough that one of them is exact. */
export function findOpenPrincipal(facts: Facts, trust: Trust): OpenSubject | undefined {
  const account = trust.account?.exact ?? "123456789012";
  if (trust.arn?.exact !== undefined || trust.userId?.exact !== undefined) return undefined;
  const arnPattern = trust.arn?.pattern;
  const userIdPattern = trust.userId?.pattern;
  const arn = judgePattern(facts, `principal ${account}`, arnPattern, (comparer, text) =>
    judgePrincipal(comparer, text, account),
  );
  const userId = judgePattern(facts, "user id", userIdPattern, judgeUserId);
  if (arnPattern !== undefined && arn === undefined) return undefined;
  if (userIdPattern !== undefined && userId === undefined) return undefined;
  const [field, pattern, open] =
    arn === undefined
      ? [trust.userId?.patternPath, userIdPattern, userId]
      : [trust.arn?.patternPath, arnPattern, arn];
  if (field === undefined || open === undefined || pattern === undefined) return undefined;
  return {
    field,
    pattern,
    open,
    advice: `name the role, as in ${JSON.stringify(`^arn:aws:sts::${account}:assumed-role/deployer/[\\w=,.@-]+$`)}`,
    claims: [],
  };
}
