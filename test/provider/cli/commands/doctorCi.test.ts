import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { main as doctor } from "../../../../provider/cli/commands/doctor";
import { checkOwners } from "../../../../provider/cli/commands/doctorCi/codeOwners";
import { inspectFolder } from "../../../../provider/cli/commands/init/folder";
import { getOrCompute } from "../../../../provider/fields/values";
import { state as documentState } from "../../../support/documents";
import { temporaryFolder } from "../../../support/folders";
import { InitFolder } from "../../../support/initFolder";
import { call } from "../../../support/wire";
import { FakeHost, page } from "../post/hosts";
import type { Answer } from "../post/hosts";
import { runCommand } from "../support";

/* `doctor --ci` at a server of this machine that answers as GitHub and GitLab do. */

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

/** By path: the body, or a status with its body. */
type Routes = Record<string, unknown>;
let routes: Routes = {};

class FakeApi extends FakeHost {
  protected answer(_method: string, url: URL): Answer {
    const route = routes[url.pathname];
    if (typeof route === "number") return [route, { message: "refused" }];
    if (route instanceof Error) return [404, { message: route.message }];
    if (route === undefined) return [404, { message: "Not Found" }];
    const { variables } = route as { variables?: unknown[] };
    return [200, variables === undefined ? route : { variables: page(variables, url, 30) }];
  }
}

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

let folder: InitFolder;
const start = process.cwd();
beforeEach(() => {
  folder = new InitFolder();
  api.seen.length = 0;
});
afterEach(() => {
  process.chdir(start);
});

const APP = 4711;
const REPO = "/repos/acme/access";
/** What the page asks of reviews. */
const DEMANDED = {
  require_code_owner_review: true,
  dismiss_stale_reviews_on_push: true,
  require_last_push_approval: true,
};
const APPROVALS = {
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: true,
  reset_approvals_on_push: true,
};
const REVIEWER = { type: "Team", reviewer: { id: 23 } };
/** What an environment has that only chosen branches may use. */
const LIMITED = { protected_branches: false, custom_branch_policies: true };
const RULES = `${REPO}/rules/branches/main`;
const ENVIRONMENTS = `${REPO}/environments`;
const PROJECT = "/projects/acme%2Faccess";

/** The rule that demands the status of an app. */
const statusOf = (app: number, isCurrent = true) => ({
  type: "required_status_checks",
  parameters: {
    required_status_checks: [{ context: "access-review", integration_id: app }],
    strict_required_status_checks_policy: isCurrent,
  },
});

/** A repository of GitHub that is set up as the page asks. */
function github(previewUid: string, rootUid: string, deployUid: string): Routes {
  const variables = {
    // More than GitHub returns in one response, before those that are looked for.
    ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`OTHER_${index}`, "x"])),
    PLATFORM_BASE_URL: "https://api.acme.example",
    PLATFORM_ISSUER_URL: "https://issuer.acme.example",
    PLATFORM_ROOT_GROUP: rootUid,
    PLATFORM_PREVIEW_IDENTITY: previewUid,
    PLATFORM_REVIEW_IDENTITY: previewUid,
    PLATFORM_DEPLOY_IDENTITY: deployUid,
    ACCESS_APP_ID: String(APP),
  };
  const policies = { branch_policies: [{ id: 1, name: "main" }] };
  const limited = { deployment_branch_policy: LIMITED };
  return {
    [REPO]: { default_branch: "main" },
    [`${REPO}/actions/variables`]: {
      variables: Object.entries(variables).map(([name, value]) => ({ name, value })),
    },
    [`${REPO}/actions/secrets`]: { secrets: [] },
    [`${ENVIRONMENTS}/access-status`]: limited,
    [`${ENVIRONMENTS}/access-status/secrets`]: { secrets: [{ name: "ACCESS_APP_PRIVATE_KEY" }] },
    [`${ENVIRONMENTS}/access-status/deployment-branch-policies`]: policies,
    [`${ENVIRONMENTS}/production`]: {
      ...limited,
      protection_rules: [{ type: "required_reviewers", reviewers: [REVIEWER], prevent_self_review: true }],
    },
    [`${ENVIRONMENTS}/production/deployment-branch-policies`]: policies,
    [RULES]: [
      { type: "pull_request", ruleset_id: 7, parameters: DEMANDED },
      { ...statusOf(APP), ruleset_id: 7 },
    ],
    [`${REPO}/branches/main/protection`]: new Error("Branch not protected"),
    [`${REPO}/rulesets/7`]: { bypass_actors: [] },
    [`${REPO}/codeowners/errors`]: { errors: [] },
    [`${REPO}/actions/oidc/customization/sub`]: { sub_claim_prefix: "repo:acme/access" },
  };
}

/** A project of GitLab that is set up as the page asks. */
function gitlab(previewUid: string, rootUid: string, deployUid: string): Routes {
  const variable = (key: string, value: string, environment_scope = "*") => ({
    key,
    value,
    environment_scope,
    masked: environment_scope !== "*",
    protected: environment_scope === "production",
  });
  const pinned = `image: pulumi/pulumi-nodejs:3@sha256:${"0".repeat(64)}\n`;
  return {
    [PROJECT]: {
      only_allow_merge_if_pipeline_succeeds: true,
      allow_merge_on_skipped_pipeline: false,
      forking_access_level: "disabled",
      merge_method: "ff",
      ci_pipeline_variables_minimum_override_role: "no_one_allowed",
      ci_config_path: "gitlab-ci.yml@acme/access-ci",
    },
    [`${PROJECT}/variables`]: [
      variable("PLATFORM_ROOT_GROUP", rootUid),
      ...["PREVIEW", "REVIEW"].map((name) => variable(`PLATFORM_${name}_IDENTITY`, previewUid)),
      variable("PLATFORM_DEPLOY_IDENTITY", deployUid),
      ...["access-preview", "production"].map((scope) => variable("PULUMI_ACCESS_TOKEN", "", scope)),
      ...["access-review", "access-post"].map((scope) => variable("GITLAB_TOKEN", "", scope)),
    ],
    [`${PROJECT}-ci/repository/files/gitlab-ci.yml`]: contentOf(pinned),
    [`${PROJECT}/protected_branches/main`]: { allow_force_push: false, code_owner_approval_required: true },
    [`${PROJECT}/approvals`]: APPROVALS,
    [`${PROJECT}/protected_environments/production`]: { name: "production" },
  };
}

