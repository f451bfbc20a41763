// @ts-check
/**
 * `npm run setup:languages`: builds the hosts of programs in YAML, Python and Go with Go, once for all checkouts, and installs
 * what a generated package for Python needs. Below them, in `code/`, are the hosts that generate code. With `--print` it only
 * prints the folder that is to be put on PATH, if it is there.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { cacheRoot, fillFolder } from "./lib/files.mjs";
import { withLock } from "./lib/lock.mjs";
import { runScript, runToSuccess } from "./lib/processes.mjs";
import { goBuild, goFolder, goModule } from "./lib/pulumi.mjs";

const root = path.dirname(import.meta.dirname);

const modules = ["language-yaml", "language-python-go"].map((name) => goModule(root, name));

const cli = path.join(root, "scripts", "cli", "pulumi");
const generator = path.join(root, "scripts", "cli", "code-generator", "main.go");

const { version } = JSON.parse(
  readFileSync(path.join(root, "node_modules", "@pulumi", "pulumi", "package.json"), "utf8"),
);
/** The packages for Python: Pulumi's, and what a package that is generated from a schema needs, and to be installed. */
const packages = [`pulumi==${version}`, "parver==0.5", "setuptools>=61", "wheel"];
const recipe = createHash("sha256").update(packages.join());
for (const { pins } of modules) recipe.update(pins);
for (const file of [path.join(cli, "go.sum"), generator]) recipe.update(readFileSync(file));
const cache = cacheRoot(process.env);
const target = path.join(cache, `hosts-${recipe.digest("hex").slice(0, 12)}`);
const bin = path.join(target, "bin");

/** @param {string} folder */
async function build(folder) {
  // Made at its last place: a virtual environment cannot be moved.
  await runToSuccess("python3", ["-m", "venv", path.join(target, "venv")]);
  const pip = path.join(target, "venv", "bin", "pip");
  await runToSuccess(pip, ["install", "--quiet", "--disable-pip-version-check", ...packages]);
  for (const language of ["nodejs", "python"])
    await goBuild(cli, generator, path.join(folder, "code", `pulumi-language-${language}`), process.env);
  const hosts = modules.flatMap(({ folder: cwd, tools }) => tools.map((tool) => ({ cwd, tool })));
  for (const { cwd, tool } of hosts) {
    await goBuild(cwd, tool, path.join(folder, path.basename(tool)), process.env);
    // Beside the host of Python lies the script that runs a program.
    const script = path.join(
      path.dirname(await goFolder(cwd, tool, process.env)),
      `${path.basename(tool)}-exec`,
    );
    if (existsSync(script)) copyFileSync(script, path.join(folder, path.basename(script)));
  }
}

await runScript("npm run setup:languages", import.meta.filename, async (args) => {
  const isThere = () => existsSync(bin);
  if (!isThere() && !args.includes("--print")) {
    const fill = async () => {
      if (!isThere()) await fillFolder(bin, build);
    };
    await withLock(path.join(cache, "hosts.lock"), fill, console.error);
  }
  if (isThere()) console.log(bin);
});
