import { html } from "../escape";

/** HTML that is safe as it is: only `markup` and `trusted` make it. */
export class Markup {
  constructor(readonly text: string) {}
}

/** What a template may hold: text is escaped, HTML is not, undefined is nothing. */
export type MarkupPart = Markup | string | number | undefined | readonly MarkupPart[];

function write(part: MarkupPart): string {
  if (part === undefined) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(write).join("");
  return html(String(part));
}

/** A template that escapes every text put into it, in a text node and in an attribute in quotes. */
export function markup(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return new Markup(strings.map((text, index) => text + write(parts[index])).join(""));
}

/** Style and script of the page: constants of ours, which the page needs as they are. */
export function trustedMarkup(text: string): Markup {
  return new Markup(text);
}

/** Parts on lines of their own. */
export function joinLines(parts: readonly MarkupPart[]): Markup {
  return new Markup(parts.map(write).join("\n"));
}

/** Attributes with a space before each; those that are undefined are left out. Names are ours. */
export function attributes(values: Readonly<Record<string, string | undefined>>): Markup {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new Markup(given.map(([name, value]) => ` ${name}="${html(value ?? "")}"`).join(""));
}
