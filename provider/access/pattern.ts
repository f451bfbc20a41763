import { RE2JS } from "re2js";
import { isTooLargeToCompile, LONGEST_PATTERN } from "./trust/regexSyntax";

/** A compiled pattern. */
export interface Pattern {
  /** Whether it matches somewhere in a text, as the platform asks. */
  readonly accepts: (text: string) => boolean;
}

/**
 * Reads a pattern with RE2's semantics.
 * @returns undefined where it is no pattern of RE2, or too large to be judged.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text.length > LONGEST_PATTERN || isTooLargeToCompile(text)) return undefined;
  try {
    const regex = RE2JS.compile(text);
    return { accepts: (candidate) => regex.test(candidate) };
  } catch {
    return undefined;
  }
}
