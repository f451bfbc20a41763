import { RE2JS } from "re2js";
import { answerOf } from "./budget";
import { INTRUDER } from "./data/pins";
import { PINNED_OWNER } from "./data/sharedIssuers";
import type { Proof, RunsOfService } from "./data/sharedIssuers";
import { firstExample, MOST_OWNERS, segmentText } from "./judgement";
import { anchored, exactPattern } from "./patternComparer";
import type { PatternComparer, SegmentSpec } from "./patternComparer";

/** What an identity requires of a part of a token: one text, or all those of a pattern. */
export interface Required {
  /** `sub`, or the name of a claim. */
  readonly part: string;
  readonly pattern: string;
  /** The text, where only one is accepted. */
  readonly text?: string;
}

/** Reads an exact text as what is required of a part. */
export function requireText(part: string, text: string): Required {
  return { part, pattern: exactPattern(text), text };
}

/** Runs of unreviewed changes that a trust accepts. */
interface UntrustedRuns {
  readonly what: string;
  readonly example: string | undefined;
}

/** A proof where anyone can choose a name. */
type ChosenName = Proof & { readonly noun: NonNullable<Proof["noun"]> };

const isChosen = (proof: Proof): proof is ChosenName => proof.noun !== undefined;

const UNJUDGED: UntrustedRuns = { what: "runs that cannot be judged", example: undefined };

/** What a pattern of versions accepts is not only versions: `[0-9.]+` takes dots alone, too. */
const NUMBERS = "[0-9.][0-9.x-]*";
const WORDS = "(?:[A-Za-z]+[-_/])+";
const NOBODY = "[^\\x00-\\x{10FFFF}]";

/** `release-1.2`, `v1.2`: a name for each version is no free choice, unless the words vary. */
const versioned = ({ prefix }: Proof): string => `${prefix}(?:${WORDS}v?|v)${NUMBERS}`;

/** Whether a pattern accepts few names, each of them written out. */
function writesOutNames(comparer: PatternComparer, pattern: string, segment: SegmentSpec): boolean {
  return answerOf(comparer.names(pattern, segment, MOST_OWNERS)).unwritten === undefined;
}

/** Whether the words before a version vary, so that anyone can choose some. */
function hasManyWords(comparer: PatternComparer, pattern: string, { before, prefix, after }: Proof): boolean {
  const segment = { before, name: `${prefix}${WORDS}`, after: `v?${NUMBERS}${after}` };
  return !writesOutNames(comparer, pattern, segment);
}

/** Runs with various chosen names that a pattern accepts. */
function findChosenNames(
  comparer: PatternComparer,
  pattern: string,
  chosen: ChosenName,
): UntrustedRuns | undefined {
  if (writesOutNames(comparer, pattern, chosen)) return undefined;
  const isVersioned = writesOutNames(comparer, pattern, { ...chosen, excludedName: versioned(chosen) });
  if (isVersioned && !hasManyWords(comparer, pattern, chosen)) return undefined;
  const { before, name, after, noun, prefix } = chosen;
  const own = `${prefix}${INTRUDER}`;
  const strange = comparer.intersects(pattern, anchored(segmentText({ ...chosen, name: own })));
  const examples = [`${before}${own}${after}`, `${before}.*${INTRUDER}${after}`, `${before}${name}${after}`];
  const any = noun === "environment" ? "any environment, also a new one without protection" : `any ${noun}`;
  const isAny = strange !== "no";
  return {
    what: isAny ? any : `${noun === "branch" ? "branches" : `${noun}s`} of many names`,
    example: firstExample(comparer, pattern, examples),
  };
}

/** Runs whose branch, tag or environment anyone can choose. */
function findChosenRuns(
  comparer: PatternComparer,
  { pattern, text }: Required,
  proofs: readonly Proof[],
): readonly UntrustedRuns[] {
  if (text !== undefined) return [];
  return proofs.filter(isChosen).flatMap((proof) => findChosenNames(comparer, pattern, proof) ?? []);
}

