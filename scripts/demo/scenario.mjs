// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { driftIn } from "./drift.mjs";
import { COLLECTIONS, contentOf, isWrite, leafPaths, parentOf } from "./server.mjs";
import { counted, paint, print, quote, say, show, signed } from "./terminal.mjs";

/**
 * @typedef {import("./drift.mjs").Difference} Difference
 * @typedef {import("./server.mjs").Request} Request
 * @typedef {import("./server.mjs").Server} Server
 * @typedef {import("./server.mjs").State} State
 * @typedef {import("./stack.mjs").Outcome} Outcome
 * @typedef {import("./stack.mjs").Stack} Stack
 * @typedef {import("./stack.mjs").Told} Told
 * @typedef {import("./steps.mjs").Step} Step
 * @typedef {import("./steps.mjs").StepRun} StepRun
 *
 * @typedef {object} HandChange
 * @property {string} sentence
 * @property {"PATCH" | "DELETE"} method
 * @property {string} collection
 * @property {string} uid
 * @property {string} [updateMask]
 * @property {unknown} [body]
 * @property {Difference[]} drift What a refresh must find; empty where the resource is gone.
 * @property {{ method: string, uid: string, body: unknown }} repair What must be sent to undo it.
 */

/** The CLI's exit code where `--expect-no-changes` finds changes. */
const EXIT_CHANGES = 7;

/** The exit codes of `pulumi-platform review` and `drift` where they find something. */
const EXIT_FINDINGS = 5;
const EXIT_DRIFT = 7;

/** What the pull request of the review changes: the role of one grant, and whom an identity trusts. */
const RISKY_EDITS = [
  { from: 'getRole({ name: "viewer", builtIn: true })', to: 'getRole({ name: "owner", builtIn: true })' },
  { from: 'subject: "repo:acme/pay:ref:refs/heads/release"', to: 'subjectPattern: "repo:acme/.*"' },
];

/** The rules that it breaks: an owner, any pull request, and somebody else behind a known name. */
const RISKS = ["G1", "T4", "T5"];

/** The edit of step 3: one field of three resources each. */
const EDITS = [
  {
    from: '"Takes the money"',
    to: '"Takes and refunds the money"',
    resource: "payments",
    field: "description",
  },
  {
    from: "ref:refs/heads/main",
    to: "ref:refs/heads/release",
    resource: "ci-deployer",
    field: "claimMatch.subject",
  },
  {
    from: '["latest", "stable"]',
    to: '["latest", "stable", "v2"]',
    resource: "indexer",
    field: "activeTags",
  },
];

/** Where the page of the review is left, in the checkout; git ignores it. */
const PAGE = "demo-review.html";

/** The scenario of the demo. Later steps build on what earlier ones found. */
export class Scenario {
  /** @type {State} */
  #declared = {};
  /** @type {HandChange[]} */
  #handChanges = [];

  /**
   * @param {Stack} stack
   * @param {Server} server
   * @param {{ verbose: boolean, redact: (text: string) => string }} options
   */
  constructor(stack, server, options) {
    this.stack = stack;
    this.server = server;
    this.options = options;
  }

  /** @returns {Step[]} */
  steps() {
    return [
      {
        title: "An organisation from nothing",
        intent:
          "The program examples/getting-started is deployed: two teams below an organisation, a CI identity that " +
          "may push images for one of them, their repositories, and a subscription to what happens.",
        run: (step) => this.#create(step),
      },
      {
        title: "A second run changes nothing",
        intent:
          "The same program again: what is as declared is left alone. (The program looks up the built-in role " +
          "“viewer”, which is a read.)",
        run: (step) => this.#repeat(step),
      },
      {
        title: "An edit becomes exactly the requests it needs",
        intent: "One field of three resources is edited in the program, then deployed.",
        run: (step) => this.#edit(step),
      },
      {
        title: "Meanwhile, somebody changes things by hand",
        intent: "Three changes that the program knows nothing of are made at the server, over plain HTTP.",
        run: (step) => this.#changeByHand(step),
      },
      {
        title: "A preview tells what was changed by hand",
        intent:
          "The preview reads every resource, compares it with what was deployed, and writes nothing. Its exit " +
          "code makes it a job for every night.",
        run: (step) => this.#preview(step),
      },
      {
        title: "The next run repairs it",
        intent:
          "The program is deployed again, unchanged: what was changed by hand goes back to what it declares.",
        run: (step) => this.#repair(step),
      },
      {
        title: "A pull request is reviewed before it is merged",
        intent:
          "It makes the CI identity an owner, and lets any workflow of acme assume it. The review reads the preview " +
          "of the change, says what it does to access, and its exit code stops the merge.",
        run: (step) => this.#review(step),
      },
      {
        title: "A grant made by hand is found",
        intent:
          "Somebody gives a role over plain HTTP. No resource of the stack has changed, so no preview can show it; " +
          "drift compares the stack with the whole organisation, by reading alone.",
        run: (step) => this.#findGrant(step),
      },
      {
        title: "What is there is adopted by a new stack",
        intent:
          "From the live organisation, adopt writes a program, and then the state that belongs to it. From then on a " +
          "stack manages what was there, the grant made by hand included; the server gets no write for it.",
        run: (step) => this.#adopt(step),
      },
      {
        title: "All of it goes away again",
        intent:
          "The new stack deletes what it adopted, in an order that the server accepts. The first one sees that, and " +
          "deletes what is left to it: the organisation.",
        run: (step) => this.#destroy(step),
      },
    ];
  }

