import type { PatternJudgement } from "../trust/judgement";
import { Languages } from "../trust/languages";
import type { Facts } from "./facts";

/** What a pattern lets in that it should not. */
export interface OpenPattern {
  /** A text that it lets in; undefined where none was found. */
  readonly example: string | undefined;
  /** Whether an outsider is known to have such texts; otherwise it is only not proven that none has. */
  readonly isOutsiders: boolean;
  /** Ends the sentence "… is accepted: ": "the pattern is not anchored at its end". */
  readonly reason: string;
}

/** What is known of the patterns of one review: all questions share a budget, and none is asked twice. */
class PatternJudge {
  private readonly judgements = new Map<string, PatternJudgement>();

  constructor(readonly languages: Languages) {}

  judge(
    about: string,
    pattern: string,
    find: (languages: Languages, pattern: string) => PatternJudgement,
  ): PatternJudgement {
    const key = JSON.stringify([about, pattern]);
    const known = this.judgements.get(key) ?? find(this.languages, pattern);
    this.judgements.set(key, known);
    return known;
  }
}

const judges = new WeakMap<Facts, PatternJudge>();

function judgeOf(facts: Facts): PatternJudge {
  const known = judges.get(facts) ?? new PatternJudge(facts.comparison.languages ?? new Languages());
  judges.set(facts, known);
  return known;
}

export const languagesOf = (facts: Facts): Languages => judgeOf(facts).languages;

/** What is not proven to be pinned is open, also what cannot be judged. */
export function openPatternOf(judged: PatternJudgement): OpenPattern | undefined {
  if (judged.kind === "pinned") return undefined;
  const { kind, reason } = judged;
  return {
    example: kind === "unjudged" ? undefined : judged.example,
    isOutsiders: kind === "open",
    reason: kind === "unjudged" ? `it cannot be judged: ${reason}` : reason,
  };
}

/** The judgement of a text; the same text is judged once. */
export function judgementOf(
  facts: Facts,
  about: string,
  text: string,
  find: (languages: Languages, pattern: string) => PatternJudgement,
): PatternJudgement {
  return judgeOf(facts).judge(about, text, find);
}

export function judgePattern(
  facts: Facts,
  about: string,
  text: string | undefined,
  find: (languages: Languages, pattern: string) => PatternJudgement,
): OpenPattern | undefined {
  return text === undefined ? undefined : openPatternOf(judgementOf(facts, about, text, find));
}

/** "accepts “x”: why", or why alone. */
export const describeOpenPattern = ({ example, reason }: OpenPattern): string =>
  example === undefined ? reason.replace(/^it /, "") : `accepts ${JSON.stringify(example)}: ${reason}`;
export const counterexampleOf = ({ example }: OpenPattern): { counterexample?: string } =>
  example === undefined ? {} : { counterexample: example };
