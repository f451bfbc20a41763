import { RE2JS } from "re2js";
import { hasAtSign, ownerOfAddress } from "./addresses";
import {
  awsPins,
  INTRUDER,
  LOCAL_OWNERS,
  MAIL_DOMAIN_OWNER,
  ownPins,
  sharedPins,
  TRUST_DOMAIN,
} from "./data/pins";
import type { OwnPin, Pin } from "./data/pins";
import { OWN_DOMAIN } from "./data/issuerHosts";
import { SUBJECT } from "./data/sharedIssuers";
import type { SharedIssuer } from "./data/sharedIssuers";
import { judgeEach, judgeForms, judgeWithin, ownerOfText, segmentText } from "./judgement";
import type { TrustedOwner, PatternJudgement, PinningForm } from "./judgement";
import { anchored } from "./patternComparer";
import type { PatternComparer } from "./patternComparer";
import { addTo } from "../../fields/values";
import { removeChoices } from "./regexSyntax";

function toForm({ literal, orNumber, ignoresCase, isMail, ending, ...segment }: Pin): PinningForm {
  const owner = { ...segment, ignoresCase: ignoresCase === true };
  const whole = segmentText(orNumber ?? segment);
  return {
    what: literal,
    // Two letters of other alphabets are cases of k and s.
    whole: ignoresCase === true ? `(?i:${whole})` : whole,
    owners: orNumber === undefined ? [owner] : [owner, { ...orNumber, ignoresCase: false }],
    ...(isMail === undefined ? {} : { isMail }),
    ...(ending === undefined ? {} : { ending }),
  };
}

/** The forms of each part of the tokens of an issuer, read once. */
const formsByPart = new Map<string, PinningForm[]>();
for (const pin of sharedPins) {
  const key = JSON.stringify([pin.issuer, pin.part]);
  addTo(formsByPart, key, toForm(pin));
}
const formsOf = ({ issuer }: SharedIssuer, part: string): readonly PinningForm[] =>
  formsByPart.get(JSON.stringify([issuer, part])) ?? [];

const ownForms = ownPins.map((pin) => ({ pin, form: toForm(pin) }));
const mailForms = ownForms.filter(({ pin }) => pin.isMail === true).map(({ form }) => form);

/** The forms of a part of the tokens that issuers of some owners sign. */
function ownFormsOf(part: string, owners: readonly TrustedOwner[]): readonly PinningForm[] {
  // An issuer that is not proven to be one owner's is a finding of its own.
  const isFor = (pin: OwnPin): boolean =>
    owners.length === 0
      ? pin.owners.includes(OWN_DOMAIN)
      : owners.every(({ what }) => pin.owners.includes(what));
  const forms = ownForms.filter(({ pin }) => pin.part === part && isFor(pin)).map(({ form }) => form);
  return part === SUBJECT ? forms : [...forms, ...mailForms];
}

const arnForms = awsPins.arn.map(toForm);
const userIdForms = awsPins.userId.map(toForm);

/** A subject as a whole, without any part that names an owner. */
const writtenOut: PinningForm = toForm({
  part: "sub",
  literal: "subject",
  before: "",
  name: "[^\\x00-\\x1f\\x7f]+",
  after: "",
  why: "the owner of the issuer gives each subject to one principal",
  source: "https://openid.net/specs/openid-connect-core-1_0.html#IDToken",
});

/** Judges whether others than those it writes out can have what a pattern matches, at issuers that one owner runs. */
export function judgeOwnPart(
  comparer: PatternComparer,
  part: string,
  pattern: string,
  owners: readonly TrustedOwner[],
): PatternJudgement {
  const pinning = [...ownFormsOf(part, owners), writtenOut];
  const forms = { what: "subject", pinning, strangers: [INTRUDER] };
  return judgeWithin(comparer, pattern, () => judgeEach(comparer, pattern, forms));
}

const labelPart = (part: string): string => (part === SUBJECT ? "subject" : `claim ${part}`);

/** A file of a repository at one of its refs: such claims have an at sign, and are no addresses. */
const FILE_AT_REF = /^[^@/]*\/[^@]*@(?:refs\/|[^.]*$)/;

/** The name of an organisation or a group is one of its issuer's names. */
const atIssuer = (owner: TrustedOwner, issuer: string): TrustedOwner =>
  LOCAL_OWNERS.includes(owner.what) ? { ...owner, what: `${owner.what} at ${issuer}` } : owner;

/** An issuer that some owners run. */
interface OwnIssuer {
  /** Its address, without a slash at the end. */
  readonly address: string;
  /** Whether no table knows it: then it may be a service that signs for many customers on its own domain. */
  readonly mayHaveCustomers: boolean;
}

/** How some services with many customers begin their subjects: what it is, whose it is, and then what of it runs. */
const FIRST_NAME = /^[A-Za-z][A-Za-z_-]*[:/][^:/|\s]+[:/](?=[^/])/;

/** Whom a subject of no known form names first, at an issuer that may sign for many customers. */
function firstNameOf(subject: string, { address, mayHaveCustomers }: OwnIssuer): TrustedOwner | undefined {
  const [name] = (mayHaveCustomers ? FIRST_NAME.exec(subject) : null) ?? [];
  return name === undefined ? undefined : { what: `subjects of ${address} that begin with`, name };
}

