import { domainToASCII } from "node:url";
import {
  awsPins,
  GOOGLE,
  INTRUDER,
  ownPins,
  sharedPins,
  STRANGE_SUBJECTS,
  STRANGE_USER_IDS,
  strangersInAccount,
} from "./data/pins";
import type { Pin } from "./data/pins";
import type { SharedIssuer } from "./data/sharedIssuers";
import { judgeEach, judgeForms, judgeWithin, ownerOfText, textOf } from "./judgement";
import type { Owner, PatternJudgement, PinningForm } from "./judgement";
import type { Languages } from "./languages";

function toForm({
  literal,
  orNumber,
  ignoresCase,
  isMail,
  strangers,
  endings,
  ...segment
}: Pin): PinningForm {
  const owner = { ...segment, ignoresCase: ignoresCase === true };
  const whole = textOf(orNumber ?? segment);
  return {
    what: literal,
    // Two letters of other alphabets are cases of k and s.
    whole: ignoresCase === true ? `(?i:${whole})` : whole,
    owners: orNumber === undefined ? [owner] : [owner, { ...orNumber, ignoresCase: false }],
    ...(isMail === undefined ? {} : { isMail }),
    strangers: strangers ?? [],
    ...(endings === undefined ? {} : { endings }),
  };
}

/** The forms of each part of the tokens of an issuer, read once. */
const formsByPart = new Map<string, PinningForm[]>();
for (const pin of sharedPins) {
  const key = JSON.stringify([pin.issuer, pin.part]);
  formsByPart.set(key, [...(formsByPart.get(key) ?? []), toForm(pin)]);
}
const formsOf = ({ issuer }: SharedIssuer, part: string): readonly PinningForm[] =>
  formsByPart.get(JSON.stringify([issuer, part])) ?? [];

const ownForms = ownPins.map(toForm);
const mailForms = [
  ...ownPins.filter(({ isMail }) => isMail === true),
  ...sharedPins.filter(({ issuer, part }) => issuer === GOOGLE && part === "email"),
].map(toForm);
const arnForms = awsPins.arn.map(toForm);
const userIdForms = awsPins.userId.map(toForm);

/** A subject as a whole, without any part that names an owner. */
const writtenOut: PinningForm = toForm({
  issuer: "any",
  part: "sub",
  literal: "subject",
  before: "",
  name: "[^\\x00-\\x1f\\x7f]+",
  after: "",
  why: "the owner of the issuer gives each subject to one principal",
  source: "https://openid.net/specs/openid-connect-core-1_0.html#IDToken",
});

/** Judges whether outsiders can have subjects that a pattern matches, at an issuer that one owner runs. */
export function judgeUnknownSubject(languages: Languages, pattern: string): PatternJudgement {
  const forms = { what: "subject", pinning: [...ownForms, writtenOut], strangers: STRANGE_SUBJECTS };
  return judgeWithin(languages, pattern, () => judgeEach(languages, pattern, forms));
}

/** Judges whether outsiders can have subjects that a pattern matches, at issuers that sign for many customers. */
export function judgeSubject(
  languages: Languages,
  pattern: string,
  issuers: readonly SharedIssuer[],
): PatternJudgement {
  const forms = {
    what: `subject of ${issuers.map(({ name }) => name).join(" or ")}`,
    pinning: issuers.flatMap((issuer) => formsOf(issuer, "sub")),
    strangers: [
      ...issuers.flatMap((issuer) => formsOf(issuer, "sub").flatMap(({ strangers }) => strangers)),
      ...issuers.flatMap(({ ownerlessSubjects }) => ownerlessSubjects ?? []),
    ],
  };
  return judgeWithin(languages, pattern, () => judgeForms(languages, pattern, forms));
}

/** The owner that an exact subject names, at an issuer that signs for many customers. */
export function ownerOfSubject(
  languages: Languages,
  subject: string,
  issuer: SharedIssuer,
): Owner | undefined {
  return ownerOfText(languages, subject, formsOf(issuer, "sub"));
}

/** Whose a subject is that is a mail address: its domain's, or its own at a host where everybody can have one. */
export function mailOwnerOf(languages: Languages, subject: string): Owner | undefined {
  const at = subject.lastIndexOf("@") + 1;
  // A dot at its end, and letters of any alphabet, are the same domain.
  const domain = domainToASCII(subject.slice(at).replace(/\.$/, ""));
  return at === 0 ? undefined : ownerOfText(languages, subject.slice(0, at) + domain, mailForms);
}

/** The owner that a claim's exact value names, at an issuer that signs for many customers. */
export function ownerOfClaim(
  languages: Languages,
  claim: string,
  value: string,
  issuer: SharedIssuer,
): Owner | undefined {
  return ownerOfText(languages, value, formsOf(issuer, claim));
}

/** The claims that can pin at an issuer, those that pin most first. */
export function pinningClaims({ issuer }: SharedIssuer): string[] {
  const parts = sharedPins.filter((pin) => pin.issuer === issuer && pin.part !== "sub");
  return [...new Set(parts.map(({ part }) => part))];
}

/** Judges whether strangers can have values of a claim that a pattern matches. */
export function judgeOwnerClaim(
  languages: Languages,
  claim: string,
  pattern: string,
  issuer: SharedIssuer,
): PatternJudgement {
  const forms = {
    what: `claim ${claim}`,
    pinning: formsOf(issuer, claim),
    strangers: [INTRUDER, `${INTRUDER}/${INTRUDER}`, "999999999"],
  };
  return judgeWithin(languages, pattern, () => judgeEach(languages, pattern, forms));
}

/** Judges whether a pattern matches principals with other names than those that it writes out. */
export function judgePrincipal(languages: Languages, pattern: string, account: string): PatternJudgement {
  const own = /^\d{12}$/.test(account) ? account : "[0-9]{12}";
  const forms = { what: "principal of AWS", pinning: arnForms, strangers: strangersInAccount(own) };
  return judgeWithin(languages, pattern, () => judgeForms(languages, pattern, forms));
}

/** Judges whether a pattern matches user ids of other principals than those that it writes out. */
export function judgeUserId(languages: Languages, pattern: string): PatternJudgement {
  const forms = { what: "user id of AWS", pinning: userIdForms, strangers: STRANGE_USER_IDS };
  return judgeWithin(languages, pattern, () => judgeForms(languages, pattern, forms));
}
