/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is one that this file has made itself */
import type { Budget } from "./budget";
import { LAST_CODE_POINT } from "./regexProgram";
import type { CharSet } from "./regexProgram";

/** Characters in classes: an automaton treats all characters of a class in the same way. */
export interface Alphabet {
  /** The first code point of each range, in order; the first is 0. */
  readonly starts: Int32Array;
  /** The class of each range. */
  readonly classes: Int32Array;
  readonly size: number;
}

/** Where a set begins and ends, as the starts of ranges. */
function bordersOf(sets: readonly CharSet[]): Int32Array {
  const borders = new Set([0]);
  for (const set of sets) {
    for (let i = 0; i < set.length; i += 2) {
      borders.add(set[i]!);
      if (set[i + 1]! < LAST_CODE_POINT) borders.add(set[i + 1]! + 1);
    }
  }
  return Int32Array.from(borders).sort();
}

/** The coarsest alphabet in which each of some sets is a union of classes. */
export function alphabetOf(sets: readonly CharSet[], budget: Budget): Alphabet {
  const starts = bordersOf(sets);
  let classes = new Int32Array(starts.length);
  let size = 1;
  for (const set of sets) {
    budget.spend(starts.length);
    const renamed = new Map<number, number>();
    const refined = new Int32Array(starts.length);
    let at = 0;
    for (let i = 0; i < starts.length; i += 1) {
      while (at < set.length && set[at + 1]! < starts[i]!) at += 2;
      const isIn = at < set.length && set[at]! <= starts[i]!;
      const key = classes[i]! * 2 + (isIn ? 1 : 0);
      if (!renamed.has(key)) renamed.set(key, renamed.size);
      refined[i] = renamed.get(key)!;
    }
    classes = refined;
    size = renamed.size;
  }
  return { starts, classes, size };
}

/** The classes that a set of characters contains. */
export function classesIn(set: CharSet, { starts, classes, size }: Alphabet): Uint8Array {
  const found = new Uint8Array(size);
  let at = 0;
  for (let i = 0; i < starts.length; i += 1) {
    while (at < set.length && set[at + 1]! < starts[i]!) at += 2;
    if (at < set.length && set[at]! <= starts[i]!) found[classes[i]!] = 1;
  }
  return found;
}

/** The class of a character. */
export function classOf({ starts, classes }: Alphabet, codePoint: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= codePoint) low = middle;
    else high = middle;
  }
  return classes[low]!;
}

/** The classes of characters that two automata both treat in the same way. */
export interface JointClass {
  readonly left: number;
  readonly right: number;
  /** The first code point. */
  readonly first: number;
}

/** The classes of two alphabets together, and the alphabet that they are. */
export function joinAlphabets(
  left: Alphabet,
  right: Alphabet,
  budget: Budget,
): { readonly alphabet: Alphabet; readonly joint: readonly JointClass[] } {
  const starts = Int32Array.from(new Set([...left.starts, ...right.starts])).sort();
  budget.spend(starts.length);
  const classes = new Int32Array(starts.length);
  const numbers = new Map<number, number>();
  const joint: JointClass[] = [];
  let [l, r] = [0, 0];
  for (let i = 0; i < starts.length; i += 1) {
    while (l + 1 < left.starts.length && left.starts[l + 1]! <= starts[i]!) l += 1;
    while (r + 1 < right.starts.length && right.starts[r + 1]! <= starts[i]!) r += 1;
    const [a, b] = [left.classes[l]!, right.classes[r]!];
    const key = a * right.size + b;
    if (!numbers.has(key)) {
      numbers.set(key, joint.length);
      joint.push({ left: a, right: b, first: starts[i]! });
    }
    classes[i] = numbers.get(key)!;
  }
  return { alphabet: { starts, classes, size: joint.length }, joint };
}

/** Characters that are easy to read come first. */
const READABLE = Array.from("xae0i1n-/:.abcdefghijklmnopqrstuvwxyzXABCDEFGHIJKLMNOPQRSTUVWYZ23456789@_=+~, ");

const isPrintable = (codePoint: number): boolean =>
  /^[^\p{C}\p{Z}]$/u.test(String.fromCodePoint(codePoint)) || codePoint === 0x20;

/** One character of each class that has any; the one that is easiest to read. */
export function representatives(alphabet: Alphabet): readonly (string | undefined)[] {
  const found = new Array<string | undefined>(alphabet.size).fill(undefined);
  for (const char of READABLE) found[classOf(alphabet, char.codePointAt(0)!)] ??= char;
  const rough = new Array<string | undefined>(alphabet.size).fill(undefined);
  for (const [i, start] of alphabet.starts.entries()) {
    const number = alphabet.classes[i]!;
    if (found[number] !== undefined) continue;
    const end = (alphabet.starts[i + 1] ?? LAST_CODE_POINT + 1) - 1;
    for (let code = start; code <= end && code < start + 200; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      rough[number] ??= String.fromCodePoint(code);
      if (isPrintable(code)) {
        found[number] = String.fromCodePoint(code);
        break;
      }
    }
  }
  return found.map((char, number) => char ?? rough[number]);
}
