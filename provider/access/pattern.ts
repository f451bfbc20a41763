import { RE2JS } from "re2js";

/** Beyond these a pattern is not judged: nobody could read it either. */
export const LONGEST_PATTERN = 1000;
const LARGEST_PROGRAM = 20_000;
const MOST_BRANCHES = 24;
const MOST_PARTS = 400;
const DEEPEST = 40;

/** A piece of what a pattern matches, in order. */
export type Part =
  | { readonly is: "literal"; readonly text: string }
  /** A dot that stands for one character. */
  | { readonly is: "dot" }
  /** A class or an escape for one character; `text` is one of those that it matches. */
  | { readonly is: "one"; readonly text: string }
  /** A repeated dot or class; `text` is the shortest that it matches and that is not empty. */
  | { readonly is: "wild"; readonly text: string };

/** One way through a pattern: a choice in each of its alternatives. */
export type Branch = readonly Part[];

/** A compiled pattern and a sketch of what it matches. */
export interface Pattern {
  /** Whether it matches somewhere in a text, as the platform asks. */
  readonly accepts: (text: string) => boolean;
  /** Empty where the sketch could not be made. Each is only probably right: `accepts` has the last word. */
  readonly branches: readonly Branch[];
}

type Node =
  | { readonly is: "parts"; readonly parts: Branch }
  | { readonly is: "sequence"; readonly items: readonly Node[] }
  | { readonly is: "choice"; readonly items: readonly Node[] }
  | { readonly is: "repeat"; readonly item: Node; readonly min: number; readonly max: number };

class Unreadable extends Error {}

const PROBES = ["x", "a", "1", "0", "X", "-", "_", "/", ":", ".", "@", " ", "|", "é"];

/** A character that a class matches. */
function memberOf(text: string): string {
  const regex = RE2JS.compile(`^(?:${text})$`);
  const found =
    PROBES.find((probe) => regex.test(probe)) ??
    Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).find((probe) => regex.test(probe));
  if (found === undefined) throw new Unreadable();
  return found;
}

/**
 * Reads as much of RE2's syntax as a sketch takes: alternatives, groups, classes, escapes and
 * repetitions. Throws `Unreadable` on anything else.
 */
class Reader {
  private at = 0;
  private readonly text: readonly string[];

  constructor(pattern: string) {
    this.text = Array.from(pattern);
  }

  read(): Node {
    const node = this.choice(0);
    if (this.at < this.text.length) throw new Unreadable();
    return node;
  }

  private peek(): string | undefined {
    return this.text[this.at];
  }

  private choice(depth: number): Node {
    if (depth > DEEPEST) throw new Unreadable();
    const items = [this.sequence(depth)];
    while (this.peek() === "|") {
      this.at += 1;
      items.push(this.sequence(depth));
    }
    return items.length === 1 && items[0] ? items[0] : { is: "choice", items };
  }