  /** @param {StepRun} step */
  async #create(step) {
    await this.#run(step, ["stack", "init", "demo"]);
    const { changes, counts } = await this.#run(step, ["up", "--yes", "--skip-preview"]);
    const state = await this.server.state();
    const writes = (await this.server.newRequests()).filter(isWrite);
    this.#declared = state;
    printChanges(changes);
    print();
    print("What the server holds now:");
    printTree(state);

    const held = Object.values(state).flat().length;
    // The CLI counts the stack itself as a resource.
    const created = (counts.created ?? 0) - 1;
    step.check(
      "the server holds each resource that the CLI says it created",
      held > 0 && held === created && changes.length === held && changes.every(({ sign }) => sign === "+"),
      `${created} created, ${held} at the server`,
    );
    step.check(
      "one POST made each of them, and nothing else was written",
      writes.length === held && writes.every(({ method, status }) => method === "POST" && status === 200),
      summaryOf(writes),
    );
  }

  /** @param {StepRun} step */
  async #repeat(step) {
    const { code, counts } = await this.#run(step, ["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    const requests = await this.server.newRequests();
    const writes = requests.filter(isWrite);
    print(`${counts.unchanged ?? 0} unchanged`);
    print();
    print("All requests that the server got:");
    this.#printRequests(requests);

    const all = Object.values(this.#declared).flat().length + 1;
    step.check("with --expect-no-changes it ends with exit code 0", code === 0, `exit code ${code}`);
    step.check(
      "every resource is unchanged",
      counts.unchanged === all && Object.keys(counts).length === 1,
      Object.entries(counts)
        .map(([what, count]) => `${count} ${what}`)
        .join(", ") + ` of ${all}, the stack included`,
    );
    step.check(
      "the server got no write",
      writes.length === 0,
      `${counted(writes.length, "write")} in its log`,
    );
  }

  /** @param {StepRun} step */
  async #edit(step) {
    print(paint("dim", "examples/getting-started/index.ts (a copy)"));
    for (const { line, before, after } of this.stack.edit(EDITS)) {
      signed("-", `${String(line).padStart(3)}  ${before}`);
      signed("+", `     ${after}`);
    }
    print();
    const { changes } = await this.#run(step, ["up", "--yes", "--skip-preview"]);
    const state = await this.server.state();
    const writes = (await this.server.newRequests()).filter(isWrite);
    this.#declared = state;
    printChanges(changes);
    print();
    print("The writes that the server got:");
    this.#printRequests(writes);

    const resources = Object.values(state).flat();
    step.check(
      "exactly three requests, each a PATCH of an edited resource",
      writes.length === EDITS.length &&
        writes.every(({ method, status }) => method === "PATCH" && status === 200) &&
        EDITS.every(({ resource }) => writes.some(({ uid }) => uid === uidOf(resources, resource))),
      `${summaryOf(writes)}: ${writes.map(({ uid }) => this.server.withNames(uid)).join(", ")}`,
    );
    step.check(
      "each updateMask names the edited field alone, and the body holds it",
      EDITS.every(({ resource, field }) =>
        writes.some(({ uid, updateMask }) => uid === uidOf(resources, resource) && updateMask === field),
      ) && writes.every(({ body, updateMask }) => leafPaths(body).join() === updateMask),
      writes
        .map(({ updateMask, body }) => `${updateMask ?? "no mask"} (body: ${leafPaths(body).join()})`)
        .join("\n"),
    );
    step.check(
      "the server holds the new values",
      writes.every(({ uid, body }) => {
        const live = resources.find((resource) => resource.uid === uid);
        return leafPaths(body).every((path) => isDeepStrictEqual(valueAt(live, path), valueAt(body, path)));
      }),
      writes.flatMap(({ body }) => leafPaths(body).map((path) => text(valueAt(body, path)))).join("\n"),
    );
  }

  /** @param {StepRun} step */
  async #changeByHand(step) {
    const before = this.#declared;
    const changes = handChanges(before);
    /** @type {number[]} */
    const statuses = [];
    for (const [index, { sentence, method, collection, uid, updateMask, body }] of changes.entries()) {
      if (index > 0) print();
      say(sentence);
      const query = updateMask === undefined ? "" : `updateMask=${updateMask}`;
      this.#printRequests([{ method, collection, uid, query, updateMask, body }]);
      const target = `${collection}/${uid}${query === "" ? "" : `?${query}`}`;
      statuses.push((await this.server.send(method, target, body)).status);
    }
    const state = await this.server.state();
    await this.server.newRequests();
    this.#handChanges = changes;

    const now = new Map(
      Object.values(state)
        .flat()
        .map((resource) => [resource.uid, resource]),
    );
    step.check(
      "the server took each of them",
      statuses.every((status) => status === 200),
      statuses.join(", "),
    );
    step.check(
      "the server now holds something else than the program declares",
      changes.every(({ uid, drift }) =>
        drift.length === 0
          ? !now.has(uid)
          : drift.every(({ path, to }) => isDeepStrictEqual(valueAt(now.get(uid), path), to)),
      ),
      changes
        .map(({ uid, drift }) => {
          const held = drift.map(({ path }) => `${path} ${text(valueAt(now.get(uid), path))}`).join(", ");
          return `${this.server.withNames(uid)}: ${now.has(uid) ? held : "gone"}`;
        })
        .join("\n"),
    );
  }

  /** @param {StepRun} step */
  async #preview(step) {
    const args = ["preview", "--refresh", "--expect-no-changes", "--json", "--show-sames"];
    const { code, stdout } = await this.#run(step, args);
    /** @type {import("./drift.mjs").Digest} */
    const digest = JSON.parse(stdout);
    const writes = (await this.server.newRequests()).filter(isWrite);
    const drift = driftIn(digest);
    for (const [index, { kind, name, gone, differences, plan }] of drift.entries()) {
      if (index > 0) print();
      const note = gone ? "is gone from the server" : "was changed at the server";
      print(`${paint("bold", `${kind} ${name}`)} ${note} ${paint("dim", `→ the next up will ${plan} it`)}`);
      for (const difference of differences) printDifference(difference);
    }

    step.check(
      "with --expect-no-changes its exit code tells that there are changes",
      code === EXIT_CHANGES,
      `exit code ${code}`,
    );
    /** @param {{ id: string, gone: boolean, differences: Difference[] }[]} list */
    const comparable = (list) =>
      list.map(({ id, gone, differences }) => JSON.stringify([id, gone, differences.map(entriesOf)])).sort();
    const expected = this.#handChanges.map(({ uid, drift: differences }) => ({
      id: uid,
      gone: differences.length === 0,
      differences,
    }));
    step.check(
      "it shows the three changes made by hand, value by value, and nothing else",
      expected.length > 0 && isDeepStrictEqual(comparable(drift), comparable(expected)),
      drift
        .map(({ kind, name, gone, differences }) => {
          const paths = differences.map(({ path }) => path).join(", ");
          return `${kind} ${name}: ${gone ? "gone" : paths}`;
        })
        .join("\n") || "nothing is shown",
    );
    step.check(
      "it wrote nothing to the server",
      writes.length === 0,
      `${counted(writes.length, "write")} in its log`,
    );
  }

  /** @param {StepRun} step */
  async #repair(step) {
    const { changes } = await this.#run(step, ["up", "--refresh", "--yes", "--skip-preview"]);
    const state = await this.server.state();
    const writes = (await this.server.newRequests()).filter(isWrite);
    printChanges(changes);
    print();
    print("The writes that the server got:");
    this.#printRequests(writes);

    const wanted = this.#handChanges.map(({ repair }) => repair);
    step.check(
      "one PATCH for each changed resource, one POST for the deleted one",
      writes.length === wanted.length &&
        wanted.every(({ method, uid, body }) =>
          writes.some(
            (write) => write.method === method && write.uid === uid && isDeepStrictEqual(write.body, body),
          ),
        ),
      summaryOf(writes),
    );
    step.check(
      "each PATCH names what it repairs and no more",
      writes.every(
        ({ method, body, updateMask }) => method !== "PATCH" || leafPaths(body).join() === updateMask,
      ),
      writes.flatMap(({ updateMask }) => updateMask ?? []).join("; "),
    );
    const before = contentOf(this.#declared);
    const after = contentOf(state);
    const wrong = Object.keys(before).filter((key) => !isDeepStrictEqual(before[key], after[key]));
    step.check(
      "the server holds again, field by field, what it held before",
      Object.values(before).flat().length > 0 && isDeepStrictEqual(before, after),
      `${counted(Object.values(after).flat().length, "resource")} compared, ` +
        (wrong.length === 0 ? "all equal" : `different: ${wrong.join(", ")}`),
    );
  }

  /** @param {StepRun} step */
  async #review(step) {
    const { uid: root } = the(this.#declared.groups, ({ name }) => name === "acme");
    print(paint("dim", "examples/getting-started/index.ts (a copy)"));
    const edited = this.stack.edit(RISKY_EDITS);
    for (const { line, before, after } of edited) {
      signed("-", `${String(line).padStart(3)}  ${before}`);
      signed("+", `     ${after}`);
    }
    print();
    const inventory = ["inventory", "--root", root, "-o", "json=inventory.json"];
    await this.#runPlatform(step, inventory, { expected: [0] });
    const preview = await this.#run(step, ["preview", "--json", "--show-sames"], {
      then: ["pulumi-platform review - --inventory inventory.json \\", `  -o text -o html=${PAGE}`],
    });
    const page = path.join(this.stack.root, PAGE);
    rmSync(page, { force: true });
    const review = ["review", "-", "--inventory", "inventory.json", "-o", "text"];
    const { code, stdout } = await this.#runPlatform(
      step,
      [...review, "-o", `html=${page}`, "-o", "json=review.json"],
      { input: preview.stdout, expected: [0, EXIT_FINDINGS], quiet: true },
    );
    print();
    show(this.server.withNames(stdout));
    print();
    print(`exit code ${code}`);
    print(`The same as a page, with filters: ${page}`);
    this.stack.edit(RISKY_EDITS.map(({ from, to }) => ({ from: to, to: from })));
    const writes = (await this.server.newRequests()).filter(isWrite);
    const report = JSON.parse(readFileSync(path.join(this.stack.program, "review.json"), "utf8"));

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
    const html = existsSync(page) ? readFileSync(page, "utf8") : "";
    const foreign = [...html.matchAll(/(?:src|href)="(?:https?:)?\/\/[^"]*/g)].map(([link]) => link);
    step.check(
      "the page holds each rule, and loads nothing",
      RISKS.every((rule) => html.includes(rule)) && foreign.length === 0,
      `${html.length} characters, ${foreign.join(", ") || "no address in it"}`,
    );
    step.check(
      "neither the preview nor the review wrote to the server",
      writes.length === 0,
      `${counted(writes.length, "write")} in its log`,
    );
  }

  /** @param {StepRun} step */
  async #findGrant(step) {
    const team = the(this.#declared.groups, ({ name }) => name === "payments");
    const deployer = the(this.#declared.identities, ({ name }) => name === "ci-deployer");
    const roles = await this.server.send("GET", `${COLLECTIONS.roles}?name=owner`);
    const owner = the(roles.body.roles, ({ name }) => name === "owner");
    const body = { identityUid: deployer.uid, roleUid: owner.uid };
    const made = await this.server.send("POST", `${COLLECTIONS.roleBindings}/${team.uid}`, body);
    await this.server.state();
    await this.server.newRequests();
    say("The CI identity becomes an owner of the team “payments”.");
    this.#printRequests([
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
    const { code, stdout } = await this.#runPlatform(
      step,
      ["drift", "--stack", "demo", "-o", "text", "-o", "json=drift.json"],
      { expected: [0, EXIT_DRIFT] },
    );
    print();
    show(this.server.withNames(stdout));
    print();
    print(`exit code ${code}`);
    const requests = await this.server.newRequests();
    const writes = requests.filter(isWrite);
    const report = JSON.parse(readFileSync(path.join(this.stack.program, "drift.json"), "utf8"));

    /** @type {{ uid: string, kind: string, drift: Record<string, string> }[]} */
    const findings = report.findings;
    const [found] = findings;
    step.check("its exit code tells that there is drift", code === EXIT_DRIFT, `exit code ${code}`);
    step.check(
      "it finds the grant, and nothing else: in no stack, and more access",
      findings.length === 1 &&
        found?.uid === made.body.uid &&
        found?.drift.kind === "unmanaged" &&
        found?.drift.direction === "widened",
      findings
        .map(({ uid, drift }) => `${this.server.withNames(uid)}: ${drift.kind}, ${drift.direction}`)
        .join("\n") || "nothing is found",
    );
    const answers = ["revert", "adopt", "accept"].filter((answer) => found?.drift[answer] !== undefined);
    step.check(
      "its three answers are ready: to put it back, to take it over, to accept it",
      answers.length === 3,
      answers.join(", ") || "none",
    );
    step.check(
      "it read the organisation with few requests, and wrote nothing",
      requests.length > 0 && writes.length === 0,
      `${counted(requests.length, "read")}, ${counted(writes.length, "write")}`,
    );
  }

  /** @param {StepRun} step */
  async #adopt(step) {
    const { uid: root } = the(this.#declared.groups, ({ name }) => name === "acme");
    const before = await this.server.state();
    const folder = path.join(this.stack.folder, "organisation");
    mkdirSync(folder);
    const adopt = ["adopt", "--root", root, "--out", "."];
    print(`${paint("dim", "$")} ${paint("cyan", "mkdir organisation && cd organisation")}`);
    const { stdout: written } = await this.#runPlatform(step, adopt, { cwd: folder, expected: [0] });
    show(this.server.withNames(written).replace(/^/gm, "   "));
    print();
    print(paint("dim", "organisation/index.ts (its role bindings)"));
    const program = readFileSync(path.join(folder, "index.ts"), "utf8");
    for (const line of excerptOf(program)) print(line);
    print();
    this.stack.linkPackages(folder);
    print(`${paint("dim", "$")} ${paint("cyan", "npm install")} ${paint("dim", "(here: a link)")}`);
    await this.#run(step, ["stack", "init", "adopted"], { cwd: folder });
    const { stdout: imported } = await this.#runPlatform(
      step,
      [...adopt, "--stack", "adopted", "--write-state"],
      { cwd: folder, expected: [0] },
    );
    show(this.server.withNames(imported).replace(/^/gm, "   "));
    const preview = await this.#run(step, ["preview", "--expect-no-changes"], { cwd: folder });
    const unchanged = Number(/(\d+) unchanged/.exec(preview.stdout)?.[1] ?? 0);
    print(`${unchanged} unchanged ${paint("dim", "(the stack itself is one)")}`);
    const writes = (await this.server.newRequests()).filter(isWrite);
    const after = await this.server.state();
    this.#declared = after;

    const held = Object.values(before).flat().length;
    step.check(
      "with --expect-no-changes the preview of the new stack ends with exit code 0",
      preview.code === 0,
      `exit code ${preview.code}`,
    );
    step.check(
      "it manages all that the server holds, but for the organisation itself",
      // The stack counts as a resource, and stands for the organisation in this sum.
      unchanged === held,
      `${held - 1} below the organisation, ${unchanged - 1} unchanged`,
    );
    step.check(
      "the program declares the grant made by hand, by names and not by uids",
      program.includes("roleUid: ownerRole.uid") && !program.includes(`${root}/`),
      "roleUid: ownerRole.uid; no uid but the organisation's",
    );
    step.check(
      "the server got no write, and holds what it held",
      writes.length === 0 && isDeepStrictEqual(before, after),
      `${counted(writes.length, "write")} in its log`,
    );
  }

  /** @param {StepRun} step */
  async #destroy(step) {
    const cwd = path.join(this.stack.folder, "organisation");
    const { changes: adopted } = await this.#run(step, ["destroy", "--yes", "--skip-preview"], { cwd });
    printChanges(adopted);
    print();
    const { changes } = await this.#run(step, ["destroy", "--refresh", "--yes", "--skip-preview"]);
    const state = await this.server.state();
    const writes = (await this.server.newRequests()).filter(isWrite);
    printChanges(changes);
    const before = Object.values(this.#declared).flat().length;
    const left = Object.entries(state).filter(([, resources]) => resources.length > 0);
    print();
    print(left.length === 0 ? "The server is empty." : "The server is not empty.");

    step.check(
      "the server is empty",
      before > 0 && Object.keys(state).length > 0 && left.length === 0,
      `${counted(before, "resource")} before; ` +
        (left.map(([collection, resources]) => `${resources.length} ${collection}`).join(", ") || "none") +
        " now",
    );
    step.check(
      "one DELETE for each resource, each accepted the first time",
      writes.length === before && writes.every(({ method, status }) => method === "DELETE" && status === 200),
      summaryOf(writes),
    );
    const { searched, found } = this.stack.filesWith(this.server.token);
    step.check(
      "the access token is in no file of the tour: programs, states, reports",
      searched > 0 && found.length === 0,
      `${counted(searched, "file")} searched, ${found.length === 0 ? "not found" : found.join(", ")}`,
    );
  }

  /**
   * Runs a command that must not fail; finding changes where none are expected is an answer.
   * @param {StepRun} step
   * @param {string[]} args
   * @param {{ cwd?: string, then?: string[] }} [options] `then`: what reads its output, by lines.
   * @returns {Promise<Outcome>}
   */
  async #run(step, args, { cwd, then } = {}) {
    this.#printCommand(`pulumi ${args.join(" ")}`, then);
    const outcome = await this.stack.pulumi(args, { cwd });
    const expected = args.includes("--expect-no-changes") ? [0, EXIT_CHANGES] : [0];
    this.#accept(step, `pulumi ${args.join(" ")}`, outcome, expected);
    return outcome;
  }

  /**
   * Runs a command of this package.
   * @param {StepRun} step
   * @param {string[]} args
   * @param {{ expected: number[], input?: string, cwd?: string, quiet?: boolean }} options `expected`: the exit codes
   *   that are answers; `quiet`: the command was shown already.
   * @returns {Promise<Told>}
   */
  async #runPlatform(step, args, { expected, quiet, ...options }) {
    const command = `pulumi-platform ${args.join(" ")}`;
    if (!quiet) this.#printCommand(command);
    const told = await this.stack.platform(args, options);
    this.#accept(step, command, told, expected);
    return told;
  }

  /** @param {string} command @param {string[]} [then] */
  #printCommand(command, then) {
    const text = this.server.withNames(command);
    print(`${paint("dim", "$")} ${paint("cyan", then === undefined ? text : `${text} |`)}`);
    for (const line of then ?? []) print(`    ${paint("cyan", line)}`);
  }

  /** @param {StepRun} step @param {string} command @param {Told} outcome @param {number[]} expected */
  #accept(step, command, { code, output }, expected) {
    step.output = output;
    if (this.options.verbose) quote(this.options.redact(output));
    if (!expected.includes(code)) throw new Error(`${command} ended with exit code ${code}`);
  }

  /** @param {Request[]} requests */
  #printRequests(requests) {
    for (const { method, collection, uid, query, body } of requests) {
      const address = `${collection}/${this.server.withNames(uid)}`.replace(/\/$/, "");
      const question = query === "" ? "" : paint("yellow", `?${query}`);
      print(`${paint("bold", method.padEnd(6))} ${address}${question}`);
      if (body !== undefined) print(paint("dim", `       ${this.server.withNames(JSON.stringify(body))}`));
    }
  }
}

