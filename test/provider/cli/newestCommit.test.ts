import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/engine";
import { temporaryFolder } from "../../support/folders";
import { readAction, readWorkflow } from "../../support/githubActions";
import type { Step } from "../../support/githubActions";
import { readComponent } from "../../support/gitlabPipeline";
import { spreadOf } from "../../support/properties";

const refusalIn = (steps: readonly Step[] = []): string =>
  steps.find(({ name }) => name === "Refuse a commit that a newer one has replaced")?.run ?? "exit 99";

const component = readComponent(join(ROOT, "templates/deploy/template.yml"));
/** The lines of a job of GitLab from the fetch to the comparison. */
function linesOf(job: string): string {
  const { script = [] } = component.jobs[job] ?? {};
  const end = script.findIndex((line) => line.includes("diff --quiet"));
  return script.slice(end - 1, end + 1).join("\n");
}

const { deploy, verify } = readWorkflow(join(ROOT, "examples/ci/access-deploy.yml")).jobs;
const scripts = [
  ["actions/review", refusalIn(readAction(join(ROOT, "actions/review")).runs.steps)],
  ["the job deploy of the example", refusalIn(deploy?.steps)],
  ["access-plan-review", linesOf("access-plan-review")],
  ["access-deploy", linesOf("access-deploy")],
] as const;

const tried = spreadOf(scripts, 1, 0);

let origin: string;
let old: string;
let folder: string;

beforeAll(() => {
  const scratch = temporaryFolder();
  origin = join(scratch, "origin");
  folder = join(scratch, "clone");
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", origin]);
  commit("infra/one.js", "a");
  execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${origin}`, folder]);
  old = git(folder, "rev-parse", "HEAD").trim();
});

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
    cwd,
    encoding: "utf8",
  });
}

function commit(file: string, text: string): void {
  mkdirSync(join(origin, file, ".."), { recursive: true });
  writeFileSync(join(origin, file), text);
  git(origin, "add", "--all");
  git(origin, "commit", "--quiet", "--message=change");
}

/** Runs a step in the checkout of the old commit. */
function refuse(script: string, paths: string): { status: number | null; output: string } {
  // The job that clones the default branch has the old commit to fetch.
  const base = temporaryFolder();
  execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${origin}`, base]);
  const env = {
    ...process.env,
    base,
    PATHS: paths,
    ACCESS_PATHS: paths,
    GITHUB_TOKEN: "ghs_token",
    GITHUB_REF: "refs/heads/main",
    CI_DEFAULT_BRANCH: "main",
    CI_COMMIT_SHA: old,
    CI_REPOSITORY_URL: `file://${origin}`,
  };
  const { status, stdout, stderr } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", script], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

const REFUSED = {
  status: 1,
  output: expect.stringMatching(/a newer commit is on main: its own (run|pipeline) deploys it\n$/) as string,
};

test.each(tried)("%s lets the newest commit pass", (_, script) => {
  expect(refuse(script, "")).toEqual({ status: 0, output: "" });
});

describe("with a newer commit", () => {
  beforeAll(() => {
    commit("pages/two.js", "b");
    // A tag of the branch's name means another commit.
    git(origin, "tag", "main", old);
  });

  test.each(tried)("%s refuses the older one", (_, script) => {
    expect(refuse(script, "")).toEqual(REFUSED);
    expect(refuse(script, "infra/\npages/two.js\n")).toEqual(REFUSED);
  });

  // Such a commit has no run that could deploy the older one.
  test.each(tried)("%s lets it pass where nothing of the project's paths has changed", (_, script) => {
    expect(refuse(script, "infra/\npackage.json")).toEqual({ status: 0, output: "" });
  });

  test("the result of all but an older commit is compared, also where the update did not begin", () => {
    const steps = deploy?.steps.filter(({ run = "" }) => /a newer commit|pulumi (?:up|install)/.test(run));
    expect(steps?.map(({ id }) => id)).toEqual(["newest", undefined]);
    // An empty outcome is that of a job whose runner is gone.
    expect(deploy?.outputs).toEqual({ newest: "${{ steps.newest.outcome }}" });
    expect(verify?.if).toMatch(
      /^always\(\) && .*outputs\.newest != 'failure' && .*outputs\.newest != 'skipped'$/,
    );
  });

  // Nothing would ever be newer.
  test.each(tried)("%s refuses paths that name no file", (_, script) => {
    expect(refuse(script, "infra-old/\npackage.json")).toMatchObject({
      status: 1,
      output: expect.stringContaining("PATHS names no file of the repository") as string,
    });
  });
});
