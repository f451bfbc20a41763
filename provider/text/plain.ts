/** The text without a character at its end, however often it stands there. A regular expression would take quadratic time. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** A string that a POSIX shell takes literally, as one word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A word of a shell, in quotes where it needs them. */
export const quoteWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : quoteForShell(word);

/**
 * The command that edits files in place, for a shell on Linux and on macOS: their `sed` agree only on `-i` with an ending.
 * @param edit what `sed` does with each line.
 */
export function editCommand(edit: string, paths: readonly string[]): string {
  const files = paths.map(quoteWord).join(" ");
  const copies = paths.map((path) => quoteWord(`${path}.bak`)).join(" ");
  return `sed -i.bak ${quoteForShell(edit)} ${files} && rm ${copies}`;
}

/** The value of a JSON text; undefined where it is not valid. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether more objects and arrays are inside one another in a value than so many. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((member) => isNestedDeeper(member, levels - 1));
}

/** The `*` or the leading `^` of a text that is written like a pattern; undefined where it has none. */
export const findPatternSign = (text: string): string | undefined => /^\^|\*/.exec(text)?.[0];

/** A number and what it counts: "1 grant", "1,200 grants". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Joins the first items of a list, and says how many more there are. */
export function listFirst(items: readonly string[], maxItems = 6): string {
  const shown = items.slice(0, maxItems).join(", ");
  return items.length > maxItems ? `${shown} and ${items.length - maxItems} more` : shown;
}

/** Cuts a list of lines to what a reader takes in, and says how many more there are. */
export function limitLines(lines: readonly string[], maxLines = 20): string[] {
  return lines.length > maxLines
    ? [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more`]
    : [...lines];
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns that a text takes on a terminal: marks take none, East Asian letters and emoji two. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    if (/\p{Mn}|\p{Me}/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Breaks at spaces. A word that is wider than a line has one of its own: a terminal folds it, and copies it as one. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || columnsOf(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

/** A text in lines of at most so many columns, each after an indent. */
export const wrapped = (text: string, indent: string, width = 80): string =>
  wrap(text, width - indent.length)
    .map((line) => indent + line)
    .join("\n");
