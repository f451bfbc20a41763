import type { Facts } from "./facts";
import type { Finding, Severity } from "../report/report";

/** The guards of a run; every field has a flag of the same name. */
export interface RuleOptions {
  /** Milliseconds since the epoch: `--now`. */
  readonly now: number;
  /** `--self`: the uid of the identity that the pipeline runs as. */
  readonly self?: string;
  /** `--min-owners`: how many identities must own a root group. */
  readonly minOwners: number;
  /** `--required-owner`: identities that must stay owners of the root, by uid, name or subject; `*` stands for anything. */
  readonly requiredOwner: readonly string[];
  /** `--max-removal`: the part of the grants, 0 to 1, that may go at once. */
  readonly maxRemoval: number;
  /** `--issuer-allow`: where not empty, the only issuers that identities may trust; `*` stands for anything. */
  readonly issuerAllow: readonly string[];
  /** `--sink-allow`: hosts that events may go to; `*` stands for anything. */
  readonly sinkAllow: readonly string[];
  /** `--strict`: what could not be resolved counts as high. */
  readonly strict: boolean;
}

/** The options of a run without a flag. */
export function defaultRuleOptions(now: number): RuleOptions {
  return {
    now,
    minOwners: 2,
    requiredOwner: [],
    maxRemoval: 0.25,
    issuerAllow: [],
    sinkAllow: [],
    strict: false,
  };
}

/** A finding as its rule makes it: the id, the name and the fingerprint are added to it. */
export interface FindingInput extends Omit<
  Finding,
  "id" | "rule" | "details" | "fingerprint" | "excepted" | "drift" | "advice"
> {
  readonly details?: readonly string[];
  readonly advice: string;
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
  /** The `match` of an example entry of the policy file. */
  readonly exampleMatch: Readonly<Record<string, string>>;
  /** It compares with what was before: without that it finds nothing, or calls everything new. */
  readonly needsBefore: boolean;
  /** It predicts what an update will do, or judges what a program says: nothing that has happened already. */
  readonly planOnly?: true;
  /** It counts what the whole organisation holds: a comparison of a part cannot tell. */
  readonly needsWhole?: true;
  /** It reports what has not changed too; after drift it reports what has drifted alone. */
  readonly judgesUnchanged?: true;
  /** What to do where the change has happened already, if that differs from the advice on a plan. */
  readonly driftAdvice?: string;
  readonly find: (facts: Facts) => FindingInput[];
}
