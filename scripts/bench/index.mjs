// @ts-check
/*
 * npm run bench -- [options]
 *
 * Measures this package beside others, with the real Pulumi CLI against the emulator: role bindings of one group,
 * created, previewed, refreshed, changed and deleted. Times are ratios to the first subject of the same run.
 *
 *   --n 40          how many role bindings
 *   --only a,b      subjects: usual, roleBinding, groupAccess
 *   --quick         with compiled code that is kept between runs, which a user's processes do not, and of the first subject
 *                   only what the others are held to; fails where a count, a size or a time exceeds its limit: for CI
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { withStack } from "../lib/emulator.mjs";
import { runScript } from "../lib/processes.mjs";
import { QUICK_PROCESSES } from "../lib/quickProcesses.cjs";
import { ensureReady, root } from "../setup.mjs";

/** What is measured: the programs of these names beside this file. */
const SUBJECTS = {
  usual: "a dynamic provider as commonly written",
  roleBinding: "this package, a RoleBinding each",
  groupAccess: "this package, one GroupAccess",
};

/** @type {Record<string, string[]>} */
const OPERATIONS = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview", "--expect-no-changes"],
  previewRefresh: ["preview", "--refresh"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  update: ["up", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

/** @param {string} subject What runs of it: with --quick another tool does only what a limit compares with it. @param {boolean} quick */
function operationsOf(subject, quick) {
  const all = Object.entries(OPERATIONS);
  const compared = LIMITS.filter(({ against }) => against === subject).flatMap(
    ({ operations }) => operations,
  );
  return quick && subject === "usual" ? all.filter(([operation]) => compared.includes(operation)) : all;
}

/**
 * @typedef {object} Row What one operation of one subject took.
 * @property {string} subject
 * @property {string} operation
 * @property {number} ms
 * @property {number} requests For each binding.
 * @property {number} bytes Of the inputs and outputs in the state, for each binding after the first `up`.
 */

/**
 * For --quick: counts, sizes, and times so lenient that a busy machine keeps them; by themselves, or as ratios to those of
 * another subject.
 * @type {{ subject: string, operations: string[], figure: "ms" | "requests" | "bytes", against?: string, atMost: number }[]}
 */
const LIMITS = [
  { subject: "roleBinding", operations: ["up"], figure: "bytes", against: "usual", atMost: 0.15 },
  { subject: "roleBinding", operations: ["up"], figure: "requests", atMost: 1 },
  { subject: "roleBinding", operations: ["refresh", "previewRefresh"], figure: "requests", atMost: 0.4 },
  // One list for each kind that the program names by a uid: three of 40 bindings.
  { subject: "roleBinding", operations: ["preview"], figure: "requests", atMost: 0.1 },
  { subject: "roleBinding", operations: ["update"], figure: "requests", atMost: 1 },
  // One more asks whether the server shows the organisation at all.
  { subject: "roleBinding", operations: ["destroy"], figure: "requests", atMost: 1.03 },
  { subject: "roleBinding", operations: ["up"], figure: "ms", against: "usual", atMost: 2 },
  { subject: "groupAccess", operations: ["up"], figure: "requests", atMost: 0.15 },
  { subject: "groupAccess", operations: ["refresh"], figure: "requests", atMost: 0.1 },
];

const ROOT_UID = "b3".repeat(20);
const uidOf = (/** @type {number} */ n) => `${ROOT_UID}/${n.toString(16).padStart(16, "0")}`;
const GROUP_UID = uidOf(1);
const ROLE_UIDS = [uidOf(2), uidOf(3)];
const identityUids = (/** @type {number} */ n) =>
  Array.from({ length: n }, (_, index) => uidOf(0x1000 + index));

/** An organisation with a group, two roles, and as many identities as bindings are wanted. @param {number} n */
const seedOf = (n) => ({
  groups: [
    { uid: ROOT_UID, name: "bench", kind: "ORG_KIND_CUSTOMER" },
    { uid: GROUP_UID, name: "group" },
  ],
  roles: ROLE_UIDS.map((uid, i) => ({ uid, name: `role-${i}`, capabilities: ["CAP_IAM_GROUPS_LIST"] })),
  identities: identityUids(n).map((uid, i) => ({ uid, name: `identity-${i}` })),
});

/** @param {any} exported @param {number} n */
function stateBytes({ deployment }, n) {
  const ours = deployment.resources.filter((/** @type {any} */ { type }) =>
    type.startsWith("pulumi-nodejs:dynamic"),
  );
  const texts = ours.map((/** @type {any} */ { inputs, outputs }) => JSON.stringify([inputs, outputs]));
  return texts.join("").length / n;
}

/**
 * Runs all operations of a subject, with a server and a state of its own, and checks what the server holds after each.
 * @param {import("../lib/pulumi.mjs").PulumiCli} cli
 * @param {string} subject
 * @param {{ n: number, quick: boolean }} setting
 */
async function measure(cli, subject, { n, quick }) {
  const options = {
    root,
    cli,
    example: path.join(import.meta.dirname, "programs", subject),
    packages: ["@pulumi/pulumi", "axios", "pulumi-platform"],
    env: quick ? QUICK_PROCESSES : {},
    emulator: { seed: seedOf(n), latencyMs: 20 },
  };
  return await withStack("bench", options, async (stack, server) => {
    const declare = (/** @type {string | undefined} */ roleUid) => {
      const bindings = identityUids(n).map((identityUid) => ({ identityUid, roleUid }));
      const declared = { baseUrl: server.url, parentUid: GROUP_UID, bindings };
      writeFileSync(path.join(stack.program, "bench.json"), JSON.stringify(declared));
    };
    declare(ROLE_UIDS[0]);
    await stack.succeed(["stack", "init", "bench"]);
    /** @type {Row[]} */
    const rows = [];
    let bytes = 0;
    for (const [operation, args] of operationsOf(subject, quick)) {
      if (operation === "update") declare(ROLE_UIDS[1]);
      server.clearRequests();
      const start = performance.now();
      await stack.succeed([...args, "--non-interactive"]);
      const ms = performance.now() - start;
      if (operation === "up") bytes = stateBytes(await stack.export(), n);
      rows.push({ subject, operation, ms, requests: server.requests.length / n, bytes });
      const wanted = { update: [0, n], destroy: [0, 0] }[operation] ?? [n, 0];
      const bindings = server.state().roleBindings ?? [];
      const held = ROLE_UIDS.map(
        (uid) => bindings.filter((/** @type {any} */ { roleUid }) => roleUid === uid).length,
      );
      if (held.join() !== wanted.join())
        throw new Error(
          `${subject} ${operation}: the server holds ${held.join(" and ")} bindings of the two roles, not ${wanted.join(" and ")}`,
        );
    }
    return rows;
  });
}

/** Prints the rows, those of one operation together. @param {Row[]} rows @param {string[]} subjects */
function printTable(rows, subjects) {
  for (const name of subjects)
    console.log(`- \`${name}\`: ${SUBJECTS[/** @type {keyof typeof SUBJECTS} */ (name)]}`);
  console.log(`
| Operation | Subject | Time | Requests for each binding | Bytes of state for each |
| --- | --- | --- | --- | --- |`);
  for (const operation of Object.keys(OPERATIONS)) {
    const some = rows.filter((row) => row.operation === operation);
    for (const { subject, ms, requests, bytes } of some) {
      const ratio = (ms / (some[0]?.ms ?? NaN)).toFixed(2);
      console.log(`| ${operation} | ${subject} | ${ratio} | ${requests.toFixed(2)} | ${Math.round(bytes)} |`);
    }
  }
}

/** The limits that the rows exceed. @param {Row[]} rows */
function exceededLimits(rows) {
  const find = (/** @type {string} */ subject, /** @type {string} */ operation) =>
    rows.find((row) => row.subject === subject && row.operation === operation);
  return LIMITS.flatMap(({ subject, operations, figure, against, atMost }) =>
    operations.flatMap((operation) => {
      const own = find(subject, operation)?.[figure];
      const other = against === undefined ? 1 : find(against, operation)?.[figure];
      if (own === undefined || other === undefined || own / other <= atMost) return [];
      const of = against === undefined ? "" : ` times that of ${against}`;
      return [`${subject} ${operation}: ${figure} is ${(own / other).toFixed(3)}${of}, more than ${atMost}`];
    }),
  );
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      n: { type: "string", default: "40" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
    },
  });
  const n = Number(values.n);
  if (!Number.isInteger(n) || n < 1) throw new Error("--n must be a whole number from 1");
  const subjects = values.only?.split(",") ?? Object.keys(SUBJECTS);
  const unknown = subjects.find((name) => !Object.hasOwn(SUBJECTS, name));
  if (unknown !== undefined)
    throw new Error(
      `--only: there is no subject "${unknown}"; there are ${Object.keys(SUBJECTS).join(", ")}`,
    );
  const cli = await ensureReady();
  /** @type {Row[]} */
  const rows = [];
  for (const subject of subjects) {
    console.error(`bench: ${subject}`);
    rows.push(...(await measure(cli, subject, { n, quick: values.quick })));
  }
  printTable(rows, subjects);
  const exceeded = values.quick ? exceededLimits(rows) : [];
  if (exceeded.length > 0) throw new Error(exceeded.join("\n"));
}

await runScript("npm run bench", import.meta.filename, main);