/**
 * What is changed by hand: found by name at the server, as a person would.
 * @param {State} state
 * @returns {HandChange[]}
 */
function handChanges(state) {
  const api = the(state.repos, ({ name }) => name === "api");
  const deployer = the(state.identities, ({ name }) => name === "ci-deployer");
  const binding = the(state.roleBindings, ({ role }) => role?.name === "viewer");
  const description = "changed in a hurry";
  const subjectPattern = ".*";
  const { subject } = deployer.claimMatch;
  return [
    {
      sentence: "The repository “api” gets another description.",
      method: "PATCH",
      collection: COLLECTIONS.repos,
      uid: api.uid,
      updateMask: "description",
      body: { description },
      drift: [{ path: "description", from: api.description, to: description }],
      repair: { method: "PATCH", uid: api.uid, body: { description: api.description } },
    },
    {
      sentence: "A grant is taken away: the CI identity no longer views the team “search”.",
      method: "DELETE",
      collection: COLLECTIONS.roleBindings,
      uid: binding.uid,
      drift: [],
      repair: {
        method: "POST",
        uid: parentOf(binding),
        body: { identityUid: binding.identityUid, roleUid: binding.roleUid },
      },
    },
    {
      sentence:
        "The CI identity opens to every workflow of the owner: any subject instead of one branch of one repository.",
      method: "PATCH",
      collection: COLLECTIONS.identities,
      uid: deployer.uid,
      updateMask: "claimMatch.subjectPattern",
      body: { claimMatch: { subjectPattern } },
      drift: [
        { path: "claimMatch.subject", from: subject, to: undefined },
        { path: "claimMatch.subjectPattern", from: undefined, to: subjectPattern },
      ],
      repair: { method: "PATCH", uid: deployer.uid, body: { claimMatch: { subject } } },
    },
  ];
}

