import { domainToUnicode } from "node:url";
import { UNSEEN } from "../../text/printable";

/**
 * The scripts that people write together, in which no letter looks like one of another. Source: the "highly restrictive"
 * level of Unicode Technical Standard 39, and the recommended scripts of Unicode Standard Annex 31.
 */
const WRITING_SYSTEMS = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
  ...["Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek"],
  ...["Gujarati", "Gurmukhi", "Hebrew", "Kannada", "Khmer", "Lao", "Malayalam", "Myanmar", "Oriya"],
  ...["Sinhala", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan"],
].map((scripts) => {
  const letters = [scripts].flat().map((script) => `\\p{Script=${script}}`);
  return new RegExp(`^[${letters.join("")}\\p{Script=Common}\\p{Script=Inherited}]*$`, "u");
});

/** Letters of phonetics: no language is written in them, and many look like those of Latin. */
const PHONETIC = /[\u0250-\u02af\u1d00-\u1dbf]/u;

/** Whether a letter is another form of one of ASCII: wide, mathematical, a Roman number. */
const isFormOfAscii = (letter: string): boolean =>
  letter > "\x7f" && /^[a-z0-9]+$/i.test(letter.normalize("NFKC"));

/** Whether all letters of a word are of one writing system: those of another one can look the same. */
export function isOfOneWritingSystem(word: string): boolean {
  if (PHONETIC.test(word) || Array.from(word).some(isFormOfAscii)) return false;
  return WRITING_SYSTEMS.some((letters) => letters.test(word));
}

const BLANK = new RegExp(`[\\s\\p{Z}${UNSEEN}]+`, "gu");

/** A name as readers see it: without case, widths and characters that nothing shows. */
export function foldName(name: string): string {
  return name.normalize("NFKC").replace(BLANK, "").toLowerCase();
}

/** Words, and domains as a whole, in their own letters. */
function* wordsOf(text: string): Generator<string> {
  for (const [domain] of text
    .replaceAll("\\.", ".")
    .matchAll(/(?<![\p{L}\p{M}\p{N}_-])[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+/gu)) {
    yield domainToUnicode(domain);
  }
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{Nl}]+/gu)) yield word;
}

/** The first word, or domain, of a text that has letters of several writing systems, also where it is in punycode. */
export function findMixedWord(text: string): string | undefined {
  // Letters of other systems need one of these.
  if (!/\P{ASCII}|xn--/iu.test(text)) return undefined;
  return [...wordsOf(text)].find((word) => !isOfOneWritingSystem(word));
}
