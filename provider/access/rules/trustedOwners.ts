import { withoutTrailing } from "../../text/plain";
import { getOrCompute } from "../../fields/values";
import { namesOfKeys } from "../documents/digest";
import type { Entity } from "../graph/model";
import { acceptedText, isOfTokens, readClaimConditions, subjectUids, trustsOf } from "../graph/trust";
import type { Trust } from "../graph/trust";
import { domainsAbove } from "../trust/addresses";
import { AZURE_TENANT, CIRCLECI_ORGANISATION, OWN_DOMAIN } from "../trust/data/issuerHosts";
import { GITHUB_ORGANISATION, MAIL_DOMAIN_OWNER } from "../trust/data/pins";
import { SUBJECT } from "../trust/data/sharedIssuers";
import { isOfGithub } from "../trust/issuers";
import type { TrustedOwner } from "../trust/judgement";
import { ownerAtIssuer, ownersAtIssuer } from "../trust/ownedSubjects";
import type { Facts } from "./facts";
import {
  judgeAtOwnIssuers,
  judgeIssuersOf,
  ownersByClaims,
  ownersBySubject,
  sharedIssuersOf,
  trustsOtherIssuers,
} from "./openSubjects";

/**
 * The owners that each part of a trust names, where all parts hold together of one token. One part whose owners are known
 * is enough. But parts that name different owners make them known only together: nobody has said that the
 * one is the other, and no token may ever meet both.
 */
export type OwnerParts = readonly (readonly TrustedOwner[])[];

/** Whether an owner is a customer of an issuer that has an address for each. */
export const isCustomer = ({ what }: TrustedOwner): boolean =>
  [AZURE_TENANT, CIRCLECI_ORGANISATION].includes(what);

const REGISTERED_KEY = "registered key";

/** The customers that the address of an issuer names. */
function customersOf(facts: Facts, trust: Trust): readonly TrustedOwner[] {
  const judged = judgeIssuersOf(facts, trust);
  return judged?.kind === "pinned" ? judged.owners.filter(isCustomer) : [];
}

/** The owners that the subject and the claims name at an issuer that one owner runs, whose claims may say anything. */
function namedAtOwnIssuers(facts: Facts, trust: Trust): readonly (readonly TrustedOwner[])[] {
  if (!trustsOtherIssuers(facts, trust)) return [];
  const issuer = acceptedText(trust.issuer) ?? "";
  const [subject, pattern] = [trust.subject?.exact, trust.subject?.pattern];
  const texts = [
    ...(subject === undefined ? [] : [[SUBJECT, subject] as const]),
    ...readClaimConditions(trust, "exact"),
  ];
  const patterns = [
    ...(pattern === undefined ? [] : [[SUBJECT, pattern] as const]),
    ...readClaimConditions(trust, "patterns"),
  ];
  const { comparer } = facts;
  // An identity, or the group of a subscription, whose deliveries have a token too.
  const ofPlatform = subjectUids(trust).map((uid) => [{ what: "object of the platform", name: uid }]);
  const judged = judgeIssuersOf(facts, trust);
  const own = {
    address: withoutTrailing(issuer, "/"),
    // A server of GitHub's own software is one organisation's.
    mayHaveCustomers:
      !isOfGithub(issuer) &&
      judged?.kind === "pinned" &&
      judged.owners.every(({ what }) => what === OWN_DOMAIN),
  };
  return [
    ...ofPlatform,
    ...texts.map(([part, text]) => [ownerAtIssuer(comparer, part, text, own) ?? []].flat()),
    ...patterns.map(([part, text]) =>
      ownersAtIssuer(comparer, part, text, judgeAtOwnIssuers(facts, trust, part, text), own),
    ),
  ];
}

/** The owners that the trust of an identity names. Each of its conditions must be known. */
export const ownersOf = (facts: Facts, entity: Entity): readonly OwnerParts[] =>
  trustsOf(entity).flatMap((trust) => ownersOfTrust(facts, trust));

function ownersOfTrust(facts: Facts, trust: Trust): readonly OwnerParts[] {
  const account = trust.account?.exact;
  if (account !== undefined) return [[[{ what: "account of AWS", name: account }]]];
  // Whoever has a key writes any issuer and subject: each key is an owner of its own.
  const keys = trust.keySets.flatMap(({ value }) => namesOfKeys(value));
  if (keys.length > 0) return [[keys.map((name) => ({ what: REGISTERED_KEY, name }))]];
  if (!isOfTokens(trust)) return [];
  const shared = sharedIssuersOf(facts, trust);
  const bySubject = ownersBySubject(facts, trust, shared);
  const byClaims = shared.flatMap((issuer) => ownersByClaims(facts, trust, issuer));
  const atShared = [...(bySubject === undefined ? [] : [bySubject]), ...byClaims];
  const alone = [customersOf(facts, trust), ...namedAtOwnIssuers(facts, trust)];
  return [atShared, ...alone.map((owners) => [owners])].filter(([first = []]) => first.length > 0);
}

