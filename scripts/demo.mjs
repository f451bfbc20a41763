// @ts-check
/*
 * npm run demo: a tour of the package. Deploys examples/getting-started with the real Pulumi CLI against an emulator in this
 * process, changes it, has it changed by hand, reviews, adopts and deletes it. Each command is run as a reader types it, and
 * each step is checked at the server. Ends at the first step of which a check fails.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { URLSearchParams } from "node:url";
import { isDeepStrictEqual, styleText } from "node:util";
import { sendTo, withStack } from "./lib/emulator.mjs";
import { runScript } from "./lib/processes.mjs";
import { QUICK_PROCESSES } from "./lib/quickProcesses.cjs";
import { ensureReady, root } from "./setup.mjs";

/**
 * @typedef {Record<string, any>} Resource As the API returns it.
 * @typedef {Record<string, Resource[]>} State Resources by collection.
 * @typedef {{ method: string, path: string, query: string, body?: any, status?: number }} Request
 */

const IDENTITIES = "/iam/v2/identities";
const ROLES = "/iam/v2/roles";
const ROLE_BINDINGS = "/iam/v2/roleBindings";
const REPOS = "/registry/v2/repos";

const UP = "pulumi up --yes --skip-preview";
const PLATFORM = "npx --no pulumi-platform";

/** The exit codes of the Pulumi CLI where a policy stops an update, and where `--expect-no-changes` finds changes. */
const EXIT_POLICY = 1;
const EXIT_CHANGES = 7;
/** Those of `review` and of `drift` where they find something. */
const EXIT_FINDINGS = 5;
const EXIT_DRIFT = 7;

/** Where the page of the review is left, in the checkout; git ignores it. */
const PAGE = path.join(root, "demo-review.html");

/** The edit of step 2: one field of three resources each. */
const EDITS = [
  { from: '"Takes the money"', to: '"Takes and refunds the money"', mask: "description" },
  { from: "ref:refs/heads/main", to: "ref:refs/heads/release", mask: "claimMatch.subject" },
  { from: '["latest", "stable"]', to: '["latest", "stable", "v2"]', mask: "activeTags" },
];

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

/** The rules that the pull request breaks: an owner, the assertion, any pull request, and somebody else behind a known name. */
const RISKS = ["G1", "P1", "T4", "T5"];

/** The program of the lie: what it does once the update knows the id of its new role, no preview shows. */
const HONEST_ROLE = "roleUid: reader.id,";
const LIE = `roleUid: reader.id.apply(async () => {
    const owner = await getRole({ name: "owner", builtIn: true });
    return owner.uid;
  }),`;
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

