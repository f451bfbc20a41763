import type { PatternJudgement } from "../trust/judgement";
import { Languages } from "../trust/languages";
import type { Facts } from "./facts";

/** What a pattern lets in that it should not. */
export interface OpenPattern {
  /** A text of a stranger; undefined where the pattern cannot be judged. */
  readonly example: string | undefined;
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

/** A pattern that cannot be judged counts as open. */
function openPatternOf(judged: PatternJudgement): OpenPattern | undefined {
  if (judged.kind === "open") return judged;
  return judged.kind === "unjudged" ? { example: undefined, reason: judged.reason } : undefined;
}

export function judge(
  facts: Facts,
  about: string,
  text: string | undefined,
  find: (languages: Languages, pattern: string) => PatternJudgement,
): OpenPattern | undefined {
  return text === undefined ? undefined : openPatternOf(judgeOf(facts).judge(about, text, find));
}

/** "accepts “x”: why", or that it cannot be judged. */
export const describeOpenPattern = ({ example, reason }: OpenPattern): string =>
  example === undefined ? `cannot be judged: ${reason}` : `accepts ${JSON.stringify(example)}: ${reason}`;
export const counterexampleOf = ({ example }: OpenPattern): { counterexample?: string } =>
  example === undefined ? {} : { counterexample: example };
