// @ts-check
import { existsSync } from "node:fs";
import { excerpt, run } from "./processes.mjs";

const MINUTE_MS = 60_000;
const DEBIAN = "/usr/bin/chromium";
const USUAL = [DEBIAN, "/usr/bin/google-chrome"];

/**
 * Finds the browser for the tests of the report's page, and has Debian's package manager install it where it is
 * missing and that can be done.
 * @param {(line: string) => void} log
 * @returns {Promise<{ file: string } | { reason: string }>} `reason`: why there is none.
 */
export async function obtainBrowser(log) {
  const named = process.env.PULUMI_PLATFORM_BROWSER;
  if (named !== undefined) return { file: named };
  const found = USUAL.find((file) => existsSync(file));
  if (found !== undefined) return { file: found };
  if (process.getuid?.() !== 0) return { reason: "Chromium is not installed, and only root may install it" };
  if (!existsSync("/usr/bin/apt-get"))
    return { reason: "Chromium is not installed, and there is no apt-get" };
  log("installing Debian's Chromium takes about a minute");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", "chromium"]]) {
    const { code, output } = await run("apt-get", args, { env, timeoutMs: 10 * MINUTE_MS });
    if (code !== 0) return { reason: `apt-get ${args[0]} failed:\n${excerpt(output)}` };
  }
  return existsSync(DEBIAN) ? { file: DEBIAN } : { reason: `apt-get installed no ${DEBIAN}` };
}
