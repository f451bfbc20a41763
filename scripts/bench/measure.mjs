// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { clearInterval, setInterval } from "node:timers";
import { performance } from "node:perf_hooks";
import { run } from "../lib/processes.mjs";

/**
 * @typedef {"engine" | "program" | "provider"} Role
 * @typedef {{ cpuMs: number, peakBytes: number }} Usage
 *
 * @typedef {object} Measured
 * @property {number} code
 * @property {string} output
 * @property {number} wallMs
 * @property {Record<Role, Usage> | undefined} usage Undefined where the system has no /proc.
 */

const SAMPLE_MS = 100;
/** Linux counts CPU time in hundredths of a second, on every machine that Node runs on. */
const TICK_MS = 10;

/** Whether CPU and memory can be measured here. */
export const hasProc = existsSync("/proc/self/stat");

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // It has ended meanwhile.
  }
}

/** Reads the parent and the CPU time of a process. @param {string} pid */
function readProcessStat(pid) {
  const text = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: fields[1], cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

/** Undefined for a process that has ended and was not waited for yet. @param {string} pid @returns {Role | undefined} */
function roleOf(pid) {
  const command = read(`/proc/${pid}/cmdline`);
  if (command === "") return undefined;
  if (/cmd\/dynamic-provider|terraform-provider-/.test(command)) return "provider";
  if (/cmd\/run/.test(command)) return "program";
  return "engine";
}

/** A process and all below it. @param {string} root */
function family(root) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(readProcessStat);
  const members = new Set([root]);
  for (let before = 0; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of all) if (parent !== undefined && members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

/** Samples a process and all below it. @param {number} root */
class Sampler {
  /** @type {Map<string, { role: Role, cpuMs: number, peakBytes: number }>} */
  seen = new Map();

  /** @param {number} root */
  constructor(root) {
    this.root = String(root);
  }

  sample() {
    for (const { pid, cpuMs } of family(this.root)) {
      const peak = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`));
      const known = this.seen.get(pid);
      // A shell becomes the program that it runs: only the last role counts.
      this.seen.set(pid, {
        role: roleOf(pid) ?? known?.role ?? "engine",
        cpuMs: Math.max(known?.cpuMs ?? 0, cpuMs || 0),
        peakBytes: Math.max(known?.peakBytes ?? 0, Number(peak?.[1] ?? 0) * 1024),
      });
    }
  }

  /** @returns {Record<Role, Usage>} */
  usage() {
    const usage = {
      engine: { cpuMs: 0, peakBytes: 0 },
      program: { cpuMs: 0, peakBytes: 0 },
      provider: { cpuMs: 0, peakBytes: 0 },
    };
    for (const { role, cpuMs, peakBytes } of this.seen.values()) {
      usage[role].cpuMs += cpuMs;
      usage[role].peakBytes = Math.max(usage[role].peakBytes, peakBytes);
    }
    return usage;
  }
}

/**
 * Runs a command to its end and says what it and its children took.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<Measured>}
 */
export async function measure(command, args, options) {
  const start = performance.now();
  /** @type {Sampler | undefined} */
  let sampler;
  const timer = setInterval(() => sampler?.sample(), SAMPLE_MS);
  const started = (/** @type {number} */ pid) => void (sampler = hasProc ? new Sampler(pid) : undefined);
  try {
    const { code, output } = await run(command, args, { ...options, started });
    return { code, output, wallMs: performance.now() - start, usage: sampler?.usage() };
  } finally {
    clearInterval(timer);
  }
}
