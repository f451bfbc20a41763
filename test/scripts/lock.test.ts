import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { script, start, temporaryFolder, until } from "./support";

/** A process that takes the lock, writes down that it came and went, and stays meanwhile. */
function holder(file: string, journal: string, body = "await sleep(100);") {
  return start(
    script(
      "lib/lock.mjs",
      `import { appendFileSync } from "node:fs";
       import { setTimeout as sleep } from "node:timers/promises";
       import { withSignals } from ${JSON.stringify(path.resolve(__dirname, "../../scripts/lib/processes.mjs"))};
       const note = (text) => appendFileSync(${JSON.stringify(journal)}, text + "\\n");
       await withSignals(() => m.withLock(${JSON.stringify(file)}, async () => {
         note("in");
         ${body}
         note("out");
       }, console.log));`,
    ),
  );
}

function files() {
  const folder = temporaryFolder();
  return { file: path.join(folder, "locks", "lock"), journal: path.join(folder, "journal") };
}

const lines = (journal: string) => readFileSync(journal, "utf8").trim().split("\n");
const isInside = (journal: string) => existsSync(journal) && lines(journal).at(-1) === "in";

test("only one process holds the lock at a time, and no file is left", async () => {
  const { file, journal } = files();
  const all = [1, 2, 3, 4].map(() => holder(file, journal));
  const codes = (await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code);
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(lines(journal)).toEqual(["in", "out", "in", "out", "in", "out", "in", "out"]);
  expect(existsSync(file)).toBe(false);
});

test("takes over the lock of a killed process", async () => {
  const { file, journal } = files();
  const one = holder(file, journal, "await sleep(20_000);");
  await until(() => isInside(journal), "it is inside");
  one.kill("SIGKILL");
  await one.ended;
  expect(existsSync(file)).toBe(true);
  expect((await holder(file, journal).ended).code).toBe(0);
  expect(lines(journal)).toEqual(["in", "in", "out"]);
  expect(existsSync(file)).toBe(false);
});