interface Line {
  readonly check: string;
  readonly state: string;
  readonly text: string;
  readonly command?: string;
  readonly errorCode?: string;
}

type Files = Readonly<Record<string, string>>;

interface Setup {
  readonly host?: "github" | "gitlab";
  readonly role?: string;
  readonly deployRole?: string;
  /** Responses of a host that is set up, or members of them, that are different; undefined where there is none. */
  readonly set?: Routes;
  readonly files?: Files;
  /** Those that are there before `init` runs. */
  readonly before?: Files;
  readonly env?: Readonly<Record<string, string>>;
  readonly argv?: readonly string[];
  /** A folder in which an installed CLI finds the configuration and the outputs of the stack. */
  readonly machine?: string;
}

const run = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(doctor, ["--ci", ...argv], {
    PLATFORM_BASE_URL: emulator.url,
    PLATFORM_TOKEN: emulator.token,
    PULUMI_HOME: folder.pulumiHome,
    ...env,
  });

/** The lines of a report about one check, or about all. */
const linesOf = (printed: string, name?: string): Line[] =>
  (JSON.parse(printed) as { checks: Line[] }).checks.filter(
    (one) => name === undefined || one.check === name,
  );

const known = new Map<string, Promise<Files>>();
/** A repository of a host after `init`. */
const filesOfInit = (host: string, before: Files) =>
  getOrCompute(known, JSON.stringify([host, before]), async () => {
    const made = new InitFolder().repository(`git@${host}.com:acme/access.git`).write(before);
    const names = ["--stack", "acme/access/prod", "--project", "access"];
    const urls = ["--base-url", "https://api.acme.example", "--issuer-url", "https://issuer.acme.example"];
    await made.succeed(".", ...names, ...urls);
    return made.files();
  });

/** Runs `doctor --ci` in a repository that `init` has written to; returns its code and the lines of its report. */
async function check({
  host = "github",
  role = "viewer",
  deployRole = "owner",
  set = {},
  files = {},
  before = {},
  env = {},
  argv = [],
  machine,
}: Setup = {}) {
  const { uid: rootUid } = await call(emulator, "POST", "/iam/v2/groups", { name: "acme" });
  const root = String(rootUid);
  const claimMatch = { issuer: "https://issuer.example.com", subject: "repo:acme/access:pull_request" };
  const grant = async (name: string, of: string): Promise<string> => {
    const body = { name, claimMatch: { ...claimMatch, subject: name } };
    const { uid: identityUid } = await call(emulator, "POST", `/iam/v2/identities/${root}`, body);
    if (of === "gone") await call(emulator, "DELETE", `/iam/v2/identities/${String(identityUid)}`);
    if (of === "" || of === "gone") return String(identityUid);
    const { roles = [] } = (await call(emulator, "GET", `/iam/v2/roles?name=${of}`)) as {
      roles?: { name: string; uid: string }[];
    };
    const roleUid = roles.find((one) => one.name === of)?.uid;
    expect(roleUid).toBeDefined();
    await call(emulator, "POST", `/iam/v2/roleBindings/${root}`, { identityUid, roleUid });
    return String(identityUid);
  };
  const previewUid = await grant("ci-preview", role);
  const deployUid = await grant("ci-deploy", deployRole);
  if (machine !== undefined) {
    const outputs = { previewIdentity: previewUid, reviewIdentity: previewUid, deployIdentity: deployUid };
    writeFileSync(join(machine, "outputs.json"), JSON.stringify(outputs));
    writeFileSync(join(machine, "config.json"), JSON.stringify({ "access:rootUid": { value: root } }));
  }
  const made = (host === "github" ? github : gitlab)(previewUid, root, deployUid);
  const isRecord = (value: unknown) => value?.constructor === Object;
  for (const [path, value] of Object.entries(set))
    made[path] = isRecord(value) ? { ...(made[path] as object), ...(value as object) } : value;
  routes = made;
  folder.repository(`git@${host}.com:acme/access.git`);
  folder.write({
    ...(await filesOfInit(host, before)),
    ...npmLock("https://registry.acme.example/a.tgz"),
    ...files,
  });
  process.chdir(folder.root);
  const { code, stdout: printed } = await run(["-o", "json", ...argv], {
    ...(host === "github"
      ? { GITHUB_TOKEN: "ghp_canary", GITHUB_API_URL: api.origin }
      : { GITLAB_TOKEN: "glpat-canary", CI_API_V4_URL: api.origin }),
    ...env,
  });
  expect(printed).not.toContain("canary");
  const checks = linesOf(printed);
  return { code, checks, wrong: checks.filter(({ state }) => state === "wrong") };
}

/** What demands the same without a rule set. */
const CLASSIC = {
  required_pull_request_reviews: {
    require_code_owner_reviews: true,
    dismiss_stale_reviews: true,
    require_last_push_approval: true,
  },
  required_status_checks: { strict: true, checks: [{ context: "access-review", app_id: APP }] },
  enforce_admins: { enabled: true },
};
const classic = (more: object = {}): Setup => ({
  set: { [RULES]: [], [`${REPO}/branches/main/protection`]: { ...CLASSIC, ...more } },
});

test.each<[string, Setup]>([
  ["GitHub", {}],
  ["GitHub, by the older protection of its branch", classic()],
  ["GitLab", { host: "gitlab" }],
])("all checks pass in a repository of %s that is set up", async (_, setup) => {
  const { code, checks } = await check(setup);
  expect(checks.filter(({ state }) => state !== "ok")).toEqual([]);
  expect(code).toBe(0);
  expect(checks.map((one) => one.check)).toEqual(
    expect.arrayContaining(["codeowners", "pins", "variables", "branch", "identity preview", "project"]),
  );
});

const LACKS =
  /lacks CAP_IAM_\w+.*, for Identity of the stack: .* of the role editor in the program that makes it/;
