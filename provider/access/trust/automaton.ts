/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is one that this file has made itself */

import { alphabetOf, classOf, classesIn, joinAlphabets, representatives } from "./alphabet";
import type { Alphabet, JointClass } from "./alphabet";
import type { Budget } from "./budget";
import { At, Instruction } from "./regexProgram";
import type { CharSet, PatternProgram } from "./regexProgram";

/** A deterministic automaton whose states are made when they are first reached. */
export interface Automaton {
  readonly alphabet: Alphabet;
  readonly start: number;
  readonly step: (state: number, symbol: number) => number;
  readonly accepts: (state: number) => boolean;
  /** No text is accepted from here on. */
  readonly isDead: (state: number) => boolean;
  /** Every text is accepted from here on. */
  readonly isFull: (state: number) => boolean;
}

const DEAD = 0;
const FULL = 1;
const WORD: CharSet = Int32Array.of(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a);
const NEWLINE: CharSet = Int32Array.of(10, 10);
/** In `State.before`: the last character is one of a word. */
const AFTER_WORD = 64;

interface State {
  /** Instructions that wait for the next character, in order. */
  readonly waiting: Int32Array;
  /** What is known of the characters before, as far as a pending assertion needs it. */
  readonly before: number;
  readonly next: Int32Array;
  isAccepting: boolean | undefined;
}

/** The assertions that are true between the characters before and the next one. */
function holdsBetween(before: number, isWordNext: boolean, ahead: number): number {
  const isEdge = ((before & AFTER_WORD) !== 0) !== isWordNext;
  return (before & (At.textStart | At.lineStart)) | ahead | (isEdge ? At.wordEdge : At.noWordEdge);
}

/**
 * The texts in which a pattern matches somewhere, as the server asks. Once the pattern has matched,
 * every longer text is accepted too.
 */
export class PatternAutomaton implements Automaton {
  readonly alphabet: Alphabet;
  readonly start: number;
  private readonly members: readonly Uint8Array[];
  private readonly isWord: Uint8Array;
  private readonly newline: number;
  private readonly canStartLater: boolean;
  private readonly states: State[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly mark: Int32Array;
  private generation = 0;
  /** How much the states take, in numbers kept. */
  weight = 0;

  constructor(
    private readonly program: PatternProgram,
    private readonly budget: Budget,
  ) {
    this.alphabet = alphabetOf([...program.sets, WORD, NEWLINE], budget);
    budget.spend(program.sets.length * this.alphabet.starts.length);
    this.members = program.sets.map((set) => classesIn(set, this.alphabet));
    this.isWord = classesIn(WORD, this.alphabet);
    this.newline = classOf(this.alphabet, 10);
    this.mark = new Int32Array(program.op.length);
    this.canStartLater = this.close([program.start], ~At.textStart, true).length > 0;
    for (const isAccepting of [false, true]) {
      this.states.push({ waiting: new Int32Array(), before: 0, next: new Int32Array(), isAccepting });
    }
    this.start = this.enter([program.start], At.textStart | At.lineStart);
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

  isFull(state: number): boolean {
    return state === FULL;
  }

  private advance({ waiting, before }: State, symbol: number): number {
    const isWord = this.isWord[symbol] === 1;
    const isNewline = symbol === this.newline;
    const { op, out, arg } = this.program;
    const targets: number[] = [];
    for (const pc of this.close(waiting, holdsBetween(before, isWord, isNewline ? At.lineEnd : 0), false)) {
      if (op[pc] === Instruction.match) return FULL;
      if (op[pc] === Instruction.char && this.members[arg[pc]!]![symbol] === 1) targets.push(out[pc]!);
    }
    if (this.canStartLater) targets.push(this.program.start);
    return this.enter(targets, (isNewline ? At.lineStart : 0) | (isWord ? AFTER_WORD : 0));
  }

  private reachesMatch({ waiting, before }: State): boolean {
    const holds = holdsBetween(before, false, At.lineEnd | At.textEnd);
    return this.close(waiting, holds, false).some((pc) => this.program.op[pc] === Instruction.match);
  }

  /** The state after a character. Assertions about the characters before are evaluated here; others stay pending. */
  private enter(targets: readonly number[], before: number): number {
    const reached = this.close(targets, before, true);
    if (reached.length === 0 && !this.canStartLater) return DEAD;
    const { op } = this.program;
    if (reached.some((pc) => op[pc] === Instruction.match)) return FULL;
    const context = reached.some((pc) => op[pc] === Instruction.assertion) ? before : 0;
    const waiting = Int32Array.from(reached).sort();
    const key = `${context}:${waiting.join()}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const weight = this.alphabet.size + 2 * waiting.length + 10;
    this.weight += weight;
    this.budget.spend(weight);
    const next = new Int32Array(this.alphabet.size).fill(-1);
    this.states.push({ waiting, before: context, next, isAccepting: undefined });
    this.numbers.set(key, this.states.length - 1);
    return this.states.length - 1;
  }

  /**
   * The instructions that are reached without reading a character.
   * @param keepsWaiting Whether assertions about the next character stay pending, or are dropped if they are false.
   */
  private close(from: Iterable<number>, holds: number, keepsWaiting: boolean): number[] {
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
          else if (keepsWaiting && this.mayHoldLater(arg[pc]!)) found.push(pc);
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

  private mayHoldLater(condition: number): boolean {
    return (condition & (At.textStart | At.lineStart)) === 0;
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
    private readonly right: Automaton,
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

  isFull(state: number): boolean {
    const right = this.rights[state]!;
    return (
      this.left.isFull(this.lefts[state]!) &&
      (this.subtracts ? this.right.isDead(right) : this.right.isFull(right))
    );
  }

  /** The number of a pair of states, given when it is first reached. */
  private stateOf(left: number, right: number): number {
    const key = left * 0x4000000 + right;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.budget.spend(4);
    const number = this.lefts.push(left) - 1;
    this.rights.push(right);
    this.numbers.set(key, number);
    return number;
  }
}

/** The texts that both accept. */
export function intersection(left: Automaton, right: Automaton, budget: Budget): Automaton {
  return new Pair(left, right, false, budget);
}

/** The texts that one accepts and the other does not. */
export function difference(left: Automaton, right: Automaton, budget: Budget): Automaton {
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

/** Whether nothing is accepted. */
export function matchesNothing(automaton: Automaton, budget: Budget): boolean {
  return shortestText(automaton, budget) === undefined;
}
