import { domainToASCII } from "node:url";
import { namesOfKeys } from "../documents/digest";
import { addTo, getOrCompute } from "../../fields/values";
import {
  BARE_SUBJECT,
  claimsOfSubject,
  customerOf,
  holderClaims,
  OPTIONAL_NUMBER,
  otherNames,
  ownerlessSubjects,
  ownerStarts,
  owningClaims,
  repositoryOfClaim,
  repositoryOfSubject,
  saysOwnerTwice,
} from "../trust/issuers";
import { RE2JS } from "re2js";
import { OWNERS_OF_TEMPLATES, githubSegment } from "../trust/data/pins";
import { MOST_OWNERS } from "../trust/judgement";
import { anchored, exactPattern } from "../trust/patternComparer";
import type { PatternComparer } from "../trust/patternComparer";
import { openEnds } from "../trust/regexSyntax";
import { sortedJson } from "../../fields/formats";
import { withoutTrailing } from "../../text/plain";
import { accessKinds, isPrincipalField } from "./accessKinds";
import { textMeant } from "./describedFields";
import type { Subject } from "./grant";
import { wholeOf, withoutRetained } from "./entityKeys";
import type { Entities, Entity } from "./model";
import { readClaimConditions, trustsOf } from "./trust";
import type { Trust, TrustPart } from "./trust";

/** What every principal of a trust proves: where one has a part that the other has not, they are proven in different ways. */
const proofs = ["issuer", "account", "service"] as const;
/** Where a trust does not say one, each is accepted. Whoever asks for a token chooses its audience. */
const details = ["arn", "userId"] as const;

export type AcceptedValue = Pick<TrustPart, "exact" | "pattern">;

const exactValue = (exact: string): AcceptedValue => ({ exact, pattern: undefined });

/** The claims that hold a person's mail address, or a name for signing in that has its form. */
export const addressClaims: ReadonlySet<string> = new Set([
  "email",
  "upn",
  "preferred_username",
  "unique_name",
]);

/** What a claim is compared as. */
const partOfClaim = (claim: string): string => (addressClaims.has(claim) ? "email" : claim);

/**
 * The mailbox of an address, however it is written: in capitals, in quotes, with a comment, with a tag behind a plus sign,
 * behind a scheme, at a domain in letters of any script, or with dots that Gmail does not read
 * (https://support.google.com/mail/answer/7436150). Other texts in small letters.
 */
