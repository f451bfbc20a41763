import type * as levenshtein from "fastest-levenshtein";

/** Longer words are not compared: none of them is a spelling mistake, and the comparison takes time. */
const LONGEST_WORD = 100;

/** The unknown words of one value that get a proposal: each is compared with all known ones. */
export const MOST_PROPOSALS = 10;

/**
 * The known word that differs in the fewest letters; undefined where it differs in more than these, or in all of them: any
 * short word is as near to an empty one, and to each other short one.
 */
export function nearestWord(word: string, known: readonly string[], limit: number): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const most = Math.min(limit, word.length - 1);
  const alike = known.filter((one) => Math.abs(one.length - word.length) <= most);
  if (alike.length === 0) return undefined;
  // Loaded here: a program that makes no mistake does not need it.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { closest, distance } = require("fastest-levenshtein") as typeof levenshtein;
  const near = closest(word, alike);
  return distance(word, near) <= most ? near : undefined;
}

/** The known word that was probably meant; undefined where none is near. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  return nearestWord(word, known, Math.max(2, Math.floor(word.length / 4)));
}

/** The known words that are nearest, however far they are. */
export function nearestWords(word: string, known: readonly string[], count: number): string[] {
  if (word.length > LONGEST_WORD) return [];
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { distance } = require("fastest-levenshtein") as typeof levenshtein;
  return known
    .filter((one) => one !== "")
    .map((one) => ({ one, far: distance(word, one.slice(0, LONGEST_WORD)) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, count)
    .map(({ one }) => one);
}

export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_WORD ? `${text.slice(0, LONGEST_WORD)}…` : text);
}

/** The end of a message about a word that is not known. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = didYouMean(word, known);
  return meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
}