const HAS_ALL = /may CAP_\w+ and \d+ more, by the role owner .*: all that the stack's resources need$/;
test.each<[role: string, state: string, text: RegExp, from: string, env: Readonly<Record<string, string>>]>([
  ["editor", "wrong", LACKS, "the variables", {}],
  ["owner", "ok", HAS_ALL, "the variables", {}],
  ["owner", "ok", HAS_ALL, "outputs of the stack", { GITHUB_TOKEN: "" }],
])(
  "%s of the deployment is compared with what the stack needs: %s",
  async (role, state, text, _from, env) => {
    // An installed CLI that prints the configuration, the outputs and the export of a stack.
    const machine = temporaryFolder();
    const id = `${"a".repeat(40)}/${"b".repeat(16)}`;
    const identity = documentState("Identity", "ci", { name: "ci" }, { id });
    writeFileSync(
      join(machine, "export.json"),
      JSON.stringify({
        version: 3,
        deployment: { manifest: {}, resources: [{ ...identity, custom: true }] },
      }),
    );
    const shown = `case "$1 $2" in config*) echo config;; "stack output") echo outputs;; *) echo export;; esac`;
    const program = `#!/bin/sh\ncat "${machine}/$(${shown}).json"\n`;
    writeFileSync(join(machine, "pulumi"), program, { mode: 0o755 });
    const { checks } = await check({
      deployRole: role,
      argv: ["--stack", "prod"],
      machine,
      env: { PATH: [machine, process.env["PATH"]].join(delimiter), ...env },
    });
    const said = checks.find((one) => one.check === "identity deploy");
    expect(said).toMatchObject({ state, text: expect.stringMatching(text) as unknown });
  },
);

test("a workflow that is not what init writes is to be read, and no other one", async () => {
  await check();
  const review = readFileSync(".github/workflows/access-review.yml", "utf8");
  const states = async (text: string) => {
    writeFileSync(".github/workflows/access-review.yml", text);
    return linesOf((await run(["-o", "json"])).stdout, "workflows");
  };
  const newer = review.replace(/@[0-9a-f]{40}/g, `@${"1".repeat(40)}`).replace("name:", "# mine\n\nname:");
  for (const text of [review, newer]) expect(await states(text)).toMatchObject([{ state: "ok" }]);
  const end = review.trimEnd().split("\n");
  for (const [text, number, expected] of [
    [review.replace("workflow_run:", "pull_request_target:"), "\\d+", "workflow_run:"],
    [`${end.join("\n")}\nmore: 1\n`, end.length + 1, "nothing"],
    [end.slice(0, -1).join("\n"), end.length - 1, end.at(-1)?.trim() ?? ""],
  ] as const) {
    const [, line, ...more] = await states(text);
    const said = `access-review\\.yml:${number} is not what this version of init writes, which is `;
    expect([line?.state, more]).toEqual(["skipped", []]);
    expect(line?.text).toMatch(new RegExp(said));
    expect(line?.text).toContain(
      `${JSON.stringify(expected)}: read what differs, or delete the file and run init again`,
    );
  }
});

test("the workflows of a program in Python install its packages, and those of YAML are the same as of TypeScript", async () => {
  await check();
  const differing = async (runtime: string) => {
    folder.write({ "Pulumi.yaml": `name: access\nruntime: ${runtime}\n` });
    const { stdout } = await run(["-o", "json"]);
    return linesOf(stdout, "workflows").filter(({ state }) => state !== "ok");
  };
  expect(await differing("yaml")).toEqual([]);
  const text = expect.stringContaining('which is "pulumi install --no-plugins"') as unknown;
  expect(await differing("python")).toMatchObject([{ text }, { text }]);
});

test("the pipeline of GitLab whose image has another version and a digest is what init writes", async () => {
  await check({ host: "gitlab" });
  const path = "access-ci/gitlab-ci.yml";
  const written = readFileSync(path, "utf8");
  const image = /image: (\S+?):\S+$/gm;
  expect(written).toMatch(image);
  folder.write({ [path]: written.replace(image, `image: $1:4.1.0@sha256:${"0".repeat(64)}`) });
  const said = async () =>
    linesOf((await run(["-o", "json"])).stdout).filter(({ text }) =>
      /this version of init|pinned/.test(text),
    );
  expect(await said()).toMatchObject([{ check: "pins", state: "ok" }]);
  folder.write({ [path]: written.replace(image, "image: other/$1:4.1.0") });
  expect(await said()).toMatchObject([{ check: "pipeline", state: "skipped" }]);
});

/** The rule sets' body in a command of `gh api`. */
const bodyIn = (command = ""): unknown => JSON.parse(/^echo '(.*)' \| gh api/.exec(command)?.[1] ?? "null");

test("what the branch and a status lack is one command, which adds a rule set", async () => {
  const rules = [
    { ...statusOf(1), ruleset_id: 3 },
    { type: "pull_request", ruleset_id: 7, parameters: { required_approving_review_count: 2 } },
  ];
  await check({ set: { [RULES]: rules, [`${REPO}/rulesets/3`]: { bypass_actors: [] } } });
  // A second project, whose status nobody requires.
  const path = ".github/workflows/access-review-teams.yml";
  const own = folder.files()[".github/workflows/access-review.yml"] ?? "";
  folder.write({ [path]: own.replaceAll("context=access-review", "context=access-review-teams") });
  const env = { GITHUB_TOKEN: "ghp_canary", GITHUB_API_URL: api.origin };
  const checks = linesOf((await run(["-o", "json"], env)).stdout);
  const lacking = checks.filter((one) => ["branch", "status"].includes(one.check));
  expect(lacking.map((one) => `${one.state} ${one.check} ${one.text}`)).toEqual([
    "wrong branch main does not demand a review of code owners",
    "wrong status access-review is required from app 1, not from ACCESS_APP_ID 4711; require it from this one alone",
    "wrong status access-review-teams is not required",
  ]);
  const [command = "", ...more] = new Set(lacking.map((one) => one.command));
  expect(more).toEqual([]);
  expect(command).toMatch(/-X POST "repos\/\{owner\}\/\{repo\}\/rulesets" --input -$/);
  const sources = ["access-review", "access-review-teams"].map((context) => ({
    context,
    integration_id: APP,
  }));
  expect(bodyIn(command)).toMatchObject({
    name: "access review beside 3",
    rules: [
      { type: "pull_request", parameters: DEMANDED },
      { type: "required_status_checks", parameters: { required_status_checks: sources } },
    ],
  });
  expect((await run([], env)).stdout.split(command)).toHaveLength(2);
});

