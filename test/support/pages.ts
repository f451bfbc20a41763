import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isProgram, parsePage } from "../../scripts/lib/fences.cjs";
import type { Fence, Page } from "../../scripts/lib/fences.cjs";
import { ROOT } from "./engine";

export { isProgram, programsOf } from "../../scripts/lib/fences.cjs";

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
