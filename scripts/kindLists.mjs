// @ts-check
/** Adds new kinds and new capabilities to the lists of them: `npm run docs` runs it before it builds. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runScript } from "./lib/processes.mjs";

/** The sources of a folder, by their names without the ending. @param {string} folder @returns {[name: string, text: string][]} */
const sourcesIn = (folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file.slice(0, -".ts".length), readFileSync(path.join(folder, file), "utf8")]);

/**
 * A list with the lines that it lacks at its end, without the lines of files that are gone.
 * @param {string} list @param {readonly string[]} lines @param {readonly string[]} files
 */
function withLines(list, lines, files) {
  const kept = list
    .split("\n")
    .filter((line) => files.includes(/ from "\.\/(\w+)";$/.exec(line)?.[1] ?? files[0] ?? ""));
  return [...kept.join("\n").trimEnd().split("\n"), ...lines.filter((line) => !kept.includes(line)), ""].join(
    "\n",
  );
}

/** @param {string} list @param {[name: string, text: string][]} sources */
export function withKinds(list, sources) {
  const described = sources.filter(([, text]) => /^export class \w+ extends resource/m.test(text));
  const lines = described.map(([name]) => `export * from "./${name}";`);
  return withLines(
    list,
    lines,
    sources.map(([name]) => name),
  );
}

/** @param {string} list @param {[name: string, text: string][]} sources */
export function withTables(list, sources) {
  const lines = sources.flatMap(([name, text]) =>
    [...text.matchAll(/^export const (\w+): KindTable = /gm)].map(
      ([, table]) => `export { ${table} } from "./${name}";`,
    ),
  );
  return withLines(
    list,
    lines,
    sources.map(([name]) => name),
  );
}

/** The classes of all kinds in the native form. @param {[name: string, text: string][]} sources @param {string} list that of the kinds, for the order. */
export function nativeClasses(sources, list) {
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

/** The capabilities that the API numbers, beside those that the source names. @param {string} source @param {Record<string, number>} numbers */
export function withCapabilities(source, numbers) {
  const names = Object.keys(numbers).map((name) => name.replace(/^CAP_/, ""));
  const added = names.filter((name) => !source.includes(`"${name}"`)).map((name) => `  "${name}",\n`);
  return source.replace(/(?<=const usual = \[[^\]]*)(?=\] as const;)/, () => added.join(""));
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
  const kindList = withKinds(read(kinds), kindSources);
  const numbers = JSON.parse(read("emulator/data/capabilities.json"));
  return [
    [kinds, kindList],
    ["provider/native/index.ts", nativeClasses(kindSources, kindList)],
    [tables, withTables(read(tables), sourcesIn(path.join(root, "emulator/tables")))],
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
