import { readFileSync } from "node:fs";
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
  /** Why no test runs it, from the comment before it. */
  readonly reason?: string;
}

/** A page with its fences. */
export interface Page {
  readonly fences: readonly Fence[];
  /** The test that runs its programs, from a comment of the page. */
  readonly runBy?: string;
}

const programLanguages = ["sh", "bash", "console", "ts", "js", "python"];

/** Whether a fence is a command or a program, and not output or a configuration file. */
export const isProgram = ({ language }: Fence): boolean => programLanguages.includes(language);

/** @param path below the repository. */
export function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), "utf8");
  const runBy = /^<!-- run by (\S+) -->$/m.exec(text)?.[1];
  const tokens = new MarkdownIt({ html: true }).parse(text, {});
  const fences = tokens.flatMap((token, index): Fence[] => {
    if (token.type !== "fence") return [];
    const before = tokens[index - 1];
    const comment = before?.type === "html_block" ? before.content : "";
    const reason = /^\s*<!-- not run: ([^]+?)\s*-->\s*$/.exec(comment)?.[1];
    const language = token.info.split(" ")[0] ?? "";
    const fence = { language, text: token.content, line: (token.map?.[0] ?? 0) + 1 };
    return [reason === undefined ? fence : { ...fence, reason }];
  });
  return { fences, ...(runBy !== undefined && { runBy }) };
}

/** The fences of a page that its test has to run, in order. */
export function programsOf(path: string, ...languages: string[]): readonly Fence[] {
  const { fences } = readPage(path);
  return fences.filter(
    (fence) =>
      isProgram(fence) &&
      fence.reason === undefined &&
      (languages.length === 0 || languages.includes(fence.language)),
  );
}

/** The name of a program's file, which its first line has as a comment. */
export function fileNameOf({ text, line }: Fence): string {
  const name = /^(?:\/\/|#) (\S+)\n/.exec(text)?.[1];
  if (name === undefined) throw new Error(`the program in line ${line} has no comment with its file name`);
  return name;
}
