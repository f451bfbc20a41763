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

/** Whether one principal may be accepted by two texts of trusts: the sides of a change have most of them in common. */
const answers = new WeakMap<Languages, Map<string, Map<string, boolean>>>();

/** Subjects whose trusts are the same text. */
interface SubjectClass {
  readonly text: string;
  readonly trusts: readonly Trust[];
  readonly subjects: Subject[];
}

/** Which subjects of grants one principal may be: identities that accept it, or a directory and a group of it. */
export class Principals {
  private readonly known = new Map<SubjectClass, readonly SubjectClass[]>();
  private readonly classes = new Map<string, SubjectClass>();
  private readonly texts = new Map<string, string>();
  private readonly bySubject = new Map<string, SubjectClass[]>();
  private readonly withPattern: SubjectClass[] = [];
  private readonly ofDirectory = new Map<string, Subject[]>();
  private readonly answers: Map<string, Map<string, boolean>>;

  /** @param subjects Those that are compared; one may be there several times. */
  constructor(
    private readonly entities: Entities,
    private readonly languages: Languages,
    subjects: Iterable<Subject>,
  ) {
    this.answers = answers.get(languages) ?? new Map<string, Map<string, boolean>>();
    answers.set(languages, this.answers);
    for (const subject of new Map(Array.from(subjects, (each) => [each.key, each])).values()) {
      if (subject.type === "identityProvider" || subject.type === "externalGroup")
        addTo(this.ofDirectory, directoryOf(subject), subject);
      this.classOf(subject).subjects.push(subject);
    }
    for (const one of this.classes.values()) {
      const exact = one.trusts.map((trust) => trust.subject?.exact);
      if (exact.includes(undefined)) this.withPattern.push(one);
      for (const each of exact) if (each !== undefined) addTo(this.bySubject, each, one);
    }
  }

  /** Whether one principal may be both. */
  mayBeSame(one: Subject, other: Subject): boolean {
    return isOfDirectory(one, other) || this.mayAcceptOne(this.classOf(one), this.classOf(other));
  }

  /** All that the principals of a subject may be, itself first. */
  sharing(subject: Subject): readonly Subject[] {
    const directory = (this.ofDirectory.get(directoryOf(subject)) ?? []).filter((each) =>
      isOfDirectory(subject, each),
    );
    const same = this.sharingClasses(this.classOf(subject)).flatMap(({ subjects }) => subjects);
    return [subject, ...directory, ...same.filter(({ key }) => key !== subject.key)];
  }

  /** Those of whom no two may be one principal, as many as are surely different. */
  distinct<T>(holders: readonly T[], subjectOf: (holder: T) => Subject): T[] {
    const counted: T[] = [];
    for (const holder of holders)
      if (!counted.some((each) => this.mayBeSame(subjectOf(each), subjectOf(holder)))) counted.push(holder);
    return counted;
  }

  private sharingClasses(one: SubjectClass): readonly SubjectClass[] {
    const known = this.known.get(one);
    if (known !== undefined) return known;
    const exact = one.trusts.map((trust) => trust.subject?.exact);
    // What says a subject word for word is compared with the same, and with patterns.
    const candidates = exact.includes(undefined)
      ? [...this.bySubject.values(), this.withPattern].flat()
      : [...exact.flatMap((each) => this.bySubject.get(each ?? "") ?? []), ...this.withPattern];
    const others = [...new Set(candidates)].filter((each) => each !== one && this.mayAcceptOne(one, each));
    const sharing = exact.length === 0 ? [one] : [one, ...others];
    this.known.set(one, sharing);
    return sharing;
  }

  private mayAcceptOne(one: SubjectClass, other: SubjectClass): boolean {
    if (one.text === other.text) return true;
    const [first, second] = one.text < other.text ? [one, other] : [other, one];
    const ofFirst = this.answers.get(first.text) ?? new Map<string, boolean>();
    this.answers.set(first.text, ofFirst);
    const known = ofFirst.get(second.text);
    if (known !== undefined) return known;
    const answer = one.trusts.some((trust) =>
      other.trusts.some((each) => mayAcceptOne(this.languages, trust, each)),
    );
    ofFirst.set(second.text, answer);
    return answer;
  }

  private classOf(subject: Subject): SubjectClass {
    const { key, type } = subject;
    const text = this.texts.get(key) ?? principalOf(this.entities, key);
    this.texts.set(key, text);
    const known = this.classes.get(text);
    if (known !== undefined) return known;
    const entity =
      type === "identity" ? (this.entities.get(key) ?? this.entities.get(withoutRetained(key))) : undefined;
    const made = { text, trusts: entity === undefined ? [] : trustsOf(entity), subjects: [] };
    this.classes.set(text, made);
    return made;
  }
}

const directoryOf = ({ key }: Subject): string => ownerOf(key) ?? key;

/** Everybody in a group of a directory signs in by it; who is in two of its groups, no document tells. */
function isOfDirectory(one: Subject, other: Subject): boolean {
  const types = [one.type, other.type];
  const areBoth = types.includes("identityProvider") && types.includes("externalGroup");
  return areBoth && directoryOf(one) === directoryOf(other);
}
