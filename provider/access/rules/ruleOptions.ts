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
  /** `--issuer-allow`: where not empty, the only issuers that identities may trust; URLs as `addressMatches` takes them. */
  readonly issuerAllow: readonly string[];
  /** `--sink-allow`: hosts that events may go to, as `hostMatches` takes them. */
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
