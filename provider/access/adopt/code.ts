import type { Json } from "../../engine/spec";

/**
 * Code in the form that Prettier gives it with its usual settings: 80 columns, two spaces, double quotes.
 */

/** Code as it stands, in place of a value: a variable, a call. */
export class Code {
  constructor(readonly text: string) {}
}

/** A value of a program: JSON, with code in it. */
export type CodeValue =
  Json | Code | readonly CodeValue[] | { readonly [key: string]: CodeValue | undefined };

const WIDTH = 80;

/** Characters that a reader does not see, or that change the order of what is read. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u00a0\u3164]/gu;

function escapeUnit(text: string): string {
  return Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** What a CI runner takes for a command where it stands in a log. */
const MARKER = /##(?=[\w.-]*\[)/g;

/** A text as a literal: what cannot be seen is escaped, and the quotes are those that need fewer escapes. */
export function literal(text: string): string {
  const body = JSON.stringify(text)
    .slice(1, -1)
    .replace(/\\"/g, '"')
    .replace(UNSEEN, escapeUnit)
    .replace(MARKER, "#\\u0023");
  const doubles = body.split('"').length;
  const singles = body.split("'").length;
  return doubles > singles ? `'${body.replaceAll("'", "\\'")}'` : `"${body.replaceAll('"', '\\"')}"`;
}

/** A key of an object; in quotes where it is no identifier. `quoted`: another key of the object needs them. */
function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) && key !== "__proto__" ? key : literal(key);
}

const isCode = (value: unknown): value is Code => value instanceof Code;

/** How wide a text is shown: most East Asian characters and emoji take two columns. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    width +=
      /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}

/** On one line; undefined where it needs several. Objects always do. */
function flat(value: CodeValue): string | undefined {
  if (isCode(value)) return value.text;
  if (typeof value === "string") return literal(value);
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) {
    const items = (value as readonly CodeValue[]).map(flat);
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }
  return Object.keys(value).length === 0 ? "{}" : undefined;
}

/**
 * A value as code.
 *
 * @param indent blanks before the line on which it begins.
 * @param used columns that stand on this line before it, the indentation included.
 * @param after columns that follow on its last line.
 */
export function print(value: CodeValue, indent: number, used: number, after = 1): string {
  const line = flat(value);
  if (line !== undefined && (!Array.isArray(value) || used + widthOf(line) + after <= WIDTH)) return line;
  const inner = " ".repeat(indent + 2);
  const end = `\n${" ".repeat(indent)}`;
  if (Array.isArray(value)) {
    const items = (value as readonly CodeValue[]).map(
      (item) => `${inner}${print(item, indent + 2, indent + 2)},`,
    );
    return `[\n${items.join("\n")}${end}]`;
  }
  const entries = Object.entries(value as Record<string, CodeValue | undefined>).flatMap(([key, member]) => {
    if (member === undefined) return [];
    return [property(key, member, indent + 2)];
  });
  return `{\n${entries.join("\n")}${end}}`;
}

/** One property of an object with its indentation and comma; a text that is too long gets a line of its own. */
export function property(key: string, value: CodeValue, indent: number): string {
  const head = `${" ".repeat(indent)}${keyText(key)}:`;
  const used = widthOf(head) + 1;
  if (typeof value === "string" && used + widthOf(literal(value)) + 1 > WIDTH) {
    return `${head}\n${" ".repeat(indent + 2)}${literal(value)},`;
  }
  return `${head} ${print(value, indent, used)},`;
}
