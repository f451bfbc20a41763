import { RE2JS } from "re2js";
import type { Budget } from "./budget";
import { estimateProgram, isTooLargeToCompile } from "./regexSyntax";

/** Code points as pairs of first and last, in order. */
export type CharSet = Int32Array;

/** The instructions of a compiled pattern. Numbers of `Op` are re2js's own. */
export interface PatternProgram {
  readonly start: number;
  readonly op: Uint8Array;
  readonly out: Int32Array;
  /** The second way of a split; the condition of an assertion; the number of the set of a character. */
  readonly arg: Int32Array;
  readonly sets: readonly CharSet[];
}

export const Instruction = {
  split: 1,
  capture: 3,
  assertion: 4,
  fail: 5,
  match: 6,
  nop: 7,
  char: 8,
} as const;

/** Conditions of an assertion, as bits. */
export const At = {
  lineStart: 1,
  lineEnd: 2,
  textStart: 4,
  textEnd: 8,
  wordEdge: 16,
  noWordEdge: 32,
} as const;

export const LAST_CODE_POINT = 0x10ffff;

interface Re2Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
}

const FOLD_CASE = 1;
const ALT_MATCH = 2;
const RUNE_OPS = [8, 9, 10, 11];

/** The characters that differ from one only in case. re2js computes them, so that its tables decide. */
function foldedSet(rune: number): CharSet {
  const hex = rune.toString(16);
  const last = LAST_CODE_POINT.toString(16);
  const { inst } = readCompiledProgram(RE2JS.compile(`(?i)[\\x{${hex}}\\x{${last}}]`));
  const runes = inst.find(({ op }) => op === Instruction.char)?.runes;
  if (runes === undefined) return Int32Array.of(rune, rune);
  return runes.at(-2) === LAST_CODE_POINT ? runes.slice(0, -2) : runes;
}

/** The program that re2js has compiled; its types name no members of it. */
function readCompiledProgram(regex: RE2JS): {
  readonly start: number;
  readonly inst: readonly Re2Instruction[];
} {
  return regex.re2().prog as { start: number; inst: Re2Instruction[] };
}

/** The distinct sets of a program, each with a number. */
class SetTable {
  readonly sets: CharSet[] = [];
  private readonly byRunes = new Map<Int32Array, number>();
  private readonly byText = new Map<string, number>();

  constructor(private readonly budget: Budget) {}

  numberOf({ op, arg, runes }: Re2Instruction): number {
    const known = this.byRunes.get(runes);
    if (known !== undefined && runes.length > 1) return known;
    this.budget.spend(runes.length + 1);
    const set = this.expand(op, arg, runes);
    const text = set.join(",");
    const number = this.byText.get(text) ?? this.sets.push(set) - 1;
    this.byText.set(text, number);
    this.byRunes.set(runes, number);
    return number;
  }

  private expand(op: number, arg: number, runes: Int32Array): CharSet {
    if (op === 10) return Int32Array.of(0, LAST_CODE_POINT);
    if (op === 11) return Int32Array.of(0, 9, 11, LAST_CODE_POINT);
    const [only] = runes;
    if (runes.length !== 1 || only === undefined) return runes;
    if ((arg & FOLD_CASE) === 0) return Int32Array.of(only, only);
    this.budget.spend(50);
    return foldedSet(only);
  }
}

/** Turns what re2js has compiled into instructions of one kind for each purpose. */
function readProgram(regex: RE2JS, budget: Budget): PatternProgram | undefined {
  const { start, inst } = readCompiledProgram(regex);
  const table = new SetTable(budget);
  const op = new Uint8Array(inst.length);
  const out = new Int32Array(inst.length);
  const arg = new Int32Array(inst.length);
  for (const [pc, each] of inst.entries()) {
    const isChar = RUNE_OPS.includes(each.op);
    const isKnown = isChar || Object.values(Instruction).includes(each.op as never) || each.op === ALT_MATCH;
    if (!isKnown) return undefined;
    op[pc] = isChar ? Instruction.char : each.op === ALT_MATCH ? Instruction.split : each.op;
    out[pc] = each.out;
    arg[pc] = isChar ? table.numberOf(each) : each.arg;
  }
  return { start, op, out, arg, sets: table.sets };
}

/**
 * Compiles a pattern by re2js, whose syntax is the server's.
 * @returns undefined where it is no pattern of RE2.
 */
export function compileProgram(text: string, budget: Budget): PatternProgram | "tooLarge" | undefined {
  if (isTooLargeToCompile(text)) return "tooLarge";
  budget.spend(estimateProgram(text) * 4 + 500);
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(text);
  } catch {
    return undefined;
  }
  return readProgram(regex, budget);
}
