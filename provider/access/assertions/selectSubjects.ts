import { getOrCompute, once } from "../../fields/values";
import type { Subject } from "../graph/grant";
import { accessKinds } from "../graph/accessKinds";
import { wholeOf, withoutRetained } from "../graph/entityKeys";
import type { AccessGraph, Entity } from "../graph/model";
import { globMatches, parseGlob, addressPattern, trustMatches, withoutInvisible } from "../trust/glob";
import { anchored } from "../trust/patternComparer";
import type { PatternComparer } from "../trust/patternComparer";
import type { SubjectConditions, SubjectSelector } from "./assertion";
import { RE2JS } from "re2js";
import { textMeant } from "../graph/describedFields";
import { addressClaims, beginsWithOwner, ownerByPart, valuesOfClaim } from "../graph/principals";
import type { AcceptedValue } from "../graph/principals";
import {
  OPTIONAL_NUMBER,
  inShortForm,
  issuerNameOf,
  owningClaims,
  roleOf,
  withoutNumbers,
} from "../trust/issuers";
import { isMailboxIn, mailboxForms } from "../trust/mailboxes";
import { takenBy } from "../graph/tokenTrusts";
import { describeIdentity, isTrustDoubtful, trustsOf } from "../graph/trust";
import type { Trust, TrustPart } from "../graph/trust";

/**
 * How many of the principals that can be a subject meet a condition. `some` too where nobody can say: an assertion then
 * counts the subject where it forbids, and does not where it requires or excludes.
 */
export type Share = "all" | "some" | "none";

/** Of all conditions together. */
function meet(shares: readonly Share[]): Share {
  if (shares.includes("none")) return "none";
  return shares.every((share) => share === "all") ? "all" : "some";
}

/** Of at least one of several. */
function join(shares: readonly Share[]): Share {
  if (shares.includes("all")) return "all";
  return shares.every((share) => share === "none") ? "none" : "some";
}

/** Of several trusts, each of which lets others in. */
function unite(shares: readonly Share[]): Share {
  const [first = "some"] = shares;
  return shares.every((share) => share === first) ? first : "some";
}

const invert = { all: "none", some: "some", none: "all" } as const satisfies Record<Share, Share>;

const shareOf = (isMet: boolean): Share => (isMet ? "all" : "none");

/**
 * Whether a text lies in the globs. Nobody can say that of one which only looks so: it has characters that a reader does not
 * see, and is another text.
 */
function shareOfText(text: string, globs: readonly string[], matches = globMatches): Share {
  if (globs.some((glob) => matches(glob, text))) return "all";
  const seen = withoutInvisible(text);
  return seen !== text && globs.some((glob) => matches(glob, seen)) ? "some" : "none";
}

/**
 * The texts that a glob matches, as a pattern of RE2; of a subject also those with the numbers that GitHub adds to names.
 * @param one What a wildcard stands for.
 */
function globPattern(glob: string, isOfSubject: boolean, one = "(?s:.)"): string {
  const isOfGithub = isOfSubject && /^repo(?:sitory)?:/.test(glob);
  const marks = isOfGithub ? [":", "/", ":"] : [];
  const parts = parseGlob(isOfSubject ? inShortForm(glob) : glob).map(({ kind, char }) => {
    if (kind !== "char") return kind === "any" ? `${one}*` : one;
    if (char !== marks[0]) return RE2JS.quote(char);
    marks.shift();
    // The first colon stands before the owner, the slash and the second colon behind a name.
    return marks.length < 2 ? `${OPTIONAL_NUMBER}${char}` : char;
  });
  const text = `${parts.join("")}${isOfGithub && marks.length === 1 ? OPTIONAL_NUMBER : ""}`;
  return isOfGithub ? text.replace(/^repo/, "repo(?:sitory)?") : text;
}

/** The same, where a glob over URLs is matched as such. */
const meantBy = (glob: string, isOfSubject: boolean): string =>
  addressPattern(glob) ?? globPattern(glob, isOfSubject);

const ANY_ADDRESS = "\\A(?i:[a-z][a-z0-9+.-]*://)";

/** How much of what a pattern accepts lies in the globs: the language of the one is compared with that of the others. */
function shareOfPattern(
  comparer: PatternComparer,
  pattern: string,
  globs: readonly string[],
  isOfSubject = false,
): Share {
  const patterns = globs.map((glob) => anchored(meantBy(glob, isOfSubject)));
  const union = patterns.map((each) => `(?:${each})`).join("|");
  if (comparer.intersects(pattern, union) === "no") return "none";
  // A glob that begins with a wildcard matches no address: it would match the hosts of others.
  const startsAnywhere = globs.some((glob) => /^[*?]/.test(glob));
  if (startsAnywhere && comparer.intersects(pattern, ANY_ADDRESS) !== "no") return "some";
  return comparer.isSubset(pattern, union) === "yes" ? "all" : "some";
}