/** Whether all that is required of a part is of one of some forms. */
function isOfForms(
  comparer: PatternComparer,
  { pattern, text }: Required,
  forms: readonly string[],
): boolean {
  const whole = anchored(forms.join("|"));
  if (forms.length === 0) return false;
  return text === undefined ? comparer.isSubset(pattern, whole) === "yes" : comparer.matches(whole, text);
}

/** The proofs for a trust that pins these owners; undefined where all owners at the issuer are those of one customer. */
function proofsFor(
  { proofs }: RunsOfService,
  part: string,
  owners: readonly string[] | undefined,
): readonly Proof[] {
  const written = owners?.map((owner) => RE2JS.quote(owner)) ?? ["[^/:@]+"];
  const owner = `(?i:${written.length === 0 ? NOBODY : written.join("|")})`;
  return proofs
    .filter((proof) => proof.part === part)
    .map((proof) => ({ ...proof, before: proof.before.replace(PINNED_OWNER, owner) }));
}

/** The runs of a subject that no claim proves to be reviewed. */
function findRunsOf(
  comparer: PatternComparer,
  subject: Required,
  { unreviewed }: RunsOfService,
  proofs: readonly Proof[],
): readonly UntrustedRuns[] {
  const { pattern, text } = subject;
  const rows = unreviewed.filter(({ part }) => part === subject.part);
  const known = rows.flatMap(({ what, value }) => {
    const form = anchored(value);
    if (text !== undefined) return comparer.matches(form, text) ? [{ what, example: text }] : [];
    return answerOf(comparer.intersects(pattern, form)) === "no"
      ? []
      : [{ what, example: firstExample(comparer, pattern, [value]) }];
  });
  const forms = [...rows.map(({ value }) => value), ...proofs.map(segmentText)];
  const found = [...known, ...findChosenRuns(comparer, subject, proofs)];
  if (found.length > 0 || isOfForms(comparer, subject, forms)) return found;
  // Somebody meant a pattern: T6 says that no subject is so.
  if (text !== undefined && /[*^]/.test(text))
    return [{ what: "runs with exactly this subject", example: text }];
  const outside = answerOf(comparer.exampleOutside(pattern, anchored(forms.join("|"))));
  return [{ what: unreviewed[0]?.what ?? UNJUDGED.what, example: outside.text }];
}

/** The claims in an exact subject of names and values. */
function claimsIn({ text = "" }: Required): readonly Required[] {
  const pairs = text.matchAll(/(?<=^|:)([a-z_]+):([^:]*)/g);
  return Array.from(pairs, ([, name = "", value = ""]) => requireText(name, value));
}

/**
 * The runs that a trust accepts although nothing proves that somebody has reviewed what they run: a claim or the subject must
 * name a branch, a tag or an environment, or a run that only follows a review.
 */
export function findUntrustedRuns(
  comparer: PatternComparer,
  service: RunsOfService,
  subject: Required,
  claims: readonly Required[],
  owners: readonly string[] | undefined,
): readonly UntrustedRuns[] {
  if (service.unreviewed.length === 0) return [];
  const found = comparer.budget.ask(() => {
    const marked = [...claims, ...claimsIn(subject)].flatMap((claim) =>
      service.unreviewed
        .filter(({ part, value }) => part === claim.part && isOfForms(comparer, claim, [value]))
        .map(({ what }) => ({ what, example: subject.text })),
    );
    const isProven = claims.some((claim) => {
      const proofs = proofsFor(service, claim.part, owners);
      return (
        isOfForms(comparer, claim, proofs.map(segmentText)) &&
        findChosenRuns(comparer, claim, proofs).length === 0
      );
    });
    if (isProven && marked.length === 0) return [];
    const runs = findRunsOf(comparer, subject, service, proofsFor(service, subject.part, owners));
    return runs.length > 0 ? runs : marked;
  });
  return found === "tooLarge" ? [UNJUDGED] : found;
}