/** The steps: each builds on the earlier ones. @type {{ title: string, intent: string, run: (tour: Tour) => Promise<void> }[]} */
const STEPS = [
  {
    title: "An organisation from nothing",
    intent:
      "The program examples/getting-started is deployed: two teams below an organisation, a CI identity that may push images for one of them, their repositories, and a subscription to what happens.",
    run: async (tour) => {
      await tour.type("pulumi stack init demo");
      await tour.type(UP);
      const held = Object.values(tour.state()).flat().length;
      const writes = tour.writes();
      tour.check(
        "one POST created each object that the server holds, and nothing else was written",
        held > 0 && writes.length === held && writes.every(({ method }) => method === "POST"),
        `${held} objects; ${countMethods(writes)}`,
      );
    },
  },
  {
    title: "An edit becomes exactly the requests it needs",
    intent: "One field of three resources is edited in the program, then deployed.",
    run: async (tour) => {
      tour.edit(EDITS);
      await tour.type(UP);
      const writes = tour.writes();
      tour.printRequests(writes);
      tour.check(
        "three requests, each a PATCH whose mask names the edited field alone",
        writes.every(({ method, status }) => method === "PATCH" && status === 200) &&
          isDeepStrictEqual(writes.map(maskOf).sort(), EDITS.map(({ mask }) => mask).sort()),
        writes.map((write) => `${write.method} ${maskOf(write)}`).join(", "),
      );
    },
  },
  {
    title: "Somebody changes things by hand, and a preview tells what",
    intent:
      "Three changes that are not in the program are made over plain HTTP. The preview reads every resource, compares it with what was deployed, and writes nothing. Its exit code makes it a job for every night.",
    run: async (tour) => {
      const { repos, roleBindings, identities } = tour.state();
      const api = findOnly(repos, ({ name }) => name === "api");
      await tour.send("PATCH", `${REPOS}/${api.uid}?updateMask=description`, {
        description: "changed in a hurry",
      });
      const grant = findOnly(roleBindings, ({ role }) => role?.name === "viewer");
      await tour.send("DELETE", `${ROLE_BINDINGS}/${grant.uid}`);
      const deployer = findOnly(identities, ({ name }) => name === "ci-deployer");
      await tour.send("PATCH", `${IDENTITIES}/${deployer.uid}?updateMask=claimMatch.subjectPattern`, {
        claimMatch: { subjectPattern: ".*" },
      });
      tour.writes();
      const { output } = await tour.type("pulumi preview --refresh --diff --expect-no-changes", {
        expected: [EXIT_CHANGES],
      });
      const changes = ["changed in a hurry", "deployer-views-search", "subjectPattern"];
      const shown = changes.filter((text) => output.includes(text));
      tour.check(
        "it shows the three changes made by hand",
        shown.length === changes.length,
        `${shown.length} shown`,
      );
    },
  },
  {
    title: "The next run repairs it",
    intent:
      "The program is deployed again, unchanged: what was changed by hand goes back to what it declares.",
    run: async (tour) => {
      await tour.type("pulumi up --refresh --yes --skip-preview");
      const writes = tour.writes();
      tour.printRequests(writes);
      tour.check(
        "one PATCH for each changed resource, one POST for the deleted one",
        isDeepStrictEqual(writes.map(({ method }) => method).sort(), ["PATCH", "PATCH", "POST"]),
        countMethods(writes),
      );
    },
  },
  {
    title: "A pull request is reviewed before it is merged",
    intent:
      "It makes the CI identity an owner, which the policy file forbids, and lets any workflow of acme assume it. The review reads the preview of the change, says what it does to access, and its exit code stops the merge.",
    run: async (tour) => {
      tour.edit(RISKY_EDITS);
      print(styleText("dim", "access-policy.yaml"));
      print(ASSERTIONS);
      writeFileSync(path.join(tour.stack.program, "access-policy.yaml"), ASSERTIONS);
      await tour.type(`${PLATFORM} inventory --root ${tour.rootUid} -o json=inventory.json`);
      await tour.type("pulumi preview --json --show-sames > preview.json");
      await tour.type(
        `${PLATFORM} review preview.json --inventory inventory.json --policy access-policy.yaml -o text -o json=review.json -o html=${PAGE}`,
        { expected: [EXIT_FINDINGS] },
      );
      tour.edit(RISKY_EDITS.map(({ from, to }) => ({ from: to, to: from })));
      const { findings } = tour.readJson("review.json");
      const rules = findings.map((/** @type {any} */ { id }) => id);
      tour.check(
        "it finds what is dangerous about the change, and nothing else",
        isDeepStrictEqual([...new Set(rules)].sort(), RISKS),
        rules.join(", "),
      );
    },
  },
  {
    title: "An update is held to the report that was approved",
    intent:
      "Another change binds a new harmless role, as its preview says. In the update it computes the role of owners in its place. The policy pack of the package compares each value with the approved report before its request.",
    run: async (tour) => {
      appendFileSync(path.join(tour.stack.program, "index.ts"), NEW_GRANT);
      print(styleText("green", NEW_GRANT.trim().replace(/^/gm, "+ ")));
      await tour.type("pulumi preview --json --show-sames > preview.json");
      await tour.type(
        `${PLATFORM} review preview.json --inventory inventory.json -o text=review.txt -o json=review.json`,
      );
      const { digest } = tour.readJson("review.json");
      print("A person approves the report, by its digest.\n");
      const env = {
        PLATFORM_APPROVED_REPORT: path.join(tour.stack.program, "review.json"),
        PLATFORM_APPROVED_DIGEST: digest,
      };
      const update = `${UP} --policy-pack node_modules/pulumi-platform/templates/policy-pack`;
      tour.writes();
      const lied = await tour.type(update, { env, expected: [EXIT_POLICY] });
      const grants = tour.writes().filter((write) => write.path.startsWith(ROLE_BINDINGS));
      tour.check(
        "the update that computes another role is refused, before the request for its grant",
        lied.output.includes("is not what the approved report announces") && grants.length === 0,
        countMethods(grants),
      );
      tour.edit([{ from: LIE, to: HONEST_ROLE }]);
      await tour.type(update, { env });
      const granted = tour.writes().filter((write) => write.path.startsWith(ROLE_BINDINGS));
      tour.check("what the report announces is done", granted.length === 1, countMethods(granted));
    },
  },
  {
    title: "A grant made by hand is found",
    intent:
      "Somebody gives a role over plain HTTP. No resource of the stack has changed, so no preview can show it; drift compares the stack with the whole organisation, by reading alone.",
    run: async (tour) => {
      const { groups, identities } = tour.state();
      const team = findOnly(groups, ({ name }) => name === "payments");
      const deployer = findOnly(identities, ({ name }) => name === "ci-deployer");
      const { roles } = await tour.send("GET", `${ROLES}?name=owner`);
      const owner = findOnly(roles, ({ name }) => name === "owner");
      const grant = { identityUid: deployer.uid, roleUid: owner.uid };
      const { uid } = await tour.send("POST", `${ROLE_BINDINGS}/${team.uid}`, grant);
      tour.state();
      tour.writes();
      await tour.type(`${PLATFORM} drift --stack demo -o text -o json=drift.json`, {
        expected: [EXIT_DRIFT],
      });
      const { findings } = tour.readJson("drift.json");
      const found = findings.map((/** @type {any} */ finding) => `${finding.id} ${finding.uid}`);
      tour.check(
        "it finds the grant, by the rule of owners and as not managed by any stack",
        isDeepStrictEqual(found.sort(), [`G1 ${uid}`, `drift-unmanaged ${uid}`]),
        tour.withNames(found.join(", ")),
      );
    },
  },
  {
    title: "What is there is adopted by a new stack",
    intent:
      "From the live organisation, adopt writes a program, and then the state that belongs to it. From then on a stack manages what was there, the grant made by hand included; the server gets no write for it.",
    run: async (tour) => {
      const before = tour.state();
      const cwd = tour.organisation;
      mkdirSync(cwd);
      const adopt = `${PLATFORM} adopt --root ${tour.rootUid} --out .`;
      await tour.type(adopt, { cwd });
      tour.stack.linkPackages(cwd);
      await tour.type("pulumi stack init adopted", { cwd });
      await tour.type(`pulumi config set rootUid ${tour.rootUid}`, { cwd });
      await tour.type(`${adopt} --stack adopted --write-state`, { cwd });
      const { output } = await tour.type("pulumi preview --expect-no-changes", { cwd });
      const unchanged = Number(/(\d+) unchanged/.exec(output)?.[1] ?? 0);
      tour.check(
        "it manages all that the server holds, but for the organisation itself",
        // The stack counts as a resource, and stands for the organisation in this sum.
        unchanged === Object.values(before).flat().length,
        `${unchanged - 1} unchanged`,
      );
      const program = readFileSync(path.join(cwd, "index.ts"), "utf8");
      tour.check(
        "the program declares the grant made by hand, by names and not by uids",
        program.includes("roleUid: ownerRole.uid") && !program.includes(tour.rootUid),
        "organisation/index.ts",
      );
      tour.check("the server holds what it held", isDeepStrictEqual(before, tour.state()), "compared");
    },
  },
  {
    title: "All of it goes away again",
    intent:
      "The new stack deletes what it adopted, in an order that the server accepts. The first one sees that, and deletes what is left to it: the organisation.",
    run: async (tour) => {
      const before = Object.values(tour.state()).flat().length;
      await tour.type("pulumi state unprotect --all --yes", { cwd: tour.organisation });
      await tour.type("pulumi destroy --yes --skip-preview", { cwd: tour.organisation });
      await tour.type("pulumi destroy --refresh --yes --skip-preview");
      const left = Object.values(tour.state()).flat();
      tour.check("the server is empty", before > 0 && left.length === 0, `${left.length} objects`);
      const writes = tour.writes();
      tour.check(
        "one DELETE for each object, each accepted the first time",
        writes.length === before &&
          writes.every(({ method, status }) => method === "DELETE" && status === 200),
        countMethods(writes),
      );
    },
  },
];

