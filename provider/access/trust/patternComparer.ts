import { RE2JS } from "re2js";
import { PatternAutomaton, difference, intersection, shortestText, compileProgram } from "./automaton";
import type { Automaton } from "./automaton";
import { answerOf, Budget } from "./budget";
import { rememberMost } from "./remember";
import { acceptChoices, CHOICE, isTooLargeToCompile, removeChoices } from "./regexSyntax";

/** `tooLarge` where the question takes more steps than are left, or the pattern cannot be read. */
type ComparisonResult = "yes" | "no" | "tooLarge";

/** A part of a string that names an owner, as regular expressions of RE2. */
export interface SegmentSpec {
  readonly before: string;
  readonly name: string;
  readonly after: string;
  /** Whether names that differ only in the case of their letters are the same one. */
  readonly ignoresCase?: boolean;
  /** The names that are not asked for. */
  readonly excludedName?: string;
}

/** The names that a pattern writes out, and one that it matches beside them. */
interface Names {
  readonly written: readonly string[];
  readonly unwritten: string | undefined;
}

const combinations = { difference, intersection };

/** Compiles a pattern, for all reviews of a process: mostly those in this package's own tables. Undefined where it cannot be read. */
const matcherOf = rememberMost((pattern: string): RE2JS | undefined => {
  if (isTooLargeToCompile(pattern)) return undefined;
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
});

/** The pattern that matches only this string. */
export function exactPattern(text: string): string {
  return `\\A${RE2JS.quote(text)}\\z`;
}

/** The pattern that matches complete strings only. */
export function anchored(pattern: string): string {
  return `\\A(?:${pattern})\\z`;
}

/** Compares the sets of strings that patterns match. All computations of one instance share its budget. */
export class PatternComparer {
  /** All are kept: the budget that made them bounds what they take. */
  private readonly read = new Map<string, PatternAutomaton | "tooLarge" | "invalid">();
  /** What was answered before: assertions ask the same of each grant. */
  private readonly answers = new Map<string, ComparisonResult>();

  constructor(readonly budget: Budget = new Budget()) {}

  /** Reads a pattern; `invalid` where it is none of RE2, or asks for the edges of words or lines. */
  languageOf(text: string): PatternAutomaton | "tooLarge" | "invalid" {
    const known = this.read.get(text);
    if (known !== undefined) return known;
    const found = this.budget.ask(() => {
      const program = compileProgram(text, this.budget);
      if (program === undefined) return "invalid";
      if (program === "tooLarge") return program;
      return new PatternAutomaton(program, this.budget);
    });
    this.read.set(text, found);
    return found;
  }

  /** Whether `other` matches every string that `pattern` matches. */
  isSubset(pattern: string, other: string): ComparisonResult {
    return this.decide("difference", pattern, other);
  }

  /**
   * Whether an identity with the pattern `other` accepts all that one with `pattern` accepts. The API does not say whether it
   * looks for a pattern anywhere in a string or compares the whole, so both must be true.
   */
  acceptsAllOf(other: string, pattern: string): ComparisonResult {
    const anywhere = this.isSubset(pattern, other);
    return anywhere === "yes" ? this.isSubset(anchored(pattern), anchored(other)) : anywhere;
  }

  /** Whether some string matches both. */
  intersects(pattern: string, other: string): ComparisonResult {
    const isDisjoint = this.decide("intersection", pattern, other);
    return isDisjoint === "tooLarge" ? isDisjoint : isDisjoint === "yes" ? "no" : "yes";
  }

  /** A shortest string that matches a pattern, and all the others; undefined if there is none. */
  exampleOf(
    pattern: string,
    ...others: readonly string[]
  ): { readonly text: string | undefined } | "tooLarge" {
    return this.budget.ask(() => {
      const all = others.reduce<Automaton>(
        (left, other) => intersection(left, this.automatonOf(other), this.budget),
        this.automatonOf(pattern),
      );
      return { text: shortestText(all, this.budget) };
    });
  }

  /** A shortest string that matches `pattern` and not `other`; undefined if there is none. */
  exampleOutside(pattern: string, other: string): { readonly text: string | undefined } | "tooLarge" {
    return this.budget.ask(() => {
      const outside = difference(this.automatonOf(pattern), this.automatonOf(other), this.budget);
      return { text: shortestText(outside, this.budget) };
    });
  }

