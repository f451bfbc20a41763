// @ts-check
/*
 * Measures how review, drift, adopt and inventory grow with the organisation, in one process:
 *   npm run build && node scripts/bench/growth.mjs [objects] [part of a name]
 * Only what a part of a name is given of is measured: of a scenario, or "assertions". Fails where four times the objects take
 * more than 6.8 times the processor time, and where a review with 50 assertions takes more than 1.5 times that of one without.
 */
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { runScript } from "../lib/processes.mjs";
import { root as repository } from "../setup.mjs";
import { exportText } from "../lib/documents.cjs";
import { liveObjects, previewOf, root } from "./organisation.mjs";

const load = createRequire(import.meta.url);
/** @param {string} file */
const built = (file) => load(path.join(repository, "dist", "provider", file));

const access = built("access/index.js");
const { findDrift } = built("access/drift/drift.js");
const { listedKinds } = built("access/documents/inventory.js");
const { takeInventory } = built("inventory/takeInventory.js");
const { generateProgram } = built("access/adopt/program.js");
const kinds = built("kinds/index.js").kinds;

const MOST_RATIO = 6.8;
const MOST_FOR_ASSERTIONS = 1.5;
const now = Date.parse("2026-01-02T00:00:00Z");
const version = "0.0.0";

/** @typedef {import("./organisation.mjs").LiveObject} LiveObject */

/** @param {readonly LiveObject[]} objects @param {readonly string[]} kinds */
function inventoryOf(objects, kinds) {
  return {
    schemaVersion: 1,
    root,
    takenAt: "2026-01-01T00:00:00Z",
    complete: true,
    refused: [],
    kinds,
    objects,
  };
}

/** Every fourth object differs. @param {number} index */
const differs = (index) => index % 4 === 3;
/** Objects that others lie in stay, so that what differs is what people change. @param {LiveObject} object */
const isContainer = ({ kind }) => kind === "Group";

/** @param {readonly LiveObject[]} objects @returns {LiveObject[]} */
const kept = (objects) => objects.filter((object, index) => isContainer(object) || !differs(index));