test("a new rule set names the app that is still to be filled in as the number that it will be", async () => {
  const { checks } = await check({ set: { [RULES]: [], [`${REPO}/actions/variables`]: { variables: [] } } });
  const { command = "" } = checks.find((one) => one.check === "branch") ?? {};
  expect(command).toContain('"integration_id":<id of the app>}');
  expect(bodyIn(command.replace("<id of the app>", "5"))).toMatchObject({
    name: "access review",
    rules: [
      { type: "pull_request", parameters: { require_code_owner_review: true } },
      { parameters: { required_status_checks: [{ context: "access-review", integration_id: 5 }] } },
    ],
  });
});

const owners = (text: string) => ({ ".github/CODEOWNERS": text });
const set = (path: string, value: unknown): Setup => ({ set: { [path]: value } });
const gitlabSet = (path: string, value: unknown): Setup => ({ host: "gitlab", set: { [path]: value } });
const contentOf = (text: string) => ({ content: Buffer.from(text).toString("base64") });
const variables = (name?: string, value?: string) =>
  set(`${REPO}/actions/variables`, { variables: name === undefined ? [] : [{ name, value }] });
const pipeline = (text: string) => gitlabSet(`${PROJECT}-ci/repository/files/gitlab-ci.yml`, contentOf(text));
const tokensOf = (...scopes: string[]) =>
  gitlabSet(
    `${PROJECT}/variables`,
    scopes.map((environment_scope) => ({ key: "PULUMI_ACCESS_TOKEN", environment_scope })),
  );
const project = (member: string, value: unknown) => gitlabSet(PROJECT, { [member]: value });
const approvals = (member: string, value: boolean) => gitlabSet(`${PROJECT}/approvals`, { [member]: value });
const protectedBy = (levels: object | undefined) => gitlabSet(`${PROJECT}/protected_branches/main`, levels);
const [STATUS, PRODUCTION] = [`${ENVIRONMENTS}/access-status`, `${ENVIRONMENTS}/production`];
const SUBJECTS = `${REPO}/actions/oidc/customization/sub`;
const policies = { branch_policies: [{ id: 9, name: "*" }] };
const errors = { errors: [{ message: "Unknown owner on line 2" }] };
const reviewed = (parameters: object) =>
  set(RULES, [
    { type: "pull_request", ruleset_id: 7, parameters: { require_code_owner_review: true, ...parameters } },
    { ...statusOf(APP), ruleset_id: 7 },
  ]);
const stale = reviewed({ require_last_push_approval: true });
const ownApproval = reviewed({ dismiss_stale_reviews_on_push: true, require_last_push_approval: false });
/** An environment that these people approve, who may be those that start the run, after some minutes. */
const approvedBy = (reviewers: object[], wait_timer?: number, name = "production") =>
  set(`${ENVIRONMENTS}/${name}`, {
    deployment_branch_policy: name === "production" ? LIMITED : null,
    protection_rules: [
      ...(wait_timer === undefined ? [] : [{ type: "wait_timer", wait_timer }]),
      { type: "required_reviewers", reviewers, prevent_self_review: false },
    ],
  });
const level = (access_level: number, more: object = {}) => ({ access_level, ...more });
const everyone = [level(40), level(30, { user_id: null })];
const named = {
  push_access_levels: [level(40), level(40, { user_id: 7 })],
  merge_access_levels: [level(30), level(40, { group_id: 8 })],
};
const DEPLOY = String.raw`\.github\/workflows\/access-deploy\.yml`;
const toTrunk = new RegExp(
  `^sed -i\\.bak 's\\|branches: .*\\|branches: \\[trunk\\]\\|' ${DEPLOY} && rm ${DEPLOY}\\.bak$`,
);
const using = (action: string): Setup => ({
  files: { ".github/workflows/o.yml": `jobs:\n  a:\n    steps:\n      - uses: ${action}\n` },
});
const again =
  /^glab api -X DELETE projects\/:id\/protected_branches\/main && glab api -X POST .*merge_access_level=40/;
const keepsNamed =
  /name=main -f push_access_level=40 -F "allowed_to_push\[\]\[user_id\]=7" -f merge_access_level=40 -F "allowed_to_merge\[\]\[group_id\]=8" -f code/;
const outputOf = (name: string) => `"\\$\\(pulumi stack output ${name}Identity\\)"$`;

/** What says that something is missing or wrong, behind the name of its check, and the command that mends it. */
type Wrong = readonly [said: RegExp, command: RegExp, setup: Setup];

/** Where the rows of another repository begin. */
const NEXT = "another repository";

