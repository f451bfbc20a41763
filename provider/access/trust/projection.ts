/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index is one that this file has made itself */
import { classOf, joinAlphabets } from "./automaton";
import type { JointClass, Automaton } from "./automaton";
import { addTo, getOrCompute } from "../../fields/values";
import type { Budget } from "./budget";

/** A part of a string that names an owner: what precedes it, how it is written, and what follows. */
interface Segment {
  readonly before: Automaton;
  readonly name: Automaton;
  readonly after: Automaton;
  /** Whether names that differ only in the case of their letters are the same one. */
  readonly ignoresCase: boolean;
}

/** The names that occur: all of them, or a few examples if there are more than the limit. */
export interface Names {
  readonly isMany: boolean;
  readonly list: readonly string[];
}

/** Characters that both automata treat in the same way, with a few examples. */
interface Symbols {
  readonly chars: readonly string[];
  readonly isMany: boolean;
  /** Classes of the pattern's alphabet: two where case does not matter. */
  readonly ways: readonly number[];
  readonly name: number;
}

const LAST_ASCII = 0x7f;

/** The states that a pattern can be in after a text that `before` accepts. */
function statesAfter(pattern: Automaton, before: Automaton, budget: Budget): Set<number> {
  const found = new Set<number>();
  explore(
    pattern,
    pattern.start,
    before,
    joinAlphabets(pattern.alphabet, before.alphabet, budget).joint,
    budget,
    (state, other) => {
      if (before.accepts(other)) found.add(state);
      return false;
    },
  );
  return found;
}

/** Visits each pair of states that some string leads to, until `visit` returns true. */
function explore(
  pattern: Automaton,
  from: number,
  other: Automaton,
  pairs: readonly JointClass[],
  budget: Budget,
  visit: (state: number, other: number) => boolean,
): boolean {
  const seen = new Set<number>();
  const queue: (readonly [number, number])[] = [];
  const add = (state: number, there: number): void => {
    const key = state * 0x4000000 + there;
    if (seen.has(key) || pattern.isDead(state) || other.isDead(there)) return;
    seen.add(key);
    queue.push([state, there]);
  };
  add(from, other.start);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [state, there] = next;
    if (visit(state, there)) return true;
    budget.spend(pairs.length + 2);
    for (const { left, right } of pairs) add(pattern.step(state, left), other.step(there, right));
  }
  return false;
}

/** The characters of a name, in classes that are treated in the same way. */
function nameSymbols(pattern: Automaton, { name, ignoresCase }: Segment, maxNames: number): Symbols[] {
  const found = new Map<string, { chars: string[]; isMany: boolean; ways: number[]; name: number }>();
  const add = (code: number, isRange: boolean): void => {
    const char = String.fromCodePoint(code);
    if (ignoresCase && /[A-Z]/.test(char)) return;
    const variants = ignoresCase ? [char, char.toUpperCase()] : [char];
    const ways = [...new Set(variants.map((char) => classOf(pattern.alphabet, char.codePointAt(0)!)))];
    const own = classOf(name.alphabet, code);
    const key = `${ways.join()}:${own}`;
    const known = found.get(key) ?? { chars: [], isMany: false, ways, name: own };
    found.set(key, known);
    if (known.chars.length <= maxNames) known.chars.push(char);
    known.isMany ||= isRange;
  };
  for (let code = 0; code <= LAST_ASCII; code += 1) add(code, false);
  const starts = new Set([LAST_ASCII + 1, ...pattern.alphabet.starts, ...name.alphabet.starts]);
  const nonAsciiStarts = [...starts].filter((start) => start > LAST_ASCII).sort((a, b) => a - b);
  for (const [i, start] of nonAsciiStarts.entries())
    add(start, (nonAsciiStarts[i + 1] ?? Infinity) > start + 1);
  return [...found.values()];
}

/** A state of the names: where the pattern can be, and where the form of names is. */
interface NameState {
  readonly states: readonly number[];
  readonly name: number;
  readonly next: Map<Symbols, NameState>;
  isLast: boolean;
  canReachEnd: boolean;
}

/** The automaton of all names, each state of which leads to the end of one. */
class NameGraph {
  readonly all = new Map<string, NameState>();
  private readonly ends = new Map<number, boolean>();
  private readonly pairsAfter: readonly JointClass[];

  constructor(
    private readonly pattern: Automaton,
    private readonly segment: Segment,
    private readonly symbols: readonly Symbols[],
    private readonly budget: Budget,
  ) {
    this.pairsAfter = joinAlphabets(pattern.alphabet, segment.after.alphabet, budget).joint;
  }

