// @ts-check
/*
 * Reviews previews that are made to be slow, and tells time and memory:
 *   npm run build && node scripts/bench/reviewHostile.mjs [seed]
 * Fails where one of them takes more than 5 s of processor time or 500 MB.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pick, randomOf } from "../lib/random.cjs";
import { messageOf } from "../lib/processes.mjs";
import { MOST_MEGABYTES, MOST_SECONDS, reviewCost } from "./reviewCost.mjs";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const org = "a".repeat(40);
const GITHUB = "https://token.actions.githubusercontent.com";

const ATOMS = [
  "a",
  "acme",
  "repo:",
  "/",
  ":",
  ".",
  "[a-z]",
  "[^x]",
  "\\d",
  "\\w",
  "[a-z0-9-]",
  "\\.",
  "pay",
  "ref",
];
const REPEATS = ["", "", "", "*", "+", "?", "{1,7}", "{3}", "{2,40}"];

/** @param {import("../lib/random.cjs").Random} random @param {number} depth @returns {string} */
function randomPattern(random, depth) {
  const pieces = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
    const isGroup = depth > 0 && random() < 0.3;
    const atom = isGroup
      ? `(?:${randomPattern(random, depth - 1)}|${randomPattern(random, depth - 1)})`
      : pick(random, ATOMS);
    return `${atom}${pick(random, REPEATS)}`;
  });
  return pieces.join("");
}

/** @param {string} kind @param {string} name @param {Record<string, unknown>} inputs @param {string[]} [from] */
function step(kind, name, inputs, from = []) {
  const urn = `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:${kind}::${name}`;
  const propertyDependencies = Object.fromEntries(Object.keys(inputs).map((key) => [key, from]));
  const __provider = `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;
  const newState = {
    urn,
    custom: true,
    type: `pulumi-nodejs:dynamic/platform:${kind}`,
    inputs: { __provider, ...inputs },
    propertyDependencies,
  };
  return { op: "create", urn, newState };
}

/** @param {string} name @param {Record<string, unknown>} claimMatch */
const identity = (name, claimMatch) => step("Identity", name, { parentUid: org, name, claimMatch });

/** @param {readonly string[]} patterns */
const subjects = (patterns) =>
  patterns.map((subjectPattern, i) => identity(`identity-${i}`, { issuer: GITHUB, subjectPattern }));

function manyLabels() {
  const sources = Array.from({ length: 50 }, (_, i) =>
    identity(`source-${i}`, { issuer: GITHUB, subject: `repo:acme/${i}:x` }),
  );
  const label = { identityUid: UNKNOWN, roleUid: UNKNOWN };
  const bindings = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`label-${i}`, label]));
  const access = step(
    "GroupAccess",
    "access",
    { parentUid: org, bindings },
    sources.map(({ urn }) => urn),
  );
  return [...sources, access];
}

/** @param {number} seed @returns {Record<string, object[]>} */
function hostilePreviews(seed) {
  const random = randomOf(seed);
  const random1000 = Array.from({ length: 1_000 }, () => {
    const [start, end] = [random() < 0.7 ? "^" : "", random() < 0.7 ? "$" : ""];
    return `${random() < 0.1 ? "(?i)" : ""}${start}${randomPattern(random, 3)}${end}`;
  });
  return {
    "1,000 random patterns": subjects(random1000),
    "1,000 random patterns of issuers": random1000.map((issuerPattern, i) =>
      identity(`identity-${i}`, { issuerPattern, subject: "x" }),
    ),
    "nested repeats": subjects([
      "^(((a{1,30}){1,30}){1,30})$",
      "^(?:(?:[a-z]+)+)+$",
      `^${"(a|b)?".repeat(140)}$`,
    ]),
    "a long alternation": subjects([
      `^(?:${Array.from({ length: 120 }, (_, i) => `repo:${i}.*`).join("|")})$`,
    ]),
    "many wild parts": subjects([`^${"[a-z]*x?".repeat(100)}$`, `^${".*a".repeat(280)}$`]),
    "4,000 unknown labels": manyLabels(),
  };
}

async function main() {
  const seed = Number(process.argv[2] ?? "1");
  const folder = mkdtempSync(path.join(tmpdir(), "pulumi-platform-bench-"));
  const slow = [];
  try {
    for (const [name, steps] of Object.entries(hostilePreviews(seed))) {
      const file = path.join(folder, "preview.json");
      writeFileSync(file, JSON.stringify({ steps, changeSummary: { create: steps.length } }));
      const { code, cpu, megabytes, errors } = await reviewCost(file);
      const time = Number.isFinite(cpu) ? `${cpu.toFixed(1)} s of processor time` : "ended at the limit";
      console.log(`${name}: ${time}, ${megabytes} MB, exit code ${code}`);
      const isOver = !(cpu < MOST_SECONDS) || !(megabytes < MOST_MEGABYTES);
      if (isOver || (code !== 0 && code !== 4)) {
        const [said = ""] = errors.split("\nused ");
        slow.push([name, said.trim().slice(0, 500)].filter(Boolean).join(": "));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (slow.length > 0) {
    throw new Error(`more than ${MOST_SECONDS} s or ${MOST_MEGABYTES} MB, or an error: ${slow.join("; ")}`);
  }
}

main().catch((error) => {
  console.error(`reviewHostile: ${messageOf(error)}`);
  process.exitCode = 1;
});
