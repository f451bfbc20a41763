import { RE2JS } from "re2js";
import { anchored } from "./languages";
import type { Languages, SegmentSpec } from "./languages";
import type { Names } from "./projection";
import { LONGEST_PATTERN } from "./regexSyntax";

/** Whether an outsider can have a string that a pattern matches. */
export type PatternJudgement =
  /** It matches many owners, or strings without an owner; `example` is one of an outsider, if one was found. */
  | { readonly kind: "open"; readonly example: string | undefined; readonly reason: string }
  /** It matches these owners only. */
  | { readonly kind: "pinned"; readonly names: readonly string[] }
  /** It matches no string of the form. */
  | { readonly kind: "unrelated" }
  /** It could not be computed; rules treat it as open. */
  | { readonly kind: "unjudged"; readonly reason: string };

/** Texts of which a part names their owner. */
export interface OwnedForm {
  /** All texts of the form. */
  readonly whole: string;
  /**
   * Parts that name the owner: a pattern is pinned if one of them has few values. Without any part, everyone can have the
   * string.
   */
  readonly owners: readonly SegmentSpec[];
  /** Texts of the form that a stranger can have and that are easy to read, the best first. */
  readonly examples: readonly string[];
  /** What may follow a name, in a form that is easy to read. */
  readonly endings?: readonly string[];
}

/**
 * The most owners that a pattern may name and still be pinned. Ten would be a variable digit, so that whoever registers
 * `acme7` is accepted.
 */
export const MOST_OWNERS = 9;

/** A form with one part that names the owner. */
export function formOf(
  owner: SegmentSpec,
  examples: readonly string[] = [],
  endings: readonly string[] = [],
): OwnedForm {
  const { before, name, after } = owner;
  return { whole: `(?:${before})(?:${name})(?:${after})`, owners: [owner], examples, endings };
}

export const TOO_MANY_STEPS: PatternJudgement = {
  kind: "unjudged",
  reason: "it takes too many steps to be judged: use fewer and smaller repetitions",
};

const TOO_MANY_PATTERNS: PatternJudgement = {
  kind: "unjudged",
  reason: "the patterns of this review take too many steps together: split the change, or simplify them",
};

/** Why a pattern cannot be judged; undefined for one that can. */
export function findPatternProblem(languages: Languages, pattern: string): PatternJudgement | undefined {
  const read = pattern.length > LONGEST_PATTERN ? "tooLarge" : languages.languageOf(pattern);
  if (read === "invalid") return { kind: "unjudged", reason: "it is not a valid RE2 pattern" };
  if (read !== "tooLarge") return undefined;
  if (pattern.length <= LONGEST_PATTERN && languages.budget.isSpent) return TOO_MANY_PATTERNS;
  return {
    kind: "unjudged",
    reason: `it is too large to be judged: write it in at most ${LONGEST_PATTERN} characters, with smaller repetitions`,
  };
}

/** Judges a pattern, if it can be read, within the steps of one question. */
export function judgeWithin(
  languages: Languages,
  pattern: string,
  judge: () => PatternJudgement,
): PatternJudgement {
  const judged = findPatternProblem(languages, pattern) ?? languages.budget.ask(judge);
  return judged === "tooLarge" ? TOO_MANY_STEPS : judged;
}

/** Judges whether outsiders can have strings of a form that a pattern matches. */
export function judgeForm(
  languages: Languages,
  pattern: string,
  form: OwnedForm,
  maxOwners = MOST_OWNERS,
): PatternJudgement {
  let sample: { readonly owner: SegmentSpec; readonly names: Names } | undefined;
  for (const owner of form.owners) {
    const names = languages.names(pattern, owner, maxOwners);
    if (names === "tooLarge") return TOO_MANY_STEPS;
    if (!names.isMany)
      return names.list.length === 0 ? { kind: "unrelated" } : { kind: "pinned", names: names.list };
    sample ??= { owner, names };
  }
  if (sample === undefined) {
    const overlap = languages.intersects(pattern, anchored(form.whole));
    if (overlap !== "yes") return overlap === "no" ? { kind: "unrelated" } : TOO_MANY_STEPS;
  }
  return openJudgement(languages, pattern, findExample(languages, pattern, form, sample));
}

/** Judges a pattern as open, with a text that it should not match. */
export function openJudgement(
  languages: Languages,
  pattern: string,
  example: string | undefined,
): PatternJudgement {
  const reason =
    example === undefined ? "it matches more owners than it names" : languages.reasonFor(pattern, example);
  return { kind: "open", example, reason };
}

/** Finds a string of a form that a pattern matches and that an outsider can have. */
function findExample(
  languages: Languages,
  pattern: string,
  form: OwnedForm,
  sample: { readonly owner: SegmentSpec; readonly names: Names } | undefined,
): string | undefined {
  const spelled = pattern.replaceAll("\\", "").toLowerCase();
  const name = sample?.names.list.find((owner) => !spelled.includes(owner.toLowerCase()));
  const { before, after } = sample?.owner ?? { before: "", after: "" };
  const ownCase = sample?.owner.ignoresCase === true ? "(?i)" : "";
  const byName =
    name === undefined
      ? []
      : [...(form.endings ?? []), after].map(
          (end) => `(?:${before})(?:${ownCase}${RE2JS.quote(name)})(?:${end})`,
        );
  for (const text of [...form.examples, ...byName, form.whole]) {
    const found = languages.exampleOf(pattern, anchored(text));
    if (found !== "tooLarge" && found.text !== undefined) return found.text;
  }
  return undefined;
}

/** Whether an exact text names its owner. */
export function namesOwner(languages: Languages, text: string, forms: readonly OwnedForm[]): boolean {
  return forms.some(({ owners, whole }) => owners.length > 0 && languages.matches(anchored(whole), text));
}

/** The judgement of several forms together: what is open for one is open. */
export function judgeForms(
  languages: Languages,
  pattern: string,
  forms: readonly OwnedForm[],
): PatternJudgement {
  const names = new Set<string>();
  let unjudged: PatternJudgement | undefined;
  for (const form of forms) {
    const judged = judgeForm(languages, pattern, form);
    if (judged.kind === "open") return judged;
    if (judged.kind === "unjudged") unjudged ??= judged;
    if (judged.kind === "pinned") for (const name of judged.names) names.add(name);
  }
  if (unjudged !== undefined) return unjudged;
  return names.size === 0 ? { kind: "unrelated" } : { kind: "pinned", names: [...names] };
}
