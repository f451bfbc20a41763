// @ts-check
/*
 * Reviews a large preview and previews that are made to be slow, and prints time and memory:
 *   npm run build && node scripts/bench/reviewLimits.mjs
 * Fails where one of them takes more than 30 s of processor time (most take 3 to 10), 500 MB, or writes a report of more than
 * 20 MB.
 */
import { appendFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { withTemporaryFolder } from "../lib/files.mjs";
import { run, runScript } from "../lib/processes.mjs";
import { pick, randomOf } from "../lib/random.cjs";
import { root as repository } from "../setup.mjs";
import { liveObjects, previewOf, root } from "./organisation.mjs";

/** What a review may take, whatever it is given. The shell ends one that takes more processor time. */
const MOST_SECONDS = 30;
const MOST_MEGABYTES = 500;
const MOST_REPORT_MEGABYTES = 20;
/** Cases that do not end with exit code 0: what is over a limit is refused, and of what is too long a part is listed. */
const REFUSED = { code: 2, says: "(PP6009)" };
const CUT = { code: 4, says: "" };
/** The process prints its own peak when it ends; nothing of the command knows of it. */
const hook = `data:text/javascript,${encodeURIComponent(
  'import process from "node:process"; process.on("exit", () => { const used = process.resourceUsage(); process.stderr.write(`\\nused ${used.maxRSS} ${used.userCPUTime + used.systemCPUTime}\\n`); });',
)}`;

/**
 * Reviews a preview in a process of its own.
 * @param {string} preview a path.
 * @returns `cpu`: seconds of processor time, infinite where the limit ended it.
 */
async function reviewCost(preview) {
  const cli = path.join(repository, "dist", "provider", "cli", "main.js");
  const args = ["--import", hook, cli, "review", preview, "--output", "json", "--exit-zero"];
  const report = `${preview}.report`;
  const limited = `ulimit -t ${MOST_SECONDS}; out=$1; shift; exec "$0" "$@" > "$out"`;
  const { code, output } = await run("/bin/sh", ["-c", limited, process.execPath, report, ...args]);
  const [, kilobytes, micros] = /\nused (\d+) (\d+)\n/.exec(output) ?? [];
  return {
    code,
    cpu: micros === undefined ? Infinity : Number(micros) / 1_000_000,
    megabytes: Math.round(Number(kilobytes ?? 0) / 1000),
    reportMegabytes: statSync(report).size / 1_000_000,
    errors: output.split("\nused ")[0] ?? "",
  };
}

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
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
const identity = (name, claimMatch) => step("Identity", name, { parentUid: root, name, claimMatch });

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
    { parentUid: root, bindings },
    sources.map(({ urn }) => urn),
  );
  return [...sources, access];
}

const COUNT = 1_500;
/** @template T @param {(i: number) => T} make */
const many = (make) => Array.from({ length: COUNT }, (_, i) => make(i));
/** @param {number} i */
const uidOf = (i) => `${root}/${i.toString(16).padStart(16, "0")}`;

/** Services that act as one identity, or as one of forty, which have many roles. @param {boolean} isShared */
function manyServices(isShared) {
  const identityOf = (/** @type {number} */ i) => (isShared ? UNKNOWN : uidOf(i % 40));
  const serviceBindings = Object.fromEntries(many((i) => [`service-${i}`, identityOf(i)]));
  return [
    step("AccountAssociation", "accounts", {
      group: root,
      name: "accounts",
      chainguard: { serviceBindings },
    }),
    ...many((i) =>
      step("RoleBinding", `binding-${i}`, {
        identityUid: identityOf(i),
        roleUid: uidOf(5_000 + i),
        parentUid: root,
      }),
    ),
  ];
}

/** Tokens of a directory, each of which can write the members of all groups of it. */
function manyTokens() {
  const directory = `${root}/${"d".repeat(16)}`;
  return [
    ...many((i) =>
      step("ScimToken", `token-${i}`, { parentUid: directory, name: `token-${i}`, neverExpires: true }),
    ),
    ...many((i) =>
      step("ExternalGroupRoleMapping", `mapping-${i}`, {
        parentUid: directory,
        externalGroupId: `group-${i}`,
        roleUid: uidOf(i),
        scope: root,
      }),
    ),
  ];
}

/** A group with a long name, in which one identity gets many roles: each grant names the group. */
function longName() {
  const group = step("Group", "group", { parentUid: root, name: "g".repeat(4_000) });
  return [
    group,
    ...many((i) =>
      step(
        "RoleBinding",
        `binding-${i}`,
        { identityUid: uidOf(1), roleUid: uidOf(5_000 + i), parentUid: UNKNOWN },
        [group.urn],
      ),
    ),
  ];
}

/** Groups above one another, nearly up to the limit. The lowest of each row stays, so the server refuses to delete the others. */
function nestedGroups() {
  const depth = 90;
  return many((i) => {
    const inputs = { parentUid: i % depth === 0 ? root : uidOf(i - 1), name: `group-${i}` };
    const { urn, newState } = step("Group", inputs.name, inputs);
    return {
      op: "delete",
      urn,
      oldState: { ...newState, id: uidOf(i), retainOnDelete: i % depth === depth - 1 },
    };
  });
}

/** Names of capabilities that no version knows: a proposal for each would compare all of them with all known ones. */
const manyUnknownNames = () =>
  Array.from({ length: 5 }, (_, i) => {
    const capabilities = Array.from({ length: 8_000 }, (__, n) => `CAP_${i}_UNKNOWN_${n}`);
    return step("Role", `role-${i}`, { parentUid: root, name: `role-${i}`, capabilities });
  });

