// @ts-check
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { COLLECTIONS, isWrite } from "./server.mjs";
import { printChanges, countMethods, findOnly } from "./state.mjs";
import { formatCount, paint, print, say, show, signed } from "./terminal.mjs";

/**
 * @typedef {import("./tour.mjs").Tour} Tour
 * @typedef {import("./steps.mjs").StepRun} StepRun
 * @typedef {import("./server.mjs").Request} Request
 */

/** The exit codes of `pulumi-platform review` and `drift` where they find something. */
const EXIT_FINDINGS = 5;

const EXIT_DRIFT = 7;

/** The exit code of the Pulumi CLI where a policy stops an update. */
const EXIT_POLICY = 1;

/** What the pull request of the review changes: the role of one grant, and whom an identity trusts. */
const RISKY_EDITS = [
  { from: 'getRole({ name: "viewer", builtIn: true })', to: 'getRole({ name: "owner", builtIn: true })' },
  { from: 'subject: "repo:acme/pay:ref:refs/heads/release"', to: 'subjectPattern: "repo:acme/.*"' },
];

/** What the organisation asserts in its policy file. */
const ASSERTIONS = `forbid:
  - name: pipelines own nothing
    who: { issuer: ["https://token.actions.githubusercontent.com"] }
    role: owner
    on: [acme]
    severity: critical
`;

/** The rules that it breaks: an owner, the assertion, any pull request, and somebody else behind a known name. */
const RISKS = ["G1", "P1", "T4", "T5"];

/** Where the page of the review is left, in the checkout; git ignores it. */
const PAGE = "demo-review.html";

/** Makes risky edits, reviews their preview, and takes them back. @param {Tour} tour @param {StepRun} step */
export async function review(tour, step) {
  const { uid: root } = findOnly(tour.declared.groups, ({ name }) => name === "acme");
  print(paint("dim", "examples/getting-started/index.ts (a copy)"));
  const edited = tour.stack.edit(RISKY_EDITS);
  for (const { line, before, after } of edited) {
    signed("-", `${String(line).padStart(3)}  ${before}`);
    signed("+", `     ${after}`);
  }
  print();
  print(paint("dim", "access-policy.yaml"));
  for (const line of ASSERTIONS.trimEnd().split("\n")) print(line);
  writeFileSync(path.join(tour.stack.program, "access-policy.yaml"), ASSERTIONS);
  print();
  const inventory = ["inventory", "--root", root, "-o", "json=inventory.json"];
  await tour.runPlatform(step, inventory, { expected: [0] });
  const preview = await tour.run(step, ["preview", "--json", "--show-sames"], {
    then: [
      "pulumi-platform review - --inventory inventory.json \\",
      `  --policy access-policy.yaml -o text -o html=${PAGE}`,
    ],
  });
  const page = path.join(tour.stack.root, PAGE);
  rmSync(page, { force: true });
  const policy = ["--policy", "access-policy.yaml"];
  const review = ["review", "-", "--inventory", "inventory.json", ...policy, "-o", "text"];
  const { code, stdout } = await tour.runPlatform(
    step,
    [...review, "-o", `html=${page}`, "-o", "json=review.json"],
    { input: preview.stdout, expected: [0, EXIT_FINDINGS], quiet: true },
  );
  print();
  show(tour.server.withNames(stdout));
  print();
  print(`exit code ${code}`);
  print(`The same as a page, with filters: ${page}`);
  tour.stack.edit(RISKY_EDITS.map(({ from, to }) => ({ from: to, to: from })));
  checkReview(tour, step, code, (await tour.server.newRequests()).filter(isWrite));
  checkPage(step, page);
}

