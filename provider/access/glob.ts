const LONGEST = 512;

/** What is wrong with a glob, beginning "must …"; undefined if nothing is. */
export function globProblem(glob: string): string | undefined {
  if (glob === "") return "must not be empty";
  if (glob.length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (/\p{Cc}/u.test(glob)) return "must not hold control characters";
  if (/(?<!\\)(?:\\\\)*[[\]{}]/.test(glob)) {
    return "must not hold [ ] { }: only * (anything) and ? (one character) are special; write \\[ for the character itself";
  }
  if (/(?<!\\)(?:\\\\)*\\$/.test(glob)) return "must not end in a single \\";
  return undefined;
}

/** Whether a glob says nothing: it matches every text. */
export function isCatchAll(glob: string): boolean {
  return /^\*+$/.test(glob);
}

interface Token {
  readonly is: "any" | "one" | "char";
  readonly char: string;
}

function tokens(glob: string): Token[] {
  const list: Token[] = [];
  const chars = Array.from(glob);
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? "";
    if (char === "*") {
      if (list.at(-1)?.is !== "any") list.push({ is: "any", char });
    } else if (char === "?") list.push({ is: "one", char });
    else if (char === "\\") {
      i += 1;
      list.push({ is: "char", char: chars[i] ?? "\\" });
    } else list.push({ is: "char", char });
  }
  return list;
}

/**
 * Whether a glob matches a whole text: `*` is any run of characters, `?` one, `\` takes the next as it is.
 * At worst as many steps as the product of the two lengths.
 */
export function globMatches(glob: string, text: string): boolean {
  const pattern = tokens(glob);
  const chars = Array.from(text);
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < chars.length) {
    const token = pattern[p];
    if (token?.is === "any") {
      star = p;
      mark = t;
      p += 1;
    } else if (token !== undefined && (token.is === "one" || token.char === chars[t])) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (pattern[p]?.is === "any") p += 1;
  return p === pattern.length;
}

/** A glob that matches this text, and hardly another one. */
export function globOf(text: string): string {
  const short = text.length > LONGEST / 2 ? text.slice(0, LONGEST / 2 - 1) : text;
  const glob = short.replace(/[\\*?[\]{}]/g, "\\$&").replace(/\p{Cc}/gu, "?");
  return short === text ? glob : `${glob}*`;
}
