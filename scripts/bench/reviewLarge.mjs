// @ts-check
/*
 * Reviews a synthetic preview of many resources and tells time and memory:
 *   npm run build && node scripts/bench/reviewLarge.mjs [resources] [megabytes]
 * Fails above 5 s of processor time or 500 MB. The second argument pads each resource, to see that only the grants take memory.
 */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { messageOf } from "../lib/processes.mjs";
import { MOST_MEGABYTES, MOST_SECONDS, reviewCost } from "./reviewCost.mjs";

const org = "a".repeat(40);
const uid = (/** @type {number} */ n) => `${org}/${n.toString(16).padStart(16, "0")}`;

/** The text without which nothing in a preview is believed. @param {string} kind */
const providerText = (kind) => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;

/** @param {string} file @param {number} count @param {number} padding Bytes for each state. */
function writePreview(file, count, padding) {
  const out = openSync(file, "w");
  /** @type {Record<string, number>} */
  const summary = {};
  let first = true;
  /** @param {string} op @param {string} kind @param {number} n @param {Record<string, unknown>} olds @param {Record<string, unknown>} news */
  const step = (op, kind, n, olds, news) => {
    summary[op] = (summary[op] ?? 0) + 1;
    const urn = `urn:pulumi:production::acme::pulumi-nodejs:dynamic/platform:${kind}::${kind}-${n}`;
    const state = (/** @type {Record<string, unknown>} */ inputs) => ({
      urn,
      custom: true,
      id: uid(n),
      type: `pulumi-nodejs:dynamic/platform:${kind}`,
      inputs: { __provider: providerText(kind), ...inputs },
      outputs: { __provider: providerText(kind), ...inputs },
      initErrors: ["x".repeat(2 * padding)],
      propertyDependencies: Object.fromEntries(Object.keys(inputs).map((key) => [key, []])),
      stackTrace: [{ sourcePosition: `project:///index.ts#${n},1` }],
    });
    const text = JSON.stringify({ op, urn, oldState: state(olds), newState: state(news) }, null, 4);
    writeSync(out, `${first ? "" : ","}\n${text}`);
    first = false;
  };
  writeSync(out, '{ "steps": [');
  const groups = Math.ceil(count * 0.1);
  const identities = Math.ceil(count * 0.2);
  const roles = Math.ceil(count * 0.02);
  for (let n = 1; n <= groups; n += 1) {
    const inputs = { parentUid: n < 20 ? org : uid(1 + (n % 19)), name: `group ${n}` };
    step("same", "Group", n, inputs, inputs);
  }
  for (let n = 0; n < identities; n += 1) {
    const match = (/** @type {string} */ ref) => ({
      claimMatch: {
        issuer: "https://token.actions.githubusercontent.com",
        subject: `repo:acme/repo-${n}:${ref}`,
      },
    });
    const [olds, news] = [
      match("ref:refs/heads/main"),
      match(n % 10 ? "ref:refs/heads/main" : "pull_request"),
    ];
    const inputs = { parentUid: org, name: `identity ${n}` };
    step(
      n % 10 ? "same" : "update",
      "Identity",
      groups + 1 + n,
      { ...inputs, ...olds },
      { ...inputs, ...news },
    );
  }
  for (let n = 0; n < roles; n += 1) {
    const inputs = { parentUid: org, name: `role ${n}`, capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] };
    step("same", "Role", groups + identities + 1 + n, inputs, inputs);
  }
  for (let n = groups + identities + roles + 1; n <= count; n += 1) {
    const inputs = (/** @type {number} */ role) => ({
      parentUid: uid(1 + (n % groups)),
      identityUid: uid(groups + 1 + (n % identities)),
      roleUid: uid(groups + identities + 1 + (role % roles)),
    });
    step(n % 5 ? "same" : "update", "RoleBinding", n, inputs(n), inputs(n % 5 ? n : n + 1));
  }
  writeSync(out, `], "changeSummary": ${JSON.stringify(summary)} }`);
  closeSync(out);
}

async function main() {
  const [count = 5000, megabytes = 0] = process.argv.slice(2).map(Number);
  const folder = mkdtempSync(path.join(tmpdir(), "pulumi-platform-bench-"));
  try {
    const file = path.join(folder, "preview.json");
    writePreview(file, count, Math.floor((megabytes * 1_000_000) / count / 4));
    const size = Math.round(statSync(file).size / 1_000_000);
    const { code, cpu, seconds, megabytes: peak, errors } = await reviewCost(file);
    console.log(
      `${count} resources, ${size} MB of JSON: ${cpu.toFixed(1)} s of processor time (${seconds.toFixed(1)} s in all), ${peak} MB, exit code ${code}`,
    );
    if (code !== 0) throw new Error(errors.trim());
    if (!(cpu < MOST_SECONDS) || !(peak < MOST_MEGABYTES)) {
      throw new Error(`more than ${MOST_SECONDS} s or ${MOST_MEGABYTES} MB`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(`reviewLarge: ${messageOf(error)}`);
  process.exitCode = 1;
});
