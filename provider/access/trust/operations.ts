/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is one that this file has made itself */
import type { Alphabet, JointClass } from "./alphabet";
import { joinAlphabets, representatives } from "./alphabet";
import type { Automaton } from "./automaton";
import type { Budget } from "./budget";

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

/** Reads a text from a state on. */
export function acceptsText(
  automaton: Automaton,
  text: string,
  classOf: (codePoint: number) => number,
): boolean {
  let state = automaton.start;
  for (const char of text) state = automaton.step(state, classOf(char.codePointAt(0)!));
  return automaton.accepts(state);
}
