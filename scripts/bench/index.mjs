// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { withTemporaryFolder } from "../lib/files.mjs";
import { runScript } from "../lib/processes.mjs";
import { ensureReady, root } from "../setup.mjs";
import { hasProc } from "./measure.mjs";
import { compare, compareGrowth, limits, limitTable, medians, resultTable } from "./report.mjs";
import { operations, subjects } from "./subjects.mjs";
import { BenchServer } from "./benchServer.mjs";

const usage = `Usage: npm run bench -- [options]

Measures this package beside others, with the real Pulumi CLI against the emulator: role bindings of one
group, created, previewed, refreshed, changed and deleted. Every time and size is a ratio to the first subject of
the same run. Takes hours with the defaults.

  --n 100,500,1000      numbers of role bindings
  --latency 0,20        milliseconds that each response of the emulator takes
  --only a,b            subjects: ${subjects.map(({ name }) => name).join(", ")}
  --runs 3              runs of each, alternating; the median counts
  --parallel 64         operations that the engine has under way at once; default: the engine's
  --no-checkpoints      Pulumi writes its state once, as OpenTofu does, not twice for each resource: without the
                        crash safety, for figures of programs and providers at sizes where the writing takes hours
  --out bench-results   folder for results.json and results.md
  --quick               a small run that fails where a count or a size is not as it should be: for CI
`;

/** For --quick: counts, sizes, and times so lenient that a busy machine keeps them. */
const quickLimits = [
  { subject: "roleBinding", operations: ["up"], figure: "ourBytes", against: "usual", atMost: 0.15 },
  { subject: "roleBinding", operations: ["up"], figure: "requests", atMost: 1 },
  { subject: "roleBinding", operations: ["refresh", "previewRefresh"], figure: "requests", atMost: 0.4 },
  { subject: "roleBinding", operations: ["preview"], figure: "requests", atMost: 0 },
  { subject: "roleBinding", operations: ["update", "destroy"], figure: "requests", atMost: 1 },
  { subject: "roleBinding", operations: ["up"], figure: "wallMs", against: "usual", atMost: 2 },
  { subject: "groupAccess", operations: ["up"], figure: "requests", atMost: 0.15 },
  { subject: "groupAccess", operations: ["refresh"], figure: "requests", atMost: 0.1 },
];

const log = (/** @type {string} */ line) => console.error(`bench: ${line}`);

/** @param {string} text @param {string} flag @param {number} least */
function numbers(text, flag, least) {
  return text.split(",").map((part) => {
    const number = Number(part);
    if (!/^\d+$/.test(part.trim()) || number < least) {
      throw new Error(`--${flag} takes whole numbers from ${least}, separated by commas, not "${part}"`);
    }
    return number;
  });
}

/** @param {string[]} args */
function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      n: { type: "string" },
      latency: { type: "string" },
      only: { type: "string" },
      runs: { type: "string" },
      parallel: { type: "string" },
      "no-checkpoints": { type: "boolean", default: false },
      out: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const names =
    values.only?.split(",") ?? (values.quick ? ["usual", "roleBinding", "groupAccess"] : undefined);
  const unknown = names?.find((name) => !subjects.some((subject) => subject.name === name));
  if (unknown !== undefined) {
    throw new Error(
      `--only: there is no subject "${unknown}"; there are ${subjects.map(({ name }) => name).join(", ")}`,
    );
  }
  const [runs = 3] = numbers(values.runs ?? (values.quick ? "1" : "3"), "runs", 1);
  const parallel = values.parallel === undefined ? [] : numbers(values.parallel, "parallel", 1);
  return {
    sizes: numbers(values.n ?? (values.quick ? "40" : "100,500,1000"), "n", 1),
    latencies: numbers(values.latency ?? (values.quick ? "20" : "0,20"), "latency", 0),
    names,
    runs,
    parallel: parallel[0],
    checkpoints: !values["no-checkpoints"],
    out: path.resolve(values.out ?? path.join(root, "bench-results")),
    quick: values.quick,
    help: values.help,
  };
}

/** @param {import("./measure.mjs").Usage | undefined} usage */
const shown = (usage) => ({ cpuMs: usage?.cpuMs || undefined, bytes: usage?.peakBytes || undefined });

/**
 * Runs all operations of one subject once, with its own server and state.
 * @param {import("./subjects.mjs").BenchContext} at
 * @param {import("./subjects.mjs").Subject} subject
 * @param {{ n: number, latencyMs: number }} setting
 * @param {string} folder
 */
async function measureOnce(at, subject, setting, folder) {
  const server = await BenchServer.start({ root: at.root, size: setting.n, latencyMs: setting.latencyMs });
  try {
    const deployment = await subject.deploy(at, server, folder);
    /** @type {import("./report.mjs").Sample[]} */
    const samples = [];
    let size = { stored: NaN, ours: NaN };
    for (const operation of operations) {
      server.requests();
      const { code, output, wallMs, usage } = await deployment.run(operation);
      if (code !== 0)
        throw new Error(`${subject.name} ${operation} ended with ${code}:\n${output.slice(-3000)}`);
      if (operation === "up") size = deployment.stateSize();
      const { byMethod, total: requests, connections } = server.requests();
      checkServerContent(subject, operation, server);
      const [program, provider] = [shown(usage?.program), shown(usage?.provider)];
      const figures = {
        wallMs,
        engineCpuMs: usage?.engine.cpuMs,
        programCpuMs: program.cpuMs,
        providerCpuMs: provider.cpuMs,
        programBytes: program.bytes,
        providerBytes: provider.bytes,
        ...{ requests, connections, byMethod, storedBytes: size.stored, ourBytes: size.ours },
      };
      samples.push({ ...setting, subject: subject.name, operation, figures });
    }
    return samples;
  } finally {
    await server.close();
  }
}