function shareOfPart(
  comparer: PatternComparer,
  part: AcceptedValue | undefined,
  globs: readonly string[],
  isOfSubject = false,
): Share {
  const { exact, pattern } = part ?? {};
  if (exact === undefined)
    return pattern === undefined ? "some" : shareOfPattern(comparer, pattern, globs, isOfSubject);
  if (!isOfSubject) return shareOfText(exact, globs, trustMatches);
  const [text, short] = [inShortForm(exact), globs.map(inShortForm)];
  return join([text, withoutNumbers(text)].map((each) => shareOfText(each, short, trustMatches)));
}

/** The same of an issuer, where nobody can say what its other names mean, its capitals, a slash at its end, and a pattern. */
function shareOfIssuer(
  comparer: PatternComparer,
  part: AcceptedValue | undefined,
  globs: readonly string[],
): Share {
  const share = shareOfPart(comparer, part, globs);
  if (share !== "none" || part === undefined) return share;
  const { text, isStart } = ownerByPart("issuer", part);
  return isStart || globs.some((glob) => trustMatches(issuerNameOf(glob), text)) ? "some" : "none";
}

/**
 * The same of a subject. Nobody can say what another spelling of it means, whose session of AWS it is, which run it is that names
 * its project alone, and whose it is that does not begin with a project.
 */
function shareOfSubject(comparer: PatternComparer, trust: Trust, globs: readonly string[]): Share {
  const { subject, arn, service } = trust;
  const share = shareOfPart(comparer, subject ?? arn ?? service, globs, true);
  if (share !== "none") return share;
  if (subject === undefined) {
    if (arn === undefined) return "none";
    const { text, isStart } = ownerByPart("arn", arn);
    return isStart || globs.some((glob) => trustMatches(roleOf(glob).toLowerCase(), text)) ? "some" : "none";
  }
  const loosely = [...globs.flatMap(looselyMeant), ...globs.flatMap(mailboxForms)];
  const isLooselyMeant =
    mayBeInAnyCase(comparer, subject, loosely) || isMailboxIn(subject.exact ?? "", globs);
  const mayBeProject = globs.some((glob) => /^(?:[*?]|repo(?:sitory)?:|organization:)/i.test(glob));
  return isLooselyMeant || (mayBeProject && !beginsWithOwner(trust)) ? "some" : "none";
}

/**
 * Whether a value may be of one of some forms but for its capitals. Only the forms ignore case: an accepted pattern can set
 * that option back, as `(?-i:…)` does.
 */
function mayBeInAnyCase(
  comparer: PatternComparer,
  { exact, pattern = "" }: AcceptedValue,
  forms: readonly string[],
): boolean {
  const whole = anchored(`(?i:${forms.join("|")})`);
  return exact === undefined
    ? comparer.intersects(pattern, whole) !== "no"
    : comparer.mayMatch(whole, withoutInvisible(exact));
}

/** The texts that a glob of subjects may mean: the project alone too. */
function looselyMeant(glob: string): string[] {
  const project = /^[^:]*:[^:]*(?=:)/.exec(glob)?.[0];
  return [meantBy(glob, true), ...(project === undefined ? [] : [globPattern(project, true, "[^:]")])];
}

/** How much of what a value of a claim accepts lies in the globs. Names of owners are the same in capitals. */
function shareOfValue(
  comparer: PatternComparer,
  name: string,
  value: AcceptedValue,
  globs: readonly string[],
): Share {
  const { exact, pattern = "" } = value;
  const share = exact === undefined ? shareOfPattern(comparer, pattern, globs) : shareOfText(exact, globs);
  if (share !== "none") return share;
  if (addressClaims.has(name) && isMailboxIn(exact ?? "", globs)) return "some";
  const forms = [
    ...(owningClaims.has(name) ? globs.map((glob) => meantBy(glob, false)) : []),
    ...(addressClaims.has(name) ? globs.flatMap(mailboxForms) : []),
  ];
  return forms.length > 0 && mayBeInAnyCase(comparer, value, forms) ? "some" : "none";
}

