// @ts-check
/*
 * npm run chaos -- [--seeds 10] [--first 1] [--resources 300]
 *                  faults on a fifth of all requests: three runs of up at most, then destroy, each seed its own
 * npm run chaos -- --kill [--seeds 50] [--resources 60]
 *                  the engine or the provider's process is killed in the middle of up
 * --parallel 1     so many seeds at once
 *
 * Seeds that are even run without batching.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sendTo, withStack } from "./lib/emulator.mjs";
import { generateOrganisation, plainKinds } from "./lib/organisation/index.cjs";
import { errorMessage, excerpt, run, runScript } from "./lib/processes.mjs";
import { randomOf } from "./lib/random.cjs";
import { cliIn } from "./lib/pulumi.mjs";
import { QUICK_PROCESSES } from "./lib/quickProcesses.cjs";
import { ensureReady, root } from "./setup.mjs";

/**
 * @typedef {{ kind: string, args: Record<string, unknown> }} Declaration
 * @typedef {Record<string, any>} Resource As the API returns it, or as in an exported state.
 * @typedef {{ collection: string, resource: Resource }} LiveObject
 *
 * @typedef {object} Context
 * @property {any} emulator
 * @property {import("./lib/stack.mjs").Stack} stack
 * @property {number} seed
 * @property {Record<string, Declaration>} declared
 *
 * @typedef {{ summary: string, problems: string[] }} Outcome
 */

/* The kinds as the package and the emulator describe them, from the last build. */

const require = createRequire(import.meta.url);
const load = (/** @type {string} */ file) => require(path.join(root, "dist", file));

/** @type {() => { kind: string, fields: any, outputs?: Record<string, { createOnly?: boolean }> }[]} */
const specs = () => load("provider/kinds/index.js").kinds.map((/** @type {any} */ { spec }) => spec);

/** Those with a collection of their own, which a POST adds to. @returns {{ kind: string, prefix: string, collection: string, parent: string }[]} */
const tables = () =>
  load("emulator/tables/index.js").kindTables.filter(
    (/** @type {any} */ { kind, methods }) =>
      methods.includes("create") && specs().some((spec) => spec.kind === kind),
  );

/** How many of a hundred resources are of which kind; of kinds without a share 4 are. @type {Readonly<Record<string, number>>} */
const SHARES = {
  Group: 12,
  Identity: 20,
  Role: 8,
  RoleBinding: 22,
  Repo: 12,
  RepoReadme: 4,
  Tag: 8,
  AccountAssociation: 3,
  ExternalGroupRoleMapping: 3,
  TermsAcceptance: 1,
  IdentityProvider: 1,
  GroupInvite: 1,
  ScimToken: 1,
};

/** The declarations of about so many resources, at least one of each kind. @param {number} seed @param {number} resources */
function generateProgram(seed, resources) {
  const plain = plainKinds(specs(), tables(), load("provider/fields/formats.js").formats);
  const shares = { ...Object.fromEntries(plain.map(({ kind }) => [kind, 4])), ...SHARES };
  const counts = Object.fromEntries(
    Object.entries(shares).map(([kind, share]) => [kind, Math.max(1, Math.round((share * resources) / 100))]),
  );
  return generateOrganisation({ seed, counts, plain });
}

/* What is declared, recorded and live. */

/** The resources of the package in the state, by name. @param {any} exported @returns {Map<string, Resource>} */
function listRecorded(exported) {
  /** @type {Resource[]} */
  const resources = exported.deployment.resources ?? [];
  const ours = resources.filter(({ type }) => String(type).startsWith("pulumi-nodejs:dynamic/platform:"));
  return new Map(ours.map((resource) => [String(resource["urn"]).split("::").at(-1) ?? "", resource]));
}

/** The objects at the server, of the collections that can be emptied. @param {any} emulator @returns {LiveObject[]} */
function listLive(emulator) {
  const state = emulator.state();
  return tables().flatMap(({ collection }) =>
    (state[collection] ?? []).map((/** @type {Resource} */ resource) => ({ collection, resource })),
  );
}

/** Properties that the server returns unchanged. */
const PLAIN = [
  "name",
  "description",
  "capabilities",
  "bundles",
  "digest",
  "sink",
  "email",
  "externalGroupId",
];

/**
 * What is wrong with one declared resource.
 * @param {string} name @param {Declaration} declaration @param {Resource | undefined} entry As in the state.
 * @param {LiveObject[]} live
 */
