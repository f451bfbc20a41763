import { LONGEST_PATTERN } from "../../fields/formats";

const LARGEST_PROGRAM = 20_000;

/** A class such as `\pL` is a table of hundreds of ranges, and is built once for each use. */
const UNICODE_CLASS_INSTRUCTIONS = 400;
const MOST_FOLDED_RANGES = 20;

interface Frame {
  sum: number;
  last: number;
}

/** Where the class that begins at `start` ends. */
function endOfClass(text: string, start: number): number {
  let at = start + 1;
  if (text[at] === "^") at += 1;
  if (text[at] === "]") at += 1;
  while (at < text.length && text[at] !== "]") {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") at += /^\[:\^?[a-z]+:(?=\])/.exec(text.slice(at, at + 16))?.[0].length ?? 0;
    at += 1;
  }
  return at + 1;
}

/** The end of an escape that is one character or one class of characters. */
function endOfEscape(text: string, start: number): number {
  return (
    /^\\(?:[pPx]\{[^}]*\}|[pP].|x[0-9A-Fa-f]{2}|.)/s.exec(text.slice(start, start + 80))?.[0].length ?? 1
  );
}

function countClassInstructions(text: string): number {
  const tables = text.match(/\\[pPdDsSwW]|\[:/g)?.length ?? 0;
  return 1 + MOST_FOLDED_RANGES + tables * UNICODE_CLASS_INSTRUCTIONS;
}

/** Reads an atom of a pattern: where it ends, and how many instructions it compiles to. */
function readAtom(text: string, at: number): { readonly end: number; readonly instructions: number } {
  if (text.startsWith("\\Q", at)) {
    const end = text.indexOf("\\E", at);
    return { end: end < 0 ? text.length : end + 2, instructions: (end < 0 ? text.length : end) - at };
  }
  if (text[at] === "\\") {
    const end = at + endOfEscape(text, at);
    return { end, instructions: /^\\[pP]/.test(text.slice(at, end)) ? UNICODE_CLASS_INSTRUCTIONS : 1 };
  }
  if (text[at] !== "[") return { end: at + 1, instructions: 1 };
  const end = endOfClass(text, at);
  return { end, instructions: countClassInstructions(text.slice(at, end)) };
}

/** Reads a repetition such as `{2,5}`: how often it repeats at most, and where it ends. */
function readRepetition(
  text: string,
  at: number,
): { readonly end: number; readonly max: number } | undefined {
  if (text[at] !== "{") return undefined;
  const [all, lower, comma, upper] = /^\{(\d+)(?:(,)(\d*))?\}/.exec(text.slice(at, at + 16)) ?? [];
  if (all === undefined) return undefined;
  return { end: at + all.length, max: Math.max(Number(lower) + (comma ? 1 : 0), Number(upper ?? 0), 1) };
}

/** Estimates how many instructions a pattern compiles to at most, before any work is spent on it. */
export function estimateProgram(text: string): number {
  const outer: Frame[] = [];
  let frame: Frame = { sum: 2, last: 0 };
  const add = (cost: number): void => {
    frame.sum += frame.last;
    frame.last = cost;
  };
  for (let at = 0; at < text.length;) {
    const count = readRepetition(text, at);
    const group = text[at] === ")" ? outer.pop() : undefined;
    if (count !== undefined) {
      frame.last = (frame.last + 1) * count.max;
      at = count.end;
      continue;
    }
    const { end, instructions } = readAtom(text, at);
    if (group !== undefined) {
      const inner = frame.sum + frame.last;
      frame = group;
      add(inner);
    } else if (text[at] === "(") {
      outer.push(frame);
      frame = { sum: 2, last: 0 };
    } else if (/[*+?]/.test(text.charAt(at))) frame.last += 2;
    else add(instructions);
    at = end;
  }
  return [...outer, frame].reduce((sum, each) => sum + each.sum + each.last, 0);
}

/** Whether a pattern compiles to too much to be judged. */
export function isTooLargeToCompile(text: string): boolean {
  return text.length > LARGEST_PROGRAM || estimateProgram(text) > LARGEST_PROGRAM;
}

/** A part of a pattern: a class of characters, how often the part before it repeats, or anything else. */
interface RegexToken {
  readonly kind: "class" | "escapedClass" | "dot" | "count" | "other";
  readonly text: string;
}

function tokenAt(text: string, at: number): RegexToken {
  const token = (kind: RegexToken["kind"], end: number): RegexToken => ({ kind, text: text.slice(at, end) });
  const count = readRepetition(text, at);
  if (count !== undefined) return token("count", count.end);
  const { end } = readAtom(text, at);
  if (text[at] === "[") return token("class", end);
  if (text[at] === ".") return token("dot", end);
  return token(/^\\[pPdDsSwW]/.test(text.slice(at, end)) ? "escapedClass" : "other", end);
}

function rewriteTokens(text: string, rewrite: (token: RegexToken) => string): string {
  let rewritten = "";
  for (let at = 0; at < text.length;) {
    const token = tokenAt(text, at);
    rewritten += rewrite(token);
    at += token.text.length;
  }
  return rewritten;
}

/** What is written out at the start of a pattern. */
export interface LiteralStart {
  readonly text: string;
  /** Whether the texts of the pattern only begin so; otherwise it matches this text alone. */
  readonly isStart: boolean;
}

/** One character of ASCII that stands for itself, and is not repeated, also not behind a flag: `a(?i)*`. */
const LITERAL =
  /(?:\\([!-/:-@[-`{-~])|\[(?:\\([!-/:-@[-`{-~])|([ -Z_-~]))\]|(?![\\^$.*+?()[\]{}|])([ -~]))(?![*+?{]|\(\?[A-Za-z-]*\))/y;

/** Reads with what all texts of a pattern begin; of one that is too long to be judged nothing is read. */
export function literalStart(pattern: string): LiteralStart {
  const anchor = pattern.length > LONGEST_PATTERN ? undefined : /^(?:\^|\\A)/.exec(pattern)?.[0];
  if (anchor === undefined || hasAlternatives(pattern)) return { text: "", isStart: true };
  let text = "";
  let at = anchor.length;
  LITERAL.lastIndex = at;
  for (let found = LITERAL.exec(pattern); found !== null; found = LITERAL.exec(pattern)) {
    text += found[1] ?? found[2] ?? found[3] ?? found[4] ?? "";
    at = LITERAL.lastIndex;
  }
  return { text, isStart: !/^(?:\$|\\z)$/.test(pattern.slice(at)) };
}

/** Whether a pattern has alternatives outside of all groups. */
function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  for (let at = 0; at < pattern.length; at = readAtom(pattern, at).end) {
    if (pattern[at] === "(") depth += 1;
    else if (pattern[at] === ")") depth -= 1;
    else if (pattern[at] === "|" && depth <= 0) return true;
  }
  return false;
}

/** A character of no name: it stands where a class lets several characters be. */
export const CHOICE = "\\x{E000}";
const SINGLE_CHARACTER = /^\[(?:[^\\^\]]|\\[^A-Za-z0-9])\]$/;

/** The pattern with a character of no name for each class of characters, and each repetition as short as it may be. */
export function removeChoices(pattern: string): string {
  return rewriteTokens(pattern, ({ kind, text }) => {
    if (kind === "count") return text.replace(/,.*/, "}");
    return kind === "other" || SINGLE_CHARACTER.test(text) ? text : CHOICE;
  });
}

/** A form in whose classes the character of no name is too. */
export function acceptChoices(form: string): string {
  return rewriteTokens(form, ({ kind, text }) => {
    if (kind === "escapedClass") return `[${text}${CHOICE}]`;
    return kind === "class" && !text.startsWith("[^") ? `[${CHOICE}${text.slice(1)}` : text;
  });
}
