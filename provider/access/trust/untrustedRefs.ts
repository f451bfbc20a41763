import { INTRUDER } from "./data/pins";
import type { UntrustedRef } from "./data/sharedIssuers";
import { firstExample, MOST_OWNERS } from "./judgement";
import { exactPattern, anchored } from "./languages";
import type { Languages, SegmentSpec } from "./languages";

/** The claims that a token must have beside its subject. */
export interface ClaimConditions {
  readonly exact: readonly (readonly [string, string])[];
  readonly patterns: readonly (readonly [string, string])[];
}

/** Runs of unreviewed changes that a pattern accepts. */
export interface UntrustedRuns {
  readonly what: string;
  readonly example: string | undefined;
}

const UNJUDGED: UntrustedRuns = { what: "runs that cannot be judged", example: undefined };

/** `release-1.2`: a name for each version is no free choice. */
const VERSION = "v?[0-9]+(?:[.-](?:[0-9]+|x))*";
const WORDS = "(?:refs/heads/)?(?:[A-Za-z]+[-_/])+";

/** Whether a claim of such runs can have a value that the identity requires. */
function fitsClaims(
  languages: Languages,
  { claims, branchClaim }: UntrustedRef,
  asked: ClaimConditions,
): boolean {
  const exact = asked.exact.every(([name, value]) => {
    const form = name === branchClaim ? undefined : claims[name];
    return form === undefined || languages.matches(anchored(form), value);
  });
  return (
    exact &&
    asked.patterns.every(([name, pattern]) => {
      const form = name === branchClaim ? undefined : claims[name];
      return form === undefined || languages.intersects(pattern, anchored(form)) !== "no";
    })
  );
}

/** What the claim that contains the branch must match. */
function branchConditions({ branchClaim }: UntrustedRef, asked: ClaimConditions): string[] {
  return [
    ...asked.exact.filter(([name]) => name === branchClaim).map(([, value]) => exactPattern(value)),
    ...asked.patterns.filter(([name]) => name === branchClaim).map(([, pattern]) => pattern),
  ];
}

function commonStart(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** Whether the words before a version vary, so that anyone can choose some. */
function hasManyWords(
  languages: Languages,
  pattern: string,
  branch: SegmentSpec,
  namePatterns: readonly string[],
): boolean {
  const words = { before: branch.before, name: WORDS, after: `${VERSION}${branch.after}` };
  const found = [
    languages.names(pattern, words, MOST_OWNERS),
    ...namePatterns.map((branch) =>
      languages.names(branch, { before: "", name: WORDS, after: VERSION }, MOST_OWNERS),
    ),
  ];
  return found.every((names) => names === "tooLarge" || names.isMany);
}

/** Branches with various names that a pattern accepts. */
function findBranches(
  languages: Languages,
  pattern: string,
  ref: UntrustedRef & { readonly branch: SegmentSpec },
  asked: ClaimConditions,
): UntrustedRuns | undefined {
  const namePatterns = branchConditions(ref, asked);
  const all = languages.names(pattern, { ...ref.branch, namePatterns }, MOST_OWNERS);
  if (all !== "tooLarge" && !all.isMany) return undefined;
  const segment = { ...ref.branch, namePatterns, excludedName: anchored(`${WORDS}${VERSION}`) };
  const names = languages.names(pattern, segment, MOST_OWNERS);
  if (names === "tooLarge") return UNJUDGED;
  const isMany = names.isMany || hasManyWords(languages, pattern, ref.branch, namePatterns);
  if (!isMany) return undefined;
  const own = `(?:refs/heads/)?${INTRUDER}`;
  const accepted = languages.names(
    pattern,
    { ...segment, namePatterns: [...namePatterns, anchored(own)] },
    1,
  );
  const isAny = accepted === "tooLarge" || accepted.list.length > 0;
  const start = commonStart(names.list).replace(/^refs\/heads\//, "");
  const what = isAny
    ? ref.what
    : start === "" || !names.isMany
      ? "branches of many names"
      : "any branch whose name begins like that";
  const { before, name, after } = ref.branch;
  const examples = [`${before}${own}${after}`, `${before}.*${INTRUDER}${after}`, `${before}${name}${after}`];
  return { what, example: firstExample(languages, pattern, examples) };
}

/** The runs of unreviewed changes that have an exact subject. */
export function findRunsOf(
  languages: Languages,
  subject: string,
  refs: readonly UntrustedRef[],
  asked: ClaimConditions,
): UntrustedRuns[] {
  return refs
    .filter(({ branch, subject: form }) => branch === undefined && languages.matches(anchored(form), subject))
    .filter((ref) => fitsClaims(languages, ref, asked))
    .map(({ what }) => ({ what, example: subject }));
}

/** The runs of unreviewed changes whose subjects a pattern matches, and whose claims meet the required ones. */
export function findUntrustedRuns(
  languages: Languages,
  pattern: string,
  refs: readonly UntrustedRef[],
  asked: ClaimConditions,
): UntrustedRuns[] {
  const found = languages.budget.ask(() => refs.flatMap((ref) => findRuns(languages, pattern, ref, asked)));
  return found === "tooLarge" ? [UNJUDGED] : found;
}

function findRuns(
  languages: Languages,
  pattern: string,
  ref: UntrustedRef,
  asked: ClaimConditions,
): readonly UntrustedRuns[] {
  if (!fitsClaims(languages, ref, asked)) return [];
  const { branch } = ref;
  if (branch !== undefined) {
    const found = findBranches(languages, pattern, { ...ref, branch }, asked);
    return found === undefined ? [] : [found];
  }
  const verdict = languages.intersects(pattern, anchored(ref.subject));
  if (verdict === "tooLarge") return [UNJUDGED];
  return verdict === "no"
    ? []
    : [{ what: ref.what, example: firstExample(languages, pattern, [ref.subject]) }];
}
