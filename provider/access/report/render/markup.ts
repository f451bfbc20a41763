import { html } from "./escape";

/** A piece of HTML. Every other value in a template of `markup` is text, and is escaped. */
export class Markup {
  /** @param source HTML that a program wrote, never text of a document. */
  constructor(readonly source: string) {}
}

type Part = string | Markup | readonly Markup[];

function sourceOf(part: Part): string {
  if (typeof part === "string") return html(part);
  return part instanceof Markup ? part.source : part.map(({ source }) => source).join("");
}

/** A template of HTML whose values are escaped unless they are HTML themselves. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const [first = "", ...rest] = texts;
  return new Markup(
    rest.reduce((before, text, index) => `${before}${sourceOf(parts[index] ?? "")}${text}`, first),
  );
}