/** A CLI's lines on what is under way; what is done has lines of its own. */
const PROGRESS = /^@ [\w ]+\.*$|^Permalink: | (?:creat|updat|delet|refresh|read)ing \(\d+s\)/;

const print = (/** @type {string} */ text = "") => console.log(text);

/** What the steps share. */
class Tour {
  /** Names of all objects seen so far, by uid. @type {Map<string, string>} */
  #names = new Map();
  checks = 0;
  failed = 0;

  /** @param {import("./lib/stack.mjs").Stack} stack @param {any} emulator */
  constructor(stack, emulator) {
    this.stack = stack;
    this.emulator = emulator;
    this.organisation = path.join(stack.folder, "organisation");
  }

  /** @returns {string} The uid of the organisation. */
  get rootUid() {
    return this.emulator.rootUid;
  }

  /**
   * Prints a command, runs it, and prints its output.
   * @param {string} command @param {Parameters<import("./lib/stack.mjs").Stack["type"]>[1]} [options]
   */
  async type(command, options) {
    print(styleText("cyan", `$ ${this.withNames(command)}`));
    const result = await this.stack.type(command, options);
    // Progress has no line of its own where it is slow.
    const lines = result.output.replace(/^@ [\w ]+\.+(?= )/gm, "").split("\n");
    const shown = lines.filter((line) => !PROGRESS.test(line)).join("\n");
    print(`${this.withNames(shown.trim())}\n`);
    return result;
  }

