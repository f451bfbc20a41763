import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { commands } from "../../../provider/cli/commands/list";
import { formatHelp } from "../../../provider/cli/framework/defineCommand";
import { ROOT } from "../../support/engine";
import type { Job, Step } from "../../support/githubActions";
import { ownActions, readAction, readWorkflow } from "../../support/githubActions";
import { readPipeline } from "../../support/gitlabPipeline";
import { writeInitWorkflows } from "../../support/initWorkflows";
import { temporaryFolder, writeFiles } from "../../support/folders";

const examples = join(ROOT, "examples", "ci");
const files = readdirSync(examples).filter((name) => name.endsWith(".yml"));
const workflows = files.filter((name) => name.startsWith("access-"));
const written = writeInitWorkflows(temporaryFolder());

/** What installs the package: initInstallation.test.ts runs it. */
const installation = readWorkflow(join(written, "access-preview.yml"))
  .jobs["preview"]?.steps.flatMap(({ run = "" }) => run)
  .find((run) => run.includes("npm ci"));

/** Node itself finds the command, since npx finds commands of all packages before those of the machine. */
const FIND_COMMAND = `cli=$(node -p 'path.join(require("module").createRequire(path.resolve("node_modules/_")).resolve("pulumi-platform"), "../cli/main.js")')`;

test("the command is the installed one, also where the program's own package has that name", () => {
  const root = realpathSync(temporaryFolder());
  writeFiles(root, {
    "infra/package.json": '{ "name": "pulumi-platform", "exports": "./own/index.js" }',
    "infra/own/index.js": "",
    "node_modules/pulumi-platform/package.json": '{ "main": "dist/provider/index.js" }',
    "node_modules/pulumi-platform/dist/provider/index.js": "",
  });
  const script = `${FIND_COMMAND}; echo "$cli"`;
  const found = execFileSync("sh", ["-ec", script], { cwd: join(root, "infra"), encoding: "utf8" });
  expect(found).toBe(`${root}/node_modules/pulumi-platform/dist/provider/cli/main.js\n`);
});

/** The two checkouts: the commit of the workflow, and the files of a change that are read as data. */
const OF_WORKFLOW = { "persist-credentials": false };
const OF_CHANGE = {
  ...OF_WORKFLOW,
  path: "access-change",
  "sparse-checkout": "Pulumi*",
  "sparse-checkout-cone-mode": false,
};

/** Every string in a document: scripts are among them. */
function texts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(texts);
}

interface Call {
  readonly command: string;
  readonly flags: readonly string[];
}

/** The commands of ours that a document's scripts run. */
function callsIn(value: unknown): Call[] {
  return texts(value).flatMap((text) =>
    [...text.replaceAll("\\\n", " ").matchAll(/node "\$cli" (\S+)([^\n|;&]*)/g)].map(
      ([, command = "", rest = ""]) => ({
        command,
        flags: [...rest.matchAll(/(?<=\s)(--?[a-z][\w-]*)/g)].map(([, flag = ""]) => flag),
      }),
    ),
  );
}

function helpOf(name: string): string {
  const entry = commands.find((command) => command.name === name);
  if (entry === undefined) throw new Error(`there is no command ${name}`);
  return formatHelp(entry.load().description);
}

interface Place {
  readonly file: string;
  readonly name: string;
  readonly job: Job;
}

const jobsIn = (folder: string): Place[] =>
  workflows.flatMap((file) =>
    Object.entries(readWorkflow(join(folder, file)).jobs).map(([name, job]) => ({ file, name, job })),
  );
/** With the steps of this repository's actions in place of those. */
const stepsOf = ({ job }: Place): readonly Step[] =>
  job.steps.flatMap((step) => {
    const folder = ownActions[step.uses?.split("@")[0] ?? ""];
    return folder === undefined ? [step] : readAction(folder).runs.steps;
  });
const isWriting = ({ job }: Place): boolean =>
  Object.entries(job.permissions ?? {}).some(([what, how]) => how === "write" && what !== "id-token");

const actions = Object.values(ownActions).map((path) => join(path, "action.yml"));
const components = ["deploy", "drift", "review"].map((name) => join(ROOT, "templates", name, "template.yml"));
const parts = [...files.map((name) => join(examples, name)), ...actions, ...components];

const writtenFiles = files.map((name) => [`what init writes as ${name}`, join(written, name)]);