export function mailboxOf(text: string): string {
  const lower = text.toLowerCase();
  const at = lower.lastIndexOf("@");
  const written = withoutTrailing(lower.slice(at + 1), ".");
  if (at < 0 || /[:/]/.test(written)) return lower;
  const host = domainToASCII(written) || written;
  const mailbox = (lower.slice(0, at).split(/[|:]/).pop() ?? "").replace(/\([^()]*\)|"/g, "");
  const [name = ""] = mailbox.split("+");
  return /^(?:gmail|googlemail)\.com$/.test(host)
    ? `${name.replaceAll(".", "")}@gmail.com`
    : `${name}@${host}`;
}

/** What accepts a mail address with any tag, or with none; nothing for a text that is no address. */
function withAnyTag(address: string): AcceptedValue[] {
  const mailbox = mailboxOf(address);
  const at = mailbox.lastIndexOf("@");
  if (at < 0) return [];
  const [name, host] = [mailbox.slice(0, at), mailbox.slice(at + 1)];
  const isGmail = host === "gmail.com";
  const names = isGmail ? Array.from(name, (letter) => RE2JS.quote(letter)).join("\\.*") : RE2JS.quote(name);
  const hosts = isGmail ? "(?:gmail|googlemail)\\.com" : RE2JS.quote(host);
  return [{ exact: undefined, pattern: anchored(`(?i:${names}(?:\\+[^@]*)?@${hosts})`) }];
}

/** A trust, and whom it names by its subject and its claims together. */
interface Naming {
  readonly trust: Trust;
  /**
   * The subject; where that or a claim says which repository runs, the repository in its place. Undefined where nothing says
   * so: whoever may run something in a repository chooses its environment, and with it a subject that has only that.
   */
  readonly owner: AcceptedValue | undefined;
  /** How each subject begins that says whose run it is, where these can be listed: two trusts without a common one are of different owners. */
  readonly starts: readonly string[] | undefined;
  /** Whether the subject may say nothing of the repository. */
  readonly isOwnerless: boolean;
  readonly claims: ReadonlyMap<string, readonly AcceptedValue[]>;
  /** The values of claims that name one holder whatever the subject. */
  readonly holders: readonly { readonly claim: string; readonly value: AcceptedValue }[];
  /** The mail addresses that the trust asks for. */
  readonly addresses: readonly AcceptedValue[];
}

/** The mail addresses that a trust asks for: in its claims, and a subject that is one. */
function addressesOf({ trust, starts, claims }: Omit<Naming, "addresses">): readonly AcceptedValue[] {
  const { exact, pattern } = trust.subject ?? {};
  // What begins with a repository may have a number behind an @, and is no address.
  const isOpen = exact === undefined && pattern?.includes("@") === true && starts === undefined;
  const own = exact?.includes("@") === true ? [exactValue(exact)] : isOpen ? [{ exact, pattern }] : [];
  const inClaims = [...claims].flatMap(([claim, values]) => (addressClaims.has(claim) ? values : []));
  return [...inClaims, ...(trust.hasKeys ? [] : own)];
}

/** Reads whom a trust names. */
export function nameOwner(comparer: PatternComparer, trust: Trust): Naming {
  const naming = readOwner(comparer, trust);
  return { ...naming, addresses: addressesOf(naming) };
}

function readOwner(comparer: PatternComparer, trust: Trust): Omit<Naming, "addresses"> {
  const issuer = trust.issuer?.exact;
  const { exact, pattern } = trust.subject ?? {};
  const claims = new Map<string, AcceptedValue[]>();
  const add = (claim: string, value: AcceptedValue): void => {
    if (owningClaims.has(partOfClaim(claim))) addTo(claims, claim, value);
  };
  const texts = [
    ...(exact === undefined ? [] : claimsOfSubject(issuer, exact)),
    ...readClaimConditions(trust, "exact"),
  ];
  let repository: string | undefined;
  for (const [name, text] of texts) {
    add(name, exactValue(text));
    repository ??= repositoryOfClaim(name, text);
  }
  if (repository !== undefined) {
    add("repository", exactValue(repository));
    add("repository_owner", exactValue(repository.split("/")[0] ?? ""));
  }
  for (const [name, text] of readClaimConditions(trust, "patterns"))
    add(name, { exact: undefined, pattern: text });
  const holders = holderClaims.flatMap(({ claim: part, issuer: form, mayBePattern }) => {
    const values = [...claims].flatMap(([claim, all]) =>
      partOfClaim(claim) === part
        ? all
            .filter(({ exact: text }) => text !== undefined || mayBePattern)
            .map((value) => ({ claim, value }))
        : [],
    );
    const ofForm = { exact: undefined, pattern: form };
    return trust.issuer !== undefined && values.length > 0 && mayIntersect(comparer, trust.issuer, ofForm)
      ? values
      : [];
  });
  const ownerless = ownerlessSubjects(issuer);
  if (ownerless === undefined) {
    const owner = trust.subject;
    return { trust, owner, starts: startsOf(comparer, owner), isOwnerless: false, claims, holders };
  }
  const isOwnerless =
    exact === undefined
      ? pattern !== undefined && comparer.intersects(pattern, anchored(ownerless)) !== "no"
      : new RegExp(`^(?:${ownerless})$`).test(exact);
  if (isOwnerless && pattern !== undefined)
    for (const name of OWNERS_OF_TEMPLATES) {
      const value = claimInPattern(comparer, pattern, name);
      if (value !== undefined) add(name, value);
    }
  const owner =
    repository === undefined ? (isOwnerless ? undefined : trust.subject) : exactValue(`repo:${repository}:`);
  return { trust, owner, starts: startsOf(comparer, owner), isOwnerless, claims, holders };
}

/** What a trust says of a claim; of one that names an owner by its subject, too. */
export function valuesOfClaim(
  comparer: PatternComparer,
  trust: Trust,
  name: string,
): readonly AcceptedValue[] {
  if (owningClaims.has(name) && saysOwnerTwice(trust.issuer?.exact))
    return nameOwner(comparer, trust).claims.get(name) ?? [];
  const valuesOf = (form: "exact" | "patterns"): string[] =>
    readClaimConditions(trust, form).flatMap(([claim, text]) => (claim === name ? [text] : []));
  const patterns = valuesOf("patterns").map((pattern) => ({ exact: undefined, pattern }));
  return [...valuesOf("exact").map(exactValue), ...patterns];
}

const startsOfPatterns = new WeakMap<PatternComparer, Map<string, readonly string[] | undefined>>();

function startsOf(
  comparer: PatternComparer,
  owner: AcceptedValue | undefined,
): readonly string[] | undefined {
  if (owner?.exact !== undefined) return [startOf("subject", owner)];
  if (owner?.pattern === undefined) return undefined;
  const { pattern } = owner;
  const known = getOrCompute(startsOfPatterns, comparer, () => new Map());
  return getOrCompute(known, pattern, () => findStarts(comparer, pattern));
}

function findStarts(comparer: PatternComparer, pattern: string): readonly string[] | undefined {
  const [start, open] = [ownerStarts.get("subject") ?? "", openEnds(pattern)];
  if (comparer.isSubset(open, `\\A(?:${start}|(?:${BARE_SUBJECT})\\z)`) !== "yes") return undefined;
  const names = comparer.names(open, { before: "", name: start, after: "(?s:.*)" }, MOST_OWNERS);
  if (names === "tooLarge") return undefined;
  return names.isMany
    ? findNumbered(comparer, open)
    : names.list.map((text) => ownerStartOf("subject", text));
}

const NAME = "[^/:@]+";

/** The same of repositories of GitHub whose numbers a pattern leaves open. */
function findNumbered(comparer: PatternComparer, pattern: string): readonly string[] | undefined {
  const isOfRepositories = `\\Arepo:${NAME}${OPTIONAL_NUMBER}/${NAME}${OPTIONAL_NUMBER}:`;
  if (comparer.isSubset(pattern, isOfRepositories) !== "yes") return undefined;
  const [owners, repositories] = [
    { before: "repo:", name: NAME, after: `${OPTIONAL_NUMBER}/(?s:.*)` },
    { before: `repo:${NAME}${OPTIONAL_NUMBER}/`, name: NAME, after: `${OPTIONAL_NUMBER}:(?s:.*)` },
  ].map((segment) => comparer.names(pattern, segment, MOST_OWNERS));
  if (owners === undefined || owners === "tooLarge" || owners.isMany) return undefined;
  if (repositories === undefined || repositories === "tooLarge" || repositories.isMany) return undefined;
  return owners.list.flatMap((owner) =>
    repositories.list.map((name) => ownerStartOf("subject", `repo:${owner}/${name}:`)),
  );
}

/** The values that a pattern of subjects of GitHub writes out for a claim; undefined where a subject may be without it. */
function claimInPattern(comparer: PatternComparer, pattern: string, name: string): AcceptedValue | undefined {
  if (comparer.isSubset(pattern, `(?:^|:)${name}:`) !== "yes") return undefined;
  const names = comparer.names(pattern, githubSegment(name), MOST_OWNERS);
  if (names === "tooLarge" || names.isMany || names.list.length === 0) return undefined;
  return { exact: undefined, pattern: anchored(names.list.map((one) => RE2JS.quote(one)).join("|")) };
}

const namesOfValues = new WeakMap<AcceptedValue, readonly AcceptedValue[]>();

/** A text, and what else names the same issuer, role or mailbox; each value is compared with those of many others. */
function namesOf(part: string, value: AcceptedValue): readonly AcceptedValue[] {
  const { exact } = value;
  if (exact === undefined || !["issuer", "arn", "email"].includes(part)) return [value];
  return getOrCompute(namesOfValues, value, () => [
    value,
    ...(part === "email" ? withAnyTag(exact) : otherNames(exact).map(exactValue)),
  ]);
}

/** Whether one principal may meet both conditions on a part of its tokens. What is too large to compare may be met. */
function mayMeetBoth(
  comparer: PatternComparer,
  one: AcceptedValue,
  other: AcceptedValue,
  part: string,
): boolean {
  // Two addresses that are written out are compared by their mailboxes: as patterns that takes long.
  if (part === "email" && one.exact !== undefined && other.exact !== undefined)
    return mayMeet(comparer, one, other, part);
  const others = namesOf(part, other);
  if (namesOf(part, one).some((name) => others.some((each) => mayMeet(comparer, name, each, part))))
    return true;
  const hasPattern = one.exact === undefined || other.exact === undefined;
  const isNameOfOwner = part === "subject" || owningClaims.has(part);
  return (
    hasPattern &&
    isNameOfOwner &&
    [one, other].some(hasCapitals) &&
    mayMeet(comparer, inAnyCase(one), inAnyCase(other), part)
  );
}

/** Whether a text or a pattern writes a capital. Most write none, and a comparison in any case takes long. */
const hasCapitals = ({ exact, pattern = "" }: AcceptedValue): boolean =>
  exact === undefined ? /[A-Z]/.test(pattern.replace(/\\./gs, "")) : /[A-Z]/.test(exact);

/** Who has `acme/pay` can have `acme/Pay`: names of repositories, groups and organisations are the same in capitals. */
const inAnyCase = (value: AcceptedValue): AcceptedValue => ({
  exact: undefined,
  pattern: `(?i:${patternOf(value)})`,
});

function mayMeet(comparer: PatternComparer, one: AcceptedValue, other: AcceptedValue, part: string): boolean {
  if (one.exact !== undefined && other.exact !== undefined) {
    return one.exact === other.exact || startOf(part, one) === startOf(part, other);
  }
  if (mayIntersect(comparer, one, other)) return true;
  const start = ownerStarts.get(part);
  if (start === undefined) return false;
  const [first = "", second = ""] = [one, other].map((each) => openEnds(patternOf(each)));
  return comparer.beginAlike(first, second, start) !== "no";
}

/** Whether a text may be accepted by both; a text is not compared as a pattern, which takes longer. */
function mayIntersect(comparer: PatternComparer, one: AcceptedValue, other: AcceptedValue): boolean {
  const [first, second] = [one.exact ?? one.pattern, other.exact ?? other.pattern];
  if (first === undefined || second === undefined) return true;
  if (one.exact !== undefined) return comparer.mayMatch(second, first);
  if (other.exact !== undefined) return comparer.mayMatch(first, second);
  return first === second || comparer.intersects(first, second) !== "no";
}

const patternOf = ({ exact, pattern = "" }: AcceptedValue): string =>
  exact === undefined ? pattern : exactPattern(exact);

/** What of a text says whose token it is: all of it, where no start of it does. */
function ownerStartOf(part: string, text: string): string {
  // A tenant of Azure has an issuer for each version of its tokens.
  if (part === "issuer") return customerOf(text)?.name ?? withoutTrailing(text, "/").toLowerCase();
  if (part === "email") return mailboxOf(text);
  if (part === "service") return text.replace(/^SERVICE_PRINCIPAL_/, "");
  const repository = part === "subject" ? repositoryOfSubject(text) : undefined;
  // A subject may end with the name of its project, without the colon behind it.
  const start = repository === undefined ? matchers.get(part)?.exec(`${text}:`)?.[0] : `repo:${repository}`;
  return start?.toLowerCase() ?? (owningClaims.has(part) ? text.toLowerCase() : text);
}

/** The same of a part of a trust, which is compared with those of many others. */
function startOf(part: string, value: AcceptedValue): string {
  return getOrCompute(starts, value, () => ownerStartOf(part, value.exact ?? ""));
}

const starts = new WeakMap<AcceptedValue, string>();

const matchers = new Map(Array.from(ownerStarts, ([part, start]) => [part, new RegExp(`^(?:${start})`)]));

/** By what those are found whose owners and mail addresses can be listed. */
function indexedNames({ trusts, invited }: Admission): readonly string[] | undefined {
  const names = invited === undefined ? [] : [nameOfAddress(invited)];
  for (const naming of trusts) {
    const { addresses } = naming;
    const held = naming.holders.map(({ value }) => value);
    const isListed = [...addresses, ...held].every(({ exact }) => exact !== undefined);
    if (naming.trust.hasKeys || naming.starts === undefined || !isListed) return undefined;
    const holders = held.map(({ exact = "" }) => `holder:${mailboxOf(exact)}`);
    names.push(...naming.starts, ...holders, ...addresses.map(nameOfAddress));
  }
  return names;
}

const nameOfAddress = ({ exact = "" }: AcceptedValue): string => `mail:${mailboxOf(exact)}`;

/** Whether an invite is for an address that a trust asks for: the person can sign in either way. */
const mayBeInvited = (comparer: PatternComparer, { invited }: Admission, { trusts }: Admission): boolean =>
  invited !== undefined &&
  trusts.some(({ addresses }) =>
    addresses.some((address) => mayMeetBoth(comparer, invited, address, "email")),
  );

/**
 * Whether two trusts may mean one holder by their claims, whatever their subjects. Two different claims that each hold an address
 * do not tell: one person may have two addresses. The values of a claim that both have are compared with all claims.
 */
const mayBeOneHolder = (first: Naming, second: Naming): boolean =>
  first.holders.some((one) =>
    second.holders.some(
      (other) => one.claim === other.claim || partOfClaim(one.claim) !== partOfClaim(other.claim),
    ),
  );

/** Whether two trusts may ask for one address, in any claim or as the subject. */
const mayHaveOneAddress = (comparer: PatternComparer, first: Naming, second: Naming): boolean =>
  first.addresses.some((one) =>
    second.addresses.some(
      (other) =>
        // Two patterns of one mail domain are two people as well.
        (one.exact ?? other.exact) !== undefined && mayMeetBoth(comparer, one, other, "email"),
    ),
  );

/** Whether one principal may be accepted by two trusts. */
function mayAcceptOne(comparer: PatternComparer, first: Naming, second: Naming): boolean {
  const [one, other] = [first.trust, second.trust];
  // Whoever has a key signs whatever else is written.
  if (one.hasKeys || other.hasKeys) {
    const [keys, others] = [one, other].map(({ keySets }) =>
      keySets.flatMap(({ value }) => namesOfKeys(value)),
    );
    return keys?.some((key) => others?.includes(key)) === true;
  }
  const isProvenAlike = proofs.every((part) => {
    const [a, b] = [one[part], other[part]];
    return a === undefined || b === undefined ? a === b : mayMeetBoth(comparer, a, b, part);
  });
  if (!isProvenAlike) return false;
  const mayMeetIn = (part: string, a: AcceptedValue | undefined, b: AcceptedValue | undefined): boolean =>
    a === undefined || b === undefined || mayMeetBoth(comparer, a, b, part);
  const isRead = first.owner !== one.subject || second.owner !== other.subject;
  const isOneSubject =
    mayBeOneHolder(first, second) ||
    mayHaveOneAddress(comparer, first, second) ||
    (first.starts !== undefined && second.starts !== undefined
      ? first.starts.some((start) => second.starts?.includes(start))
      : mayMeetIn("subject", first.owner, second.owner) ||
        (isRead && mayMeetIn("subject", one.subject, other.subject)));
  if (!isOneSubject || !details.every((part) => mayMeetIn(part, one[part], other[part]))) return false;
  return [...first.claims].every(([name, values]) =>
    values.every((value) =>
      (second.claims.get(name) ?? []).every((each) => mayMeetBoth(comparer, value, each, partOfClaim(name))),
    ),
  );
}

/** Whether one principal may be accepted by two texts of trusts: the sides of a change have most of them in common. */
const answers = new WeakMap<PatternComparer, Map<string, Map<string, boolean>>>();

/** What lets somebody in on one side of a change, and the subjects that have the same. */
interface Admission {
  readonly text: string;
  readonly trusts: readonly Naming[];
  /** The mail address of an invite. */
  readonly invited: AcceptedValue | undefined;
  readonly subjects: Subject[];
}

/** Which subjects of grants one principal may be: identities and directories that accept it, invites that it may redeem. */
export class Principals {
  private readonly known = new Map<Admission, readonly Admission[]>();
  private readonly byText = new Map<string, Admission>();
  private readonly bySubject = new Map<string, readonly Admission[]>();
  private readonly byName = new Map<string, Admission[]>();
  private readonly withPattern: Admission[] = [];
  private readonly answers: Map<string, Map<string, boolean>>;

  /**
   * @param subjects Those that are compared; one may be there several times.
   * @param past The entities as they are until an update changes them: whom one accepts then, it accepts meanwhile.
   */
  constructor(
    private readonly entities: Entities,
    private readonly comparer: PatternComparer,
    subjects: Iterable<Subject>,
    private readonly past: Entities = new Map(),
  ) {
    this.answers = getOrCompute(answers, comparer, () => new Map());
    for (const subject of new Map(Array.from(subjects, (each) => [each.key, each])).values())
      for (const admission of this.admissionsOf(subject)) admission.subjects.push(subject);
    for (const one of this.byText.values()) {
      const names = indexedNames(one);
      if (names === undefined) this.withPattern.push(one);
      for (const each of names ?? []) addTo(this.byName, each, one);
    }
  }

  /** Whether one principal may be both. */
  mayBeSame(one: Subject, other: Subject): boolean {
    return (
      one.key === other.key ||
      (!areGroups(one, other) &&
        this.admissionsOf(one).some((first) =>
          this.admissionsOf(other).some((second) => this.mayAcceptOne(first, second)),
        ))
    );
  }

  /** All that the principals of a subject may be, itself first. */
  sharing(subject: Subject): readonly Subject[] {
    const same = this.admissionsOf(subject)
      .flatMap((admission) => this.sharingAdmissions(admission))
      .flatMap(({ subjects }) => subjects);
    return [
      subject,
      ...new Set(same.filter((each) => each.key !== subject.key && !areGroups(subject, each))),
    ];
  }

  /** Who an identity is, as a text: those of the same trust have one. Keys end, and an invite is used up: these have none. */
  textOf(subject: Subject): string | undefined {
    const admissions = this.admissionsOf(subject);
    const hasKeys = admissions.some(({ trusts }) => trusts.some(({ trust }) => trust.hasKeys));
    return subject.type === "identity" && !hasKeys ? admissions.map(({ text }) => text).join(" ") : undefined;
  }

  /** Those of whom no two may be one principal, as many as are surely different. */
  distinct<T>(holders: readonly T[], subjectOf: (holder: T) => Subject): T[] {
    const counted: T[] = [];
    for (const holder of holders)
      if (!counted.some((each) => this.mayBeSame(subjectOf(each), subjectOf(holder)))) counted.push(holder);
    return counted;
  }

  private sharingAdmissions(one: Admission): readonly Admission[] {
    return getOrCompute(this.known, one, () => {
      const names = indexedNames(one);
      // What lists its owners is compared with what lists one of them, and with all that lists none.
      const candidates =
        names === undefined
          ? this.byText.values()
          : names.length === 0
            ? []
            : [...names.flatMap((each) => this.byName.get(each) ?? []), ...this.withPattern];
      const others = [...new Set(candidates)].filter((each) => each !== one && this.mayAcceptOne(one, each));
      return [one, ...others];
    });
  }

  private mayAcceptOne(one: Admission, other: Admission): boolean {
    if (one.text === other.text) return true;
    const [first, second] = one.text < other.text ? [one, other] : [other, one];
    const ofFirst = getOrCompute(this.answers, first.text, () => new Map());
    const { comparer } = this;
    return getOrCompute(
      ofFirst,
      second.text,
      () =>
        one.trusts.some((trust) => other.trusts.some((each) => mayAcceptOne(comparer, trust, each))) ||
        mayBeInvited(comparer, one, other) ||
        mayBeInvited(comparer, other, one),
    );
  }

  /** What lets a subject in after a change, and what does before it. */
  private admissionsOf(subject: Subject): readonly Admission[] {
    return getOrCompute(this.bySubject, subject.key, () => {
      const sides = [this.entities, ...(this.past.has(holderOf(subject)) ? [this.past] : [])];
      return [...new Set(sides.map((side) => this.admissionOf(side, subject)))];
    });
  }

  private admissionOf(side: Entities, subject: Subject): Admission {
    const text = textOf(side, subject);
    return getOrCompute(this.byText, text, () => {
      const holder = entityOf(side, holderOf(subject));
      const trusts = holder === undefined ? [] : trustsOfSubject(subject, holder);
      const address = subject.type === "invite" ? addressOf(holder) : undefined;
      return {
        text,
        trusts: trusts.map((trust) => nameOwner(this.comparer, trust)),
        invited: address === undefined ? undefined : exactValue(address),
        subjects: [],
      };
    });
  }
}

/** Whom an invite is for. */
const addressOf = (invite: Entity | undefined): string | undefined =>
  invite && textMeant(invite, "invite.address")?.toLowerCase();

const entityOf = (entities: Entities, key: string): Entity | undefined =>
  entities.get(key) ?? entities.get(withoutRetained(key));

/** The key of what says who a subject is: an identity, an invite, the directory of a group, the association of a service. */
const holderOf = ({ key, type }: Subject): string => (type === "identity" ? key : (wholeOf(key) ?? key));

/** Who somebody is, as a text of all that decides it: identities of one trust are one principal, and so are invites of one address. */
function textOf(entities: Entities, subject: Subject): string {
  const own = withoutRetained(subject.key);
  const entity = entityOf(entities, holderOf(subject));
  if (entity === undefined || subject.type === "service") return own;
  if (subject.type === "externalGroup") return sortedJson({ group: own, issuer: issuerOf(entity) });
  if (subject.type === "invite") {
    const address = addressOf(entity);
    return address === undefined ? own : sortedJson({ address: mailboxOf(address) });
  }
  const trust = Object.entries(entity.inputs).filter(([name]) => isPrincipalField(entity.kind, name));
  return trust.length === 0 ? own : sortedJson({ kind: entity.kind, ...Object.fromEntries(trust) });
}

/** Who an identity is, as a text: those of the same trust have the same. */
export const textOfTrust = (entities: Entities, key: string): string =>
  textOf(entities, { key, type: "identity", displayName: "", matchesMany: false });

/** The same of all identities. Keys end, so an identity with keys has none. */
export function textsOfTrusts(entities: Entities): Map<string, string> {
  const texts = new Map<string, string>();
  for (const entity of entities.values()) {
    if (accessKinds[entity.kind]?.assumable !== true || trustsOf(entity).some(({ hasKeys }) => hasKeys))
      continue;
    texts.set(entity.key, textOfTrust(entities, entity.key));
  }
  return texts;
}

/** Whose tokens let a subject in. Everybody of a directory has tokens of its issuer, by whatever else these sign in. */
function trustsOfSubject({ type, name }: Subject, entity: Entity): readonly Trust[] {
  if (type === "identity") return trustsOf(entity);
  if (type === "service" && name !== undefined) return [{ ...NO_TRUST, service: exactly(name) }];
  if (type !== "identityProvider" && type !== "externalGroup") return [];
  return [{ ...NO_TRUST, issuer: exactly(issuerOf(entity)) }];
}

/** Whose tokens the people of a directory have. */
const issuerOf = (directory: Entity): string => textMeant(directory, "signIn.issuer") ?? directory.key;

const exactly = (exact: string): TrustPart => ({ exact, pattern: undefined, exactPath: "", patternPath: "" });

const NO_TRUST: Trust = {
  issuer: undefined,
  subject: undefined,
  audience: undefined,
  account: undefined,
  arn: undefined,
  userId: undefined,
  service: undefined,
  claims: [],
  hasKeys: false,
  keySets: [],
};

/** Who is in two groups of directories, no document tells. */
const areGroups = (one: Subject, other: Subject): boolean =>
  one.type === "externalGroup" && other.type === "externalGroup";