/** A token must meet all conditions on a claim, so one that lies in the globs is enough. */
function shareOfClaim(
  comparer: PatternComparer,
  trust: Trust,
  name: string,
  globs: readonly string[],
): Share {
  const shares = valuesOfClaim(trust, name).map((value) => shareOfValue(comparer, name, value, globs));
  return shares.includes("none") ? "none" : join(shares.length === 0 ? ["some"] : shares);
}

function shareOfTrust(comparer: PatternComparer, trust: Trust, conditions: SubjectConditions): Share {
  const { issuer, subject, audience, claims } = conditions;
  // Whoever holds registered keys signs whatever issuer and subject the program has written beside them.
  const isWordOnly: readonly Share[] = trust.hasKeys ? ["some"] : [];
  const part = (value: TrustPart | undefined, globs: readonly string[] | undefined): readonly Share[] =>
    globs === undefined ? [] : [shareOfPart(comparer, value, globs)];
  return meet([
    ...isWordOnly,
    ...(issuer === undefined ? [] : [shareOfIssuer(comparer, trust.issuer ?? trust.account, issuer)]),
    ...(subject === undefined ? [] : [shareOfSubject(comparer, trust, subject)]),
    ...part(trust.audience, audience),
    ...Object.entries(claims ?? {}).map(([name, globs]) => shareOfClaim(comparer, trust, name, globs)),
  ]);
}

/** Tells subjects apart: a directory and a group of it that no document names have one key. */
export const textOfSubject = ({ type, key }: Subject): string => `${type} ${key}`;

/** Judges which subjects an assertion is about. The same question is asked of many grants. */
export class SubjectJudge {
  private readonly known = new Map<SubjectSelector, Map<string, Share>>();
  /** The keys of those who have access on the other side. */
  private readonly holdersOfOther = once(() => new Set(this.other.grants.map(({ subject }) => subject.key)));

  /**
   * @param side The subjects are those of this graph.
   * @param other The other side of the change: what it names anew has no name that anybody could have meant.
   * @param isPlanned Whether the change is to come. What drift finds on one side only is in no program, and may be older than all.
   * @param past What is there too, until the update ends: a subject is whom it trusts on either side.
   * @param isAfter Whether this is the side after the change: what goes had its name before it.
   */
  constructor(
    private readonly side: AccessGraph,
    private readonly other: AccessGraph,
    private readonly comparer: PatternComparer,
    private readonly isPlanned = true,
    private readonly past?: AccessGraph,
    private readonly isAfter = true,
  ) {}

  /** How many of those that can be a subject an assertion is about. */
  shareOf(subject: Subject, selector: SubjectSelector): Share {
    const shares = getOrCompute(this.known, selector, () => new Map());
    return getOrCompute(shares, textOfSubject(subject), () => {
      const { not = [], ...conditions } = selector;
      const excluded = join(["none", ...not.map((each) => this.shareOfConditions(subject, each))]);
      const own = this.shareOfConditions(subject, conditions);
      const share = own === "none" && this.takesTokensOf(subject, conditions) ? "some" : own;
      return meet([share, invert[excluded]]);
    });
  }

  /** Whether it takes the tokens of another identity that meets the conditions: whoever can be that one can be it. */
  private takesTokensOf({ key, type }: Subject, conditions: SubjectConditions): boolean {
    if (type !== "identity") return false;
    return [this.side, this.past].some(
      (graph) =>
        graph !== undefined &&
        takenBy(graph.entities, key, this.comparer).some((taken) => {
          const { uid, name } = taken;
          const { displayName, matchesMany } = describeIdentity(taken);
          const subject = { key: taken.key, uid, name, type, displayName, matchesMany };
          return this.shareOfConditions(subject, conditions) !== "none";
        }),
    );
  }

  private shareOfConditions(subject: Subject, conditions: SubjectConditions): Share {
    // It may be another holder that is known, so nobody counts it twice.
    if (subject.type === "unknown") return "some";
    const { type, uid, name, matchesMany, issuer, subject: subjects, audience, claims } = conditions;
    const asksTrust = [issuer, subjects, audience, claims].some((condition) => condition !== undefined);
    return meet([
      ...(type === undefined ? [] : [shareOf(this.isOfType(subject, type))]),
      ...(uid === undefined ? [] : [this.shareOfUid(subject, uid)]),
      ...(name === undefined ? [] : [this.shareOfName(subject, name)]),
      ...(matchesMany === undefined ? [] : [shareOf(subject.matchesMany === matchesMany)]),
      ...(asksTrust ? [this.shareOfTrusts(subject, conditions)] : []),
    ]);
  }