test.each([...parts.map((file) => [relative(ROOT, file), file]), ...writtenFiles])(
  "%s runs only commands and flags that exist",
  (_, file) => {
    const documents = parseAllDocuments(readFileSync(file, "utf8"), { strict: true });
    const content: unknown[] = documents.map((document) => document.toJS() as unknown);
    const calls = callsIn(content);
    expect(calls).toHaveLength(
      texts(content)
        .join("\n")
        .split(/node "\$/).length - 1,
    );
    for (const { command, flags } of calls) {
      const help = helpOf(command);
      for (const flag of flags) expect(help).toMatch(new RegExp(`(^|[\\s,])${flag}(?=[\\s,]|$)`, "m"));
    }
  },
);

test("every action is pinned by its commit, one action has one commit, and those of this package its version", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const pins = new Map<string, string>();
  const ours = readdirSync(join(ROOT, ".github", "workflows"));
  const lines = [...parts, ...ours.map((name) => join(ROOT, ".github", "workflows", name))].flatMap(
    (file) => readFileSync(file, "utf8").match(/^.*\b(?:uses|component): .*$/gm) ?? [],
  );
  for (const line of lines) {
    const [, own] = /[:/] ?[\w-]+\/pulumi-platform\/[\w/-]+@v(.*)$/.exec(line) ?? [];
    const [, action = "", pin = ""] =
      /uses: ([\w/-]+)@([0-9a-f]{40} # v\d+(?:\.\d+\.\d+)?)$/.exec(line) ?? [];
    if (own === undefined) expect({ line, action }).not.toEqual({ line, action: "" });
    else expect({ line, own }).toEqual({ line, own: version });
    expect(pins.get(action) ?? pin).toBe(pin);
    pins.set(action, pin);
  }
});

test("the pipeline that init writes has the jobs of the example", () => {
  const example = readPipeline(join(examples, "gitlab-ci.yml"));
  expect(readPipeline(join(written, "gitlab-ci.yml"))).toEqual(example);
  expect(Object.keys(example.jobs)).toContain("access-verify");
});

describe.each([
  ["the examples", examples],
  ["what init writes", written],
])("%s:", (_, folder) => {
  const jobs = jobsIn(folder);

  test("no workflow has a permission or a secret that is not named for one job", () => {
    for (const name of workflows) {
      expect(readWorkflow(join(folder, name)).permissions).toEqual({});
      expect(readFileSync(join(folder, name), "utf8")).not.toMatch(/pull_request_target|npx --yes/);
    }
    for (const { file, name, job } of jobs) expect({ file, name, ...job }).toHaveProperty("permissions");
  });

  test("only jobs of the environment access-status set a status, and only they name the secret of the app", () => {
    for (const place of jobs) {
      const setsStatus = stepsOf(place).filter(({ run = "" }) => run.includes("/statuses/"));
      const withSecret = stepsOf(place).filter((step) => JSON.stringify(step).includes("secrets."));
      expect(place.job.permissions).not.toHaveProperty("statuses");
      const isOfApp = place.job.environment === "access-status";
      expect({ ...place, count: setsStatus.length }).toMatchObject({ count: isOfApp ? 1 : 0 });
      expect(withSecret.map(({ id, uses = "" }) => [id, uses.split("@")[0]])).toEqual(
        isOfApp ? [["app", "actions/create-github-app-token"]] : [],
      );
      for (const { env } of setsStatus) expect(env?.["GITHUB_TOKEN"]).toBe("${{ steps.app.outputs.token }}");
    }
    const named = jobs.filter(({ job }) => job.environment === "access-status").map(({ name }) => name);
    expect(named).toEqual(["announce", "start", "gate"]);
  });

  test("the job that runs a pull request's code has read permission only, and never runs for a fork", () => {
    const workflow = readWorkflow(join(folder, "access-preview.yml"));
    expect(Object.keys(workflow.on)).toEqual(["pull_request"]);
    expect(Object.keys(workflow.jobs)).toEqual(["preview"]);
    expect(workflow.jobs["preview"]).toMatchObject({
      if: "github.event.pull_request.head.repo.full_name == github.repository",
      permissions: { contents: "read", "id-token": "write" },
    });
    for (const name of workflows.filter((one) => one !== "access-preview.yml"))
      expect(Object.keys(readWorkflow(join(folder, name)).on)).not.toContain("pull_request");
  });

  test("no job with the right to write runs a program, a script of a package or an identity of the organisation", () => {
    for (const place of jobs.filter(isWriting)) {
      const scripts = stepsOf(place).map(({ run = "" }) => run);
      expect(scripts.join("\n")).not.toMatch(/\bpulumi (preview|up)\b/);
      expect(place.job.permissions).not.toHaveProperty("id-token");
      expect(JSON.stringify(place.job)).not.toContain("PLATFORM_");
    }
    for (const place of jobs) {
      for (const { run = "", uses, with: inputs } of stepsOf(place)) {
        if (run.includes("npm ")) expect(run).toBe(installation);
        if (run.includes("$cli")) expect(run.split("\n")[0]).toBe(FIND_COMMAND);
        if (uses?.startsWith("actions/checkout@"))
          expect([OF_WORKFLOW, OF_CHANGE]).toContainEqual({ ...inputs, ref: undefined });
      }
    }
  });

  test("no GitLab job that runs untrusted code shares the environment of another job", () => {
    const { jobs: pipeline } = readPipeline(join(folder, "gitlab-ci.yml"));
    const isTrusted = ({ variables }: (typeof pipeline)[string]): boolean =>
      variables?.["GIT_CHECKOUT"] === "false" || variables?.["GIT_STRATEGY"] === "none";
    const ofMergeRequests = Object.entries(pipeline).filter(([, { rules }]) =>
      rules?.some((rule) => rule.if?.includes("merge_request_event")),
    );
    expect(ofMergeRequests.filter(([, job]) => !isTrusted(job)).map(([name]) => name)).toEqual([
      "access-preview",
    ]);
    const posting = ofMergeRequests.filter(([, { environment }]) => environment?.name === "access-post");
    expect(posting.map(([name, job]) => [name, isTrusted(job)])).toEqual([
      ["access-start", true],
      ["access-post", true],
    ]);
  });

  test("the program acts as the deploy identity of GitLab in the job that waits for approval alone", () => {
    const { jobs: pipeline } = readPipeline(join(folder, "gitlab-ci.yml"));
    const names = Object.keys(pipeline).filter((name) => pipeline[name]?.environment?.name === "production");
    expect(names).toEqual(["access-deploy"]);
    const identities = readFileSync(join(examples, "identities-gitlab.ts"), "utf8");
    const deploy = /name: "ci-deploy",\n *(claimMatch: .*)/.exec(identities)?.[1];
    expect(deploy).toContain('claims: { environment: "production" }');
  });

  test("no GitLab job takes artifacts, and so variables, from one that runs a program", () => {
    const { jobs: pipeline } = readPipeline(join(folder, "gitlab-ci.yml"));
    const runsProgram = (name: string): boolean =>
      (pipeline[name]?.script ?? []).join("\n").match(/\bpulumi (preview|up)\b/) !== null;
    const running = Object.keys(pipeline).filter(runsProgram);
    expect(running).toEqual(["access-preview", "access-plan", "access-deploy"]);
    for (const [name, { needs, variables = {}, artifacts }] of Object.entries(pipeline)) {
      expect({ name, strategy: variables["GIT_STRATEGY"] }).toEqual({
        name,
        strategy: name === "access-gate" ? "none" : "clone",
      });
      const taken = (needs ?? []).map((need) => (typeof need === "string" ? { job: need } : need));
      expect({ name, needs: taken.filter(({ job }) => runsProgram(job)) }).toEqual({
        name,
        needs: taken.filter(({ job }) => runsProgram(job)).map(({ job }) => ({ job, artifacts: false })),
      });
      if (needs === undefined) expect(pipeline[name]?.stage).toMatch(/^(start|preview|review)$/);
      // A folder that a runner keeps is never a place of reports.
      if (variables["GIT_CHECKOUT"] !== "false") continue;
      for (const path of [...(artifacts?.paths ?? []), ...Object.values(artifacts?.reports ?? {})])
        expect(path).toMatch(/^access-report-\$CI_JOB_ID\//);
    }
  });

  test("no script takes an expression of the event into a shell", () => {
    for (const place of jobs) {
      for (const { run = "" } of stepsOf(place)) expect(run).not.toContain("${{");
    }
  });
});

test("the documents name every file", () => {
  const page = readFileSync(join(ROOT, "docs", "ci.md"), "utf8");
  for (const name of files) expect(page).toContain(`(../examples/ci/${name})`);
});
