const LONGEST = 512;

/** Characters that nobody sees, as a part of a character class: control and format characters, and the like. */
export const INVISIBLE = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}";

const PUNCTUATION = "\\s!-/:-@\\[-`{-~";

/** Globs with a wildcard and without a letter or digit: `*`, `?*`, `* / *`. They restrict nothing worth the name. */
export const CATCH_ALL = `^(?:\\\\[${PUNCTUATION}]|(?![\\\\*?])[${PUNCTUATION}])*[*?](?:\\\\[${PUNCTUATION}]|(?!\\\\)[${PUNCTUATION}])*$`;

const invisible = new RegExp(`[${INVISIBLE}]`, "u");
const catchAll = new RegExp(CATCH_ALL, "u");

/** What is wrong with a glob, beginning "must …"; undefined if nothing is. */
export function globProblem(glob: string): string | undefined {
  if (glob === "") return "must not be empty";
  if (glob.length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (invisible.test(glob)) return "must not hold control characters or others that nobody sees";
  if (/(?<!\\)(?:\\\\)*[[\]{}]/.test(glob)) {
    return "must not hold [ ] { }: only * (anything) and ? (one character) are special; write \\[ for the character itself";
  }
  if (/(?<!\\)(?:\\\\)*\\$/.test(glob)) return "must not end in a single \\";
  return undefined;
}

/** Whether a glob restricts nothing: see CATCH_ALL. */
export function isCatchAll(glob: string): boolean {
  return catchAll.test(glob);
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
 * Whether a glob matches a whole text: `*` is any run of characters, `?` one, `\` takes the next as it is. Case and
 * blanks count. A text with invisible characters matches no glob, as a reader takes it for another text.
 * At worst as many steps as the product of the two lengths.
 */
export function globMatches(glob: string, text: string): boolean {
  if (invisible.test(text)) return false;
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

/** A glob that matches this text, and hardly another one. None matches a text with invisible characters. */
export function globOf(text: string): string {
  const short = text.length > LONGEST / 2 ? text.slice(0, LONGEST / 2 - 1) : text;
  const glob = short.replace(/[\\*?[\]{}]/g, "\\$&").replace(new RegExp(`[${INVISIBLE}]`, "gu"), "?");
  return short === text ? glob : `${glob}*`;
}
