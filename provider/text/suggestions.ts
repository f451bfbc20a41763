import type * as levenshtein from "fastest-levenshtein";

/** Longer words are not compared: none of them is a spelling mistake, and the comparison takes time. */
const LONGEST_WORD = 100;

/** The known word that differs in the fewest letters; undefined where it differs in more than these. */
export function nearestWord(word: string, known: readonly string[], most: number): string | undefined {
  if (known.length === 0 || word.length > LONGEST_WORD) return undefined;
  // Loaded here: a program that makes no mistake does not need it.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { closest, distance } = require("fastest-levenshtein") as typeof levenshtein;
  const near = closest(word, known);
  return distance(word, near) <= most ? near : undefined;
}

/** The known word that was probably meant: the only one that begins so, or one that is near; undefined where there is none. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const [longer, ...others] = known.filter((each) => each.length > word.length && each.startsWith(word));
  if (longer !== undefined && others.length === 0 && word.length > 3 && !known.includes(word)) return longer;
  return nearestWord(word, known, Math.max(2, Math.floor(word.length / 4)));
}

export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_WORD ? `${text.slice(0, LONGEST_WORD)}…` : text);
}

/** The end of a message about a word that is not known. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = didYouMean(word, known);
  return meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
}