  /**
   * The names that a segment has in the strings that a pattern matches. Of several each must be written out: `acme[1-9]` writes
   * out none of its names, and whoever registers one of them is accepted.
   */
  names(pattern: string, segment: SegmentSpec, maxNames: number): Names | "tooLarge" {
    return this.budget.ask(() => {
      const { before, name, after, excludedName, ignoresCase = false } = segment;
      const around = (text: string): string => anchored(`(?:${before})(?:${text})(?:${after})`);
      const all = intersection(this.automatonOf(pattern), this.automatonOf(around(name)), this.budget);
      const quoted = (names: readonly string[]): string => {
        const text = names.map((each) => RE2JS.quote(each)).join("|");
        return ignoresCase ? `(?i:${text})` : text;
      };
      // What may stand around a pattern without anchors is written out neither.
      const fixed = `\\A${CHOICE}*(?:${removeChoices(pattern)})${CHOICE}*\\z`;
      const isWrittenOut = (each: string): boolean => {
        const written = anchored(`(?:${acceptChoices(before)})${quoted([each])}(?:${acceptChoices(after)})`);
        return this.intersects(fixed, written) === "yes";
      };
      const written: string[] = [];
      for (;;) {
        const known = [excludedName ?? [], written.length === 0 ? [] : quoted(written)].flat();
        const remaining =
          known.length === 0 ? all : difference(all, this.automatonOf(around(known.join("|"))), this.budget);
        const text = shortestText(remaining, this.budget);
        if (text === undefined) return { written, unwritten: undefined };
        const found = this.partOf(text, segment);
        if (found === undefined) return "tooLarge";
        const next = ignoresCase ? found.toLowerCase() : found;
        // A name alone is written out, however the pattern does so.
        const several = written.length === 1 ? [next, ...written] : [next];
        const unwritten = written.length === 0 ? undefined : several.find((each) => !isWrittenOut(each));
        if (unwritten !== undefined) return { written: [], unwritten };
        if (written.length === maxNames) return { written, unwritten: next };
        written.push(next);
      }
    });
  }

  /** Whether a pattern matches somewhere in a text, by re2js itself. */
  matches(pattern: string, text: string): boolean {
    return matcherOf(pattern)?.test(text) ?? false;
  }

  /** Whether a pattern matches somewhere in a text; one that cannot be read may. */
  mayMatch(pattern: string, text: string): boolean {
    return matcherOf(pattern)?.test(text) ?? true;
  }

  /** The name that a segment has in a text. */
  partOf(text: string, { before, name, after }: SegmentSpec): string | undefined {
    const matcher = matcherOf(anchored(`(?:${before})(?P<owner>${name})(?:${after})`))?.matcher(text);
    return matcher?.find() === true ? (matcher.group("owner") ?? undefined) : undefined;
  }

  /** Why a pattern matches a string that its author probably did not intend. */
  reasonFor(pattern: string, text: string): string {
    if (this.isSubset("", pattern) === "yes") return "it matches any text";
    const hint = pattern.includes("|") ? " (each alternative needs it: ^(?:a|b)$)" : "";
    if (!this.matches(`\\A(?:${pattern})`, text)) {
      return `the pattern is not anchored at its start: begin it with ^${hint}`;
    }
    if (!this.matches(`(?:${pattern})\\z`, text)) {
      return `the pattern is not anchored at its end: end it with $${hint}`;
    }
    return "a wildcard, or a dot that is not escaped, reaches over the part that names the owner";
  }

  /** Within a question, which cannot be answered about what cannot be read. */
  private automatonOf(pattern: string): PatternAutomaton {
    const read = this.languageOf(pattern);
    return answerOf(read === "invalid" ? "tooLarge" : read);
  }

  /** Whether the intersection or the difference of two patterns matches nothing. */
  private decide(set: keyof typeof combinations, pattern: string, other: string): ComparisonResult {
    const question = JSON.stringify([set, pattern, other]);
    const known = this.answers.get(question);
    if (known !== undefined) return known;
    const found = this.budget.ask(() => {
      const [left, right] = [this.automatonOf(pattern), this.automatonOf(other)];
      const text = shortestText(combinations[set](left, right, this.budget), this.budget);
      return text === undefined ? "yes" : "no";
    });
    if (found !== "tooLarge") this.answers.set(question, found);
    return found;
  }
}