/**
 * @template T
 * @param {T[] | undefined} list
 * @param {(item: T) => boolean} predicate
 */
function the(list, predicate) {
  const found = (list ?? []).filter(predicate);
  if (found.length !== 1 || found[0] === undefined) throw new Error("the example no longer fits the demo");
  return found[0];
}

/** The role bindings of a program. @param {string} program */
function excerptOf(program) {
  return program
    .split("\n\n")
    .filter((block) => block.startsWith("new RoleBinding("))
    .flatMap((block) => block.split("\n"));
}

/** @param {import("./server.mjs").Resource[]} resources @param {string} name */
function uidOf(resources, name) {
  return resources.find((resource) => resource.name === name)?.uid;
}

/** @param {unknown} value @param {string} path @returns {unknown} */
function valueAt(value, path) {
  return path.split(".").reduce((inner, key) => /** @type {any} */ (inner)?.[key], value);
}

/** @param {Difference} difference */
function entriesOf({ path, from, to }) {
  return [path, from, to];
}

/** @param {unknown} value */
function text(value) {
  return value === undefined ? "not set" : JSON.stringify(value);
}

/** As in `3 GET, 1 POST`. @param {Request[]} requests */
function summaryOf(requests) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { method } of requests) counts.set(method, (counts.get(method) ?? 0) + 1);
  return [...counts].map(([method, count]) => `${count} ${method}`).join(", ") || "none";
}