function problemsOfResource(name, { kind, args }, entry, live) {
  if (entry === undefined) return [`${name} is not in state`];
  const outputs = Object.entries(specs().find((spec) => spec.kind === kind)?.outputs ?? {});
  const missing = outputs.filter(
    ([key, { createOnly }]) => createOnly && entry["outputs"]?.[key] === undefined,
  );
  const problems = [
    ...missing.map(([key]) => `${name} has no ${key} in state`),
    ...(entry["initErrors"]?.length > 0 ? [`${name} is not finished: ${entry["initErrors"]}`] : []),
  ];
  const collection = tables().find((table) => table.kind === kind)?.collection;
  if (collection === undefined) return problems;
  const actual = live.find((each) => each.collection === collection && each.resource["uid"] === entry["id"]);
  if (actual === undefined) return [...problems, `${name} is not at the server`];
  const wrong = PLAIN.filter(
    (key) => args[key] !== undefined && JSON.stringify(args[key]) !== JSON.stringify(actual.resource[key]),
  );
  return [...problems, ...wrong.map((key) => `${name}: ${key} is ${JSON.stringify(actual.resource[key])}`)];
}

/** The objects at the server that no resource of the state is. @param {Map<string, Resource>} recorded @param {any} emulator */
function unrecordedObjects(recorded, emulator) {
  const known = new Set(
    [...recorded.values()].map(({ type, id }) => `${String(type).split(":").at(-1)} ${id}`),
  );
  const kindOf = (/** @type {string} */ collection) =>
    tables().find((table) => table.collection === collection)?.kind;
  return listLive(emulator).filter(
    ({ collection, resource }) => !known.has(`${kindOf(collection)} ${resource["uid"]}`),
  );
}

/** What differs between the program, the state and the server: nothing may be too much. @param {Context} context */
async function compare({ emulator, stack, declared }) {
  const recorded = listRecorded(await stack.export());
  const live = listLive(emulator);
  const ids = [...recorded.values()].map(({ type, id }) => `${type} ${id}`);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...Object.entries(declared).flatMap(([name, declaration]) =>
      problemsOfResource(name, declaration, recorded.get(name), live),
    ),
    ...[...recorded.keys()]
      .filter((name) => declared[name] === undefined)
      .map((name) => `${name} is in state, and not declared`),
    ...twice.map((id) => `two resources are ${id}`),
    ...unrecordedObjects(recorded, emulator).map(
      ({ collection, resource }) => `too much: ${collection} ${resource["uid"]}`,
    ),
  ];
}

/* Faults */

/** A request is given up after this long; a fault makes some take longer. */
const TIMEOUT_MS = 2000;
/** The share of all requests that is hit. */
const SHARE = 0.2;
const MOST_RUNS = 3;

const page = "<html><body><h1>Sign in</h1></body></html>";
const error = (/** @type {number} */ code) => ({ code, message: "chaos", details: [] });
const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.150s" };

/** Everything that a network and a server do to a request, as faults of the emulator. */
const FAULTS = [
  // Cut before it took effect, after it, and before it takes effect all the same.
  { close: "before" },
  { close: "after" },
  { close: "after", effectAfterMs: 1200 },
  // A proxy gives up, and it takes effect later.
  { status: 504, body: page, applied: true, effectAfterMs: 900 },
  { latencyMs: TIMEOUT_MS + 800 },
  { truncate: 5 },
  // What a proxy refuses.
  { status: 408, body: page },
  { status: 425, body: page },
  { status: 429, body: page, headers: { "Retry-After": "1" } },
  // What the API refuses: too many requests, with the service's own header too, and a conflict of writes.
  { status: 429, body: { ...error(8), details: [retryInfo] } },
  { status: 429, body: error(8), headers: { "Grpc-Metadata-Retry-After": "1" } },
  { status: 409, body: error(10) },
  { status: 500, body: error(13) },
  { status: 502, body: page },
  { status: 502, body: page, applied: true },
  { status: 503, body: error(14) },
  { status: 503, body: "", headers: { "Retry-After": "1" } },
  // It took effect, and the response says nothing of it.
  { status: 200, body: page, applied: true },
  { status: 200, body: '{"uid": "', applied: true },
];

/** Runs a command until it succeeds, at most `MOST_RUNS` times. @param {import("./lib/stack.mjs").Stack} stack @param {string} command */
async function runUntilItSucceeds(stack, command) {
  const args = [command, "--yes", "--skip-preview", "--continue-on-error", "--non-interactive"];
  for (let runs = 1; ; runs += 1) {
    const { code, output } = await stack.pulumi(args);
    const problems = code === 0 ? [] : [`the last ${command} ended with ${code}:\n${excerpt(output)}`];
    if (code === 0 || runs === MOST_RUNS) return { runs, problems };
  }
}

