import { UNSEEN } from "../../text/printable";

/** Text with two wildcards. `scripts/lib/policySchema.cjs` has the other conditions on it. */
export type Glob = string;

/** Characters that a glob may have. */
export const LONGEST_GLOB = 512;

const invisible = new RegExp(`[${UNSEEN}]`, "u");

interface Token {
  readonly kind: "any" | "one" | "char";
  readonly char: string;
}

/** The characters and wildcards of a glob, in their order. */
export function parseGlob(glob: string): Token[] {
  const list: Token[] = [];
  const chars = Array.from(glob);
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? "";
    if (char === "*") {
      if (list.at(-1)?.kind !== "any") list.push({ kind: "any", char });
    } else if (char === "?") list.push({ kind: "one", char });
    else if (char === "\\") {
      i += 1;
      list.push({ kind: "char", char: chars[i] ?? "\\" });
    } else list.push({ kind: "char", char });
  }
  return list;
}

/** Globs that were parsed: an entry of a policy file is compared with thousands of texts. */
const parsed = new Map<string, readonly Token[]>();
const MOST_PARSED = 1000;

function tokensOf(glob: string): readonly Token[] {
  const known = parsed.get(glob);
  if (known !== undefined) return known;
  if (parsed.size >= MOST_PARSED) parsed.clear();
  const tokens = parseGlob(glob);
  parsed.set(glob, tokens);
  return tokens;
}

export const hasWildcard = (glob: string): boolean => tokensOf(glob).some(({ kind }) => kind !== "char");

/**
 * Whether a glob matches a whole string: `*` is any run of characters, `?` is one, `\` quotes the next. A string with
 * invisible characters matches no glob, because a reader sees another string. It takes at most as many steps as the
 * product of both lengths.
 */
export function globMatches(glob: string, text: string): boolean {
  if (invisible.test(text)) return false;
  const pattern = tokensOf(glob);
  const chars = Array.from(text);
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < chars.length) {
    const token = pattern[p];
    if (token?.kind === "any") {
      star = p;
      mark = t;
      p += 1;
    } else if (token !== undefined && (token.kind === "one" || token.char === chars[t])) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (pattern[p]?.kind === "any") p += 1;
  return p === pattern.length;
}
