import { RE2JS } from "re2js";
import { ownerOf, withoutRetained } from "../graph/keys";
import { textMeant } from "../graph/describedFields";
import type { Subject } from "../graph/grant";
import type { AccessGraph, Entity } from "../graph/model";
import { isTrustDoubtful } from "../graph/subjects";
import { readClaimConditions, trustsOf } from "../graph/trust";
import type { Trust, TrustPart } from "../graph/trust";
import { addressPattern, trustMatches } from "../trust/addressGlob";
import { globMatches, parseGlob } from "../trust/glob";
import { anchored } from "../trust/languages";
import type { Languages } from "../trust/languages";
import type { SubjectConditions, SubjectSelector } from "./assertion";

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

/** The texts that a glob matches, as a pattern of RE2. */
function globPattern(glob: string): string {
  const parts = parseGlob(glob).map(({ kind, char }) =>
    kind === "any" ? "(?s:.)*" : kind === "one" ? "(?s:.)" : RE2JS.quote(char),
  );
  return anchored(parts.join(""));
}

const ANY_ADDRESS = "\\A(?i:[a-z][a-z0-9+.-]*://)";

/** How much of what a pattern accepts lies in the globs: the language of the one is compared with that of the others. */
function shareOfPattern(languages: Languages, pattern: string, globs: readonly string[]): Share {
  const patterns = globs.map((glob) => addressPattern(glob) ?? globPattern(glob));
  const union = patterns.map((each) => `(?:${each})`).join("|");
  if (languages.intersects(pattern, union) === "no") return "none";
  // A glob that begins with a wildcard matches no address: it would match the hosts of others.
  const startsAnywhere = globs.some((glob) => /^[*?]/.test(glob));
  if (startsAnywhere && languages.intersects(pattern, ANY_ADDRESS) !== "no") return "some";
  return languages.isSubset(pattern, union) === "yes" ? "all" : "some";
}

function shareOfPart(languages: Languages, part: TrustPart | undefined, globs: readonly string[]): Share {
  const { exact, pattern } = part ?? {};
  if (exact !== undefined) return shareOf(globs.some((glob) => trustMatches(glob, exact)));
  return pattern === undefined ? "some" : shareOfPattern(languages, pattern, globs);
}

/** A token must meet all conditions on a claim, so one that lies in the globs is enough. */
function shareOfClaim(languages: Languages, trust: Trust, name: string, globs: readonly string[]): Share {
  const exact = readClaimConditions(trust, "exact").filter(([claim]) => claim === name);
  const patterns = readClaimConditions(trust, "patterns").filter(([claim]) => claim === name);
  const shares = [
    ...exact.map(([, value]) => shareOf(globs.some((glob) => globMatches(glob, value)))),
    ...patterns.map(([, value]) => shareOfPattern(languages, value, globs)),
  ];
  return shares.includes("none") ? "none" : join(shares.length === 0 ? ["some"] : shares);
}

function shareOfTrust(languages: Languages, trust: Trust, conditions: SubjectConditions): Share {
  const { issuer, subject, audience, claims } = conditions;
  const part = (value: TrustPart | undefined, globs: readonly string[] | undefined): readonly Share[] =>
    globs === undefined ? [] : [shareOfPart(languages, value, globs)];
  return meet([
    ...part(trust.issuer ?? trust.account, issuer),
    ...part(trust.subject ?? trust.arn ?? trust.service, subject),
    ...part(trust.audience, audience),
    ...Object.entries(claims ?? {}).map(([name, globs]) => shareOfClaim(languages, trust, name, globs)),
  ]);
}

/** Judges which subjects an assertion is about. The same question is asked of many grants. */
export class SubjectJudge {
  private readonly known = new Map<SubjectSelector, Map<string, Share>>();

  /**
   * @param side The subjects are those of this graph.
   * @param other The other side of the change: what it names anew has no name that anybody could have meant.
   */
  constructor(
    private readonly side: AccessGraph,
    private readonly other: AccessGraph,
    private readonly languages: Languages,
  ) {}

  /** How many of those that can be a subject an assertion is about. */
  shareOf(subject: Subject, selector: SubjectSelector = {}): Share {
    const shares = this.known.get(selector) ?? new Map<string, Share>();
    this.known.set(selector, shares);
    const known = shares.get(subject.key);
    if (known !== undefined) return known;
    const { not = [], ...conditions } = selector;
    const excluded = join(["none", ...not.map((each) => this.shareOfConditions(subject, each))]);
    const share = meet([this.shareOfConditions(subject, conditions), invert[excluded]]);
    shares.set(subject.key, share);
    return share;
  }

  private shareOfConditions(subject: Subject, conditions: SubjectConditions): Share {
    if (subject.type === "unknown") return Object.keys(conditions).length === 0 ? "all" : "some";
    const { type, uid, name, matchesMany, issuer, subject: subjects, audience, claims } = conditions;
    const asksTrust = [issuer, subjects, audience, claims].some((condition) => condition !== undefined);
    return meet([
      ...(type === undefined ? [] : [shareOf(type.includes(subject.type))]),
      ...(uid === undefined ? [] : [shareOf(uid.some((glob) => globMatches(glob, subject.uid ?? "")))]),
      ...(name === undefined ? [] : [this.shareOfName(subject, name)]),
      ...(matchesMany === undefined ? [] : [shareOf(subject.matchesMany === matchesMany)]),
      ...(asksTrust ? [this.shareOfTrusts(subject, conditions)] : []),
    ]);
  }

  /** An object is called by its name where it had the name before the change and has it after it. */
  private shareOfName({ key }: Subject, globs: readonly string[]): Share {
    const named = ({ entities }: AccessGraph): boolean => {
      const { name } = entityOf(entities, key) ?? {};
      return name !== undefined && globs.some((glob) => globMatches(glob, name));
    };
    return unite([shareOf(named(this.side)), shareOf(named(this.other))]);
  }

  private shareOfTrusts({ key }: Subject, conditions: SubjectConditions): Share {
    const entity = entityOf(this.side.entities, key);
    if (entity === undefined || isTrustDoubtful(entity)) return "some";
    const trusts = trustsOf(entity);
    if (trusts.length > 0)
      return unite(trusts.map((trust) => shareOfTrust(this.languages, trust, conditions)));
    const issuer = textMeant(entity, "signIn.issuer");
    // Who signs in otherwise has no token of an issuer that a program could name.
    if (issuer === undefined) return "none";
    const { issuer: globs, subject, audience, claims } = conditions;
    const isOfIssuer = globs?.some((glob) => trustMatches(glob, issuer)) ?? true;
    const isOpen = [subject, audience, claims].some((condition) => condition !== undefined);
    return meet([shareOf(isOfIssuer), ...(isOpen ? (["some"] as const) : [])]);
  }
}

/** The resource that a subject is, or is a part of. */
export function entityOf(entities: AccessGraph["entities"], key: string): Entity | undefined {
  return entities.get(key) ?? entities.get(withoutRetained(key)) ?? entities.get(ownerOf(key) ?? "");
}
