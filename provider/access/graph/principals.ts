import { namesOfKeys } from "../documents/digest";
import { addTo, getOrCompute } from "../../fields/values";
import {
  claimsOfSubject,
  inShortForm,
  isOfBuildkite,
  isOfGithub,
  issuerNameOf,
  ownerStartOf,
  owningClaims,
  repositoryOfClaim,
  repositoryOfSubject,
  roleOf,
  saysOwnerTwice,
} from "../trust/issuers";
import { RE2JS } from "re2js";
import { mailboxOf, nameOfMailbox } from "../trust/mailboxes";
import { literalStart } from "../trust/regexSyntax";
import type { LiteralStart } from "../trust/regexSyntax";
import type { PatternComparer } from "../trust/patternComparer";
import { sortedJson } from "../../fields/formats";
import { accessKinds, isPrincipalField } from "./accessKinds";
import { textMeant } from "./describedFields";
import type { Subject } from "./grant";
import { wholeOf, withoutRetained } from "./entityKeys";
import type { Entities, Entity } from "./model";
import { MOST_TAKEN, takenBy } from "./tokenTrusts";
import { readClaimConditions, trustsOf } from "./trust";
import type { Trust, TrustPart } from "./trust";

/*
 * Whether one principal may be accepted by two trusts. What each says of its owner is compared as far as it is written out: a
 * pattern by the text that it begins with. Where that does not tell two owners apart, they may be one.
 */

export type AcceptedValue = Pick<TrustPart, "exact" | "pattern">;

const exactValue = (exact: string): AcceptedValue => ({ exact, pattern: undefined });

/** The claims that hold a person's mail address, or a name for signing in that has its form. */
export const addressClaims: ReadonlySet<string> = new Set([
  "email",
  "upn",
  "preferred_username",
  "unique_name",
]);

/** What a trust says of the owner of its tokens: one text, or all that begin with it. */
type Owner = LiteralStart;

/** Of whom nothing is written out. */
const ANYBODY: Owner = { text: "", isStart: true };

const writtenOf = ({ exact, pattern = "" }: Partial<AcceptedValue> = {}): LiteralStart =>
  exact === undefined ? literalStart(pattern) : { text: exact, isStart: false };

/** Names of owners are the same in capitals. */
const ownerNamed = (text: string): Owner => ({ text: text.toLowerCase(), isStart: false });

/** Whether two may be one owner. */
const mayBeOne = (one: Owner, other: Owner): boolean =>
  one.text === other.text ||
  (one.isStart && other.text.startsWith(one.text)) ||
  (other.isStart && one.text.startsWith(other.text));

/** A part of a trust beside its subject: how much of it says whose it is, and what names the same. */
interface OwningPart {
  readonly part: "issuer" | "account" | "service" | "arn" | "userId";
  /** Whether every principal of a trust proves it: where one trust has it and the other has not, these prove different things. */
  readonly isProof: boolean;
  readonly nameOf: (text: string) => string;
  /** How a pattern begins that writes out whose it is. */
  readonly start?: RegExp;
}

