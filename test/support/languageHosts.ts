import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./engine";

/** The folder of the hosts of other languages, and of what generates code; empty where they are not built. */
export const languageHosts = execFileSync(
  process.execPath,
  [join(ROOT, "scripts/languageHosts.mjs"), "--print"],
  { encoding: "utf8" },
).trim();

if (languageHosts === "")
  console.warn("skipped: there are no language hosts: npm run setup:languages builds them");

export const testWithHosts = languageHosts === "" ? test.skip : test;
