import { addTo } from "../../fields/values";
import type { Languages } from "../trust/languages";
import { principalOf } from "./accessKinds";
import type { Subject } from "./grant";
import { ownerOf, withoutRetained } from "./keys";
import type { Entities } from "./model";
import { readClaimConditions, trustsOf } from "./trust";
import type { Trust, TrustPart } from "./trust";

/** What every principal of a trust proves: where one has a part that the other has not, they are proven in different ways. */
const proofs = ["issuer", "account", "service"] as const;
/** Where a trust does not say one, each is accepted. */
const details = ["subject", "audience", "arn", "userId"] as const;

type Value = Pick<TrustPart, "exact" | "pattern">;

/** Whether a value may meet both conditions. What is too large to compare may. */
function mayMeetBoth(languages: Languages, one: Value, other: Value): boolean {
  const isOpen = ({ exact, pattern }: Value): boolean => exact === undefined && pattern === undefined;
  if (isOpen(one) || isOpen(other)) return true;
  if (one.exact !== undefined && other.exact !== undefined) return one.exact === other.exact;
  if (one.exact !== undefined && other.pattern !== undefined)
    return languages.matches(other.pattern, one.exact);
  if (other.exact !== undefined && one.pattern !== undefined)
    return languages.matches(one.pattern, other.exact);
  return languages.intersects(one.pattern ?? "", other.pattern ?? "") !== "no";
}

function claimsOf(trust: Trust): Map<string, Value[]> {
  const claims = new Map<string, Value[]>();
  for (const [name, exact] of readClaimConditions(trust, "exact"))
    addTo(claims, name, { exact, pattern: undefined });
  for (const [name, pattern] of readClaimConditions(trust, "patterns"))
    addTo(claims, name, { exact: undefined, pattern });
  return claims;
}

/** Whether one principal may be accepted by two trusts. */
function mayAcceptOne(languages: Languages, one: Trust, other: Trust): boolean {
  // Whoever has the keys signs whatever else is written. Others with the same keys are found by their text.
  if (one.hasKeys || other.hasKeys) return false;
  const isProvenAlike = proofs.every((part) => {
    const [a, b] = [one[part], other[part]];
    return a === undefined || b === undefined ? a === b : mayMeetBoth(languages, a, b);
  });
  if (!isProvenAlike) return false;
  const areAlike = details.every((part) => {
    const [a, b] = [one[part], other[part]];
    return a === undefined || b === undefined || mayMeetBoth(languages, a, b);
  });
  if (!areAlike) return false;
  const others = claimsOf(other);
  return [...claimsOf(one)].every(([name, values]) =>
    values.every((value) => (others.get(name) ?? []).every((each) => mayMeetBoth(languages, value, each))),
  );
}

/** Which subjects of grants one principal may be: two identities that accept it, or a directory and a group of it. */
export class Principals {
  private readonly known = new Map<string, readonly Subject[]>();
  private readonly byText = new Map<string, Subject[]>();
  private readonly bySubject = new Map<string, Subject[]>();
  private readonly withPattern: Subject[] = [];
  private readonly identities: Subject[] = [];
  private readonly ofDirectory = new Map<string, Subject[]>();

  /** @param subjects Those that are compared; one may be there several times. */
  constructor(
    private readonly entities: Entities,
    private readonly languages: Languages,
    subjects: Iterable<Subject>,
  ) {
    for (const subject of new Map(Array.from(subjects, (each) => [each.key, each])).values()) {
      addTo(this.byText, principalOf(entities, subject.key), subject);
      if (subject.type === "identityProvider" || subject.type === "externalGroup")
        addTo(this.ofDirectory, ownerOf(subject.key) ?? subject.key, subject);
      const exact = this.trustsOf(subject).map((trust) => trust.subject?.exact);
      if (exact.length === 0) continue;
      this.identities.push(subject);
      if (exact.includes(undefined)) this.withPattern.push(subject);
      for (const each of exact) if (each !== undefined) addTo(this.bySubject, each, subject);
    }
  }

  /** Whether one principal may be both. */
  mayBeSame(one: Subject, other: Subject): boolean {
    const directory = ownerOf(one.key) ?? one.key;
    if (directory === (ownerOf(other.key) ?? other.key) && this.isDirectory(one, other)) return true;
    if (principalOf(this.entities, one.key) === principalOf(this.entities, other.key)) return true;
    return this.trustsOf(one).some((trust) =>
      this.trustsOf(other).some((each) => mayAcceptOne(this.languages, trust, each)),
    );
  }

  /** All that the principals of a subject may be, itself first. */
  sharing(subject: Subject): readonly Subject[] {
    const known = this.known.get(subject.key);
    if (known !== undefined) return known;
    const exact = this.trustsOf(subject).map((trust) => trust.subject?.exact);
    // What says a subject word for word is compared with the same, and with patterns.
    const candidates = exact.includes(undefined)
      ? this.identities
      : [...exact.flatMap((each) => this.bySubject.get(each ?? "") ?? []), ...this.withPattern];
    const all = new Set([
      ...(this.byText.get(principalOf(this.entities, subject.key)) ?? []),
      ...(this.ofDirectory.get(ownerOf(subject.key) ?? subject.key) ?? []),
      ...(exact.length === 0 ? [] : candidates),
    ]);
    const same = [...all].filter((each) => each.key !== subject.key && this.mayBeSame(subject, each));
    const sharing = [subject, ...same];
    this.known.set(subject.key, sharing);
    return sharing;
  }

  /** Those of whom no two may be one principal, as many as are surely different. */
  distinct<T>(holders: readonly T[], subjectOf: (holder: T) => Subject): T[] {
    const counted: T[] = [];
    for (const holder of holders)
      if (!counted.some((each) => this.mayBeSame(subjectOf(each), subjectOf(holder)))) counted.push(holder);
    return counted;
  }

  /** Everybody in a group of a directory signs in by it; who is in two of its groups, no document tells. */
  private isDirectory(one: Subject, other: Subject): boolean {
    const types = [one.type, other.type];
    return types.includes("identityProvider") && types.includes("externalGroup");
  }

  private trustsOf({ key, type }: Subject): readonly Trust[] {
    if (type !== "identity") return [];
    const entity = this.entities.get(key) ?? this.entities.get(withoutRetained(key));
    return entity === undefined ? [] : trustsOf(entity);
  }
}