const owningParts: readonly OwningPart[] = [
  { part: "issuer", isProof: true, nameOf: issuerNameOf },
  { part: "account", isProof: true, nameOf: (text) => text },
  { part: "service", isProof: true, nameOf: (text) => text.replace(/^SERVICE_PRINCIPAL_/, "") },
  { part: "arn", isProof: false, nameOf: roleOf, start: /:assumed-role\/[^/]+\// },
  { part: "userId", isProof: false, nameOf: (text) => text.replace(/:.*/s, ""), start: /:/ },
];

/** Whose tokens a part of a trust accepts: of AWS the role, whoever names its session. */
export function ownerByPart(name: OwningPart["part"], value: AcceptedValue): Owner {
  const { nameOf, start } = owningParts.find(({ part }) => part === name) ?? { nameOf: String };
  const { text, isStart } = writtenOf(value);
  return isStart && start?.test(text) !== true ? ANYBODY : ownerNamed(nameOf(text));
}

/**
 * Whether a subject begins with what says whose run it is. A template of GitHub or Buildkite may leave that out, or write it
 * behind something else.
 */
export function beginsWithOwner({ issuer, subject }: Trust): boolean {
  const { text } = writtenOf(subject);
  if (isOfBuildkite(issuer?.exact)) return /^organization:/i.test(text);
  return !isOfGithub(issuer?.exact) || /^repo(?:sitory)?:/i.test(text);
}

/** Whose run a subject is. Whoever may run something there chooses the rest: the branch, the environment. */
export function ownerBySubject(trust: Trust): Owner {
  const { text, isStart } = writtenOf(trust.subject);
  const start = ownerStartOf(isStart ? text : `${text}:`);
  const repository = repositoryOfSubject(isStart ? (start ?? "") : text);
  if (repository !== undefined) return ownerNamed(`repo:${repository}`);
  if (!beginsWithOwner(trust)) return ANYBODY;
  if (start !== undefined) return ownerNamed(start);
  // GitHub may write a number behind an at sign, and a mail address is compared as such.
  const begin = inShortForm(text.replace(/@.*/s, "").toLowerCase());
  return isStart ? { text: begin, isStart } : ownerNamed(text);
}

/** What a trust says of its owner in claims, and in the words of claims. */
function owningClaimsOf(trust: Trust): ReadonlyMap<string, readonly AcceptedValue[]> {
  const claims = new Map<string, AcceptedValue[]>();
  const add = (claim: string, value: AcceptedValue): void => {
    if (owningClaims.has(claim) || addressClaims.has(claim)) addTo(claims, claim, value);
  };
  const issuer = trust.issuer?.exact;
  const { text, isStart } = writtenOf(trust.subject);
  // Where a pattern goes on, its last name may go on too.
  const said = isStart ? text.slice(0, text.lastIndexOf(":") + 1) : text;
  let repository: string | undefined;
  for (const [name, value] of [...claimsOfSubject(issuer, said), ...readClaimConditions(trust, "exact")]) {
    add(name, exactValue(value));
    repository ??= repositoryOfClaim(name, value);
  }
  const [, owner] = /^repo(?:sitory)?:([^/:@]+)(?:@[0-9]+)?\//.exec(isOfGithub(issuer) ? text : "") ?? [];
  if (repository !== undefined) {
    add("repository", exactValue(repository));
    add("repository_owner", exactValue(repository.split("/")[0] ?? ""));
  } else if (owner !== undefined) {
    add("repository", { exact: undefined, pattern: `\\A${RE2JS.quote(owner)}/` });
    add("repository_owner", exactValue(owner));
  }
  for (const [name, pattern] of readClaimConditions(trust, "patterns"))
    add(name, { exact: undefined, pattern });
  return claims;
}

/** What a trust says of a claim; of one that names an owner by its subject, too. */
export function valuesOfClaim(trust: Trust, name: string): readonly AcceptedValue[] {
  if (owningClaims.has(name) && saysOwnerTwice(trust.issuer?.exact))
    return owningClaimsOf(trust).get(name) ?? [];
  return trust.claims.flatMap(({ name: claim, value, isPattern }) => {
    if (claim !== name || typeof value !== "string") return [];
    return [isPattern ? { exact: undefined, pattern: value } : exactValue(value)];
  });
}

/** Whose a value of a claim is. */
function ownerByClaim(claim: string, value: AcceptedValue): Owner {
  if (addressClaims.has(claim)) return ownerByAddress(value);
  const { text, isStart } = writtenOf(value);
  // A repository has several workflows.
  const repository = claim === "workflow_ref" ? /^[^/]+\/[^/]+\//.exec(text)?.[0] : undefined;
  return repository === undefined ? { text: text.toLowerCase(), isStart } : ownerNamed(repository);
}

/** Of a pattern only what stands before any tag and the domain. */
function ownerByAddress(value: AcceptedValue): Owner {
  const { text, isStart } = writtenOf(value);
  return isStart
    ? { text: nameOfMailbox(text.toLowerCase()).replace(/[^\w-].*/s, ""), isStart }
    : ownerNamed(mailboxOf(text));
}

/** A trust, and whom it names. */
interface Naming {
  readonly trust: Trust;
  readonly parts: ReadonlyMap<OwningPart["part"], Owner>;
  readonly subject: Owner;
  readonly claims: ReadonlyMap<string, readonly Owner[]>;
  /** The mail addresses that it asks for, by a claim or as the subject. */
  readonly addresses: readonly Owner[];
  readonly keys: readonly string[];
}

function nameOwner(trust: Trust): Naming {
  const { subject, hasKeys, keySets } = trust;
  const claims = Array.from(owningClaimsOf(trust), ([claim, values]) => {
    return [claim, values.map((value) => ownerByClaim(claim, value))] as const;
  });
  const owner = ownerBySubject(trust);
  const isAddress =
    (subject?.exact ?? subject?.pattern)?.includes("@") === true &&
    !/^(?:repo|repository):/i.test(owner.text) &&
    !hasKeys;
  return {
    trust,
    parts: new Map(
      owningParts.flatMap(({ part }) => {
        const value = trust[part];
        return value === undefined ? [] : [[part, ownerByPart(part, value)] as const];
      }),
    ),
    subject: owner,
    claims: new Map(claims),
    addresses: [
      ...claims.flatMap(([claim, owners]) => (addressClaims.has(claim) ? owners : [])),
      ...(subject !== undefined && isAddress ? [ownerByAddress(subject)] : []),
    ],
    keys: keySets.flatMap(({ value }) => namesOfKeys(value)),
  };
}

/** By what those are found whose owners and mail addresses are written out. */
function indexedNames({ trusts, invited, isEverybody }: Admission): readonly string[] | undefined {
  if (isEverybody) return undefined;
  const names = invited === undefined ? [] : [`mail:${invited.text}`];
  for (const { trust, subject, claims, addresses } of trusts) {
    const holders = claims.get(HOLDER_CLAIM) ?? [];
    if (trust.hasKeys || [subject, ...holders, ...addresses].some(({ isStart }) => isStart)) return undefined;
    names.push(subject.text, ...holders.map(({ text }) => `holder:${text}`));
    names.push(...addresses.map(({ text }) => `mail:${text}`));
  }
  return names;
}

/** The claim that names one holder in all applications of a tenant of Azure, where each has another subject for that one. */
const HOLDER_CLAIM = "oid";

/** Whether some of two lists may be one. Two patterns, as of one mail domain, may be two people as well. */
const mayShare = (some: readonly Owner[], others: readonly Owner[]): boolean =>
  some.some((one) => others.some((other) => !(one.isStart && other.isStart) && mayBeOne(one, other)));

/** Whether an invite is for an address that a trust asks for: the person can sign in either way. */
const mayBeInvited = ({ invited }: Admission, { trusts }: Admission): boolean =>
  invited !== undefined &&
  trusts.some(({ addresses }) =>
    addresses.some((address) =>
      mayBeOne(address, address.isStart ? ownerNamed(invited.text.replace(/@.*/s, "")) : invited),
    ),
  );

/** Whether one principal may be accepted by two trusts. */
function mayAcceptOne(first: Naming, second: Naming): boolean {
  // Whoever has a key signs whatever else is written.
  if (first.trust.hasKeys || second.trust.hasKeys) return first.keys.some((key) => second.keys.includes(key));
  const mayHaveParts = owningParts.every(({ part, isProof }) => {
    const [one, other] = [first.parts.get(part), second.parts.get(part)];
    return one === undefined || other === undefined ? !isProof || one === other : mayBeOne(one, other);
  });
  const isOneSubject = (): boolean =>
    mayBeOne(first.subject, second.subject) ||
    mayShare(first.addresses, second.addresses) ||
    mayShare(first.claims.get(HOLDER_CLAIM) ?? [], second.claims.get(HOLDER_CLAIM) ?? []);
  if (!mayHaveParts || !isOneSubject()) return false;
  return [...first.claims].every(([name, values]) =>
    values.every((value) => (second.claims.get(name) ?? []).every((each) => mayBeOne(value, each))),
  );
}

/** What lets somebody in on one side of a change, and the subjects that have the same. */
interface Admission {
  readonly text: string;
  readonly trusts: readonly Naming[];
  /** The mail address of an invite. */
  readonly invited: Owner | undefined;
  /** It takes the tokens of so many that it may be anybody. */
  readonly isEverybody: boolean;
  readonly subjects: Subject[];
}

/** Whether one principal may be let in by both. */
const mayLetInOne = (one: Admission, other: Admission): boolean =>
  one.isEverybody ||
  other.isEverybody ||
  one.text === other.text ||
  one.trusts.some((trust) => other.trusts.some((each) => mayAcceptOne(trust, each))) ||
  mayBeInvited(one, other) ||
  mayBeInvited(other, one);

/** Which subjects of grants one principal may be: identities and directories that accept it, invites that it may redeem. */
export class Principals {
  private readonly known = new Map<Admission, readonly Admission[]>();
  private readonly byText = new Map<string, Admission>();
  private readonly bySubject = new Map<string, readonly Admission[]>();
  private readonly byName = new Map<string, Admission[]>();
  private readonly withPattern: Admission[] = [];

  /**
   * @param subjects Those that are compared; one may be there several times.
   * @param past The entities as they are until an update changes them: whom one accepts then, it accepts meanwhile.
   */
  constructor(
    private readonly entities: Entities,
    subjects: Iterable<Subject>,
    private readonly comparer: PatternComparer,
    private readonly past: Entities = new Map(),
  ) {
    for (const subject of new Map(Array.from(subjects, (each) => [each.key, each])).values())
      for (const admission of this.admissionsOf(subject)) admission.subjects.push(subject);
    for (const one of this.byText.values()) {
      const names = indexedNames(one);
      if (names === undefined) this.withPattern.push(one);
      for (const each of names ?? []) addTo(this.byName, each, one);
    }
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

  /** Those of whom no two may be one principal, as many as are surely different. */
  distinct<T>(holders: readonly T[], subjectOf: (holder: T) => Subject): T[] {
    const known = new Set<string>();
    return holders.filter((holder) => {
      const subject = subjectOf(holder);
      if (known.has(subject.key)) return false;
      for (const { key } of this.sharing(subject)) known.add(key);
      return true;
    });
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
      const others = [...new Set(candidates)].filter((each) => each !== one && mayLetInOne(one, each));
      return [one, ...others];
    });
  }

  /** What lets a subject in after a change, and what does before it. */
  private admissionsOf(subject: Subject): readonly Admission[] {
    return getOrCompute(this.bySubject, subject.key, () => {
      const sides = [this.entities, ...(this.past.has(holderOf(subject)) ? [this.past] : [])];
      return [...new Set(sides.map((side) => this.admissionOf(side, subject)))];
    });
  }

  private admissionOf(side: Entities, subject: Subject): Admission {
    const holder = entityOf(side, holderOf(subject));
    // Whoever can be an identity can be each that takes its tokens.
    const all = subject.type === "identity" ? takenBy(side, subject.key, this.comparer) : [];
    const isEverybody = all.length > MOST_TAKEN;
    const taken = isEverybody ? [] : all;
    const text = [
      textOf(side, subject),
      String(isEverybody),
      ...taken.map(({ key }) => textOfTrust(side, key)),
    ].join(" ");
    return getOrCompute(this.byText, text, () => {
      const own = holder === undefined ? [] : trustsOfSubject(subject, holder);
      const trusts = [...own, ...taken.flatMap(trustsOf)];
      const address = subject.type === "invite" ? addressOf(holder) : undefined;
      return {
        text,
        trusts: trusts.map(nameOwner),
        invited: address === undefined ? undefined : ownerNamed(mailboxOf(address)),
        isEverybody,
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
