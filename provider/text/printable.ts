import { stripVTControlCharacters } from "node:util";

/**
 * Text of others in a log. CI runners take commands from what a job prints: `::name …::` at the beginning of a line, and
 * `##[name]`, `##vso[…]` or `##teamcity[…]` anywhere in one.
 */

/** Characters that move the cursor, colour, hide or reorder text; also those that end a line. */
const CONTROLLING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** `##[name]` and its kin, with the second sign as an escape. */
function breakMarkers(text: string): string {
  return text.replace(/##(?=[\w.-]*\[)/g, "#\\u{23}");
}

/** Marks that would run over other lines, after four on one letter, or over what stands before a text. */
const PILED = /(?!\ufe0f)(?:(?<=\p{M}{4})|(?<![\p{L}\p{N}\p{M}\p{S}]))\p{M}/gu;

/** Invisible characters, as a part of a character class: control and format characters, the blank of Braille, and others. */
export const UNSEEN = "\\u2800\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}";

const HIDDEN = `(?!(?<=\\p{Extended_Pictographic})\\ufe0f)[${UNSEEN}\\p{Cs}\\p{Co}\\p{Noncharacter_Code_Point}]|(?![ \\u3000])\\p{Zs}`;

/**
 * What a reader cannot see, or what changes how the text around it is seen; also half a surrogate pair, and characters that
 * look as each font likes.
 */
export const INVISIBLE = new RegExp(`${HIDDEN}|${PILED.source}`, "gu");

/** What is not printable ASCII: in a long text nothing else is looked at. */
const OTHER_LETTERS = /[^ -~]+/g;

/** A text with each invisible character replaced; line feeds and tabs are invisible too. */
export function replaceInvisible(text: string, write: (character: string) => string): string {
  return text.replace(OTHER_LETTERS, (letters, at: number) => {
    if (letters === "\n") return write(letters);
    // Marks may stand on the letter before them.
    const base = text.charAt(at - 1);
    return (base + letters).replace(INVISIBLE, write).slice(base.length);
  });
}

/** A text as escapes of JSON, one for each code unit. */
export const escapeUnits = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");

const byCode = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * One line of visible characters: all others as `\n` or `\u{202e}`, so that two names that differ look different. Each form
 * of a report may be printed in a CI job, whose runner takes `##[…]` anywhere in a line for a command.
 */
export function plainText(text: string): string {
  return replaceInvisible(breakMarkers(text), (character) => {
    if (character === "\n") return "\\n";
    return character === "\t" ? "\\t" : byCode(character);
  });
}

const breakCommands = (line: string): string => breakMarkers(line).replace(/^(\s*):(?=:[a-z])/i, "$1\\u{3a}");

/** Without the sequences by which a terminal colours text: what would be left of them is no text of anybody. */
const uncoloured = (text: string): string => stripVTControlCharacters(text).replace(/<\{%[^%]*%\}>/g, "");

/** A line whose control characters are blanks, and whose other invisible characters are written out. */
const showHidden = (line: string): string => replaceInvisible(line.replace(CONTROLLING, " "), byCode);

/** One line of visible characters, and without a command to a CI runner. */
export function logLine(text: string): string {
  return breakCommands(showHidden(uncoloured(text)).trim());
}

/** The same for a text of several lines, which keep their indentation. */
export function logLines(text: string): string {
  return uncoloured(text)
    .split(/\r?\n/)
    .map((line) => breakCommands(showHidden(line).trimEnd()))
    .join("\n");
}

/**
 * The credentials that this process holds, so that no message repeats one that a server has quoted: as it is, escaped once
 * (percent-encoded, or as in JSON or HTML), or cut off.
 */

/** A shorter one is no secret but a word, which it would mask in every message. */
const SHORTEST = 8;
/** So much of a credential gives it away, and is no word of a message. */
const PART_LENGTH = 20;
const MASK = "[credential]";

/** In lower case: a server may return a credential as a host name, which has no other. */
const credentials = new Set<string>();

/** Remembers a credential, in order to mask it wherever a message quotes a server. */
export function registerCredential(credential: string | undefined): void {
  if (credential !== undefined && credential.length >= SHORTEST) credentials.add(credential.toLowerCase());
}

export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Masks whole credentials, but not in the middle of a word, and long parts of one. */
function maskAsWritten(text: string): string {
  let masked = text;
  const lower = text.toLowerCase();
  for (const credential of credentials) {
    if (!lower.includes(credential)) continue;
    const isLong = credential.length >= PART_LENGTH;
    const pattern = isLong ? escapePattern(credential) : `(?<!\\w)${escapePattern(credential)}(?!\\w)`;
    masked = masked.replace(new RegExp(pattern, "gi"), MASK);
  }
  return masked.replace(/[\w+/=~-]+/g, (part) =>
    part.length >= PART_LENGTH && [...credentials].some((known) => known.includes(part.toLowerCase()))
      ? MASK
      : part,
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", quot: '"', apos: "'", lt: "<", gt: ">" };

function decode(text: string): string {
  const ofHex = (hex: string) => String.fromCharCode(parseInt(hex, 16));
  return text
    .replace(
      /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,4});/gi,
      (_, ...hex: string[]) => ofHex(hex.find((digits) => typeof digits === "string") ?? ""),
    )
    .replace(/&#(\d{1,5});/g, (_, digits: string) => String.fromCharCode(Number(digits)))
    .replace(/&(amp|quot|apos|lt|gt);/gi, (_, name: string) => ENTITIES[name.toLowerCase()] ?? "")
    .replace(/\\(["'\\/])/g, "$1");
}

/** A text without the credentials that this process holds; decoded where only that shows one. */
export function maskCredentials(text: string): string {
  if (credentials.size === 0) return text;
  const masked = maskAsWritten(text);
  const decoded = decode(masked);
  const maskedDecoded = maskAsWritten(decoded);
  return maskedDecoded === decoded ? masked : maskedDecoded;
}

/** More than any credential is long: what is cut off before it is masked is never shown. */
const MASKED_BEYOND_LIMIT = 8192;

/**
 * Text of a server made safe to print: one line, no control characters, no command to a CI runner, bounded, and without
 * the credentials that this process holds. Whatever a message or a log line quotes goes through here.
 */
export function printable(text: string, limit = 500): string {
  const bounded = text.slice(0, limit + MASKED_BEYOND_LIMIT);
  const clean = logLine(maskCredentials(logLine(bounded)));
  return clean.length > limit ? `${clean.slice(0, limit)} …` : clean;
}

/**
 * A value of a document as a reader can tell it from another: one line, and each invisible character as its code. Bounded,
 * and without the credentials that this process holds.
 */
export function visible(text: string, limit = 500): string {
  const bounded = text.slice(0, limit + MASKED_BEYOND_LIMIT);
  const clean = plainText(maskCredentials(plainText(bounded)));
  return clean.length > limit ? `${clean.slice(0, limit)} …` : clean;
}