  build(from: Iterable<number>): NameState {
    const start = this.stateOf([...from], this.segment.name.start);
    const queue = [start];
    const before = new Map<NameState, NameState[]>();
    for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
      for (const symbol of this.symbols) {
        const size = this.all.size;
        const next = this.step(state, symbol);
        if (next === undefined) continue;
        if (this.all.size > size) queue.push(next);
        state.next.set(symbol, next);
        addTo(before, next, state);
      }
    }
    const ready = [...this.all.values()].filter(({ isLast }) => isLast);
    for (let state = ready.pop(); state !== undefined; state = ready.pop()) {
      if (state.canReachEnd) continue;
      state.canReachEnd = true;
      ready.push(...(before.get(state) ?? []));
    }
    return start;
  }

  private step({ states, name }: NameState, symbol: Symbols): NameState | undefined {
    const there = this.segment.name.step(name, symbol.name);
    if (this.segment.name.isDead(there)) return undefined;
    this.budget.spend(states.length * symbol.ways.length + 1);
    const next = new Set<number>();
    for (const way of symbol.ways) {
      for (const state of states) {
        const reached = this.pattern.step(state, way);
        if (!this.pattern.isDead(reached)) next.add(reached);
      }
    }
    return next.size === 0
      ? undefined
      : this.stateOf(
          [...next].sort((a, b) => a - b),
          there,
        );
  }

  private stateOf(states: readonly number[], name: number): NameState {
    const key = `${name}:${states.join()}`;
    return getOrCompute(this.all, key, () => {
      this.budget.spend(states.length + 10);
      const isLast = this.segment.name.accepts(name) && states.some((state) => this.canEnd(state));
      return { states, name, next: new Map<Symbols, NameState>(), isLast, canReachEnd: false };
    });
  }

  /** Whether the pattern accepts some text that may follow a name, from a state on. */
  private canEnd(state: number): boolean {
    const { pattern, segment, pairsAfter, budget } = this;
    const isEnd = (reached: number, other: number): boolean =>
      pattern.accepts(reached) && segment.after.accepts(other);
    return getOrCompute(this.ends, state, () =>
      explore(pattern, state, segment.after, pairsAfter, budget, isEnd),
    );
  }
}

const MOST_SAMPLES = 40;
const MOST_VISITS = 4;
const READABLE = "xabcdefghijklmnopqrstuvwyz0123456789";

/** The character of a class that is easiest to read. */
function readable({ chars }: Symbols): string {
  return (
    Array.from(READABLE).find((char) => chars.includes(char)) ??
    chars.find((char) => /^[\x21-\x7e]$/.test(char)) ??
    chars[0]!
  );
}

/** A few names of different forms: one character represents each class. */
function sampleNames(start: NameState, budget: Budget): string[] {
  const names: string[] = [];
  const visits = new Map<NameState, number>();
  const queue: (readonly [NameState, string])[] = [[start, ""]];
  for (let i = 0; i < queue.length && names.length < MOST_SAMPLES; i += 1) {
    const [state, text] = queue[i]!;
    if (state.isLast) names.push(text);
    budget.spend(state.next.size + 1);
    for (const [symbol, next] of state.next) {
      const count = visits.get(next) ?? 0;
      if (!next.canReachEnd || count >= MOST_VISITS) continue;
      visits.set(next, count + 1);
      queue.push([next, text + readable(symbol)]);
    }
  }
  return names;
}

/** Lists the names that a graph leads to; undefined where there are more than `most`. */
function listNames(start: NameState, maxNames: number, budget: Budget): string[] | undefined {
  const names: string[] = [];
  let level: (readonly [NameState, string])[] = [[start, ""]];
  while (level.length > 0) {
    const following: (readonly [NameState, string])[] = [];
    for (const [state, text] of level) {
      if (state.isLast) names.push(text);
      for (const [{ chars, isMany }, next] of state.next) {
        if (!next.canReachEnd) continue;
        if (isMany) return undefined;
        for (const char of chars) following.push([next, text + char]);
      }
    }
    budget.spend(following.length * 4 + 1);
    if (names.length > maxNames || following.length > maxNames) return undefined;
    level = following;
  }
  return names;
}

/**
 * The names that a segment has in the texts of a pattern.
 * @param maxNames How many are listed; more are `isMany`.
 */
export function namesIn(pattern: Automaton, segment: Segment, maxNames: number, budget: Budget): Names {
  const from = statesAfter(pattern, segment.before, budget);
  if (from.size === 0) return { isMany: false, list: [] };
  const symbols = nameSymbols(pattern, segment, maxNames);
  budget.spend(symbols.length * 10);
  const graph = new NameGraph(pattern, segment, symbols, budget);
  const start = graph.build([...from].sort((a, b) => a - b));
  const all = listNames(start, maxNames, budget);
  return { isMany: all === undefined, list: all ?? sampleNames(start, budget) };
}