  private sequence(depth: number): Node {
    const items: Node[] = [];
    for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
      items.push(this.repeated(this.atom(depth)));
    }
    return { is: "sequence", items };
  }

  private repeated(item: Node): Node {
    let node = item;
    for (;;) {
      const bounds = this.bounds();
      if (bounds === undefined) return node;
      if (this.peek() === "?") this.at += 1;
      node = { is: "repeat", item: node, min: bounds[0], max: bounds[1] };
    }
  }

  private bounds(): [number, number] | undefined {
    switch (this.peek()) {
      case "*":
        this.at += 1;
        return [0, Infinity];
      case "+":
        this.at += 1;
        return [1, Infinity];
      case "?":
        this.at += 1;
        return [0, 1];
      case "{": {
        const match = /^\{(\d+)(,(\d*))?\}/.exec(this.text.slice(this.at, this.at + 12).join(""));
        if (!match) return undefined;
        this.at += match[0].length;
        const min = Number(match[1]);
        return [min, match[2] === undefined ? min : match[3] === "" ? Infinity : Number(match[3])];
      }
      default:
        return undefined;
    }
  }

  private atom(depth: number): Node {
    const char = this.peek() ?? "";
    this.at += 1;
    switch (char) {
      case "(":
        return this.group(depth);
      case "[":
        return this.charClass();
      case ".":
        return { is: "parts", parts: [{ is: "dot" }] };
      case "^":
      case "$":
        return { is: "parts", parts: [] };
      case "\\":
        return this.escape();
      default:
        return { is: "parts", parts: [{ is: "literal", text: char }] };
    }
  }

  private group(depth: number): Node {
    if (this.peek() === "?") {
      const match = /^\?(?:P?<\w+>|[a-zA-Z-]*:|[a-zA-Z-]+\))/.exec(
        this.text.slice(this.at, this.at + 80).join(""),
      );
      if (!match) throw new Unreadable();
      this.at += match[0].length;
      if (match[0].endsWith(")")) return { is: "parts", parts: [] };
    }
    const node = this.choice(depth + 1);
    if (this.peek() !== ")") throw new Unreadable();
    this.at += 1;
    return node;
  }

  private charClass(): Node {
    const from = this.at - 1;
    if (this.peek() === "^") this.at += 1;
    if (this.peek() === "]") this.at += 1;
    for (;;) {
      const char = this.peek();
      if (char === undefined) throw new Unreadable();
      if (char === "[" && this.text[this.at + 1] === ":") {
        const end = this.text.indexOf("]", this.at);
        if (end < 0) throw new Unreadable();
        this.at = end + 1;
        continue;
      }
      this.at += char === "\\" ? 2 : 1;
      if (char === "]") break;
    }
    return {
      is: "parts",
      parts: [{ is: "one", text: memberOf(this.text.slice(from, this.at).join("")) }],
    };
  }

  private escape(): Node {
    const char = this.peek();
    if (char === undefined) throw new Unreadable();
    this.at += 1;
    if ("AzbB".includes(char)) return { is: "parts", parts: [] };
    if (char === "Q") {
      const rest = this.text.slice(this.at).join("");
      const end = rest.indexOf("\\E");
      const literal = end < 0 ? rest : rest.slice(0, end);
      this.at += Array.from(literal).length + (end < 0 ? 0 : 2);
      return { is: "parts", parts: Array.from(literal, (text) => ({ is: "literal", text })) };
    }
    if (/[dDsSwW]/.test(char)) return { is: "parts", parts: [{ is: "one", text: memberOf(`\\${char}`) }] };
    if (/[pPx]/.test(char)) {
      const match = /^(?:\{[^}]*\}|[0-9A-Fa-f]{2}|\w)/.exec(this.text.slice(this.at, this.at + 40).join(""));
      if (!match) throw new Unreadable();
      this.at += match[0].length;
      return { is: "parts", parts: [{ is: "one", text: memberOf(`\\${char}${match[0]}`) }] };
    }
    if (/[A-Za-z0-9]/.test(char)) {
      return { is: "parts", parts: [{ is: "one", text: memberOf(`\\${char}`) }] };
    }
    return { is: "parts", parts: [{ is: "literal", text: char }] };
  }
}

function join(one: Branch, other: Branch): Branch {
  const parts = [...one];
  for (const part of other) {
    const last = parts.at(-1);
    if (part.is === "literal" && last?.is === "literal") {
      parts[parts.length - 1] = { is: "literal", text: last.text + part.text };
    } else {
      parts.push(part);
    }
  }
  if (parts.length > MOST_PARTS) throw new Unreadable();
  return parts;
}

function repeatBranches(node: Node & { is: "repeat" }): readonly Branch[] {
  const inner = expand(node.item);
  const only = inner.length === 1 ? inner[0] : undefined;
  const part = only?.length === 1 ? only[0] : undefined;
  if (part !== undefined && part.is !== "literal" && node.max > 1) {
    if (node.min > MOST_PARTS) throw new Unreadable();
    const text = part.is === "dot" ? "x" : part.text;
    const isFixed = node.min === node.max;
    const filled = text.repeat(Math.max(1, node.min));
    return [[isFixed ? { is: "one", text: filled } : { is: "wild", text: filled }]];
  }
  const times = Math.min(Math.max(node.min, 1), 3);
  const repeated = inner.map((branch) =>
    Array.from({ length: times }, () => branch).reduce<Branch>(join, []),
  );
  return node.min === 0 ? [[], ...repeated].slice(0, MOST_BRANCHES) : repeated;
}

function expand(node: Node): readonly Branch[] {
  switch (node.is) {
    case "parts":
      return [node.parts];
    case "choice":
      return node.items.flatMap(expand).slice(0, MOST_BRANCHES);
    case "repeat":
      return repeatBranches(node);
    case "sequence":
      return node.items.reduce<readonly Branch[]>(
        (branches, item) => {
          const ways = expand(item);
          return branches.flatMap((branch) => ways.map((way) => join(branch, way))).slice(0, MOST_BRANCHES);
        },
        [[]],
      );
  }
}

function sketch(pattern: string): readonly Branch[] {
  try {
    return expand(new Reader(pattern).read());
  } catch {
    return [];
  }
}

/**
 * Reads a pattern with RE2's semantics.
 * @returns undefined where it is no pattern of RE2, or too large to be judged.
 */
export function readPattern(text: string): Pattern | undefined {
  if (text.length > LONGEST_PATTERN) return undefined;
  try {
    const regex = RE2JS.compile(text);
    if (regex.programSize() > LARGEST_PROGRAM) return undefined;
    return { accepts: (candidate) => regex.test(candidate), branches: sketch(text) };
  } catch {
    return undefined;
  }
}

/** A text of a branch: each part as it is likely meant, but where `other` says otherwise. */
export function textOf(branch: Branch, other?: (part: Part, index: number) => string | undefined): string {
  return branch.map((part, index) => other?.(part, index) ?? (part.is === "dot" ? "." : part.text)).join("");
}
