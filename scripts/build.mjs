// @ts-check
/** `npm run build`: compiles the package into dist/, and notes of which sources, so that set-up knows a build that is current. */
import { chmodSync, rmSync } from "node:fs";
import path from "node:path";
import { beginBuild } from "./lib/checkout.mjs";
import { run, runScript } from "./lib/processes.mjs";

const root = path.dirname(import.meta.dirname);

/** @param {string[]} args of Node */
async function succeed(...args) {
  const { code } = await run(process.execPath, args, { cwd: root, output: "inherit" });
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
}

await runScript("build failed", import.meta.filename, async () => {
  const finish = beginBuild(root);
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  await succeed(path.join("node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json");
  await succeed(path.join("scripts", "classExamples.mjs"));
  await succeed(path.join("scripts", "validators.mjs"));
  await succeed(path.join("scripts", "plugin.mjs"));
  chmodSync(path.join(root, "dist", "provider", "cli", "main.js"), 0o755);
  finish();
});
