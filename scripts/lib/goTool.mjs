// @ts-check
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { excerpt, run } from "./processes.mjs";

/** A method of Go, as gofmt writes it. */
const METHOD = /^func (\(\w+ \*\w+\)) (\w+)\(/gm;

/** The Go files that a module compiles into its tool. @param {string} folder */
export const addedFiles = (folder) => readdirSync(folder).filter((name) => name.endsWith(".go"));

/**
 * Copies a tool and the files that are compiled into it to `target`, as a package of the module in `folder`. Where a file
 * declares a method that the tool has too, the tool's gets another name.
 * @param {{ folder: string, tool: string }} module
 * @param {string} target
 * @param {NodeJS.ProcessEnv} env
 */
export async function copyTool({ folder, tool }, target, env) {
  const args = ["list", "-mod=readonly", "-f", "{{.Dir}}", tool];
  const { code, stdout, output } = await run("go", args, { cwd: folder, env });
  if (code !== 0) throw new Error(`go list ${tool} failed:\n${excerpt(output)}`);
  const source = stdout.trim();
  mkdirSync(target);
  const copy = (
    /** @type {string} */ from,
    /** @type {string} */ name,
    edit = (/** @type {string} */ text) => text,
  ) => writeFileSync(path.join(target, name), edit(readFileSync(path.join(from, name), "utf8")));
  const added = addedFiles(folder);
  for (const name of ["go.mod", "go.sum", ...added]) copy(folder, name);
  const texts = added.map((name) => readFileSync(path.join(folder, name), "utf8"));
  const methods = new Set(texts.flatMap((text) => [...text.matchAll(METHOD)].map(([head]) => head)));
  const renameReplaced = (/** @type {string} */ text) =>
    text.replace(METHOD, (head, receiver, name) =>
      methods.has(head) ? `func ${receiver} replaced${name}(` : head,
    );
  for (const name of readdirSync(source)) {
    if (name.endsWith(".go") && !name.endsWith("_test.go")) copy(source, name, renameReplaced);
  }
}