/** Runs `up` and `destroy` with faults, and compares what is created with what is declared. @param {Context} context @returns {Promise<Outcome>} */
async function faultDuring(context) {
  const { emulator, stack, seed, declared } = context;
  const each = SHARE / FAULTS.length;
  // A request gets the first fault that is drawn for it, so the probability rises a little down the list.
  for (const [index, fault] of FAULTS.entries())
    emulator.addFault({ ...fault, probability: each / (1 - index * each), seed: seed * 1000 + index });
  emulator.settings({ newGroupRefusalMs: 300 });
  const up = await runUntilItSucceeds(stack, "up");
  const found = await compare(context);
  const down = await runUntilItSucceeds(stack, "destroy");
  const left = listLive(emulator).map(
    ({ collection, resource }) => `left after destroy: ${collection} ${resource["name"]} ${resource["uid"]}`,
  );
  const hit = emulator.requests.filter((/** @type {any} */ { fault }) => fault !== undefined).length;
  const summary = `${Object.keys(declared).length} resources, ${emulator.requests.length} requests, ${hit} of them hit, ${up.runs} up, ${down.runs} destroy`;
  return { summary, problems: [...found, ...up.problems, ...left, ...down.problems] };
}

/* Killed processes */

/** Kills a process and all that it started, directly or not, whose command holds a text: a plugin leads a process group of its own. @param {number} leader @param {string} text */
async function killTree(leader, text) {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  const all = stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .map((found) => ({ pid: Number(found?.[1]), parent: Number(found?.[2]), args: found?.[3] ?? "" }));
  const tree = all.filter(({ pid }) => pid === leader);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  for (const { pid, args } of tree) {
    if (!args.includes(text)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** Starts `up`, and kills a part of it once the server has got so many requests. @param {Context} context @param {string} target @param {number} point */
async function killUp({ emulator, stack }, target, point) {
  let leader = 0;
  let ended = false;
  const up = stack
    .pulumi(["up", "--yes", "--skip-preview", "--non-interactive"], { started: (pid) => (leader = pid) })
    .finally(() => (ended = true));
  while (!ended && emulator.requests.length < point) await sleep(2);
  await killTree(leader, target === "engine" ? "" : "cmd/dynamic-provider");
  const { output } = await up;
  // What was sent is still carried out.
  while (emulator.requests.some((/** @type {any} */ { durationMs }) => durationMs === undefined))
    await sleep(5);
  return output;
}

/**
 * Deletes empty attribute files of a file backend, and says whether there were any. It writes them without a rename, so a
 * kill leaves an empty one, with which the CLI cannot load the state.
 * @param {import("./lib/stack.mjs").Stack} stack
 */
function deleteTornAttributes(stack) {
  const folder = path.join(stack.backend, ".pulumi", "stacks");
  const torn = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => file.endsWith(".attrs") && statSync(file).size === 0);
  for (const file of torn) rmSync(file);
  return torn.length > 0;
}

/** The names of the resources that were under way. @param {any} state @param {string} output Of the killed run. */
function resourcesUnderWay(state, output) {
  const pending = (state.deployment.pending_operations ?? []).map((/** @type {any} */ { resource }) =>
    String(resource.urn).split("::").at(-1),
  );
  const failed = [...output.matchAll(/platform:\w+ \((\S+)\):/g)].map(([, name]) => name);
  return [...new Set([...pending, ...failed])].map(String);
}

/** Deletes objects that are in no state, as docs/failures.md says. @param {any} emulator @param {LiveObject[]} objects @param {Map<string, Resource>} recorded */
async function deleteUnrecorded(emulator, objects, recorded) {
  const send = (/** @type {string} */ method, /** @type {string} */ target) =>
    sendTo(emulator, method, target, {}).then(
      () => [],
      (problem) => [errorMessage(problem)],
    );
  const problems = [];
  for (const { collection, resource } of objects) {
    const prefix = tables().find((table) => table.collection === collection)?.prefix;
    problems.push(...(await send("DELETE", `${prefix}/${collection}/${resource["uid"]}`)));
  }
  // A SCIM token is a part of its identity provider.
  const tokens = [...recorded.values()].filter(({ type }) => String(type).endsWith(":ScimToken"));
  for (const { uid, scim } of emulator.state()["identityProviders"] ?? []) {
    const isLive = scim?.credentialState === "CREDENTIAL_STATE_LIVE";
    if (!isLive || tokens.some(({ id }) => id === uid)) continue;
    problems.push(...(await send("POST", `/iam/v2/identityProviders/${uid}:revokeScimToken`)));
  }
  return problems;
}

/**
 * Kills the engine with all it started, or the provider's process alone, in the middle of `up`; then does what
 * docs/failures.md says. What is at the server and in no state may be what was under way at that moment, and nothing else; once it
 * is deleted, the next `up` makes exactly what is declared.
 * @param {Context} context
 * @returns {Promise<Outcome>}
 */
async function killDuring(context) {
  const { emulator, stack, seed, declared } = context;
  const target = seed % 2 === 0 ? "engine" : "provider";
  const point = 1 + Math.floor(randomOf(seed)() * Object.keys(declared).length);
  emulator.settings({ latencyMs: 30 });
  const output = await killUp(context, target, point);
  emulator.settings({ latencyMs: 0 });

  const torn = target === "engine" && deleteTornAttributes(stack);
  if (target === "engine") await stack.pulumi(["cancel", "--yes"]);
  const state = await stack.export();
  const recorded = listRecorded(state);
  const underWay = resourcesUnderWay(state, output);
  const unrecorded = unrecordedObjects(recorded, emulator);
  const mayBe = (/** @type {LiveObject} */ { collection, resource }, /** @type {string} */ name) => {
    const { kind, args } = declared[name] ?? { kind: "", args: {} };
    const isOfKind = tables().some((table) => table.kind === kind && table.collection === collection);
    return isOfKind && (resource["name"] ?? "") === (args["name"] ?? "");
  };
  const unexplained = unrecorded.filter((object) => !underWay.some((name) => mayBe(object, name)));
  const refused = await deleteUnrecorded(emulator, unrecorded, recorded);

  const again = await stack.pulumi(["up", "--yes", "--skip-preview", "--non-interactive"]);
  const failed = again.code === 0 ? [] : [`the next up ended with ${again.code}:\n${excerpt(again.output)}`];
  const summary = `${target} killed after ${point} requests: ${underWay.length} under way, ${unrecorded.length} of them created and in no state${torn ? "; the attributes beside the state were torn" : ""}`;
  const problems = [
    ...unexplained.map(
      ({ collection, resource }) => `what was not under way is in no state: ${collection} ${resource["uid"]}`,
    ),
    ...refused,
    ...(await compare(context)),
    ...failed,
  ];
  return { summary, problems };
}

/* The command */

/**
 * Runs `body` with a new emulator, and a stack on it that declares so many resources.
 * @param {import("./lib/pulumi.mjs").PulumiCli} cli @param {number} seed @param {number} resources
 * @param {(context: Context) => Promise<Outcome>} body
 */
function withProgram(cli, seed, resources, body) {
  const env = {
    PLATFORM_TIMEOUT: `${TIMEOUT_MS}ms`,
    PLATFORM_BATCHING: String(seed % 2 === 1),
    ...QUICK_PROCESSES,
  };
  const example = path.join(root, "scripts", "chaos", "program");
  return withStack("chaos", { root, example, cli, env }, async (stack, emulator) => {
    const declared = generateProgram(seed, resources);
    writeFileSync(path.join(stack.program, "resources.json"), JSON.stringify(declared));
    await stack.succeed(["stack", "init", "chaos"]);
    return body({ emulator, stack, seed, declared });
  });
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: "string" },
      first: { type: "string", default: "1" },
      resources: { type: "string" },
      parallel: { type: "string", default: "1" },
      kill: { type: "boolean", default: false },
    },
  });
  const number = (/** @type {"seeds" | "first" | "resources" | "parallel"} */ name, fallback = 1) => {
    const given = Number(values[name] ?? fallback);
    if (!Number.isInteger(given) || given < 1) throw new Error(`--${name} must be a whole number from 1`);
    return given;
  };
  const [seeds, resources] = [
    number("seeds", values.kill ? 50 : 10),
    number("resources", values.kill ? 60 : 300),
  ];
  const pending = Array.from({ length: seeds }, (_, index) => number("first") + index);
  const given = process.env["PULUMI_PLATFORM_CLI_DIR"];
  const cli = given ? cliIn(given, "given") : await ensureReady();
  let failed = 0;
  const work = async () => {
    for (let seed = pending.shift(); seed !== undefined; seed = pending.shift()) {
      const start = performance.now();
      const body = values.kill ? killDuring : faultDuring;
      const { summary, problems } = await withProgram(cli, seed, resources, body);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`seed ${seed}: ${problems.length === 0 ? "ok" : "FAILED"}: ${summary}, ${seconds} s`);
      for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
      if (problems.length > 0) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: number("parallel") }, work));
  console.log(`${seeds - failed} of ${seeds} seeds ok`);
  return failed === 0 ? 0 : 1;
}

await runScript("npm run chaos", import.meta.filename, main);
