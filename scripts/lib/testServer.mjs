// @ts-check
import process from "node:process";
import { buildArgv, runCLI } from "jest";

/*
 * Runs the file of unit tests that each message names, and answers whether it passes. One process runs many of them: to
 * start jest and to load the compiler takes longer than most files of tests.
 */

process.on("message", async (/** @type {string} */ test) => {
  const options = ["--ci", "--silent", "--runInBand", "--selectProjects=unit", "--runTestsByPath", test];
  const { results } = await runCLI(await buildArgv(options), [process.cwd()]);
  process.send?.({ result: results.success ? "passes" : "fails", memory: process.memoryUsage().rss });
});
process.on("disconnect", () => process.exit(0));
