import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { commands } from "../../../provider/cli/commands/list";
import { formatHelp } from "../../../provider/cli/framework/defineCommand";
import { ROOT } from "../../support/engine";
import type { Job, Step } from "../../support/githubActions";
import { readWorkflow } from "../../support/githubActions";
import { readPipeline } from "../../support/gitlabPipeline";

const folder = join(ROOT, "examples", "ci");
const files = readdirSync(folder).filter((name) => name.endsWith(".yml"));
const workflows = files.filter((name) => name.startsWith("access-"));
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");

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
    [...text.replaceAll("\\\n", " ").matchAll(/npx --no -- pulumi-platform (\S+)([^\n|;&]*)/g)].map(
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

const jobs: Place[] = workflows.flatMap((file) =>
  Object.entries(readWorkflow(join(folder, file)).jobs).map(([name, job]) => ({ file, name, job })),
);
const stepsOf = ({ job }: Place): readonly Step[] => job.steps;
const isWriting = ({ job }: Place): boolean =>
  Object.entries(job.permissions ?? {}).some(([what, how]) => how === "write" && what !== "id-token");

test("there are examples for both hosts", () => {
  expect(files.sort()).toEqual([
    "access-deploy.yml",
    "access-drift.yml",
    "access-preview.yml",
    "access-review.yml",
    "gitlab-ci.yml",
  ]);
});

test.each(files)("%s is YAML, and the commands in it exist and know its flags", (name) => {
  const calls = callsIn(parse(textOf(name), { strict: true }));
  const parts =
    texts(parse(textOf(name)))
      .join("\n")
      .split("npx ").length - 1;
  expect(calls).toHaveLength(parts);
  for (const { command, flags } of calls) {
    const help = helpOf(command);
    for (const flag of flags) expect(help).toMatch(new RegExp(`(^|[\\s,])${flag}(?=[\\s,]|$)`, "m"));
  }
});

test("every action is pinned by its commit, and one action has one commit", () => {
  const pins = new Map<string, string>();
  for (const line of workflows.flatMap((name) => textOf(name).match(/^.*\buses:.*$/gm) ?? [])) {
    const [, action = "", pin = ""] =
      /uses: ([\w-]+\/[\w-]+)@([0-9a-f]{40} # v\d+(?:\.\d+\.\d+)?)$/.exec(line) ?? [];
    expect({ line, action }).not.toEqual({ line, action: "" });
    expect(pins.get(action) ?? pin).toBe(pin);
    pins.set(action, pin);
  }
});

test("no workflow has a permission or a secret that is not named for one job", () => {
  for (const name of workflows) {
    expect(readWorkflow(join(folder, name)).permissions).toEqual({});
    expect(textOf(name)).not.toMatch(/pull_request_target|secrets\.|npx --yes/);
  }
  for (const { file, name, job } of jobs) expect({ file, name, ...job }).toHaveProperty("permissions");
});

test("the job that runs a pull request's code may read only, and never runs for a fork", () => {
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
      if (run.includes("npm ")) expect(run).toBe("npm ci --ignore-scripts");
      if (uses?.startsWith("actions/checkout@")) expect(inputs).toEqual({ "persist-credentials": false });
    }
  }
});

test("the jobs that report and decide always run", () => {
  const review = readWorkflow(join(folder, "access-review.yml")).jobs;
  for (const name of ["post", "gate"]) {
    expect(review[name]?.if).toMatch(/^always\(\) && /);
    expect(review[name]?.needs).toBe("review");
  }
  const { jobs: pipeline } = readPipeline(join(folder, "gitlab-ci.yml"));
  for (const name of ["access-review", "access-post", "access-gate"])
    expect(pipeline[name]?.rules?.map(({ when }) => when)).toEqual(["always"]);
});

test("the deployment applies the plan that was reviewed, and compares the result with the report", () => {
  const { plan, deploy } = readWorkflow(join(folder, "access-deploy.yml")).jobs;
  const scripts = (job: Job | undefined): string => job?.steps.map(({ run = "" }) => run).join("\n") ?? "";
  expect(scripts(plan)).toContain("--save-plan plan.json");
  expect(deploy?.environment).toBe("production");
  expect(scripts(deploy)).toMatch(/pulumi up .*--plan .*[\s\S]*pulumi-platform verify .*review\.json/);
});

test("no job of GitLab that runs foreign code has the environment of another", () => {
  const { jobs: pipeline } = readPipeline(join(folder, "gitlab-ci.yml"));
  const isTrusted = ({ variables }: (typeof pipeline)[string]): boolean =>
    variables?.["GIT_STRATEGY"] === "none";
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

test("no script takes an expression of the event into a shell", () => {
  for (const place of jobs) {
    for (const { run = "" } of stepsOf(place)) expect(run).not.toContain("${{");
  }
});

test("the documents name every file", () => {
  const page = readFileSync(join(ROOT, "docs", "ci.md"), "utf8");
  for (const name of files) expect(page).toContain(`(../examples/ci/${name})`);
  for (const [, path = ""] of page.matchAll(/\]\((\.\.\/[^)#]+)\)/g))
    expect({ path, exists: existsSync(join(ROOT, "docs", path)) }).toEqual({ path, exists: true });
});
