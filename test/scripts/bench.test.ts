import { spawnSync } from "node:child_process";
import path from "node:path";
import { evaluate, projectRoot } from "./support";

const call = (expression: string) => evaluate("bench/report.mjs", expression);

const sample = (subject: string, wallMs: number, requests: number) => ({
  n: 100,
  latencyMs: 20,
  subject,
  operation: "up",
  figures: {
    wallMs,
    requests,
    connections: 1,
    byMethod: { POST: requests },
    storedBytes: 3000,
    ourBytes: 600,
  },
});

const samples = [
  sample("usual", 3000, 100),
  sample("usual", 1000, 100),
  sample("usual", 2000, 100),
  sample("roleBinding", 600, 75),
  sample("roleBinding", 500, 74),
  sample("roleBinding", 9000, 76),
];
const all = `m.medians(${JSON.stringify(samples)})`;

test("the median of an odd and of an even number", async () => {
  expect(await call("[m.median([3, 1, 2]), m.median([4, 1, 3, 2]), m.median([7])]")).toEqual([2, 2.5, 7]);
});

test("each figure is the median of the runs", async () => {
  expect(await call(all)).toMatchObject([
    { subject: "usual", runs: 3, figures: { wallMs: 2000, requests: 100 } },
    { subject: "roleBinding", runs: 3, figures: { wallMs: 600, requests: 75, byMethod: { POST: 75 } } },
  ]);
});

test("a limit compares two subjects, or a figure for each binding; what was not measured is left out", async () => {
  const limits = [
    { subject: "roleBinding", operations: ["up"], figure: "wallMs", against: "usual", atMost: 0.35 },
    { subject: "roleBinding", operations: ["up"], figure: "requests", atMost: 0.2 },
    { subject: "roleBinding", operations: ["up"], figure: "wallMs", against: "floor", atMost: 1 },
    { subject: "groupAccess", operations: ["up"], figure: "requests", atMost: 1 },
  ];
  expect(await call(`m.compare(${all}, ${JSON.stringify(limits)})`)).toMatchObject([
    { value: 0.3, holds: true },
    { value: 0.75, holds: false },
  ]);
});

test("growth compares the first up of a GroupAccess with one of a tenth of the bindings", async () => {
  const sizes = [100, 500, 1000].map((n) => ({ ...sample("groupAccess", n * 13, 10), n }));
  const others = [100, 1000].map((n) => ({ ...sample("roleBinding", n, 10), n }));
  expect(await call(`m.compareGrowth(m.medians(${JSON.stringify([...sizes, ...others])}))`)).toMatchObject([
    { n: 1000, value: 10, holds: true, limit: { subject: "groupAccess", against: "N = 100" } },
  ]);
  const steep = [sizes[0], { ...sizes[2], figures: { ...sizes[2]?.figures, wallMs: 1e6 } }];
  expect(await call(`m.compareGrowth(m.medians(${JSON.stringify(steep)}))`)).toMatchObject([
    { holds: false },
  ]);
});

test("the table gives times as ratios to the first subject, and counts as counts", async () => {
  const table = String(await call(`m.resultTable(${all}, [{ name: "usual" }, { name: "roleBinding" }])`));
  expect(table.split("\n").slice(2)).toEqual([
    "| 100 | 20 ms | up | usual | 1.00x |  |  |  |  |  | 100 POST | 1 | 3000 (600) |",
    "| 100 | 20 ms | up | roleBinding | 0.30x |  |  |  |  |  | 75 POST | 1 | 3000 (600) |",
  ]);
});

test.each([
  [["--n", "ten"], "--n takes whole numbers from 1, separated by commas"],
  [["--only", "nobody"], '--only: there is no subject "nobody"; there are usual, floor, roleBinding'],
  [["--fast"], "--fast"],
])("%j is an error that says what to write", (args, words) => {
  const bench = path.join(projectRoot, "scripts", "bench", "index.mjs");
  const { status, stderr } = spawnSync(process.execPath, [bench, ...args], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("    at ");
});
