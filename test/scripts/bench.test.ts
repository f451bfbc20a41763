import { spawnSync } from "node:child_process";
import path from "node:path";
import { projectRoot } from "./support";

test.each([
  [["--n", "ten"], "--n must be a whole number from 1"],
  [["--only", "nobody"], '--only: there is no subject "nobody"; there are usual, roleBinding, groupAccess'],
  [["--fast"], "--fast"],
])("%j is an error that says what to write", (args, words) => {
  const bench = path.join(projectRoot, "scripts", "bench", "index.mjs");
  const { status, stderr } = spawnSync(process.execPath, [bench, ...args], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("    at ");
});