/** @param {Tour} tour @param {StepRun} step @param {number} code @param {Request[]} writes */
function checkReview(tour, step, code, writes) {
  const report = JSON.parse(readFileSync(path.join(tour.stack.program, "review.json"), "utf8"));
  /** @type {{ id: string, severity: string, location?: { file: string, line: number } }[]} */
  const findings = report.findings;
  const rules = [...new Set(findings.map(({ id }) => id))].sort();
  step.check("its exit code stops a merge", code === EXIT_FINDINGS, `exit code ${code}`);
  step.check(
    "it finds what is dangerous about the change, and nothing else",
    isDeepStrictEqual(rules, RISKS) && findings.some(({ severity }) => severity === "critical"),
    findings.map(({ id, severity }) => `${id} ${severity}`).join(", "),
  );
  step.check(
    "each finding names its line of the program",
    findings.length > 0 && findings.every(({ location }) => location?.file === "index.ts"),
    findings.map(({ location }) => `${location?.file}:${location?.line}`).join(", "),
  );
  step.check(
    "neither the preview nor the review wrote to the server",
    writes.length === 0,
    `${formatCount(writes.length, "write")} in its log`,
  );
}

/** @param {StepRun} step @param {string} page */
function checkPage(step, page) {
  const html = existsSync(page) ? readFileSync(page, "utf8") : "";
  const foreign = [...html.matchAll(/<(?!a )[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*/g)].map(
    ([link]) => link,
  );
  step.check(
    "the page holds each rule, and loads nothing",
    RISKS.every((rule) => html.includes(rule)) && foreign.length === 0,
    `${html.length} characters, ${foreign.join(", ") || "no address in it"}`,
  );
}

/** The program of the lie: what it does once the update knows the id of its new role, no preview shows. */
const HONEST_ROLE = "roleUid: reader.id,";
const LIE = [
  "roleUid: reader.id.apply(async () => {",
  '    const owner = await getRole({ name: "owner", builtIn: true });',
  "    return owner.uid;",
  "  }),",
].join("\n");
const NEW_GRANT = `
const reader = new Role("reader", {
  parentUid: organisation.id,
  name: "reader",
  capabilities: ["CAP_REPO_LIST"],
});
new RoleBinding("deployer-reads-search", {
  parentUid: search.id,
  identityUid: deployer.id,
  ${LIE}
});
`;

const PACK = "node_modules/pulumi-platform/templates/policy-pack";

/** Approves a report, and updates by a program that means another role than its preview. @param {Tour} tour @param {StepRun} step */
export async function stopLie(tour, step) {
  const program = path.join(tour.stack.program, "index.ts");
  print(paint("dim", "examples/getting-started/index.ts (a copy)"));
  for (const line of NEW_GRANT.trim().split("\n")) signed("+", `     ${line}`);
  print();
  appendFileSync(program, NEW_GRANT);
  const preview = await tour.run(step, ["preview", "--json", "--show-sames"], {
    then: ["pulumi-platform review - --inventory inventory.json -o json=review.json"],
  });
  const argv = ["review", "-", "--inventory", "inventory.json", "-o", "json=review.json"];
  const { code } = await tour.runPlatform(step, argv, { input: preview.stdout, expected: [0], quiet: true });
  const report = path.join(tour.stack.program, "review.json");
  const { digest } = JSON.parse(readFileSync(report, "utf8"));
  print(`exit code ${code}: nothing to see. A person approves the report, by its digest.`);
  print();
  const env = { PLATFORM_APPROVED_REPORT: report, PLATFORM_APPROVED_DIGEST: digest };
  print(paint("dim", "PLATFORM_APPROVED_REPORT and PLATFORM_APPROVED_DIGEST name the report"));
  const update = ["up", "--yes", "--skip-preview", "--policy-pack", PACK];
  await tour.server.newRequests();
  const lied = await tour.run(step, update, { env, expected: [0, EXIT_POLICY] });
  const said = lied.output
    .split("\n")
    .filter((line) => /is not what the approved report announces/.test(line));
  for (const line of new Set(said.map((each) => each.trim()))) print(line);
  const granted = (await tour.server.newRequests()).filter(
    (request) => isWrite(request) && request.collection === COLLECTIONS.roleBindings,
  );
  print();
  tour.stack.edit([{ from: LIE, to: HONEST_ROLE }]);
  print(paint("dim", `With ${HONEST_ROLE.slice(0, -1)}, and the same report:`));
  const { changes } = await tour.run(step, update, { env });
  printChanges(changes);
  tour.declared = await tour.server.state();
  await tour.server.newRequests();

  step.check(
    "the update that computes another role is refused, before the request for its grant",
    lied.code === EXIT_POLICY && said.length > 0 && granted.length === 0,
    `exit code ${lied.code}, ${formatCount(granted.length, "grant")} requested`,
  );
  step.check(
    "what the report announces is done",
    changes.some(({ kind, name }) => kind === "RoleBinding" && name === "deployer-reads-search"),
    changes.map(({ kind, verb }) => `${kind} ${verb}`).join(", "),
  );
}

/** Makes the CI identity an owner of a team, over plain HTTP. @param {Tour} tour @returns {Promise<string>} The uid of the grant. */
async function grantOwner(tour) {
  const team = findOnly(tour.declared.groups, ({ name }) => name === "payments");
  const deployer = findOnly(tour.declared.identities, ({ name }) => name === "ci-deployer");
  const roles = await tour.server.send("GET", `${COLLECTIONS.roles}?name=owner`);
  const owner = findOnly(roles.body.roles, ({ name }) => name === "owner");
  const body = { identityUid: deployer.uid, roleUid: owner.uid };
  const created = await tour.server.send("POST", `${COLLECTIONS.roleBindings}/${team.uid}`, body);
  await tour.server.state();
  await tour.server.newRequests();
  say("The CI identity becomes an owner of the team “payments”.");
  tour.printRequests([
    {
      method: "POST",
      collection: COLLECTIONS.roleBindings,
      uid: team.uid,
      query: "",
      updateMask: "",
      body,
    },
  ]);
  print();
  return created.body.uid;
}

/** @param {Tour} tour @param {StepRun} step */
export async function findGrant(tour, step) {
  const uid = await grantOwner(tour);
  const { code, stdout } = await tour.runPlatform(
    step,
    ["drift", "--stack", "demo", "-o", "text", "-o", "json=drift.json"],
    { expected: [0, EXIT_DRIFT] },
  );
  print();
  show(tour.server.withNames(stdout));
  print();
  print(`exit code ${code}`);
  step.check("its exit code tells that there is drift", code === EXIT_DRIFT, `exit code ${code}`);
  checkDrift(tour, step, uid, await tour.server.newRequests());
}

/** @param {Tour} tour @param {StepRun} step @param {string} grant Its uid. @param {Request[]} requests */
function checkDrift(tour, step, grant, requests) {
  const writes = requests.filter(isWrite);
  const report = JSON.parse(readFileSync(path.join(tour.stack.program, "drift.json"), "utf8"));
  /** @type {{ id: string, uid: string, drift?: Record<string, string> }[]} */
  const findings = report.findings;
  const [found] = findings.filter(({ drift }) => drift !== undefined);
  step.check(
    "it finds the grant, not managed by any stack and with more access, by the rule of owners and as drift",
    isDeepStrictEqual(findings.map(({ id }) => id).sort(), ["G1", "drift-unmanaged"]) &&
      found?.uid === grant &&
      found?.drift?.direction === "widened",
    findings.map(({ id, uid }) => `${id}: ${tour.server.withNames(uid)}`).join("\n") || "nothing is found",
  );
  const remedies = ["revert", "adopt", "suppress"].filter(
    (remedy) => report.differences[0]?.answers?.[remedy] !== undefined,
  );
  step.check(
    "it offers all three remedies: revert, adopt, suppress",
    remedies.length === 3,
    remedies.join(", ") || "none",
  );
  step.check(
    "it read the organisation with few requests, and wrote nothing",
    requests.length > 0 && writes.length === 0,
    `${formatCount(requests.length, "read")}, ${formatCount(writes.length, "write")}`,
  );
}

/** @param {Tour} tour @param {StepRun} step */
export async function adopt(tour, step) {
  const { uid: root } = findOnly(tour.declared.groups, ({ name }) => name === "acme");
  const before = await tour.server.state();
  const folder = path.join(tour.stack.folder, "organisation");
  mkdirSync(folder);
  const adopt = ["adopt", "--root", root, "--out", "."];
  print(`${paint("dim", "$")} ${paint("cyan", "mkdir organisation && cd organisation")}`);
  await runIndented(tour, step, adopt, folder);
  print();
  print(paint("dim", "organisation/index.ts (its role bindings)"));
  const program = readFileSync(path.join(folder, "index.ts"), "utf8");
  for (const line of excerptOf(program)) print(line);
  print();
  tour.stack.linkPackages(folder);
  print(`${paint("dim", "$")} ${paint("cyan", "npm install")} ${paint("dim", "(here: a link)")}`);
  await tour.run(step, ["stack", "init", "adopted"], { cwd: folder });
  await tour.run(step, ["config", "set", "rootUid", root], { cwd: folder });
  await runIndented(tour, step, [...adopt, "--stack", "adopted", "--write-state"], folder);
  const preview = await tour.run(step, ["preview", "--expect-no-changes"], { cwd: folder });
  const unchanged = Number(/(\d+) unchanged/.exec(preview.stdout)?.[1] ?? 0);
  print(`${unchanged} unchanged ${paint("dim", "(the stack itself is one)")}`);
  const writes = (await tour.server.newRequests()).filter(isWrite);
  tour.declared = await tour.server.state();

  step.check(
    "with --expect-no-changes the preview of the new stack ends with exit code 0",
    preview.code === 0,
    `exit code ${preview.code}`,
  );
  checkAdoption(step, { unchanged, before: Object.values(before).flat().length });
  step.check(
    "the program declares the grant made by hand, by names and not by uids",
    program.includes("roleUid: ownerRole.uid") && !program.includes(root),
    "roleUid: ownerRole.uid; no uid",
  );
  step.check(
    "the server got no write, and holds what it held",
    writes.length === 0 && isDeepStrictEqual(before, tour.declared),
    `${formatCount(writes.length, "write")} in its log`,
  );
}

/** Runs a command of this package and prints its output. @param {Tour} tour @param {StepRun} step @param {string[]} args @param {string} cwd */
async function runIndented(tour, step, args, cwd) {
  const { stdout } = await tour.runPlatform(step, args, { cwd, expected: [0] });
  show(tour.server.withNames(stdout).replace(/^/gm, "   "));
}

/** @param {StepRun} step @param {{ unchanged: number, before: number }} counts */
function checkAdoption(step, { unchanged, before }) {
  step.check(
    "it manages all that the server holds, but for the organisation itself",
    // The stack counts as a resource, and stands for the organisation in this sum.
    unchanged === before,
    `${before - 1} below the organisation, ${unchanged - 1} unchanged`,
  );
}

/** @param {Tour} tour @param {StepRun} step */
export async function destroy(tour, step) {
  const cwd = path.join(tour.stack.folder, "organisation");
  await tour.run(step, ["state", "unprotect", "--all", "--yes"], { cwd });
  const { changes: adopted } = await tour.run(step, ["destroy", "--yes", "--skip-preview"], { cwd });
  printChanges(adopted);
  print();
  const { changes } = await tour.run(step, ["destroy", "--refresh", "--yes", "--skip-preview"]);
  const state = await tour.server.state();
  const writes = (await tour.server.newRequests()).filter(isWrite);
  printChanges(changes);
  const before = Object.values(tour.declared).flat().length;
  const left = Object.entries(state).filter(([, resources]) => resources.length > 0);
  print();
  print(left.length === 0 ? "The server is empty." : "The server is not empty.");

  step.check(
    "the server is empty",
    before > 0 && Object.keys(state).length > 0 && left.length === 0,
    `${formatCount(before, "resource")} before; ` +
      (left.map(([collection, resources]) => `${resources.length} ${collection}`).join(", ") || "none") +
      " now",
  );
  step.check(
    "one DELETE for each resource, each accepted the first time",
    writes.length === before && writes.every(({ method, status }) => method === "DELETE" && status === 200),
    countMethods(writes),
  );
  const { searched, found } = tour.stack.filesWith(tour.server.token);
  step.check(
    "the access token is in no file of the tour: programs, states, reports",
    searched > 0 && found.length === 0,
    `${formatCount(searched, "file")} searched, ${found.length === 0 ? "not found" : found.join(", ")}`,
  );
}

/** The role bindings of a program. @param {string} program */
function excerptOf(program) {
  return program
    .split("\n\n")
    .filter((block) => block.startsWith("new RoleBinding("))
    .flatMap((block) => block.split("\n"));
}
