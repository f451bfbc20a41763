import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { readPipeline } from "../../../support/gitlabPipeline";
import type { Job, Step, Workflow } from "../../../support/githubActions";
import { InitFolder } from "../../../support/initFolder";

const GITHUB = "git@github.com:acme/mono.git";
const GITLAB = "git@gitlab.com:acme/mono.git";
/** One run compares the stacks of all projects: the workflow of the first one does. */
const KINDS = ["deploy", "preview", "review"] as const;

let folder: InitFolder;
beforeEach(() => {
  folder = new InitFolder();
});

const workflowFile = (kind: string, suffix: string): string =>
  `.github/workflows/access-${kind}${suffix}.yml`;
const textOf = (kind: string, suffix: string): string => folder.files()[workflowFile(kind, suffix)] ?? "";
type Further = Workflow & { name: string; concurrency: { group: string } };
const workflowOf = (kind: string, suffix: string) => parse(textOf(kind, suffix)) as Further;
const workflowsIn = (): string[] =>
  Object.keys(folder.files()).filter((path) => path.startsWith(".github/workflows/"));
const stepsOf = ({ jobs }: Workflow): Step[] => Object.values(jobs).flatMap(({ steps }: Job) => [...steps]);

/** What a repository has once: names of workflows, groups, statuses, and of what jobs hand on. */
function sharedNames(suffix: string): string[] {
  return KINDS.flatMap((kind) => {
    const workflow = workflowOf(kind, suffix);
    const steps = stepsOf(workflow);
    const artifacts = steps
      .filter(({ uses = "" }) => uses.includes("artifact@"))
      .map((step) => String(step.with?.["name"]));
    const statuses = [...textOf(kind, suffix).matchAll(/context=(\S+)/g)].map(([, name = ""]) => name);
    // All deployments are one group.
    const groups = kind === "deploy" ? [] : [workflow.concurrency.group];
    return [workflow.name, ...groups, ...artifacts, ...statuses];
  });
}

describe("in GitHub, the second project of a repository", () => {
  beforeEach(async () => {
    folder.repository(GITHUB).write({
      "package-lock.json": "{}",
      "package.json": "{}",
      "teams/package.json":
        '{ "dependencies": { "a": "file:../vendor/a", "b": "file:../b.tgz", "c": "file:./own", "d": "file:../../out" } }',
    });
    await folder.succeed("infra");
  });

  test("has workflows beside those of the first, and no name in common", async () => {
    const before = folder.files();
    const printed = await folder.succeed("teams");
    expect(folder.files()).toMatchObject(before);
    expect(workflowsIn()).toEqual(
      [
        workflowFile("drift", ""),
        ...KINDS.flatMap((kind) => [workflowFile(kind, "-teams"), workflowFile(kind, "")]),
      ].sort(),
    );
    const samplesOf = (path: string) => folder.files()[path]?.match(/"first-[^"]*"/g);
    expect([samplesOf("infra/index.ts"), samplesOf("teams/index.js")]).toEqual([
      ['"first-team"', '"first-deployer"'],
      ['"first-team-teams"', '"first-deployer-teams"'],
    ]);
    const [first, second] = [sharedNames(""), sharedNames("-teams")];
    expect(new Set(second).size).toBe(new Set(first).size);
    expect(new Set(first).size).toBeGreaterThan(6);
    expect(second.filter((name) => first.includes(name))).toEqual([]);
    expect(workflowOf("deploy", "-teams").concurrency).toEqual(workflowOf("deploy", "").concurrency);
    expect(workflowOf("review", "-teams").on).toMatchObject({
      workflow_run: { workflows: ["access-preview-teams"] },
    });
    for (const kind of KINDS) {
      const text = textOf(kind, "-teams");
      expect(text).toContain("STACK: ORGANIZATION/teams/prod\n");
      expect(text).not.toMatch(/infra|scope: team:access-\w+-teams/);
      expect(text.match(/team:access-(preview|deploy)$/gm)).toEqual(
        textOf(kind, "").match(/team:access-(preview|deploy)$/gm),
      );
    }
    expect(printed).toContain("require the status access-review-teams too\n");
    expect(printed).toContain("in access-drift.yml: one run compares");
    expect(printed).toContain("\n  OTHER_STACKS: ORGANIZATION/teams/prod\n");
    // They are set already, and this project has no output to set them by.
    expect(printed).toContain(
      "its jobs use the variables, the environments and the app of the first project:\n",
    );
    expect(printed).not.toContain("gh variable set");
    expect(printed).toContain(
      "it is reviewed where these change: teams/, b.tgz, package-lock.json, package.json, vendor/a/\n",
    );
  });

  test("is reviewed and deployed for changes of what it reads", async () => {
    await folder.succeed("teams");
    const paths = ["teams/", "b.tgz", "package-lock.json", "package.json", "vendor/a/"];
    expect(workflowOf("deploy", "-teams").on).toEqual({
      push: { branches: ["main"], paths: paths.map((path) => path.replace(/\/$/, "/**")) },
    });
    const { jobs } = workflowOf("review", "-teams");
    expect(Object.keys(jobs)).toEqual(["changes", "start", "review", "post", "gate"]);
    for (const { jobs } of [workflowOf("preview", "-teams"), workflowOf("review", "-teams")]) {
      const env = {
        BASE: "${{ github.event.pull_request.base.sha || github.sha }}",
        PATHS: `${paths.join("\n")}\n`,
      };
      expect(jobs["changes"]?.steps[0]?.env).toMatchObject(env);
      for (const [name, job] of Object.entries(jobs).filter(([one]) => one !== "changes")) {
        expect([job.needs].flat()).toContain("changes");
        const isAlways = name === "post" || name === "gate";
        expect(job.if).toMatch(isAlways ? /^always\(\) && .* != 'false'$/s : / == 'true'$/);
      }
    }
    expect(Object.keys(workflowOf("preview", "-teams").on)).toEqual(["pull_request"]);
    expect(workflowOf("preview", "-teams").jobs["changes"]?.permissions).toEqual({ contents: "read" });
  });

  test("keeps its names in a second run, and the first project its own", async () => {
    await folder.succeed("teams");
    const before = folder.files();
    for (const dir of ["teams", "infra"]) {
      const printed = await folder.succeed(dir);
      expect(printed).toContain("nothing to write: all files exist");
    }
    expect(folder.files()).toEqual(before);
    rmSync(join(folder.root, workflowFile("review", "-teams")));
    await folder.succeed("teams");
    expect(folder.files()).toEqual(before);
  });

  test("of a name that is taken has the names of its folder, and then none", async () => {
    await folder.succeed("services/access", "--project", "teams");
    await folder.succeed("other/access", "--project", "teams");
    expect(workflowsIn()).toContain(workflowFile("review", "-other-access"));
    const write = { "other-access/Pulumi.yaml": "name: teams\nruntime: nodejs\n" };
    const { code, stderr } = await folder.write(write).init("other-access");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /access-deploy-teams\.yml and \S*access-deploy-other-access\.yml belong to other projects/,
    );
  });
});

