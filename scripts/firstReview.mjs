// @ts-check
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { startEmulatorProcess } from "./lib/emulator.mjs";
import { parsePage, programsOf } from "./lib/fences.cjs";
import { withTemporaryFolder } from "./lib/files.mjs";
import { run, runScript, runToSuccess } from "./lib/processes.mjs";
import { cleanEnvironment } from "./lib/stack.mjs";
import { givenOrFoundCli, root } from "./setup.mjs";

/*
 * npm run first-review [-- --seconds 300]
 *
 * Runs the commands of docs/quick-start.md as they stand, from an empty folder with the packed package to the first review,
 * in one shell. It fails if a command does, or if all of them take longer than --seconds. An emulator stands in for the
 * reader's own API: its address, its token and its root group take the place of those that a reader fills in.
 */

/** @param {string[]} args @returns {Promise<number>} The exit code. */
async function main(args) {
  const { values } = parseArgs({ args, options: { seconds: { type: "string", default: "300" } } });
  const limit = Number(values.seconds);
  if (!(limit > 0)) throw new Error("--seconds must be a number greater than 0");
  const { pulumiDir } = await givenOrFoundCli();
  const packer = path.join(root, "scripts", "packedPackage.mjs");
  /** @type {{ tarball: string }} */
  const { tarball } = JSON.parse(await runToSuccess(process.execPath, [packer, "npm"], { cwd: root }));
  const emulator = await startEmulatorProcess(root, ["--seed", "acme"]);
  try {
    const script = scriptOfPage({
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
      PLATFORM_ROOT_GROUP: emulator.rootUid,
    });
    const clean = cleanEnvironment(process.env);
    const env = {
      ...clean,
      PATH: [pulumiDir, clean.PATH].join(path.delimiter),
      PACKAGE: tarball,
      PULUMI_SKIP_UPDATE_CHECK: "true",
    };
    const start = performance.now();
    const { code, output } = await withTemporaryFolder("first", (cwd) =>
      run("bash", ["-e", "-o", "pipefail", "-c", script], { cwd, env }),
    );
    const seconds = (performance.now() - start) / 1000;
    console.log(output.trimEnd());
    if (code !== 0) throw new Error(`the last command ended with ${code}`);
    console.log(`the first review after ${seconds.toFixed(1)} s, limit ${limit} s`);
    return seconds <= limit ? 0 : 1;
  } finally {
    await emulator.stop();
  }
}

/** The commands of the page but for the emulator's, with what a reader fills in. @param {Record<string, string>} given By variable. */
function scriptOfPage(given) {
  const page = parsePage(readFileSync(path.join(root, "docs", "quick-start.md"), "utf8"));
  const steps = programsOf(page, "sh").filter(({ text }) => !text.includes(" emulator --port "));
  return steps
    .map(({ title, text }) => `echo '== ${title}'\n${text}`)
    .join("\n")
    .replace(/^export (PLATFORM_\w+)=(?:https:\/\/api\.example\.com|…)$/gm, (_, name) => {
      if (given[name] === undefined) throw new Error(`there is no value for ${name}`);
      return `export ${name}='${given[name]}'`;
    });
}

await runScript("firstReview", import.meta.filename, main);
