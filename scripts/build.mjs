// @ts-check
/** `npm run build`: compiles the package into dist/, and notes of which sources, so that set-up knows a build that is current. */
import { build } from "esbuild";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beginBuild } from "./lib/checkout.mjs";
import { upperFirst } from "./lib/letterCase.cjs";
import { run, runScript } from "./lib/processes.mjs";
import { writeValidators } from "./lib/validatorCode.mjs";

const root = path.dirname(import.meta.dirname);
const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), "utf8");

/** The lines of a comment without its marks. @param {string} comment */
function linesOf(comment) {
  return comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
}

/**
 * The declarations of a kind, whose class comment then ends with this example: editors show it.
 * @param {string} declarations the declarations that the compiler writes of the kind.
 * @param {string} kind
 * @param {string} example
 */
export function withClassExample(declarations, kind, example) {
  if (example.includes("*/"))
    throw new Error(`the example of ${kind} must not hold */: it would end a comment`);
  const at = declarations.indexOf(`export declare class ${kind} `);
  const start = declarations.lastIndexOf("/**", at);
  const comment = declarations.slice(start, at).trim();
  if (at < 0 || start < 0 || comment.indexOf("*/") !== comment.length - 2)
    throw new Error(`no commented class ${kind}`);
  if (comment.includes("@example"))
    throw new Error(`the comment of class ${kind} must hold no example: it has a file of its own`);
  const lines = [...linesOf(comment), "", "@example", "```ts", ...example.trimEnd().split("\n"), "```"];
  const text = lines.map((line) => ` * ${line}`.trimEnd()).join("\n");
  return `${declarations.slice(0, start)}/**\n${text}\n */\n${declarations.slice(at)}`;
}

/** Ends the comment of each class in dist with the example of its page, which editors show. */
function writeClassExamples() {
  const examples = "examples/reference/resources";
  for (const file of readdirSync(path.join(root, examples))) {
    const name = path.basename(file, ".ts");
    const declarations = path.join(root, "dist/provider/kinds", `${name}.d.ts`);
    if (!existsSync(declarations))
      throw new Error(`${examples}/${file} is the example of no kind: remove it`);
    // Lines move, and a map of them would then be wrong.
    if (existsSync(`${declarations}.map`))
      throw new Error("tsconfig.build.json must not write declaration maps: they would name wrong lines");
    const text = readFileSync(declarations, "utf8");
    writeFileSync(declarations, withClassExample(text, upperFirst(name), read(`${examples}/${file}`)));
  }
}

/** Bundles the native plugin into dist/plugin, which is all that an installed plugin needs. */
async function bundlePlugin() {
  const folder = path.join(root, "dist", "plugin");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["dist/provider/native/main.js"],
    outfile: "dist/plugin/main.js",
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });

  const { version } = JSON.parse(read("package.json"));
  const schema = JSON.parse(read("schema/plugin.json"));
  mkdirSync(folder, { recursive: true });
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(path.join(folder, name), text);
  write("schema.json", JSON.stringify({ ...schema, version }));
  // `exec`, so that the engine's signals reach Node.
  write("pulumi-resource-platform", '#!/bin/sh\nexec node "$(dirname "$0")/main.js" "$@"\n');
  write("pulumi-resource-platform.cmd", '@node "%~dp0main.js" %*\r\n');
  chmodSync(path.join(folder, "pulumi-resource-platform"), 0o755);

  /** The packages in the bundle, by the folders of their files. */
  const packages = new Set(
    Object.keys(metafile.inputs).flatMap(
      (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
    ),
  );
  const notices = [...packages].sort().map((place) => {
    const { name, version: used, license } = JSON.parse(read(`${place}/package.json`));
    const file = readdirSync(path.join(root, place)).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${used} (${license})\n\n${file === undefined ? "" : read(`${place}/${file}`)}`;
  });
  write("LICENSES.txt", notices.join(`\n${"-".repeat(80)}\n\n`));
}

await runScript("build failed", import.meta.filename, async () => {
  const finish = beginBuild(root);
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  const tsc = path.join("node_modules", "typescript", "bin", "tsc");
  const { code } = await run(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    output: "inherit",
  });
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
  writeClassExamples();
  writeValidators(path.join(root, "schema"), path.join(root, "dist", "schema"));
  await bundlePlugin();
  chmodSync(path.join(root, "dist", "provider", "cli", "main.js"), 0o755);
  finish();
});