  /** Prints a request, and makes it as anybody with a token could. @param {string} method @param {string} target @param {unknown} [body] */
  async send(method, target, body) {
    print(styleText("cyan", this.withNames(`${method} ${target} ${JSON.stringify(body) ?? ""}`)));
    return await sendTo(this.emulator, method, target, body);
  }

  /** What the server holds. @returns {State} */
  state() {
    /** @type {State} */
    const state = this.emulator.state();
    for (const { uid, name, identity, role, group } of Object.values(state).flat()) {
      if (name) this.#names.set(uid, name);
      // Built-in roles are not in the state, but grants have their names.
      if (role?.uid) this.#names.set(role.uid, role.name);
      if (identity && role && group)
        this.#names.set(uid, `${identity.name} as ${role.name} on ${group.name}`);
    }
    return state;
  }

  /** The writes that the server got since the last call. @returns {Request[]} */
  writes() {
    const writes = this.emulator.requests.filter((/** @type {Request} */ { method }) => method !== "GET");
    this.emulator.clearRequests();
    return writes;
  }

  /** @param {Request[]} requests */
  printRequests(requests) {
    for (const { method, path: address, query, body } of requests) {
      const target = `${decodeURIComponent(address)}${query === "" ? "" : `?${query}`}`;
      print(this.withNames(`${method} ${target} ${JSON.stringify(body)}`));
    }
    print();
  }

  /** Edits the program and prints the lines that change; each text must be there once. @param {{ from: string, to: string }[]} edits */
  edit(edits) {
    const file = path.join(this.stack.program, "index.ts");
    let program = readFileSync(file, "utf8");
    for (const { from, to } of edits) {
      if (program.split(from).length !== 2) throw new Error(`the example no longer holds ${from} once`);
      program = program.replace(from, () => to);
      print(styleText("red", from.replace(/^/gm, "- ")));
      print(styleText("green", to.replace(/^/gm, "+ ")));
    }
    writeFileSync(file, program);
    print();
  }

  /** A file beside the program. @param {string} name @returns {any} */
  readJson(name) {
    return JSON.parse(readFileSync(path.join(this.stack.program, name), "utf8"));
  }

  /** Puts names in place of uids. @param {string} text */
  withNames(text) {
    return text.replace(/[0-9a-f]{40}(?:\/[0-9a-f]{16})*/g, (uid) => {
      const name = this.#names.get(uid);
      return name === undefined ? `${uid.slice(0, 6)}…` : `<${name}>`;
    });
  }

  /** Prints a claim, whether it holds, and what was found. @param {string} claim @param {boolean} holds @param {string} found */
  check(claim, holds, found) {
    this.checks += 1;
    if (!holds) this.failed += 1;
    print(`${holds ? styleText("green", "✓") : styleText("red", "✗")} ${claim}: ${found}`);
  }
}

/** @param {Resource[] | undefined} list @param {(item: Resource) => boolean} predicate @returns {Resource} */
function findOnly(list = [], predicate) {
  const found = list.filter(predicate);
  if (found.length !== 1 || found[0] === undefined) throw new Error("the example no longer fits the demo");
  return found[0];
}

/** As in `3 PATCH, 1 POST`. @param {Request[]} requests */
function countMethods(requests) {
  const methods = requests.map(({ method }) => method);
  const counts = [...new Set(methods)].map(
    (name) => `${methods.filter((method) => method === name).length} ${name}`,
  );
  return counts.join(", ") || "no write";
}

/** @param {Request} request */
const maskOf = ({ query }) => new URLSearchParams(query).get("updateMask") ?? "";

/** @param {Tour} tour @returns {Promise<number>} The exit code. */
async function takeTour(tour) {
  const start = performance.now();
  for (const [index, { title, intent, run }] of STEPS.entries()) {
    print(`\n${styleText("bold", `${index + 1}  ${title}`)}\n${intent}\n`);
    await run(tour);
    if (tour.failed > 0) break;
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  print(`\n${tour.checks - tour.failed} of ${tour.checks} checks hold. ${seconds} s.`);
  if (tour.failed > 0) return 1;
  print("docs/quick-start.md runs a program against a real API.");
  return 0;
}

await runScript("npm run demo", import.meta.filename, async () => {
  const cli = await ensureReady();
  // The tests check the types of the example.
  const env = { ...QUICK_PROCESSES, PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
  const example = path.join(root, "examples", "getting-started");
  return await withStack("demo", { root, example, cli, env }, (stack, emulator) => {
    print(
      `Pulumi CLI ${cli.version} against an emulator of the API at ${emulator.url}: nothing else is touched.`,
    );
    print("Where a command shows <name>, it carried the uid of that object.");
    return takeTour(new Tour(stack, emulator));
  });
});