/** @param {import("./stack.mjs").Change[]} changes */
function printChanges(changes) {
  const width = Math.max(30, ...changes.map(({ name }) => name.length));
  for (const { sign, kind, name, verb, diff } of changes) {
    const fields = diff === "" ? "" : paint("dim", `  ${diff}`);
    signed(sign, `${kind.padEnd(13)} ${name.padEnd(width)} ${verb}${fields}`);
  }
}

/** @param {Difference} difference */
function printDifference({ path, from, to }) {
  const arrow = `${paint("red", text(from))} → ${paint("green", text(to))}`;
  print(`  ${path}: ${arrow}`);
}

/** The groups with what is in each. @param {State} state */
function printTree(state) {
  /** @param {string} uid @param {string} prefix @param {string} branch */
  const visit = (uid, prefix, branch) => {
    const group = state.groups?.find((candidate) => candidate.uid === uid);
    const inside = [
      ...within(state.identities, uid).map(({ name }) => `identity ${name}`),
      ...within(state.roles, uid).map(({ name }) => `role ${name}`),
      ...within(state.repos, uid).map(({ name }) => `repo ${name}`),
      ...within(state.subscriptions, uid).map(() => "a subscription"),
      ...within(state.roleBindings, uid).map(({ identity, role }) => `${identity.name} holds ${role.name}`),
    ];
    const name = String(group?.name).padEnd(14 - prefix.length - branch.length);
    print(`${paint("dim", prefix + branch)}${paint("bold", name)} ${inside.join(", ")}`);
    const children = within(state.groups, uid);
    const deeper = prefix + (branch === "├─ " ? "│  " : branch === "" ? "" : "   ");
    for (const [index, child] of children.entries()) {
      visit(child.uid, deeper, index === children.length - 1 ? "└─ " : "├─ ");
    }
  };
  for (const root of within(state.groups, "")) visit(root.uid, "", "");
}

/** @param {import("./server.mjs").Resource[] | undefined} resources @param {string} parent */
function within(resources, parent) {
  return (resources ?? []).filter((resource) => parentOf(resource) === parent);
}