test("a second project at the root is reviewed for every change", async () => {
  folder.repository(GITHUB);
  await folder.succeed("infra");
  const printed = await folder.succeed(".", "--project", "mono");
  expect(workflowsIn()).toContain(workflowFile("review", "-mono"));
  expect(Object.keys(workflowOf("review", "-mono").jobs)).not.toContain("changes");
  expect(workflowOf("deploy", "-mono").on).toEqual({ push: { branches: ["main"] } });
  expect(printed).not.toContain("it is reviewed where");
});

describe("the comparison of a commit", () => {
  const file = (filename: string, previous_filename?: string) => ({ filename, previous_filename });

  // All cases run the step of one repository.
  let step: Step | undefined;
  beforeAll(async () => {
    folder = new InitFolder().repository(GITHUB).write({ "package-lock.json": "{}" });
    await folder.succeed("infra");
    await folder.succeed("teams");
    [step] = workflowOf("review", "-teams").jobs["changes"]?.steps ?? [];
  });

  /** Runs the step with a response of GitHub; returns what it writes to its outputs. */
  function compare(
    ours: unknown,
    theirs: unknown = { files: [] },
    files: unknown = { tree: [{ path: "teams/index.ts" }] },
  ): { code: number | null; output: string } {
    const at = (name: string) => join(folder.root, name);
    const gh =
      '#!/bin/sh\necho "$@" >&2\ncase "$2" in */trees/*) cat "$RUNNER_TEMP/c" ;; *abc) cat "$RUNNER_TEMP/a" ;; *) cat "$RUNNER_TEMP/b" ;; esac\n';
    const responses = { a: JSON.stringify(ours), b: JSON.stringify(theirs), c: JSON.stringify(files) };
    folder.write({ ...responses, output: "", "bin/gh": gh });
    chmodSync(at("bin/gh"), 0o755);
    const env = {
      ...(step?.env as Record<string, string>),
      ...{ PATH: [at("bin"), process.env["PATH"]].join(delimiter), RUNNER_TEMP: folder.root },
      ...{ GITHUB_OUTPUT: at("output"), GITHUB_REPOSITORY: "acme/mono", BASE: "main", COMMIT: "abc" },
    };
    const argv = ["-eo", "pipefail", "-c", step?.run ?? "exit 99"];
    const { status, stderr } = spawnSync("bash", argv, { env, encoding: "utf8" });
    expect(stderr).toContain(
      "api repos/acme/mono/compare/main...abc\napi repos/acme/mono/compare/abc...main\napi repos/acme/mono/git/trees/abc?recursive=1\n",
    );
    return { code: status, output: readFileSync(at("output"), "utf8") };
  }

  test.each([
    ["a file of the folder", [file("teams/deep/index.ts")], true],
    ["a lockfile above", [file("package-lock.json")], true],
    ["a file that leaves the folder", [file("elsewhere/a.ts", "teams/a.ts")], true],
    ["a file that enters the folder", [file("teams/a.ts", "elsewhere/a.ts")], true],
    ["more files than GitHub lists", Array.from({ length: 300 }, (_, index) => file(`docs/${index}`)), true],
    ["nothing", [], false],
    ["a folder with a longer name", [file("teams-old/index.ts"), file("infra/teams/index.ts")], false],
    ["a file of the lockfile's name elsewhere", [file("infra/package-lock.json")], false],
  ])("finds %s", (_, files, isChanged) => {
    expect(compare({ files })).toEqual({ code: 0, output: `changed=${isChanged}\n` });
  });

  test("finds what only the default branch has changed, which a merge can bring back", () => {
    const files = [file("teams/deep/index.ts")];
    expect(compare({ files: [] }, { files })).toEqual({ code: 0, output: "changed=true\n" });
    expect(compare({ files: [] })).toEqual({ code: 0, output: "changed=false\n" });
  });

  test("fails without files, so that nothing passes unreviewed", () => {
    expect(compare({ message: "no" }).code).toBe(1);
    expect(compare({ files: [] }, { message: "no" })).toEqual({ code: 1, output: "" });
    // Paths that name no file would pass every commit. GitHub shortens the list of a very large repository.
    const others = [{ path: "teams-old/index.ts" }, { path: "package-lock.json", type: "tree" }];
    expect(compare({ files: [] }, undefined, { tree: others })).toEqual({ code: 1, output: "" });
    expect(compare({ files: [] }, undefined, { tree: others, truncated: true }).code).toBe(0);
    // A folder without a slash behind it would be one of these, beside what is read.
    const beside = [{ path: "teams/index.ts" }, { path: "package-lock.json", type: "tree" }];
    expect(compare({ files: [] }, undefined, { tree: beside })).toEqual({ code: 1, output: "" });
    expect(compare({ files: [file("teams/a.ts")] }, undefined, { tree: others }).code).toBe(0);
  });
});

