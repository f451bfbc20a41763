import { errorCodes } from "./registry";
import type { ErrorCode } from "./registry";

/** A code with what is to be known of it, as data. */
interface CodeExplanation {
  readonly code: ErrorCode;
  readonly title: string;
  readonly meaning: string;
  readonly look: string;
  readonly fix: string;
}

/** Finds a code by its name, in any case and also in the brackets of a message. */
export function findCode(text: string): ErrorCode | undefined {
  const name = text.replace(/^\((.*)\)$/, "$1").toUpperCase();
  return Object.hasOwn(errorCodes, name) ? (name as ErrorCode) : undefined;
}

/** Links of the documents, as a terminal shows them. */
const plainLinks = (text: string): string =>
  text.replace(/\[([^\][]*)\]\(([^()#]*)(?:#[^()]*)?\)/g, "$1 (docs/$2)").replaceAll("`", "");

export function explanationOfCode(code: ErrorCode): CodeExplanation {
  const { title, meaning, look, fix } = errorCodes[code];
  return { code, title, meaning: plainLinks(meaning), look: plainLinks(look), fix: plainLinks(fix) };
}

/** @param wrap breaks a text into lines that begin with two blanks. */
export function codeAsText(code: ErrorCode, wrap: (text: string) => string): string {
  const { title, meaning, look, fix } = explanationOfCode(code);
  return [
    `${code}  ${title}`,
    `What it means\n${wrap(meaning)}`,
    `How to see why\n${wrap(look)}`,
    `What to do\n${wrap(fix)}`,
  ].join("\n\n");
}

/** How to see why something happened and what to do, as a list in Markdown. */
export const adviceAsMarkdown = (look: string, fix: string): string =>
  `- **How to see why:** ${look}\n- **What to do:** ${fix}`;

/** A part of docs/troubleshooting.md. The heading is the code alone, so that the anchor stays when the title changes. */
export function codeAsMarkdown(code: ErrorCode): string {
  const { title, meaning, look, fix } = errorCodes[code];
  const text = [`### ${code}`, `**${title}.** ${meaning}`, adviceAsMarkdown(look, fix)].join("\n\n");
  return text.replace(/(?<=see )PP\d{4}/g, (other) => `[${other}](#${other.toLowerCase()})`);
}