/** By repository: all that is wrong there at once, of which none hides another. */
const rows: readonly (Wrong | typeof NEXT)[] = [
  [/^variables ACCESS_APP_ID is not set/, /^gh variable set ACCESS_APP_ID --body /, variables()],
  [/^workflows .*-deploy\.yml is for main, .* is trunk/, toTrunk, set(REPO, { default_branch: "trunk" })],
  [
    /^secrets .*_KEY is not/,
    /^gh secret set \w+ --env access-status/,
    set(`${STATUS}/secrets`, { secrets: [] }),
  ],
  [
    /^secrets .*every branch can read/,
    /^gh secret delete ACCESS_APP_PRIVATE_KEY$/,
    set(`${REPO}/actions/secrets`, { secrets: [{ name: "ACCESS_APP_PRIVATE_KEY" }] }),
  ],
  [/^env production does not exist/, /-X PUT .*production.*reviewers/, set(PRODUCTION, undefined)],
  NEXT,
  [/^variables .*ID still holds <id of/, /^gh variable set ACCESS/, variables("ACCESS_APP_ID", "<id of it>")],
  [/^workflows .* is a'b$/, /branches: \[<branch>\]/, set(REPO, { default_branch: "a'b" })],
  [/^secrets .*_KEY is not/, /--env access-status/, set(STATUS, undefined)],
  NEXT,
  [
    /^env production who starts/,
    /_timer=30 .*=23" -F "prevent_self_review=true"$/,
    approvedBy([REVIEWER], 30),
  ],
  [
    /^env access-status .*not limited to the branch main/,
    / -F wait_timer=5 -F "reviewers\[\]\[type\]=Team" -F "reviewers\[\]\[id\]=23" && /,
    approvedBy([REVIEWER], 5, "access-status"),
  ],
  NEXT,
  [
    /^env access-status .*\* may use it too/,
    /-X DELETE .*\/9"$/,
    set(`${STATUS}/deployment-branch-policies`, policies),
  ],
  [
    /^env production main may not use it$/,
    /-X POST .*\/deployment-branch-policies" -f name=main$/,
    set(`${PRODUCTION}/deployment-branch-policies`, { branch_policies: [] }),
  ],
  [/^branch main does not demand a review/, /rulesets" --input -$/, set(RULES, [])],
  NEXT,
  [/^branch an approval holds for what is pushed after it/, /"dismiss_stale_reviews_on_push":true/, stale],
  [/^bypass 1 may bypass/, /"bypass_actors":\[\]/, set(`${REPO}/rulesets/7`, { bypass_actors: [{ id: 1 }] })],
  [
    /^subjects .*begin with repo:acme@1\/access@2/,
    /^sed -i\.bak 's\|repo:acme.*@2\|' ci\.ts && rm ci\.ts\.bak$/,
    set(SUBJECTS, { sub_claim_prefix: "repo:acme@1/access@2" }),
  ],
  [/^codeowners .*Unknown owner on line 2/, /codeowners\/errors/, set(`${REPO}/codeowners/errors`, errors)],
  [/^identity review .*has no role/, /^pulumi up --refresh$/, { role: "" }],
  NEXT,
  [/^env production nobody has to/, /<id of your team>" -F "prevent_self_review=true"$/, approvedBy([])],
  [/^branch .*may approve it: require approval of/, /"require_last_push_approval":true/, ownApproval],
  [
    /^codeowners .*has no line for \/\.github\//,
    /^printf .*>> \.github\/\w+$/,
    { files: owners("# none\n") },
  ],
  NEXT,
  [/^status .*GitHub Actions: a workflow of every branch/, /_id":4711/, set(RULES, [statusOf(15368)])],
  [/^codeowners .*has no line for/, /^echo >> \.github\/\w+ && printf '%s/, { files: owners("* @acme/all") }],
  [
    /^pins .*o\.yml uses actions\/checkout@v4/,
    /^gh api repos\/actions\/checkout\/commits\/v4 --jq \.sha$/,
    using("actions/checkout@v4"),
  ],
  [
    /^identity preview .*may also CAP_\w+ and \d+ more, by the role editor .*\(RoleBinding [0-9a-f/]+\): it must only read; set PLATFORM_PREVIEW_IDENTITY if/,
    new RegExp(`^gh variable set PLATFORM_PREVIEW_IDENTITY --body ${outputOf("preview")}`),
    { role: "editor" },
  ],
  NEXT,
  [/^status .*any source: a workflow of every/, /_id":4711/, set(RULES, [statusOf(0)])],
  [/^pins .*uses docker:\S*alpine:3,/, /imagetools inspect alpine:3$/, using("docker://alpine:3")],
  NEXT,
  [/^status .*may be older than the last merge/, /"strict_\w+":true/, set(RULES, [statusOf(APP, false)])],
  [
    /^identity deploy .*write nothing.*, or set PLATFORM_DEPLOY_IDENTITY if/,
    /^pulumi up --refresh$/,
    { deployRole: "viewer" },
  ],
  NEXT,
  [
    /^bypass administrators may bypass/,
    /branches\/main\/protection\/enforce_admins"$/,
    classic({ enforce_admins: { enabled: false } }),
  ],
  [
    /^identity deploy .*of no identity below/,
    / set PLATFORM_DEPLOY_/,
    { role: "editor", deployRole: "gone" },
  ],
  NEXT,
  [
    /^identity review .*may also .*: it must only read/,
    new RegExp(`^glab variable update PLATFORM_REVIEW_IDENTITY ${outputOf("review")}`),
    { host: "gitlab", role: "editor" },
  ],
  [/^settings .*ran before the last merge/, / merge_method=rebase_merge$/, project("merge_method", "merge")],
  [/^branch main is not protected/, /^glab api -X POST \S+\/protected_branches/, protectedBy(undefined)],
  [
    /^production .*not protected/,
    /^glab api -X POST/,
    gitlabSet(`${PROJECT}/protected_environments/production`, undefined),
  ],
  NEXT,
  [
    /^variables .*has all environments/,
    /^glab variable set \S+ --masked --scope access-preview/,
    tokensOf("*"),
  ],
  [/^pipeline \.gitlab-ci\.yml is a file of this/, /ci_config_path=/, project("ci_config_path", null)],
  [
    /^approval who pushes to a merge request of another/,
    /^glab api -X POST projects\/:id\/approvals -f merge_requests_disable_committers_approval=true$/,
    approvals("merge_requests_disable_committers_approval", false),
  ],
  [/^branch main can be overwritten$/, /allow_force_push=false$/, protectedBy({ allow_force_push: true })],
  NEXT,
  [
    /^variables .*is also set for all environments/,
    /^glab variable delete PULUMI_ACCESS_TOKEN --scope "\*"$/,
    tokensOf("access-preview", "production", "*"),
  ],
  [/^pipeline own\.yml is a file of this/, /ci_config_path=/, project("ci_config_path", "own.yml")],
  [/^branch every developer may push to main$/, again, protectedBy({ push_access_levels: everyone })],
  NEXT,
  [
    /^variables .* production is not set$/,
    / set PULUMI_\w+ .*--scope production/,
    tokensOf("access-preview"),
  ],
  [/^pins .*node:22/, /imagetools inspect node:22$/, pipeline("image: node:22\n")],
  [/^branch every developer may merge into main$/, keepsNamed, protectedBy(named)],
  [
    /^production who starts a pipeline/,
    /^glab api -X PUT projects\/:id -f allow_pipeline_trigger_approve_deployment=false$/,
    project("allow_pipeline_trigger_approve_deployment", true),
  ],
  NEXT,
  [
    /^variables .* environment production is not masked and not protected$/,
    /^glab variable update PULUMI_ACCESS_TOKEN .*--scope production/,
    tokensOf("access-preview", "production"),
  ],
  [
    /^approval code owners need not approve$/,
    /code_owner_approval_required=true$/,
    protectedBy({ code_owner_approval_required: false }),
  ],
];
const repositories = rows.reduce<Wrong[][]>(
  (all, row) => (row === NEXT ? [...all, []] : [...all.slice(0, -1), [...(all.at(-1) ?? []), row]]),
  [[]],
);

test.each(repositories.map((wrong) => [wrong.map(([said]) => said.source).join(", "), wrong] as const))(
  "it says %s, each with its command",
  async (_, expected) => {
    const setups = expected.map(([, , setup]) => setup);
    const { code, wrong } = await check({
      ...(Object.assign({}, ...setups) as Setup),
      set: Object.assign({}, ...setups.map(({ set }) => set)) as Routes,
      files: Object.assign({}, ...setups.map(({ files }) => files)) as Files,
    });
    expect(code).toBe(1);
    expect(wrong.map(({ errorCode }) => errorCode)).toContain("PP7006");
    for (const [said, command] of expected) {
      const line = wrong.find((one) => said.test(`${one.check} ${one.text}`));
      expect({ said, wrong, line: line?.command }).toEqual({
        said,
        wrong,
        line: expect.stringMatching(command) as unknown,
      });
    }
  },
);

/** Writes what `init` writes; answers its file of code owners, and what is said of it with a text. */
async function ownersOf(host: "github" | "gitlab") {
  folder.repository(`git@${host}.com:acme/access.git`).write(await filesOfInit(host, {}));
  process.chdir(folder.root);
  const found = inspectFolder(".");
  const path = host === "github" ? ".github/CODEOWNERS" : "CODEOWNERS";
  const judge = (text: string) => {
    folder.write({ [path]: text });
    return checkOwners(found, host);
  };
  return { path, written: folder.files()[path] ?? "", judge };
}

const OTHERS = "* @acme/all";
const OF_SECURITY = / to @acme\/security: a team of yours\?$/;

test.each<["github" | "gitlab", string, string]>([
  ["github", OTHERS, "* to @acme/all"],
  ["github", "/.github/ @acme/devs # all of it", "/.github/ to @acme/devs"],
  ["github", "/docs/ @acme/devs @acme/b", "/docs/ to @acme/devs @acme/b"],
  ["github", "Pulumi.yaml", "Pulumi.yaml to nobody"],
  ["gitlab", "!package.json", "!package.json to nobody"],
  ["gitlab", "^[docs] @acme/security\n/docs/", "/docs/ to nobody"],
])("of %s, a line of another owner behind those of init is named: %j", async (host, line, text) => {
  const { path, written, judge } = await ownersOf(host);
  const { state, text: said, command = "" } = judge(`${written}${line}\n`);
  expect(state).toBe("wrong");
  expect(said).toMatch(new RegExp(`^${path.replace(/\./g, "\\.")}:\\d+ gives `));
  expect(said).toContain(` gives ${text}, behind lines`);
  // After the command, the check passes.
  const lines = [...command.matchAll(/'([^']+ @[^']+)'/g)].map(([, one = ""]) => one).join("\n");
  const section = host === "gitlab" ? "[access]\n" : "";
  expect(judge(`${written}${line}\n${section}${lines}\n`)).toMatchObject({
    state: "ok",
    check: "codeowners",
  });
});

test("lines before those of init are nobody's concern", async () => {
  const { written, judge } = await ownersOf("github");
  const text = `${OTHERS}\npackage.json @acme/devs\n${written}`;
  expect(judge(text)).toMatchObject({ state: "ok", text: expect.stringMatching(OF_SECURITY) as unknown });
  const { state, text: said } = judge(text.replaceAll("@acme/", "@OWNER/"));
  expect([state, said]).toEqual(["wrong", expect.stringContaining("@OWNER/security is to be replaced")]);
});

test("a file of code owners that lies outside of .github has an owner too", async () => {
  const { wrong } = await check({ before: { CODEOWNERS: "/.github/ @acme/security\n" } });
  const { text, command = "" } = wrong.find((one) => one.check === "codeowners") ?? {};
  expect(text).toMatch(/^CODEOWNERS has no line for CODEOWNERS, access-policy\.yaml, /);
  expect(command).toContain("'CODEOWNERS @acme/security'");
});

test("a section of GitLab that need not approve owns nothing, and the owners of one hold for its lines", async () => {
  const { written, judge } = await ownersOf("gitlab");
  const text = written.replaceAll(" @acme/security", "");
  expect(judge(`[all]\n${OTHERS}\n[access] @acme/security\n${text}`).text).toMatch(OF_SECURITY);
  expect(judge(`^[access] @acme/security\n${text}`)).toMatchObject({
    state: "wrong",
    text: expect.stringMatching(/ to nobody, behind lines/) as unknown,
  });
});

describe("what cannot be judged has not passed:", () => {
  test.each(["github", "gitlab"] as const)("without a token for %s", async (host) => {
    const { code, checks } = await check({ host, env: { GITHUB_TOKEN: "", GITLAB_TOKEN: "" } });
    // The pipeline that init has just written lies here, and names its image by a tag.
    expect(code).toBe(host === "github" ? 4 : 1);
    expect(api.seen).toEqual([]);
    const skipped = checks.filter(({ state }) => state === "skipped");
    expect(skipped.map((one) => one.check)).toEqual(
      expect.arrayContaining([host, "identity preview", "identity review", "identity deploy"]),
    );
    expect(skipped[0]).toMatchObject({
      text: expect.stringMatching(/^not checked: GIT(HUB|LAB)_TOKEN is not set/) as unknown,
      command: expect.stringMatching(/^export GIT(HUB|LAB)_TOKEN="\$\(/) as unknown,
    });
  });

  test("what the token may not read", async () => {
    const paths = "actions/variables actions/secrets environments/production branches/main/protection";
    const refused = paths.split(" ").map((path) => [`${REPO}/${path}`, 403]);
    const { code, checks, wrong } = await check({ set: { ...Object.fromEntries(refused), [RULES]: [] } });
    expect(wrong).toEqual([]);
    expect(code).toBe(4);
    const skipped = checks.filter(({ state }) => state === "skipped").map((one) => one.check);
    expect(skipped).toEqual(
      expect.arrayContaining(["variables", "secrets", "env production", "branch", "status", "bypass"]),
    );
  });

  test("a secret that the organisation has, or may have", async () => {
    const before = { "Pulumi.prod.yaml": "encryptionsalt: v1:abc\n" };
    const path = `${REPO}/actions/organization-secrets`;
    const said = async (secrets: unknown) =>
      (await check({ before, set: { [path]: secrets } })).checks.filter((one) => one.check === "secrets");
    expect(await said({ secrets: [{ name: "PULUMI_CONFIG_PASSPHRASE" }] })).toMatchObject([{ state: "ok" }]);
    expect(await said(undefined)).toMatchObject([
      {
        state: "wrong",
        text: "PULUMI_CONFIG_PASSPHRASE is not set",
        command: expect.stringMatching(/^gh secret set \w+$/) as unknown,
      },
    ]);
    expect(await said(403)).toMatchObject([
      {
        state: "skipped",
        text: expect.stringContaining("may not read those of its organisation") as unknown,
      },
    ]);
  });

  test("a variable that may be one of the organisation, whose variables the token may not read", async () => {
    const set = { [`${REPO}/actions/organization-variables`]: 403 };
    expect((await check({ set })).checks.find((one) => one.check === "variables")?.state).toBe("ok");
    const { checks, wrong } = await check({
      set: { ...set, [`${REPO}/actions/variables`]: { variables: [] } },
    });
    expect(wrong.filter(({ check: one }) => one === "variables")).toEqual([]);
    expect(checks.find((one) => one.check === "variables")?.text).toContain(
      "may not read those of its organisation",
    );
  });

  const UNSEEN = {
    [`${REPO}/rulesets/7`]: { bypass_actors: undefined },
    [SUBJECTS]: { sub_claim_prefix: undefined },
  };
  test.each<[said: string[], setup: Setup]>([
    [["bypass: the token may not see who", "subjects: this server does not say"], { set: UNSEEN }],
    [["status: whether app 4711 is yours"], set(`${REPO}/actions/variables`, 403)],
    [["github: the token may not see acme/access"], set(REPO, undefined)],
    [["gitlab: the token may not see acme/access"], gitlabSet(PROJECT, undefined)],
    [["github: the remote origin names no rep"], { env: { GITHUB_REPOSITORY: "access" } }],
    [["gitlab: the remote origin names no proj"], { host: "gitlab", env: { CI_PROJECT_ID: "" } }],
    [["settings: this GitLab does not show merge_method"], project("merge_method", undefined)],
    [["approval: this GitLab has no approval of"], protectedBy({ code_owner_approval_required: undefined })],
  ])("%j", async (said, setup) => {
    const { checks, wrong } = await check(setup);
    // Without a project of GitLab the files are there to be read.
    expect(wrong.filter((one) => one.check !== "pins")).toEqual([]);
    const skipped = checks.filter(({ state }) => state === "skipped");
    const lines = skipped.map(({ check: name, text }) => `${name}: ${text.replace("not checked: ", "")}`);
    for (const one of said) expect(lines).toContainEqual(expect.stringContaining(one));
  });

  test("an identity of an organisation that the token may not list", async () => {
    emulator.addFault({ path: "/registry/v2/repos", status: 403, body: { code: 7, message: "no" } });
    const { checks } = await check();
    expect(checks.find((one) => one.check === "identity preview")).toMatchObject({
      state: "skipped",
      text: "not checked: the token may not list the whole organisation",
    });
  });

  test("a token that is refused ends with 3", async () => {
    const refused = Object.keys(github("", "", "")).map((path) => [path, 401]);
    expect((await check({ set: Object.fromEntries(refused) as Routes })).code).toBe(3);
  });
});

test("a folder above the program is no folder to check: the line names that of the program", async () => {
  folder.repository("git@github.com:acme/access.git");
  folder.write({
    "src/Pulumi.json": '{ "name": "access", "runtime": "nodejs" }',
    "node_modules/other/Pulumi.yaml": "name: other\nruntime: nodejs\n",
  });
  process.chdir(folder.root);
  expect(linesOf((await run(["-o", "json"])).stdout)).toMatchObject([
    {
      check: "repository",
      text: "--ci checks the folder of a program: run it in src/, where the program is",
    },
  ]);
});

test("in a folder of the repository, commands name the files from there", async () => {
  await check();
  folder.write({ "access/Pulumi.yaml": "name: access\nruntime: nodejs\n", ".github/CODEOWNERS": "" });
  process.chdir(join(folder.root, "access"));
  const workflow = ".github/workflows/access-preview.yml";
  folder.write({ [workflow]: `${folder.files()[workflow] ?? ""}# ORGANIZATION\n` });
  const { stdout } = await run([]);
  expect(stdout).toContain(`grep -nE 'ORGANIZATION' ../${workflow}\n`);
  expect(stdout).toMatch(/^ {9}printf .* >> \.\.\/\.github\/CODEOWNERS$/m);
});

test("files are judged for the backend that they name, where the state is on this machine", async () => {
  const { checks } = await check({
    before: { "Pulumi.prod.yaml": "encryptionsalt: v1:abc\n" },
    env: { PULUMI_BACKEND_URL: "file:///srv/state" },
  });
  expect(checks.filter(({ check: name }) => name === "workflows").map(({ text }) => text)).toEqual([
    "all four exist",
  ]);
});

test("files that were written before the stack got a passphrase say what they lack", async () => {
  const { checks } = await check({ files: { "Pulumi.prod.yaml": "encryptionsalt: v1:abc\n" } });
  const lines = checks.filter((one) => one.check === "workflows" && one.state === "skipped");
  expect(lines).toHaveLength(3);
  for (const { text } of lines)
    expect(text).toMatch(
      /"PULUMI_CONFIG_PASSPHRASE: .*": read what differs, or delete the file and run init/,
    );
});

test("a state that no job can reach is wrong", async () => {
  const env = { PULUMI_BACKEND_URL: "file:///srv/state" };
  const [first] = (await check({ env })).wrong;
  expect(first).toMatchObject({
    text: "the first stack would be at file:///srv/state, which CI cannot reach: name another backend before you create it, as state-for-ci.md says",
    command: expect.stringMatching(/^export PULUMI_BACKEND_URL=\S+$/) as unknown,
  });
  const { wrong } = await check({ before: { "Pulumi.prod.yaml": "" }, env });
  expect(wrong.map((one) => `${one.check}: ${one.text}`)).toEqual([
    "backend: the stacks of this folder are at file:///srv/state, which CI cannot reach: move them as state-for-ci.md says",
  ]);
});

test.each([
  ["github", ".github/workflows/access-deploy.yml"],
  ["gitlab", "access-ci/gitlab-ci.yml"],
] as const)("files of %s for another backend than that of the shell are one line", async (host, path) => {
  const env = { PULUMI_BACKEND_URL: "s3://acme-state?region=eu-west-1", GITLAB_TOKEN: "" };
  const { checks } = await check({ host, env });
  const skipped = checks.filter((one) => one.state === "skipped" && !/^(identity|gitlab)/.test(one.check));
  expect(skipped).toEqual([
    {
      check: "backend",
      state: "skipped",
      text: `not checked: ${path} names https://api.pulumi.com, and this shell s3://acme-state?…: the files are judged for the first`,
      command: "export PULUMI_BACKEND_URL='https://api.pulumi.com'",
    },
  ]);
});

const manifest = (path: string) => ({
  "package.json": JSON.stringify({ dependencies: { "pulumi-platform": path } }),
});
const npmLock = (resolved: string) => ({
  "package-lock.json": JSON.stringify(
    { packages: { "node_modules/pulumi-platform": { resolved } } },
    undefined,
    2,
  ),
});

const ignored = { ...manifest("file:vendor/a.tgz"), ".gitignore": "*.tgz\n" };
test.each<[string, Readonly<Record<string, string>>, string]>([
  ["a file", manifest("file:../out/a.tgz"), "cp */out/a.tgz . && npm install ./a.tgz"],
  ["a folder", manifest("link:../out"), 'npm install "./$(npm pack --silent */out | tail -n 1)"'],
  ["a file that git ignores", ignored, "git add --force vendor/a.tgz"],
])("%s that CI does not have is wrong, once, with the command that mends it", async (_, files, command) => {
  const { wrong } = await check({ files });
  const found = wrong.map(({ check: name, command: mends }) => [name, mends?.replace(/\/\S+(?=\/out)/, "*")]);
  expect(found).toEqual([["dependencies", command]]);
});

test("a repository without a lockfile and without workflows gets the commands that make them", async () => {
  await check();
  for (const path of ["package-lock.json", ".github/workflows"]) rmSync(path, { recursive: true });
  const lines = linesOf((await run(["-o", "json"])).stdout);
  const [all, lockfile, pins] = ["workflows", "lockfile", "pins"].map((name) =>
    lines.find((one) => one.check === name),
  );
  expect(all).toMatchObject({
    text: ".github/workflows has no access-preview.yml, access-review.yml, access-deploy.yml, access-drift.yml",
    command: "npx --no pulumi-platform init",
  });
  expect(lockfile).toMatchObject({ state: "wrong", command: "npm install" });
  expect(pins).toMatchObject({ state: "skipped" });
});

const pnpm = { "pnpm-lock.yaml": "pulumi-platform: 0.1.0", "package-lock.json": "" };
test.each<[string, Files, [string, string][]]>([
  [
    "a lockfile without the package",
    { "package-lock.json": "{}" },
    [["lockfile", "npm install pulumi-platform"]],
  ],
  ["no pin of pnpm", pnpm, [["package manager", "corepack use pnpm@latest"]]],
  [
    "a pin of pnpm without its hash",
    { ...pnpm, "package.json": '{ "packageManager": "pnpm@10.1.0" }' },
    [["package manager", "corepack use pnpm@latest"]],
  ],
  ["one with it", { ...pnpm, "package.json": '{ "packageManager": "pnpm@10.1.0+sha512.9f" }' }, []],
])("%s", async (_, files, expected) => {
  const { wrong } = await check({ files });
  const names = ["lockfile", "package manager"];
  expect(wrong.filter((one) => names.includes(one.check)).map((one) => [one.check, one.command])).toEqual(
    expected,
  );
});

test("what lies in the repository is no such dependency", async () => {
  const lock = npmLock("file:vendor/a.tgz");
  const files = { ...manifest("file:vendor/a.tgz"), ...lock, "vendor/a.tgz": "" };
  expect((await check({ files })).wrong).toEqual([]);
});

test.each(["ci.ts", "access-ci/gitlab-ci.yml"])("a placeholder that is left in %s is wrong", async (path) => {
  const files = { [path]: 'issuer: "https://issuer.platform.example" OWNER/REPOSITORY\n' };
  const { wrong } = await check({ host: "gitlab", files, env: { GITLAB_TOKEN: "" } });
  expect(wrong.map(({ text }) => text)).toContain(
    `OWNER/REPOSITORY, https://issuer.platform.example are to be replaced in ${path}`,
  );
});

test("a host that cannot be reached is asked once, at the address of the remote, and is one line", async () => {
  await check();
  folder.git("remote", "set-url", "origin", "git@github.invalid:acme/access.git");
  const start = performance.now();
  const { code, stdout } = await run(["-o", "json"], { GITHUB_TOKEN: "ghp_canary" });
  expect(code).toBe(4);
  const skipped = linesOf(stdout).filter(({ state }) => state === "skipped");
  expect(skipped.map((one) => one.check)).toEqual([
    "github",
    "identity preview",
    "identity review",
    "identity deploy",
  ]);
  expect(skipped[0]?.text).toContain("GET https://github.invalid/api/v3/repos/acme/access: ");
  expect(performance.now() - start).toBeLessThan(20_000);
});

test("a folder without a host gets one line", async () => {
  process.chdir(folder.root);
  const { code, stdout } = await run([]);
  expect(code).toBe(2);
  expect(stdout).toMatch(/^wrong +repository +--ci needs a repository/m);
});