describe("in GitLab, the second project of a repository", () => {
  const second = "access-ci/gitlab-ci-teams.yml";

  test("has jobs of its own, for changes of what it reads, in the environments of the first", async () => {
    folder.repository(GITLAB).write({ "package-lock.json": "{}" });
    await folder.succeed("infra");
    const printed = await folder.succeed("teams");
    expect(printed).toContain("  include: [{ local: gitlab-ci-teams.yml }]\n");
    // GitLab has no app.
    expect(printed).toContain("its jobs use the variables and the environments of the first project:\n");
    const main = join(folder.root, "access-ci", "gitlab-ci.yml");
    const before = readPipeline(main).jobs;
    writeFileSync(main, `${readFileSync(main, "utf8")}\ninclude: [{ local: gitlab-ci-teams.yml }]\n`);
    const { jobs } = readPipeline(main);
    const names = Object.keys(before);
    expect(names).toContain("access-drift");
    const own = names.filter((name) => name !== "access-drift");
    expect(Object.keys(jobs).sort()).toEqual([...names, ...own.map((name) => `${name}-teams`)].sort());
    expect(printed).toContain(
      '\n  ACCESS_OTHER_STACKS: { value: "ORGANIZATION/teams/prod", expand: false }\n',
    );
    for (const [name, job] of Object.entries(before)) {
      if (!own.includes(name)) continue;
      const further = jobs[`${name}-teams`];
      expect(further).toMatchObject({ stage: job.stage, variables: { ACCESS_FOLDER: "teams" } });
      expect(further?.environment).toEqual(job.environment);
      for (const rule of further?.rules ?? []) {
        const isSchedule = rule.if?.includes('"schedule"') === true;
        expect(rule.changes).toEqual(isSchedule ? undefined : ["teams/**/*", "package-lock.json"]);
      }
      const needs = further?.needs?.map((need) => (typeof need === "string" ? need : need.job)) ?? [];
      for (const need of needs) expect(need).toMatch(/-teams$/);
    }
    expect(folder.files()[second]).toContain("resource_group: access-deploy\n");
    expect(folder.files()[second]).not.toMatch(/infra|^stages|^workflow/m);
  });
});