  /** An identity that a service of the platform assumes is a service too. */
  private isOfType({ key, type }: Subject, wanted: readonly Subject["type"][]): boolean {
    if (wanted.includes(type)) return true;
    if (!wanted.includes("service")) return false;
    const entities = [this.side, this.past].flatMap(
      (side) => (side && entityOfSubject(side.entities, key)) ?? [],
    );
    return entities.flatMap(trustsOf).some(({ service }) => service !== undefined);
  }

  /** By its own uid, and, where it is replaced, perhaps by that of the other side, which may be another holder's. */
  private shareOfUid({ key, uid }: Subject, globs: readonly string[]): Share {
    if (uid !== undefined && isInGlobs(uid, globs)) return "all";
    const other = entityOfSubject(this.other.entities, key)?.uid;
    return other !== undefined && isInGlobs(other, globs) ? "some" : "none";
  }

  /** An object is called by its name where it had the name before the change and has it after it. */
  private shareOfName({ key, type, name }: Subject, globs: readonly string[]): Share {
    // A group of a directory has a name of its own there, which anybody there may take, and is of the directory too.
    const ofDirectory = type === "externalGroup" && name !== undefined ? shareOfText(name, globs) : "none";
    if (ofDirectory !== "none")
      return !this.isPlanned || !this.isAfter || this.holdersOfOther().has(key) ? ofDirectory : "some";
    const both = [this.side, this.other].map(({ entities }) => entityOfSubject(entities, key));
    const meant = this.isPlanned && this.isAfter ? both : both.filter((entity) => entity !== undefined);
    return unite(
      meant.map((entity) => (entity?.name === undefined ? "none" : shareOfText(entity.name, globs))),
    );
  }

  private shareOfTrusts({ key }: Subject, conditions: SubjectConditions): Share {
    const [now, then] = [this.side, this.past].map((side) => side && entityOfSubject(side.entities, key));
    const share = this.shareOfEntity(now, conditions);
    return then === undefined || then === now ? share : unite([share, this.shareOfEntity(then, conditions)]);
  }

  private shareOfEntity(entity: Entity | undefined, conditions: SubjectConditions): Share {
    if (entity === undefined || isTrustDoubtful(entity)) return "some";
    const trusts = trustsOf(entity);
    if (trusts.length > 0)
      return unite(trusts.map((trust) => shareOfTrust(this.comparer, trust, conditions)));
    if (accessKinds[entity.kind]?.invite === true)
      return shareOfInvited(textMeant(entity, "invite.address"), conditions);
    const issuer = textMeant(entity, "signIn.issuer");
    // Who signs in otherwise has no token of an issuer that a program could name.
    if (issuer === undefined) return "none";
    const { issuer: globs, subject, audience, claims } = conditions;
    const ofIssuer = globs && shareOfIssuer(this.comparer, { exact: issuer, pattern: undefined }, globs);
    const isOpen = [subject, audience, claims].some((condition) => condition !== undefined);
    return meet([ofIssuer ?? "all", ...(isOpen ? (["some"] as const) : [])]);
  }
}

const isInGlobs = (text: string, globs: readonly string[]): boolean =>
  globs.some((glob) => globMatches(glob, text));

/** Who is invited by a mail address may have it as subject or in a claim. An invite without one may be anybody's. */
function shareOfInvited(address: string | undefined, { subject, claims = {} }: SubjectConditions): Share {
  const asked = [...(subject === undefined ? [] : [subject]), ...Object.values(claims)];
  const isMeant = (globs: readonly string[]): boolean =>
    address === undefined ||
    isMailboxIn(address, globs) ||
    isInGlobs(
      address.toLowerCase(),
      globs.map((glob) => glob.toLowerCase()),
    );
  const mayMean =
    asked.length > 0 &&
    Object.keys(claims).every((claim) => addressClaims.has(claim)) &&
    asked.every(isMeant);
  return mayMean ? "some" : "none";
}

/** What the subjects are that an object is, or stands for. */
export const subjectTypesOf = (kind: string): NonNullable<SubjectConditions["type"]> => {
  const { assumable, invite, services, signIn } = accessKinds[kind] ?? {};
  return [
    ...(assumable === true ? (["identity", "service"] as const) : []),
    ...(invite === true ? (["invite"] as const) : []),
    ...(services === undefined ? [] : (["service"] as const)),
    ...(signIn === "provider" ? (["identityProvider", "externalGroup"] as const) : []),
  ];
};

/** The resource that a subject is, or is a part of. */
export function entityOfSubject(entities: AccessGraph["entities"], key: string): Entity | undefined {
  return entities.get(key) ?? entities.get(withoutRetained(key)) ?? entities.get(wholeOf(key) ?? "");
}
