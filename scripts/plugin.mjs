// @ts-check
/** Part of `npm run build`: bundles the native plugin into dist/plugin, which is all that an installed plugin needs. */
import { build } from "esbuild";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");
const folder = path.join(root, "dist", "plugin");
const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), "utf8");

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
