import type { Json } from "../../fields/values";
import type { Grant } from "../graph/grant";
import { specs } from "../documents/specs";
import { accessKinds } from "../graph/accessKinds";
import { decidesAccess, isJudged, isName } from "../../fields/fieldAccess";
import { isHighOrCritical } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { Facts } from "./facts";

/** A finding without what all findings of its rule share, and without its fingerprint. */
export interface FindingInput extends Omit<
  Finding,
  "id" | "rule" | "details" | "fingerprint" | "suppression" | "drift" | "advice"
> {
  readonly details?: readonly string[];
  readonly advice: string;
  /** What an exception accepts beside the object itself: its fingerprint changes with it, and no report shows it. */
  pins?: Json;
  /** The grants that it accepts so, with who can be the holder of each and what each allows: one list for each part that they play in it. */
  grants?: readonly (readonly Grant[])[];
}

/** What is asked of a change of access, and what to say about it. */
export interface Rule {
  /** `G1`. */
  readonly id: string;
  /** `owner-grant`. */
  readonly name: string;
  /** Those that it can have, from worst to least. */
  readonly severities: readonly Severity[];
  /** Which severity when, one line. */
  readonly when: string;
  /** What it finds, and what it leaves alone on purpose. */
  readonly what: string;
  readonly why: string;
  /** How to fix it. */
  readonly fix: string;
  /** When an exception is right. */
  readonly except: string;
  /**
   * The `match` of an example entry of the policy file: what existed before. Absent where findings are about what is new,
   * which only a fingerprint names.
   */
  readonly exampleMatch?: Readonly<Record<string, string>>;
  /**
   * The `fields` of the example, where findings about one object are about unlike things: an entry with neither `fields` nor a
   * fingerprint suppresses none of them.
   */
  readonly exampleFields?: readonly string[];
  /**
   * It compares with what was before: without that it finds nothing, or calls everything new. `object`: what the changed object
   * was is enough, which an inventory shows a policy pack.
   */
  readonly needsBefore?: true | "object";
  /** Why a policy pack cannot run it, where that is not `needsBefore`. */
  readonly notInPolicyPack?: string;
  /** It predicts what an update will do, or judges what a program says: nothing that has happened already. */
  readonly beforeUpdate?: true;
  /** It counts what the whole organisation holds: a comparison of a part cannot tell. */
  readonly needsWhole?: true;
  /** It reports what has not changed too; after drift it reports what has drifted alone. */
  readonly judgesUnchanged?: true;
  /** What to do where the change has happened already, if that differs from the advice before an update. */
  readonly driftAdvice?: string;
  /** The kinds of resources that its findings name; `change` if they are about the change as a whole. */
  readonly about: KindCondition | "change";
  /** `others`: what the rules before it in the list found. */
  readonly find: (facts: Facts, others: readonly Finding[]) => Iterable<FindingInput>;
}

/** Why a policy pack cannot run a rule; undefined where it can. */
export function whyNotInPolicyPack({ needsBefore, notInPolicyPack }: Rule): string | undefined {
  return needsBefore === true ? "it needs the state before the change" : notInPolicyPack;
}

/** Whether a rule can report a resource of a kind; false of a rule about the change as a whole. */
export function canReport({ about }: Rule, kind: string): boolean {
  return about !== "change" && about(kind);
}

/** Whether all findings of a rule are high or critical. */
export function isAlwaysHigh(rule: Rule): boolean {
  return rule.severities.every(isHighOrCritical);
}

/** A condition on the kind of a resource. */
export type KindCondition = (kind: string) => boolean;

export const everyKind: KindCondition = () => true;

export const isInvite: KindCondition = (kind) => accessKinds[kind]?.invite === true;

/** It decides who signs in. */
export const decidesSignIn: KindCondition = (kind) => accessKinds[kind]?.signIn !== undefined;

/** People sign in by it. */
export const isIdentityProvider: KindCondition = (kind) => accessKinds[kind]?.signIn === "provider";

/** Principals assume resources of the kind by tokens and keys. */
export const isAssumable: KindCondition = (kind) => accessKinds[kind]?.assumable === true;

/** Images are pulled by its name. */
export const isPulledByName: KindCondition = (kind) => specs[kind]?.usedBy === "imageName";

/** One of its arguments decides access. */
export const hasAccessField: KindCondition = (kind) =>
  Object.values(specs[kind]?.fields ?? {}).some((field) => decidesAccess(field));

/** It has more that matters than its name and its place. */
export const hasJudgedContent: KindCondition = (kind) =>
  Object.entries(specs[kind]?.fields ?? {}).some(
    ([key, field]) => key !== "parentUid" && !isName(key) && isJudged(field),
  );