/** What is over a limit is refused at once. */
const manyClaims = () => {
  const claims = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`claim-${i}`, "x"]));
  return [identity("identity", { issuer: GITHUB, subject: "repo:acme/pay:x", claims })];
};

/** @returns {Record<string, readonly [steps: () => { op: string }[], end?: { code: number, says: string }]>} */
function previews() {
  const random = randomOf(1);
  const patterns = Array.from({ length: 1_000 }, () => {
    const [start, end] = [random() < 0.7 ? "^" : "", random() < 0.7 ? "$" : ""];
    return `${random() < 0.1 ? "(?i)" : ""}${start}${randomPattern(random, 3)}${end}`;
  });
  const ofIssuers = (/** @type {string} */ issuerPattern, /** @type {number} */ i) =>
    identity(`identity-${i}`, { issuerPattern, subject: "x" });
  const nested = ["^(((a{1,30}){1,30}){1,30})$", "^(?:(?:[a-z]+)+)+$", `^${"(a|b)?".repeat(140)}$`];
  const alternation = `^(?:${Array.from({ length: 120 }, (_, i) => `repo:${i}.*`).join("|")})$`;
  return {
    "5,000 resources": [() => largePreview(5_000, 20)],
    "1,000 random patterns": [() => subjects(patterns)],
    "1,000 random patterns of issuers": [() => patterns.map(ofIssuers)],
    "nested repeats": [() => subjects(nested)],
    "a long alternation": [() => subjects([alternation])],
    "many wild parts": [() => subjects([`^${"[a-z]*x?".repeat(100)}$`, `^${".*a".repeat(280)}$`])],
    "4,000 unknown labels": [manyLabels],
    "1,500 services of an identity with 1,500 roles": [() => manyServices(true)],
    "1,500 services of 40 identities with 1,500 roles": [() => manyServices(false), REFUSED],
    "1,500 tokens of a directory with 1,500 groups": [manyTokens, REFUSED],
    "1,500 grants at a group with a name of 4,000 characters": [longName, CUT],
    "1,500 refused deletes of nested groups": [nestedGroups],
    "40,000 unknown names of capabilities": [manyUnknownNames],
    "200,000 claims of one identity": [manyClaims, REFUSED],
  };
}

/** A large preview that changes the trust of some identities, and the role of some bindings. @param {number} count @param {number} megabytes Each resource is padded to them, to see that only grants take memory. */
function largePreview(count, megabytes) {
  const objects = liveObjects(count);
  const roles = objects.filter(({ kind }) => kind === "Role").map(({ uid }) => uid);
  const preview = previewOf(objects, (object, index) => {
    const { kind, inputs } = object;
    if (kind === "Identity" && index % 10 === 0) {
      const claimMatch = { issuer: GITHUB, subject: `repo:acme/r${index}:pull_request` };
      return { ...object, inputs: { ...inputs, claimMatch } };
    }
    if (kind !== "RoleBinding" || index % 5 !== 0) return object;
    return { ...object, inputs: { ...inputs, roleUid: roles[index % roles.length] } };
  });
  const initErrors = ["x".repeat(Math.floor((megabytes * 1_000_000) / count / 2))];
  /** @type {{ steps: { op: string, oldState?: object, newState?: object }[] }} */
  const { steps } = JSON.parse(preview);
  return steps.map((step, n) => {
    const padding = { initErrors, stackTrace: [{ sourcePosition: `project:///index.ts#${n},1` }] };
    return {
      ...step,
      oldState: { ...step.oldState, ...padding },
      newState: { ...step.newState, ...padding },
    };
  });
}

/** Step by step: together they can be longer than a string may be. @param {string} file @param {{ op: string }[]} steps */
function writePreview(file, steps) {
  /** @type {Record<string, number>} */
  const summary = {};
  for (const { op } of steps) summary[op] = (summary[op] ?? 0) + 1;
  writeFileSync(file, '{ "steps": [');
  for (const [n, step] of steps.entries()) {
    appendFileSync(file, `${n === 0 ? "" : ","}\n${JSON.stringify(step, null, 4)}`);
  }
  appendFileSync(file, `], "changeSummary": ${JSON.stringify(summary)} }`);
}

async function main() {
  const slow = await withTemporaryFolder("bench", async (folder) => {
    const file = path.join(folder, "preview.json");
    const found = [];
    for (const [name, [steps, end = { code: 0, says: "" }]] of Object.entries(previews())) {
      writePreview(file, steps());
      const size = Math.round(statSync(file).size / 1_000_000);
      const { code, cpu, megabytes, reportMegabytes, errors } = await reviewCost(file);
      const time = Number.isFinite(cpu) ? `${cpu.toFixed(1)} s of processor time` : "ended at the limit";
      console.log(
        `${name}, ${size} MB of JSON: ${time}, ${megabytes} MB, a report of ${reportMegabytes.toFixed(1)} MB, exit code ${code}`,
      );
      const isOver =
        !(cpu < MOST_SECONDS) || !(megabytes < MOST_MEGABYTES) || !(reportMegabytes < MOST_REPORT_MEGABYTES);
      const isAsExpected = code === end.code && errors.includes(end.says);
      if (isOver || !isAsExpected) found.push(`${name}: ${errors.trim().slice(0, 500)}`);
    }
    return found;
  });
  if (slow.length > 0) {
    throw new Error(
      `more than ${MOST_SECONDS} s of processor time, ${MOST_MEGABYTES} MB, a report of ${MOST_REPORT_MEGABYTES} MB, or an error: ${slow.join("; ")}`,
    );
  }
}

await runScript("reviewLimits", import.meta.filename, main);
