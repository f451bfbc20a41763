/**
 * The credentials that this process holds, so that no message repeats one that a server has quoted: whole, in part,
 * percent-encoded, or escaped as in JSON or HTML.
 */

/** A part of a credential of this length gives it away; shorter credentials are looked for as whole words. */
const PART_LENGTH = 12;
/** Shorter than this, it would mask words of every message and protect nothing. */
const SHORTEST = 4;
/** Enough for every token and client secret of a run; the oldest are forgotten. */
const MOST_CREDENTIALS = 1000;
/** An escape in an escape in an escape. */
const DEEPEST_ESCAPES = 3;
const MASK = "[credential]";

const credentials = new Set<string>();
let parts = new Set<string>();
let words: string[] = [];

/** Host names lose their case; other than `toLowerCase`, this keeps the length of a text. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

function addParts(heldCredential: string): void {
  const credential = lowerCase(heldCredential);
  for (let at = 0; at + PART_LENGTH <= credential.length; at += 1) {
    parts.add(credential.slice(at, at + PART_LENGTH));
  }
  if (credential.length < PART_LENGTH) words.push(credential);
}

/** Remembers a credential, in order to mask it wherever a message quotes a server. */
export function registerCredential(credential: string | undefined): void {
  if (credential === undefined || credential.length < SHORTEST || credentials.has(credential)) return;
  credentials.add(credential);
  if (credentials.size <= MOST_CREDENTIALS) {
    addParts(credential);
    return;
  }
  for (const oldest of [...credentials].slice(0, MOST_CREDENTIALS / 2)) credentials.delete(oldest);
  parts = new Set();
  words = [];
  for (const known of credentials) addParts(known);
}

/** A text whose characters stand for parts of another: the nth one begins at `starts[n]`, and ends where the next begins. */
interface DecodedText {
  readonly text: string;
  readonly starts: readonly number[];
}

const ESCAPES =
  /(?:%[0-9a-f]{2})+|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\["'\\/]|&#x[0-9a-f]{1,4};|&#\d{1,5};|&(?:amp|quot|apos|lt|gt);/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", quot: '"', apos: "'", lt: "<", gt: ">" };

function decodeEscape(escape: string): string {
  if (escape.startsWith("%")) return Buffer.from(escape.replaceAll("%", ""), "hex").toString("latin1");
  if (/^\\[ux]/i.test(escape)) return String.fromCharCode(parseInt(escape.slice(2), 16));
  if (escape.startsWith("\\")) return escape.slice(1);
  if (/^&#x/i.test(escape)) return String.fromCharCode(parseInt(escape.slice(3), 16));
  if (escape.startsWith("&#")) return String.fromCharCode(parseInt(escape.slice(2), 10));
  return ENTITIES[escape.slice(1, -1).toLowerCase()] ?? escape;
}

/** One level of escapes less. */
function decode({ text, starts }: DecodedText): DecodedText {
  const characters: string[] = [];
  const origins: number[] = [];
  const add = (characterText: string, originOf: (at: number) => number): void => {
    for (let at = 0; at < characterText.length; at += 1) {
      characters.push(characterText.charAt(at));
      origins.push(starts[originOf(at)] ?? 0);
    }
  };
  let end = 0;
  for (const { 0: escape, index } of text.matchAll(ESCAPES)) {
    const from = end;
    add(text.slice(from, index), (at) => from + at);
    const width = escape.startsWith("%") ? 3 : escape.length;
    add(decodeEscape(escape), (at) => index + at * width);
    end = index + escape.length;
  }
  const from = end;
  add(text.slice(from), (at) => from + at);
  return { text: characters.join(""), starts: [...origins, starts.at(-1) ?? 0] };
}

/** The ranges of a text that hold a credential, or enough of one, in the order of their beginnings. */
function findCredentials(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at + PART_LENGTH <= text.length; at += 1) {
    if (parts.has(text.slice(at, at + PART_LENGTH))) found.push([at, at + PART_LENGTH]);
  }
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      const end = at + word.length;
      if (!/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(end))) found.push([at, end]);
    }
  }
  return found;
}

/** A text without the credentials that this process holds. */
export function maskCredentials(text: string): string {
  if (credentials.size === 0) return text;
  const ranges: [number, number][] = [];
  let level: DecodedText = { text, starts: Array.from({ length: text.length + 1 }, (_, at) => at) };
  for (let depth = 0; depth <= DEEPEST_ESCAPES; depth += 1) {
    const { starts } = level;
    for (const [from, to] of findCredentials(lowerCase(level.text)))
      ranges.push([starts[from] ?? 0, starts[to] ?? 0]);
    const next = decode(level);
    if (next.text === level.text) break;
    level = next;
  }
  return replaceRanges(
    text,
    ranges.sort(([one], [other]) => one - other),
  );
}

function replaceRanges(text: string, ranges: readonly (readonly [number, number])[]): string {
  let masked = "";
  let end = 0;
  for (const [from, to] of ranges) {
    if (from > end || (end === 0 && masked === "")) masked += `${text.slice(end, from)}${MASK}`;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}
