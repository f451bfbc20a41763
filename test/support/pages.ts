import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { ROOT } from "./engine";

/** A fenced block of a page. */
export interface Fence {
  /** The first word after the fence: `sh`. */
  readonly language: string;
  readonly text: string;
  /** The line of the page, from 1. */
  readonly line: number;
  /** The last heading before it. */
  readonly title: string;
  /** Why no test runs it, from the comment `not run: …` before it. */
  readonly reason?: string;
}

export interface Page {
  readonly fences: readonly Fence[];
  /** The texts in backticks outside of the fences. */
  readonly codeSpans: readonly string[];
  /** The test that runs its programs, from the comment `run by …`. */
  readonly runBy?: string;
}

/** Parses a page of Markdown. */
function parsePage(text: string): Page {
  const runBy = /^<!-- run by (\S+) -->$/m.exec(text)?.[1];
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  const fences: Fence[] = [];
  let title = "";
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") title = tokens[index + 1]?.content ?? "";
    if (token.type !== "fence") continue;
    const before = tokens[index - 1];
    const comment = before?.type === "html_block" ? before.content : "";
    const reason = /^\s*<!-- not run: ([^]+?)\s*-->\s*$/.exec(comment)?.[1];
    const language = token.info.split(" ")[0] ?? "";
    const fence = { language, text: token.content, line: (token.map?.[0] ?? 0) + 1, title };
    fences.push(reason === undefined ? fence : { ...fence, reason });
  }
  const codeSpans = tokens
    .flatMap(({ children }) => children ?? [])
    .flatMap(({ type, content }) => (type === "code_inline" ? [content] : []));
  return { fences, codeSpans, ...(runBy !== undefined && { runBy }) };
}

/** Languages of what a reader runs; the others are output, data and diagrams. */
const PROGRAM_LANGUAGES = ["sh", "bash", "console", "ts", "js", "python"];

/** Whether a fence is a command or a program. */
export const isProgram = ({ language }: Fence): boolean => PROGRAM_LANGUAGES.includes(language);

/** The commands and programs of a page that can be run, in order; only those in these languages, if any are given. */
export const programsOf = ({ fences }: Page, ...languages: string[]): Fence[] =>
  fences.filter(
    (fence) =>
      isProgram(fence) &&
      fence.reason === undefined &&
      (languages.length === 0 || languages.includes(fence.language)),
  );

/** The Markdown files below a folder of the repository, installed packages left out. */
const markdownBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
    .map((file) => join(folder, file));

/** All documents of the repository. */
export const documents: readonly string[] = [
  ...readdirSync(ROOT).filter((file) => file.endsWith(".md")),
  ...["docs", "examples", "actions"].flatMap(markdownBelow),
];

/** Those that are written by hand: the examples of the reference are programs that other tests run. */
export const pages = documents.filter((path) => !path.startsWith(join("docs", "reference")));

/** @param path below the repository. */
export const readPage = (path: string): Page => parsePage(readFileSync(join(ROOT, path), "utf8"));

/** Whether a fence is a shell's input, with or without its prompt. */
export const isShell = (fence: Fence): boolean =>
  isProgram(fence) && ["sh", "bash", "console"].includes(fence.language);

/** The name of a program's file, which its first line has as a comment. */
export function fileNameOf({ text, line }: Fence, otherwise?: string): string {
  const name = /^(?:\/\/|#) (\S+)\n/.exec(text)?.[1] ?? otherwise;
  if (name === undefined) throw new Error(`the program in line ${line} has no comment with its file name`);
  return name;
}

/** Creates a folder in which programs and `npx` find the package of this checkout, and what the package needs. */
export function folderWithPackage(name: string): string {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache", `${name}-`));
  // npm links the command only where it was built before the install; the rest is found in the checkout's folder above.
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules", "pulumi-platform"));
  const command = join(ROOT, "dist", "provider", "cli", "main.js");
  symlinkSync(command, join(folder, "node_modules", ".bin", "pulumi-platform"));
  return folder;
}