/** Checks that the server has what the measured operation should have written. @param {import("./subjects.mjs").Subject} subject @param {string} operation @param {BenchServer} server */
function checkServerContent(subject, operation, server) {
  if (!subject.sendsRequests) return;
  const expected = { update: [0, server.size], destroy: [0, 0] }[operation] ?? [server.size, 0];
  const actual = [server.holds(0), server.holds(1)];
  if (actual.join() !== expected.join()) {
    throw new Error(
      `${subject.name} ${operation}: the server holds ${actual.join(" and ")} bindings of the two roles, not ${expected.join(" and ")}`,
    );
  }
}

/** @typedef {ReturnType<typeof readArguments>} Options */
/** @typedef {import("./subjects.mjs").BenchContext} BenchContext */
/** @typedef {import("./subjects.mjs").Subject} Subject */

/** The subjects that can be measured here. @param {BenchContext} at @param {string[] | undefined} names */
async function selectSubjects(at, names) {
  /** @type {Subject[]} */
  const selected = [];
  for (const subject of subjects) {
    if (names !== undefined && !names.includes(subject.name)) continue;
    const problem = await subject.problem(at);
    if (problem === undefined) selected.push(subject);
    else log(`${subject.name} is skipped: ${problem}`);
  }
  if (selected.length === 0) throw new Error("nothing is left to measure");
  return selected;
}

/**
 * Writes what was measured so far: as a page, and as JSON.
 * @param {BenchContext} at @param {Options} options @param {Subject[]} measured @param {import("./report.mjs").Sample[]} samples
 */
function writeResults({ cli, more }, { parallel, checkpoints, quick, out }, measured, samples) {
  const all = medians(samples);
  const comparisons = [...compare(all, quick ? quickLimits : limits(parallel)), ...compareGrowth(all)];
  const base = measured[0]?.name;
  const runs = Math.min(...all.map((one) => one.runs));
  const settings = [...more, ...(checkpoints ? [] : ["without checkpoints"])].map((each) => `, ${each}`);
  const text = [
    `Role bindings of one group, the median of ${runs} alternating run${runs === 1 ? "" : "s"}; Pulumi ${cli.version}, Node ${process.versions.node}, ${os.cpus().length} processors${settings.join("")}. Times and memory are ratios to \`${base}\`; requests are for all bindings; state bytes are for one binding after the first \`up\`, in parentheses those of inputs and outputs.`,
    ...measured.map(({ name, title }) => `- \`${name}\`: ${title}`),
    "",
    resultTable(all, measured),
    "",
    limitTable(comparisons),
    "",
  ].join("\n");
  const versions = { cli: cli.version, node: process.versions.node };
  const json = { ...versions, base, runs, parallel, checkpoints, medians: all, comparisons, samples };
  mkdirSync(out, { recursive: true });
  writeFileSync(path.join(out, "results.md"), text);
  writeFileSync(path.join(out, "results.json"), JSON.stringify(json, null, 2));
  return { text, comparisons };
}

/** The runs in their order: of each size and latency, with another subject first each time. @param {Options} options @param {Subject[]} measured */
function* runsOf({ sizes, latencies, runs }, measured) {
  for (const n of sizes) {
    for (const latencyMs of latencies) {
      for (let run = 0; run < runs; run += 1) {
        const first = run % measured.length;
        const order = [...measured.slice(first), ...measured.slice(0, first)];
        yield { title: `N ${n}, ${latencyMs} ms, run ${run + 1} of ${runs}`, n, latencyMs, order };
      }
    }
  }
}

/** @param {string[]} args */
async function main(args) {
  const options = readArguments(args);
  if (options.help) return console.log(usage);
  const { parallel, checkpoints, quick } = options;
  const cli = await ensureReady();
  if (cli === undefined) throw new Error("the Pulumi CLI is missing");
  if (!hasProc) log("CPU and memory are left out: this system has no /proc");
  const more = parallel === undefined ? [] : ["--parallel", String(parallel)];
  const at = { root, cli, log, more, checkpoints, quick };
  const measured = await selectSubjects(at, options.names);
  /** @type {import("./report.mjs").Sample[]} */
  const samples = [];
  for (const { title, n, latencyMs, order } of runsOf(options, measured)) {
    for (const subject of order) {
      log(`${title}: ${subject.name}`);
      const measureIn = (/** @type {string} */ folder) => measureOnce(at, subject, { n, latencyMs }, folder);
      samples.push(...(await withTemporaryFolder("bench", measureIn)));
    }
    // What was measured in hours is not lost with what is still to come.
    writeResults(at, options, measured, samples);
  }
  const { text, comparisons } = writeResults(at, options, measured, samples);
  console.log(text);
  const broken = comparisons.filter(({ holds }) => !holds);
  if (quick && broken.length > 0) throw new Error(`${broken.length} of the limits above are not kept`);
}

await runScript("npm run bench", import.meta.filename, main);
