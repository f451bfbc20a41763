import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../support/engine";

/** Runs `npm run chaos` in small; what it prints tells what was hit. */
function chaos(...args: string[]): { code: number | null; output: string } {
  const script = join(ROOT, "scripts/chaos.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

const seeds = (output: string) => [...output.matchAll(/^seed (\d+): ok: (.*)$/gm)].map(([, , line]) => line);

test("two organisations of all kinds are created exactly as declared despite faults, and destroyed", () => {
  // `npm run test:nightly` runs 50 seeds. The full size is `npm run chaos -- --seeds 100`: 300 resources each.
  const { code, output } = chaos("--seeds", "2", "--resources", "18", "--parallel", "5");
  expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
  expect(seeds(output)).toHaveLength(2);
  const hit = seeds(output).map((line) => Number(/(\d+) of them hit/.exec(line ?? "")?.[1]));
  expect(Math.min(...hit)).toBeGreaterThan(3);
});

test("a killed engine or provider leaves only objects that were being created at that moment", () => {
  // `npm run test:nightly` runs 25 seeds. The full size is `npm run chaos -- --kill --seeds 50`.
  const { code, output } = chaos("--kill", "--seeds", "1", "--resources", "18");
  expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
  expect(seeds(output)).toHaveLength(1);
});