/** The owner without its number, which a program may leave out. */
function withoutNumber({ what, name }: TrustedOwner): TrustedOwner {
  const [, bare] = /^([^@]+)@[0-9]+$/.exec(name) ?? [];
  return { what, name: what.startsWith(GITHUB_ORGANISATION) ? (bare ?? name) : name };
}

const keyOf = ({ what, name }: TrustedOwner): string => JSON.stringify([what, name]);
const anyNumber = ({ what, name }: TrustedOwner): string => JSON.stringify([what, name, "any number"]);

/** A name with a number makes the name alone known, and a name alone makes it known with any number. */
const keysMadeKnown = (owner: TrustedOwner): string[] => [keyOf(owner), anyNumber(withoutNumber(owner))];

/** Owners that are named together. */
const keyOfAll = (parts: OwnerParts): string =>
  JSON.stringify(["together", ...new Set(parts.flat().map(keyOf).sort())]);

/** Makes the owners known that a trust names: by itself one that all parts name, else all of them together. */
export function makeOwnersKnown(
  known: KnownBefore,
  conditions: readonly OwnerParts[],
  groups: readonly string[],
): void {
  const nameOf = (owner: TrustedOwner): string => keyOf(withoutNumber(owner));
  for (const parts of conditions) {
    known.add(keyOfAll(parts), groups);
    for (const owner of parts.flat()) {
      const isAlone = parts.every((part) => part.some((each) => nameOf(each) === nameOf(owner)));
      if (isAlone) for (const key of keysMadeKnown(owner)) known.add(key, groups);
    }
  }
}

function keysToKnow(owner: TrustedOwner): string[] {
  if (owner.what === MAIL_DOMAIN_OWNER)
    return domainsAbove(owner.name).map((name) => keyOf({ ...owner, name }));
  return [keyOf(owner), keyOf(withoutNumber(owner)), anyNumber(owner)];
}

/** Whether some token can meet all parts: no two parts name different owners of the same sort. */
function canHoldTogether(parts: OwnerParts): boolean {
  return parts.every((left, i) =>
    parts.slice(i + 1).every((right) => {
      const same = right.filter(({ what }) => left.some((owner) => owner.what === what));
      const names = left.map((owner) => keyOf(withoutNumber(owner)));
      return same.length === 0 || same.some((owner) => names.includes(keyOf(withoutNumber(owner))));
    }),
  );
}

/** The owners that a trust names and that are not known, on a group or above it where one is given. */
export function strangersOf(
  known: KnownBefore,
  conditions: readonly OwnerParts[],
  group?: string,
): readonly TrustedOwner[] {
  const has = (key: string): boolean => (group === undefined ? known.has(key) : known.isKnownAt(key, group));
  const isKnown = (owner: TrustedOwner): boolean => keysToKnow(owner).some(has);
  return conditions.flatMap((parts) => {
    const isKnownPart = parts.some((owners) => owners.every(isKnown));
    if (canHoldTogether(parts) && (isKnownPart || has(keyOfAll(parts)))) return [];
    return (parts[0] ?? []).filter((owner) => !isKnown(owner));
  });
}

/**
 * What was trusted on groups before a change. Who administers one group can create what they like there, so a value is known
 * on the groups where it was, and below them.
 */
export class KnownBefore {
  private readonly groupsByValue = new Map<string, Set<string>>();

  constructor(private readonly facts: Facts) {}

  add(value: string, groups: readonly string[]): void {
    const known = getOrCompute(this.groupsByValue, value, () => new Set());
    for (const group of groups) known.add(group);
  }

  values(): string[] {
    return [...this.groupsByValue.keys()];
  }

  has(value: string): boolean {
    return this.groupsByValue.has(value);
  }

  /** Whether it was known on a group, or on one above it. */
  isKnownAt(value: string, group: string): boolean {
    const known = this.groupsByValue.get(value);
    return known !== undefined && this.facts.groupAndAbove(group).some((key) => known.has(key));
  }
}