/** The owner that an exact text names, at an issuer that some owners run; undefined for one that names nobody. */
export function ownerAtIssuer(
  comparer: PatternComparer,
  part: string,
  text: string,
  issuer: OwnIssuer,
): TrustedOwner | undefined {
  const naming = ownForms.filter(
    ({ pin }) => pin.part === part && [...LOCAL_OWNERS, TRUST_DOMAIN].includes(pin.literal),
  );
  const found = ownerOfText(
    comparer,
    text,
    naming.map(({ form }) => form),
  );
  if (found !== undefined) return atIssuer(found, issuer.address);
  if (part !== SUBJECT && FILE_AT_REF.test(text)) return undefined;
  const address = ownerOfAddress(labelPart(part), text);
  if (address !== undefined || part !== SUBJECT) return address;
  return ownerOfText(comparer, text, ownFormsOf(part, [])) === undefined
    ? firstNameOf(text, issuer)
    : undefined;
}

const PLAIN = "A-Za-z0-9._+'-";

/** Whether a pattern that pins a mail domain accepts all of its mailboxes, or only ones whose names are plain. */
function acceptsPlainMailboxes(comparer: PatternComparer, pattern: string, domain: string): boolean {
  const all = anchored(`[${PLAIN}]+@${domain.replaceAll(".", "\\.")}`);
  if (comparer.isSubset(all, pattern) === "yes") return true;
  const strange = anchored(`[^@]*[^${PLAIN}@\\x{E000}][^@]*@(?s:.*)`);
  return comparer.intersects(removeChoices(pattern), strange) === "no";
}

/** The owners that a pattern names, at an issuer that one owner runs. */
export function ownersAtIssuer(
  comparer: PatternComparer,
  part: string,
  pattern: string,
  judged: PatternJudgement,
  issuer: OwnIssuer,
): readonly TrustedOwner[] {
  const whole = { what: labelPart(part), name: pattern };
  // A subject that is not pinned is a finding of its own.
  if (judged.kind !== "pinned") return part !== SUBJECT && hasAtSign(pattern) ? [whole] : [];
  return judged.owners.flatMap((owner): TrustedOwner | readonly TrustedOwner[] => {
    if (owner.what === writtenOut.what) return ownerAtIssuer(comparer, part, owner.name, issuer) ?? [];
    if (owner.what === TRUST_DOMAIN || LOCAL_OWNERS.includes(owner.what))
      return atIssuer(owner, issuer.address);
    if (owner.what !== MAIL_DOMAIN_OWNER) return [];
    const domain = ownerOfAddress(whole.what, `${INTRUDER}@${owner.name}`);
    return domain !== undefined && acceptsPlainMailboxes(comparer, pattern, domain.name) ? domain : whole;
  });
}

/** Judges whether outsiders can have subjects that a pattern matches, at issuers that sign for many customers. */
export function judgeSubject(
  comparer: PatternComparer,
  pattern: string,
  issuers: readonly SharedIssuer[],
): PatternJudgement {
  const forms = {
    what: `subject of ${issuers.map(({ name }) => name).join(" or ")}`,
    pinning: issuers.flatMap((issuer) => formsOf(issuer, "sub")),
    strangers: issuers.flatMap(({ ownerlessSubjects }) => ownerlessSubjects ?? []),
  };
  return judgeWithin(comparer, pattern, () => judgeForms(comparer, pattern, forms));
}

/** The owner that an exact subject or value of a claim names, at an issuer that signs for many customers. */
export function ownerOfPart(
  comparer: PatternComparer,
  part: string,
  text: string,
  issuer: SharedIssuer,
): TrustedOwner | undefined {
  return ownerOfText(comparer, text, formsOf(issuer, part));
}

/** The claims that can pin at an issuer, those that pin most first. */
export function pinningClaims({ issuer }: SharedIssuer): string[] {
  const parts = sharedPins.filter((pin) => pin.issuer === issuer && pin.part !== "sub");
  return [...new Set(parts.map(({ part }) => part))];
}

/** Judges whether strangers can have values of a claim that a pattern matches. */
export function judgeOwnerClaim(
  comparer: PatternComparer,
  claim: string,
  pattern: string,
  issuer: SharedIssuer,
): PatternJudgement {
  const forms = {
    what: `claim ${claim}`,
    pinning: formsOf(issuer, claim),
    strangers: [],
  };
  return judgeWithin(comparer, pattern, () => judgeEach(comparer, pattern, forms));
}

/** Judges whether a pattern matches principals with other names than those that it writes out. */
export function judgePrincipal(
  comparer: PatternComparer,
  pattern: string,
  account: string,
): PatternJudgement {
  const strangers = [RE2JS.quote(account), "[0-9]{12}"].map(
    (own) => `arn:aws:sts::${own}:assumed-role/(?:[a-z0-9-]*-)?${INTRUDER}/${INTRUDER}`,
  );
  const forms = { what: "principal of AWS", pinning: arnForms, strangers };
  return judgeWithin(comparer, pattern, () => judgeForms(comparer, pattern, forms));
}

/** Judges whether a pattern matches user ids of other principals than those that it writes out. */
export function judgeUserId(comparer: PatternComparer, pattern: string): PatternJudgement {
  // The name of a federated user follows the number of the account.
  const strangers = [`AROAINTRUDER000000000:${INTRUDER}`, `[0-9]{12}:${INTRUDER}`, "[0-9]{12}:.+"];
  const forms = { what: "user id of AWS", pinning: userIdForms, strangers };
  return judgeWithin(comparer, pattern, () => judgeForms(comparer, pattern, forms));
}