/** @param {LiveObject} object @returns {LiveObject} */
function edited(object) {
  const { kind, inputs } = object;
  if (kind === "Role")
    return { ...object, inputs: { ...inputs, capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"] } };
  if (kind !== "Identity") return { ...object, inputs: { ...inputs, roleUid: `${root}/${"f".repeat(16)}` } };
  const claimMatch = {
    issuer: "https://token.actions.githubusercontent.com",
    subjectPattern: "repo:acme/.*",
  };
  return { ...object, inputs: { ...inputs, claimMatch } };
}

/** @param {readonly LiveObject[]} objects @returns {LiveObject[]} */
const changed = (objects) =>
  objects.map((object, index) => (isContainer(object) || !differs(index) ? object : edited(object)));

const rules = (/** @type {unknown} */ comparison, /** @type {object} */ options = {}) =>
  access.findingsOf(comparison, { ...access.defaultRuleOptions(now), ...options });

/**
 * @param {readonly LiveObject[]} objects @param {(object: LiveObject, index: number) => LiveObject | undefined} after
 * @param {object} [options] of the rules
 */
function reviewOf(objects, after, options) {
  const preview = previewOf(objects, after);
  const inventory = inventoryOf(objects, listedKinds);
  const provenance = { time: new Date(now).toISOString(), package: version };
  return () =>
    access.review(
      { preview: access.parsePreview(preview), inventory },
      {
        version,
        failOn: "high",
        rules: (/** @type {unknown} */ comparison) => rules(comparison, options),
        provenance,
      },
    );
}

/** @param {readonly LiveObject[]} recorded @param {readonly LiveObject[]} live */
function driftOf(recorded, live, suppress = /** @type {unknown} */ (undefined)) {
  const states = exportText(recorded);
  const inventories = [inventoryOf(live, listedKinds)];
  return () =>
    findDrift({
      states: [access.parseStateExport(states)],
      inventories,
      failOn: "any",
      now,
      version,
      rules,
      suppress,
    });
}

/** Assertions of all forms, each on a group of its own. @param {readonly LiveObject[]} objects @param {number} count */
function assertionsOf(objects, count) {
  const groups = objects.filter(({ kind }) => kind === "Group").map(({ uid }) => uid);
  const forms = [
    { list: "forbid", text: 'can: [CAP_REPO_*], who: { not: [{ subject: ["repo:acme/*"] }] }' },
    { list: "forbid", text: "role: owner, who: { type: [identity], matchesMany: true }" },
    { list: "require", text: "can: [CAP_REPO_LIST], atLeast: 1, atMost: 4" },
    { list: "separate", text: "duties: [[CAP_REPO_DELETE], [CAP_REPO_LIST]]" },
  ];
  /** @type {Record<string, string>} */
  const lists = {};
  for (let i = 0; i < count; i += 1) {
    const { list, text } = forms[i % forms.length] ?? {};
    const on = groups[Math.floor((i * groups.length) / count)];
    lists[String(list)] =
      `${lists[String(list)] ?? ""}  - { name: assertion ${i}, on: ["${on}"], ${text} }\n`;
  }
  const policy = Object.entries(lists).map(([list, entries]) => `${list}:\n${entries}`);
  return access.parsePolicy(`allow: []\n${policy.join("")}`, "bench.yaml").assertions;
}

/** A policy with an entry for each fourth object. @param {readonly LiveObject[]} objects */
function policyOf(objects) {
  const entries = objects
    .filter((_, index) => differs(index))
    .map(
      ({ uid }) =>
        `  - kind: unmanaged\n    match: { uid: "${uid}" }\n    reason: bench\n    expires: 2026-12-31\n`,
    );
  const policy = access.parsePolicy(`allow:\n${entries.join("")}`, "bench.yaml");
  return (
    /** @type {unknown} */ findings,
    /** @type {unknown} */ comparison,
    /** @type {boolean} */ isComplete,
  ) => access.applyPolicy(findings, policy, now, "drift", isComplete, comparison);
}

/** A client that returns lists from memory. @param {readonly LiveObject[]} objects */
function clientOf(objects) {
  const collections = new Map(kinds.map((/** @type {any} */ { spec }) => [spec.kind, spec.collection]));
  return {
    maxConcurrency: 10,
    resourcePath: (/** @type {string} */ collection, /** @type {string} */ uid) => `${collection}/${uid}`,
    getCallerClaims: () => Promise.resolve(undefined),
    get: (/** @type {string} */ path) =>
      Promise.resolve({ uid: path.slice(path.indexOf(root)), name: "acme" }),
    async *list(/** @type {string} */ collection, /** @type {Record<string, unknown>} */ query = {}) {
      if (query["uidp.descendants_of"] !== root) return;
      for (const { kind, uid, inputs } of objects) {
        if (collections.get(kind) !== collection || uid === root) continue;
        const { identityUid, roleUid } = inputs;
        yield kind === "RoleBinding"
          ? { uid, identity: { uid: identityUid }, role: { uid: roleUid } }
          : { ...inputs, uid };
      }
    },
  };
}

/** @type {readonly { name: string, prepare: (objects: LiveObject[]) => () => unknown }[]} */
const scenarios = [
  {
    name: "review, a quarter changed",
    prepare: (objects) => {
      const now = changed(objects);
      return reviewOf(objects, (_, index) => now[index]);
    },
  },
  {
    name: "review, a quarter deleted",
    prepare: (objects) =>
      reviewOf(objects, (object, index) => (isContainer(object) || !differs(index) ? object : undefined)),
  },
  { name: "drift, nothing differs", prepare: (objects) => driftOf(objects, objects) },
  {
    name: "drift, a quarter changed",
    prepare: (objects) => driftOf(objects, changed(objects)),
  },
  {
    name: "drift, a quarter deleted",
    prepare: (objects) => driftOf(objects, kept(objects)),
  },
  {
    name: "drift, a quarter unmanaged",
    prepare: (objects) => driftOf(kept(objects), objects),
  },
  {
    name: "drift, a quarter unmanaged and accepted",
    prepare: (objects) => driftOf(kept(objects), objects, policyOf(objects)),
  },
  {
    name: "every form of a drift report",
    prepare: (objects) => {
      const detect = driftOf(kept(objects), objects);
      return async () => {
        const report = await detect();
        for (const format of access.formats) access.renderers[format](report, {});
      };
    },
  },
  {
    name: "adopt",
    prepare: (objects) => () => generateProgram({ inventory: inventoryOf(objects, listedKinds) }),
  },
  {
    name: "inventory",
    prepare: (objects) => () => takeInventory(clientOf(objects), { root, now: () => now }),
  },
];

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collectGarbage = runInNewContext("gc");

/** The processor time of one run, in seconds, without the garbage of earlier ones. @param {() => unknown} run */
async function timeOf(run) {
  collectGarbage();
  const start = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000_000;
}

/**
 * The processor time of a run as a multiple of that of another. The quickest of several runs counts, since the first ones compile.
 * Both run in turn, so that a machine that becomes slower slows down both; one that is below its limit runs no more. Short ones
 * run more often, since what else the machine does disturbs them more.
 * @param {() => () => unknown} prepare @param {() => () => unknown} prepareOther @param {number} most
 */
async function compare(prepare, prepareOther, most) {
  const [runOther, run] = [prepareOther(), prepare()];
  let [other, seconds] = [Infinity, Infinity];
  for (let i = 0; i < 4 || (i < 8 && other < 0.5); i += 1) {
    other = Math.min(other, await timeOf(runOther));
    if (!(seconds < most * other)) seconds = Math.min(seconds, await timeOf(run));
  }
  return { seconds, ratio: seconds / other };
}

/** @param {string[]} args */
async function main([objects = "2000", part = ""]) {
  const count = Number(objects);
  /** @type {string[]} */
  const failures = [];
  const judge = (/** @type {string} */ text, /** @type {number} */ ratio, /** @type {number} */ most) => {
    console.log(text);
    if (!(ratio < most)) failures.push(text);
  };
  for (const { name, prepare } of scenarios.filter((each) => each.name.includes(part))) {
    const preparedFor = (/** @type {number} */ size) => () => prepare(liveObjects(size));
    const { seconds, ratio } = await compare(preparedFor(count), preparedFor(count / 4), MOST_RATIO);
    const text = `${name}: ${count} objects in ${seconds.toFixed(1)} s of processor time, ${ratio.toFixed(1)} times that of ${count / 4}`;
    judge(text, ratio, MOST_RATIO);
  }
  if ("assertions".includes(part)) {
    const all = liveObjects(count);
    const now = changed(all);
    const asserting = (/** @type {number} */ many) => () =>
      reviewOf(all, (_, index) => now[index], { assertions: assertionsOf(all, many) });
    const { seconds, ratio } = await compare(asserting(50), asserting(0), MOST_FOR_ASSERTIONS);
    const grants = all.filter(({ kind }) => kind === "RoleBinding").length;
    const text = `a review of ${grants} grants with 50 assertions: ${ratio.toFixed(2)} times that without (${seconds.toFixed(1)} s of processor time)`;
    judge(text, ratio, MOST_FOR_ASSERTIONS);
  }
  if (failures.length > 0) throw new Error(`too slow: ${failures.join("; ")}`);
}

await runScript("growth", import.meta.filename, main);
