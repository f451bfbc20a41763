// @ts-check
/** Adds new kinds and new capabilities to the lists of them: `npm run docs` runs it before it builds. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runScript } from "./lib/processes.mjs";

/** @typedef {[name: string, text: string][]} Sources */

/** The sources of a folder, by their names without the ending. @param {string} folder @returns {Sources} */
const sourcesIn = (folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file.slice(0, -".ts".length), readFileSync(path.join(folder, file), "utf8")]);

/**
 * A list of exports with the lines that it lacks at its end, without the lines of files that are gone.
 * @param {string} list @param {Sources} sources @param {(name: string, text: string) => string[]} linesOf
 */
function withLines(list, sources, linesOf) {
  const files = sources.map(([name]) => name);
  const kept = list
    .trimEnd()
    .split("\n")
    .filter((line) => files.includes(/ from "\.\/(\w+)";$/.exec(line)?.[1] ?? files[0] ?? ""));
  const lines = sources.flatMap(([name, text]) => linesOf(name, text));
  return [...kept, ...lines.filter((line) => !kept.includes(line)), ""].join("\n");
}

/** @param {string} name @param {string} text */
const kindLines = (name, text) =>
  /^export class \w+ extends resource/m.test(text) ? [`export * from "./${name}";`] : [];

/** @param {string} name @param {string} text */
const tableLines = (name, text) =>
  [...text.matchAll(/^export const (\w+): KindTable = /gm)].map(
    ([, table]) => `export { ${table} } from "./${name}";`,
  );

/** The classes of all kinds in the native form. @param {Sources} sources @param {string} list that of the kinds, for the order. */
function nativeClasses(sources, list) {
  const kinds = [...list.matchAll(/ from "\.\/(\w+)";$/gm)].flatMap(([, file]) => {
    const text = sources.find(([name]) => name === file)?.[1] ?? "";
    return [...text.matchAll(/^export class (\w+) extends resource/gm)].map(([, kind]) => kind ?? "");
  });
  return `/*
 * What programs of the native form use: the same classes and functions, of resources that the plugin manages.
 * \`npm run docs\` writes this file.
 */
import * as kinds from "../kinds/exports";
import { native } from "../program/resource";

export * from "../index";
export * from "./enumerations";
export { Provider } from "../program/provider";
export type { ProviderArgs } from "../program/provider";
${kinds.map((kind) => `\n/** ${kind}, managed by the plugin. @see {@link kinds.${kind}} */\nexport class ${kind} extends native(kinds.${kind}) {}\n`).join("")}`;
}

/**
 * The capabilities that the API numbers, beside those that the source names: each in the line of its family.
 * @param {string} source @param {Record<string, number>} numbers
 */
function withCapabilities(source, numbers) {
  const known = [...source.matchAll(/^ {2}(\w+): "([^"]*)",$/gm)].flatMap(([, family = "", words = ""]) =>
    words.split(" ").map((word) => (word === "" ? family : `${family}_${word}`)),
  );
  const names = Object.keys(numbers).map((name) => name.replace(/^CAP_/, ""));
  return names
    .filter((name) => !known.includes(name) && !source.includes(`"${name}"`))
    .reduce((text, name) => {
      const [, family = name, word = ""] = /^(\w+)_([^_]+)$/.exec(name) ?? [];
      const [usual = ""] = text.split(/(?=\n\} as const;)/, 2);
      const rest = text.slice(usual.length);
      const line = `\n  ${family}: "`;
      if (!usual.includes(line)) return `${usual}${line}${word}",${rest}`;
      return usual.replace(new RegExp(`(?<=${line}[^"]*)(?=")`), ` ${word}`) + rest;
    }, source);
}

/** @param {string} root the folder of the repository. @returns {[file: string, text: string][]} */
export function kindLists(root) {
  const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), "utf8");
  const [kinds, tables, capabilities] = [
    "provider/kinds/exports.ts",
    "emulator/tables/exports.ts",
    "provider/kinds/capabilities.ts",
  ];
  const kindSources = sourcesIn(path.join(root, "provider/kinds"));
  const kindList = withLines(read(kinds), kindSources, kindLines);
  const numbers = JSON.parse(read("emulator/data/capabilities.json"));
  return [
    [kinds, kindList],
    ["provider/native/index.ts", nativeClasses(kindSources, kindList)],
    [tables, withLines(read(tables), sourcesIn(path.join(root, "emulator/tables")), tableLines)],
    [capabilities, withCapabilities(read(capabilities), numbers)],
  ];
}

const root = path.dirname(import.meta.dirname);

await runScript("npm run docs", import.meta.filename, async () => {
  for (const [file, text] of kindLists(root)) {
    if (existsSync(path.join(root, file)) && readFileSync(path.join(root, file), "utf8") === text) continue;
    writeFileSync(path.join(root, file), text);
    console.log(`wrote ${file}`);
  }
});
