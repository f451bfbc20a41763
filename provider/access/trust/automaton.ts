/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is one that this file has made itself */
import { RE2JS } from "re2js";
import { getOrCompute } from "../../fields/values";
import type { Budget } from "./budget";
import { rememberMost } from "./remember";
import { estimateProgram, isTooLargeToCompile } from "./regexSyntax";

/** Characters in classes: an automaton treats all characters of a class in the same way. */
interface Alphabet {
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
function alphabetOf(sets: readonly CharSet[], budget: Budget): Alphabet {
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
function classesIn(set: CharSet, { starts, classes, size }: Alphabet): Uint8Array {
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
interface JointClass {
  readonly left: number;
  readonly right: number;
  /** The first code point. */
  readonly first: number;
}

/** The classes of two alphabets together, and the alphabet that they are. */
function joinAlphabets(
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

/** One character of each class that has any; the one that is easiest to read. */
function representatives(alphabet: Alphabet): readonly (string | undefined)[] {
  const found = new Array<string | undefined>(alphabet.size).fill(undefined);
  for (const char of READABLE) found[classOf(alphabet, char.codePointAt(0)!)] ??= char;
  for (const [i, start] of alphabet.starts.entries()) {
    // Halves of a surrogate pair are no characters.
    const first = start >= 0xd800 && start <= 0xdfff ? 0xe000 : start;
    if (first < (alphabet.starts[i + 1] ?? LAST_CODE_POINT + 1))
      found[alphabet.classes[i]!] ??= String.fromCodePoint(first);
  }
  return found;
}

/** Code points as pairs of first and last, in order. */
type CharSet = Int32Array;

/** The instructions of a compiled pattern. Numbers of `Op` are re2js's own. */
interface PatternProgram {
  readonly start: number;
  readonly op: Uint8Array;
  readonly out: Int32Array;
  /** The second way of a split; the condition of an assertion; the number of the set of a character. */
  readonly arg: Int32Array;
  readonly sets: readonly CharSet[];
  /** How many steps it takes to read it. */
  readonly steps: number;
}

const Instruction = {
  split: 1,
  capture: 3,
  assertion: 4,
  fail: 5,
  match: 6,
  nop: 7,
  char: 8,
} as const;

/** Conditions of an assertion, as bits. Those about words and lines are not judged. */
const At = { textStart: 4, textEnd: 8 } as const;

const LAST_CODE_POINT = 0x10ffff;

interface Re2Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
}

const FOLD_CASE = 1;
const RUNE_OPS = [8, 9, 10, 11];
const ALT_MATCH = 2;

/** The characters that differ from one only in case. re2js computes them, so that its tables decide; the last one has no case. */
function foldedSet(rune: number): CharSet {
  const hex = rune.toString(16);
  const last = LAST_CODE_POINT.toString(16);
  const { inst } = readCompiledProgram(RE2JS.compile(`(?i)[\\x{${hex}}\\x{${last}}]`));
  return inst.find(({ op }) => op === Instruction.char)!.runes.slice(0, -2);
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
  steps = 0;
  private readonly byRunes = new Map<Int32Array, number>();
  private readonly byText = new Map<string, number>();

  numberOf({ op, arg, runes }: Re2Instruction): number {
    const known = this.byRunes.get(runes);
    if (known !== undefined && runes.length > 1) return known;
    this.steps += runes.length + 1;
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
    this.steps += 50;
    return foldedSet(only);
  }
}

/** Turns what re2js has compiled into instructions of one kind for each purpose; undefined where it has others. */
function readProgram(regex: RE2JS): PatternProgram | undefined {
  const { start, inst } = readCompiledProgram(regex);
  const table = new SetTable();
  const op = new Uint8Array(inst.length);
  const out = new Int32Array(inst.length);
  const arg = new Int32Array(inst.length);
  for (const [pc, each] of inst.entries()) {
    const isChar = RUNE_OPS.includes(each.op);
    op[pc] = isChar ? Instruction.char : each.op === ALT_MATCH ? Instruction.split : each.op;
    if (!Object.values(Instruction).includes(op[pc] as never)) return undefined;
    if (each.op === Instruction.assertion && ![At.textStart, At.textEnd].includes(each.arg as never))
      return undefined;
    out[pc] = each.out;
    arg[pc] = isChar ? table.numberOf(each) : each.arg;
  }
  return { start, op, out, arg, sets: table.sets, steps: table.steps };
}

/** Longer ones are not kept: a hostile program writes long patterns. */
const LONGEST_KEPT = 2000;
/** For all reviews of a process: mostly of the patterns in this package's own tables. */
const compileOnce = rememberMost(compile);

/**
 * Compiles a pattern by re2js, whose syntax is the server's. One that was compiled before takes as many steps, so that an
 * answer does not depend on what was asked before it.
 * @returns undefined where it is no pattern of RE2, or asks for more than where a text begins and ends.
 */
export function compileProgram(text: string, budget: Budget): PatternProgram | "tooLarge" | undefined {
  if (isTooLargeToCompile(text)) return "tooLarge";
  budget.spend(estimateProgram(text) * 4 + 500);
  const program = text.length > LONGEST_KEPT ? compile(text) : compileOnce(text);
  budget.spend(program?.steps ?? 0);
  return program;
}

function compile(text: string): PatternProgram | undefined {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(text);
  } catch {
    return undefined;
  }
  return readProgram(regex);
}

/** A deterministic automaton whose states are made when they are first reached. */
export interface Automaton {
  readonly alphabet: Alphabet;
  readonly start: number;
  readonly step: (state: number, symbol: number) => number;
  readonly accepts: (state: number) => boolean;
  /** No text is accepted from here on. */
  readonly isDead: (state: number) => boolean;
}

const DEAD = 0;
const FULL = 1;

interface State {
  /** Instructions that wait for the next character, or for the end of the text, in order. */
  readonly waiting: Int32Array;
  /** What holds here: `textStart`, or nothing. */
  readonly holds: number;
  readonly next: Int32Array;
  isAccepting: boolean | undefined;
}

/**
 * The texts in which a pattern matches somewhere, as the server asks. Once the pattern has matched,
 * every longer text is accepted too.
 */
export class PatternAutomaton implements Automaton {
  readonly alphabet: Alphabet;
  readonly start: number;
  private readonly members: readonly Uint8Array[];
  private readonly canStartLater: boolean;
  private readonly states: State[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly mark: Int32Array;
  private generation = 0;

  constructor(
    private readonly program: PatternProgram,
    private readonly budget: Budget,
  ) {
    this.alphabet = alphabetOf(program.sets, budget);
    budget.spend(program.sets.length * this.alphabet.starts.length);
    this.members = program.sets.map((set) => classesIn(set, this.alphabet));
    this.mark = new Int32Array(program.op.length);
    this.canStartLater = this.close([program.start], 0).length > 0;
    for (const isAccepting of [false, true]) {
      this.states.push({ waiting: new Int32Array(), holds: 0, next: new Int32Array(), isAccepting });
    }
    this.start = this.enter([program.start], At.textStart);
  }

  step(state: number, symbol: number): number {
    if (state === DEAD || state === FULL) return state;
    const { next } = this.states[state]!;
    const known = next[symbol]!;
    return known >= 0 ? known : (next[symbol] = this.advance(this.states[state]!, symbol));
  }

  accepts(state: number): boolean {
    const found = this.states[state]!;
    return (found.isAccepting ??= this.reachesMatch(found));
  }

  isDead(state: number): boolean {
    return state === DEAD;
  }

  /** Every text is accepted from here on. */
  isFull(state: number): boolean {
    return state === FULL;
  }

  private advance({ waiting }: State, symbol: number): number {
    const { op, out, arg } = this.program;
    const targets: number[] = [];
    for (const pc of waiting) {
      if (op[pc] === Instruction.char && this.members[arg[pc]!]![symbol] === 1) targets.push(out[pc]!);
    }
    this.budget.spend(waiting.length + 2);
    if (this.canStartLater) targets.push(this.program.start);
    return this.enter(targets, 0);
  }

  private reachesMatch({ waiting, holds }: State): boolean {
    return this.close(waiting, holds | At.textEnd).some((pc) => this.program.op[pc] === Instruction.match);
  }

  /** The state before a character. */
  private enter(targets: readonly number[], holds: number): number {
    const reached = this.close(targets, holds);
    if (reached.length === 0 && !this.canStartLater) return DEAD;
    const { op } = this.program;
    if (reached.some((pc) => op[pc] === Instruction.match)) return FULL;
    const waiting = Int32Array.from(reached).sort();
    const key = `${holds}:${waiting.join()}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    // How much a state takes, in numbers kept.
    this.budget.spend(this.alphabet.size + 2 * waiting.length + 10);
    const next = new Int32Array(this.alphabet.size).fill(-1);
    this.states.push({ waiting, holds, next, isAccepting: undefined });
    this.numbers.set(key, this.states.length - 1);
    return this.states.length - 1;
  }

  /** The instructions that are reached without reading a character, with what waits for the end of the text. */
  private close(from: Iterable<number>, holds: number): number[] {
    const { op, out, arg } = this.program;
    const found: number[] = [];
    const open: number[] = [];
    const generation = (this.generation += 1);
    const add = (pc: number): void => {
      if (this.mark[pc] === generation) return;
      this.mark[pc] = generation;
      open.push(pc);
    };
    for (const pc of from) add(pc);
    let steps = 0;
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      steps += 1;
      switch (op[pc]) {
        case Instruction.split:
          add(arg[pc]!);
          add(out[pc]!);
          break;
        case Instruction.capture:
        case Instruction.nop:
          add(out[pc]!);
          break;
        case Instruction.assertion:
          if ((arg[pc]! & ~holds) === 0) add(out[pc]!);
          else if (arg[pc] === At.textEnd) found.push(pc);
          break;
        case Instruction.fail:
          break;
        default:
          found.push(pc);
      }
    }
    this.budget.spend(steps + 2);
    return found;
  }
}

/** Two automata read the same text side by side. */
class Pair implements Automaton {
  readonly alphabet: Alphabet;
  readonly start: number;
  private readonly joint: readonly JointClass[];
  private readonly lefts: number[] = [];
  private readonly rights: number[] = [];
  private readonly numbers = new Map<number, number>();

  constructor(
    private readonly left: Automaton,
    private readonly right: PatternAutomaton,
    /** Whether what the right one accepts is taken away instead of demanded. */
    private readonly subtracts: boolean,
    private readonly budget: Budget,
  ) {
    ({ alphabet: this.alphabet, joint: this.joint } = joinAlphabets(left.alphabet, right.alphabet, budget));
    this.start = this.stateOf(left.start, right.start);
  }

  step(state: number, symbol: number): number {
    const { left, right } = this.joint[symbol]!;
    const next = this.left.step(this.lefts[state]!, left);
    return this.left.isDead(next)
      ? this.stateOf(next, this.right.start)
      : this.stateOf(next, this.right.step(this.rights[state]!, right));
  }

  accepts(state: number): boolean {
    return (
      this.left.accepts(this.lefts[state]!) && this.right.accepts(this.rights[state]!) !== this.subtracts
    );
  }

  isDead(state: number): boolean {
    const right = this.rights[state]!;
    return (
      this.left.isDead(this.lefts[state]!) ||
      (this.subtracts ? this.right.isFull(right) : this.right.isDead(right))
    );
  }

  /** The number of a pair of states, given when it is first reached. */
  private stateOf(left: number, right: number): number {
    const key = left * 0x4000000 + right;
    return getOrCompute(this.numbers, key, () => {
      this.budget.spend(4);
      this.rights.push(right);
      return this.lefts.push(left) - 1;
    });
  }
}

/** The texts that both accept. */
export function intersection(left: Automaton, right: PatternAutomaton, budget: Budget): Automaton {
  return new Pair(left, right, false, budget);
}

/** The texts that one accepts and the other does not. */
export function difference(left: Automaton, right: PatternAutomaton, budget: Budget): Automaton {
  return new Pair(left, right, true, budget);
}

/** A shortest text that is accepted; undefined where there is none. */
export function shortestText(automaton: Automaton, budget: Budget): string | undefined {
  const { alphabet, start } = automaton;
  if (automaton.accepts(start)) return "";
  const chars = representatives(alphabet);
  const symbols = readableFirst(chars);
  const cameFrom = new Map<number, { readonly state: number; readonly char: string }>();
  const queue = [start];
  for (let i = 0; i < queue.length; i += 1) {
    const state = queue[i]!;
    budget.spend(symbols.length);
    for (const symbol of symbols) {
      const next = automaton.step(state, symbol);
      if (next === start || cameFrom.has(next) || automaton.isDead(next)) continue;
      cameFrom.set(next, { state, char: chars[symbol]! });
      if (automaton.accepts(next)) return textTo(next, start, cameFrom);
      queue.push(next);
    }
  }
  return undefined;
}

function textTo(
  end: number,
  start: number,
  cameFrom: ReadonlyMap<number, { readonly state: number; readonly char: string }>,
): string {
  const chars: string[] = [];
  for (let at = end; at !== start;) {
    const { state, char } = cameFrom.get(at)!;
    chars.push(char);
    at = state;
  }
  return chars.reverse().join("");
}

/** The classes that contain a character, letters and digits first. */
function readableFirst(chars: readonly (string | undefined)[]): number[] {
  const rank = (char: string): number => (/^[a-z]$/.test(char) ? 0 : /^[\x21-\x7e]$/.test(char) ? 1 : 2);
  return [...chars.keys()]
    .filter((symbol) => chars[symbol] !== undefined)
    .sort((a, b) => rank(chars[a]!) - rank(chars[b]!));
}
