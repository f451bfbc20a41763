import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeForCi } from "../../provider/cli/commands/init/folder";
import { FakeGitHub } from "../provider/cli/post/hosts";
import type { Comment } from "../provider/cli/post/hosts";
import { benign, BROKEN, hijackedPackage, programText, risky } from "./support/accessRepository";
import type { Files } from "./support/accessRepository";
import {
  AccessFixture,
  actionsOf,
  APP_KEY,
  expectNoCommandIn,
  expectNoCommandOfDependency,
  STACK,
} from "./support/accessWorkflows";
import { ownActions, readWorkflow, WorkflowRun } from "../support/githubActions";
import type { JobResult, RunningJob } from "../support/githubActions";
import { writeInitWorkflows } from "../support/initWorkflows";
import type { Values } from "../support/shell";

const NUMBER = 7;
const RUN_ID = 11;
const PULL_REQUEST = "repo:acme/access:pull_request";
const DEFAULT_BRANCH = "repo:acme/access:ref:refs/heads/main";
const PRODUCTION = "repo:acme/access:environment:production";

const EVENTS: Values = { preview: "pull_request", review: "workflow_run", deploy: "push", drift: "schedule" };

let scratch: string;
let fixture: AccessFixture;
let github: FakeGitHub;
let canary: string;
/** The folders of workflows that `init` writes: for Pulumi Cloud, and for a bucket. */
let forCloud: string;
let forBucket: string;
/** The workflows that run: those of the examples, or those of a folder that `init` wrote. */
let workflows: string | undefined;
let vars: Values;
let pulls = 0;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "pulumi-platform-workflows-"));
  canary = join(scratch, "canary");
  fixture = await AccessFixture.start(scratch);
  forCloud = writeInitWorkflows(join(scratch, "init"));
  const backend = describeForCi({ url: "s3://acme-state", source: "login" }, undefined);
  forBucket = writeInitWorkflows(join(scratch, "init-bucket"), { backend });
  vars = {
    PLATFORM_BASE_URL: fixture.emulator.url,
    PLATFORM_ISSUER_URL: fixture.emulator.url,
    PLATFORM_ROOT_GROUP: fixture.program.org,
    PLATFORM_PREVIEW_IDENTITY: await fixture.identityFor(PULL_REQUEST),
    PLATFORM_REVIEW_IDENTITY: await fixture.identityFor(DEFAULT_BRANCH),
    PLATFORM_DEPLOY_IDENTITY: await fixture.identityFor(PRODUCTION, fixture.program.owner),
  };
});

afterAll(async () => {
  await fixture.close();
  rmSync(scratch, { recursive: true, force: true });
});

beforeEach(async () => {
  workflows = undefined;
  github = new FakeGitHub();
  await github.start();
  github.issue("alice", "the pull request", { number: NUMBER, pull_request: {} });
});

afterEach(async () => {
  fixture.emulator.clearFaults();
  rmSync(canary, { force: true });
  expectNoCommandOfDependency(fixture);
  rmSync(fixture.artifacts, { recursive: true, force: true });
  await github.stop();
});

interface PullRequest {
  readonly branch: string;
  readonly commit: string;
  readonly repository: string;
}

type Results = Readonly<Record<string, JobResult>>;

/** Opens the pull request, or adds a commit to it. */
function push(files: Files, repository = "acme/access", branch = `change-${(pulls += 1)}`): PullRequest {
  const commit = fixture.repository.branch(branch, files);
  github.changed.set(commit, Object.keys(files));
  const [owner = ""] = repository.split("/");
  github.pulls = [{ number: NUMBER, owner, branch, sha: commit }];
  return { branch, commit, repository };
}

/** The environment access-status is of the default branch alone: GitHub ends a job of another branch before its first step. */
const secretsOn =
  (ref: string) =>
  ({ definition: { environment } }: RunningJob): Values =>
    environment === "access-status" && ref === "refs/heads/main" ? { ACCESS_APP_PRIVATE_KEY: APP_KEY } : {};

/** Runs one workflow as GitHub does for this event. @param tip The default branch when the run is started again. */
async function runWorkflow(
  name: string,
  branch: string,
  subject: string,
  given: object,
  tip = branch,
): Promise<Results> {
  const event = { repository: { default_branch: "main" }, ...given };
  const source = mkdtempSync(join(scratch, "source-"));
  fixture.repository.checkout(branch, source);
  const eventFile = join(source, "event.json");
  writeFileSync(eventFile, JSON.stringify(event));
  const token = (job: RunningJob): string => `ghs_${job.name}`;
  const context = {
    event,
    event_name: name.replace(/^access-(.+)\.yml$/, (_, which: string) => EVENTS[which] ?? ""),
    ref: name === "access-preview.yml" ? `refs/pull/${NUMBER}/merge` : "refs/heads/main",
    sha: fixture.repository.commitOf(branch),
    repository: "acme/access",
    server_url: "https://github.example",
    run_id: RUN_ID,
  };
  const workflow = readWorkflow(join(workflows ?? join(source, ".github", "workflows"), name));
  return await new WorkflowRun(workflow, {
    contexts: { github: context, vars },
    secrets: secretsOn(context.ref),
    actions: actionsOf(fixture, branch),
    composites: ownActions,
    token,
    env: { STACK },
    scratch,
    environment: (job) => ({
      ...fixture.tools(),
      ...github.env,
      GITHUB_TOKEN: "",
      GITHUB_ACTIONS: "true",
      GITHUB_EVENT_PATH: eventFile,
      GITHUB_REF: `refs/heads/${tip}`,
      ...(job.definition.permissions?.["id-token"] === "write"
        ? fixture.tokenRequest(job.definition.environment === "production" ? PRODUCTION : subject)
        : {}),
    }),
  }).run();
}

const preview = (pull: PullRequest): Promise<Results> =>
  runWorkflow("access-preview.yml", pull.branch, PULL_REQUEST, {
    action: "synchronize",
    pull_request: {
      number: NUMBER,
      head: { sha: pull.commit, ref: pull.branch, repo: { full_name: pull.repository } },
    },
  });

function reviewOf(action: "requested" | "completed", pull: PullRequest): Promise<Results> {
  const [owner = ""] = pull.repository.split("/");
  return runWorkflow("access-review.yml", "main", DEFAULT_BRANCH, {
    action,
    workflow_run: {
      id: RUN_ID,
      event: "pull_request",
      head_branch: pull.branch,
      head_sha: pull.commit,
      head_repository: { full_name: pull.repository, owner: { login: owner } },
      created_at: "2026-05-11T06:00:00Z",
    },
  });
}

/** The preview of a commit, and the review that follows it. */
async function runReview(pull: PullRequest): Promise<Results> {
  const previewed = await preview(pull);
  const { review, post, gate } = await reviewOf("completed", pull);
  return { ...previewed, ...(review && post && gate ? { review, post, gate } : {}) };
}

/** Everything that GitHub runs for a commit. */
async function runAll(pull: PullRequest): Promise<Results> {
  const { start } = await reviewOf("requested", pull);
  return { ...(start ? { start } : {}), ...(await runReview(pull)) };
}

const outcome = (results: Results): Record<string, string> =>
  Object.fromEntries(Object.entries(results).map(([name, { result }]) => [name, result]));

const logsOf = (results: Results): string[] => Object.values(results).map(({ log }) => log);

function comment(): Comment {
  const comments = github.issues[0]?.comments ?? [];
  expect(comments).toHaveLength(1);
  return comments[0]!;
}

const statusOf = ({ commit }: PullRequest): string | undefined =>
  github.statuses.get(`${commit} access-review`)?.state;

test("a harmless change passes with a comment that names its commit; a new commit needs a new review", async () => {
  const pull = push(benign(fixture.program));
  const results = await runAll(pull);
  expect({ outcome: outcome(results), log: results["review"]?.log }).toMatchObject({
    outcome: { start: "success", preview: "success", review: "success", post: "success", gate: "success" },
  });
  expect(statusOf(pull)).toBe("success");
  expect(comment().body).toContain("Passes");
  expect(comment().body).toContain(pull.commit);
  expect(comment().body).toMatch(
    new RegExp(`commit ${pull.commit.slice(0, 12)}, .*inventory \\d+ minutes? old`),
  );
  expect(results["review"]?.summary).toContain("Passes");

  const second = push(risky(fixture.program), pull.repository, pull.branch);
  const { start } = await reviewOf("requested", second);
  expect(start?.result).toBe("success");
  expect(statusOf(second)).toBe("pending");
  expect(comment().body).not.toContain("Passes");
  expect(comment().body).toContain("the review of this commit is under way");
  expect(comment().body).toContain(second.commit);

  // What comes late of the first one does not replace it.
  await reviewOf("completed", pull);
  expect(comment().body).toContain(second.commit);
});

test("a dangerous change fails, with its findings, whatever the pull request changes beside the program, and every job writes only what its permissions allow", async () => {
  workflows = forCloud;
  const record = `require("fs").appendFileSync(${JSON.stringify(canary)}, (process.env.GITHUB_JOB ?? "none") + "\\n");`;
  const workflow = "on: workflow_run\njobs:\n  gate:\n    steps:\n      - run: exit 0\n";
  const pull = push({
    ...risky(fixture.program),
    ...hijackedPackage(scratch, record),
    "infra/vendor/pulumi-platform/package.json": JSON.stringify({
      name: "pulumi-platform",
      version: "0.1.0",
      main: "dist/provider/index.js",
      bin: { "pulumi-platform": "dist/provider/cli/main.js" },
      scripts: { postinstall: `node -e '${record}'` },
    }),
    "infra/.npmrc": "ignore-scripts=false\n",
    ".github/workflows/access-review.yml": workflow,
    "infra/review/report.json": "{}",
  });
  const results = await runAll(pull);
  expect({ outcome: outcome(results), log: results["preview"]?.log }).toMatchObject({
    outcome: { preview: "success", review: "failure", post: "success", gate: "failure" },
  });
  expect(statusOf(pull)).toBe("failure");
  expect(comment().body).toContain("owner");
  expect(comment().body).toContain("**Fails: ");
  expect(new Set(readFileSync(canary, "utf8").trim().split("\n"))).toEqual(new Set(["preview"]));

  // Every job writes only what its permissions allow.
  const writes = github.seen
    .filter(({ method, path }) => method !== "GET" && path !== "/graphql")
    .map(({ path, token }) => `${token} ${path.includes("/statuses/") ? "statuses" : "pull-requests"}`);
  const review = readWorkflow(join(scratch, "deployed", ".github", "workflows", "access-review.yml"));
  for (const write of writes.filter((one) => !/^Bearer ghs_app_(start|gate) statuses$/.test(one))) {
    const [, job = "", permission = ""] = /^Bearer ghs_(\w+) (.+)$/.exec(write) ?? [];
    expect({ write, allowed: review.jobs[job]?.permissions?.[permission] }).toEqual({
      write,
      allowed: "write",
    });
  }
  expect(new Set(writes).size).toBe(4);
});

test("without an inventory nothing is reviewed", async () => {
  fixture.emulator.addFault({ path: "/iam/v2/roleBindings", status: 403, body: { code: 7, message: "no" } });
  const pull = push(benign(fixture.program));
  // The inventory comes first: what the artifact holds is not read.
  mkdirSync(join(fixture.artifacts, "access-preview"), { recursive: true });
  const results = await reviewOf("completed", pull);
  expect(outcome(results)).toMatchObject({ review: "failure", post: "success", gate: "failure" });
  expect(statusOf(pull)).toBe("failure");
  expect(comment().body).toContain("**Not reviewed:** the inventory of the organisation failed");
  expect(results["post"]?.summary).toContain("Not reviewed: the inventory of the organisation failed");
});

test("a pull request from a fork is not reviewed, and its program never runs", async () => {
  const record = `require("fs").appendFileSync(${JSON.stringify(canary)}, "ran");\n`;
  const pull = push(
    { "infra/index.js": record + programText(fixture.program, "as it should be") },
    "mallory/access",
  );
  const results = await runReview(pull);
  expect(outcome(results)).toMatchObject({
    preview: "skipped",
    review: "skipped",
    post: "success",
    gate: "failure",
  });
  expect(statusOf(pull)).toBe("failure");
  expect(comment().body).toContain("**Not reviewed:** a pull request from a fork gets no preview");
  expect(existsSync(canary)).toBe(false);
});

test("a preview that failed fails the review, and the comment says so", async () => {
  const pull = push(BROKEN);
  const results = await runReview(pull);
  expect(outcome(results)).toMatchObject({ preview: "failure", review: "failure", gate: "failure" });
  expect(statusOf(pull)).toBe("failure");
  expect(comment().body).toMatch(/preview failed/i);
  expect(comment().body).not.toContain("Passes");
  expect(comment().body).not.toContain("[31m");
  expectNoCommandIn(results["preview"]?.log);
});

test("a pull request whose preview can come from the workflow of another base is not reviewed", async () => {
  const pull = push(risky(fixture.program));
  const [open] = github.pulls;
  // The branch of the author, as base, has a workflow of the same name: it stores a harmless preview.
  const artifact = join(fixture.artifacts, "access-preview");
  mkdirSync(artifact, { recursive: true });
  writeFileSync(join(artifact, "preview.json"), '{"steps":[],"changeSummary":{}}');
  github.pulls = [{ ...open!, number: 8, base: "mallorys-base", state: "closed" }, open!];
  const results = await reviewOf("completed", pull);
  expect(outcome(results)).toMatchObject({ review: "failure", gate: "failure" });
  expect(results["review"]?.log).toContain("#8 has this commit and the base mallorys-base");
  expect(statusOf(pull)).toBe("failure");
  expect(github.issues[0]?.comments).toEqual([]);
});

test("the deployment applies the plan that it has reviewed, then compares the result, with the state in a bucket", async () => {
  workflows = forBucket;
  const pull = push(benign(fixture.program));
  const results = await runWorkflow("access-deploy.yml", pull.branch, DEFAULT_BRANCH, { action: "push" });
  expect({ outcome: outcome(results), logs: logsOf(results) }).toMatchObject({
    outcome: {
      plan: "success",
      review: "success",
      announce: "success",
      deploy: "success",
      verify: "success",
    },
  });
  // Where the program cannot write: the digest that the update and the comparison ask for.
  expect(github.statuses.get(`${pull.commit} access-plan`)).toMatchObject({
    description: `Report to approve: digest ${results["review"]?.outputs["digest"]}`,
  });
  expect(results["review"]?.summary).toContain("Access review");
  const described = fixture.emulator.state()["groups"]?.map(({ description }) => description);
  expect(described).toContain("as it should be");
  expect(results["verify"]?.log).toContain("Compare the organisation with the approved report");
  expect(results["review"]?.outputs["digest"]).toMatch(/^[0-9a-f]{64}$/);
});

test("a run of an older commit that is started again is refused before anybody is asked to approve it", async () => {
  const old = push(risky(fixture.program));
  const event = { action: "push" };
  const results = await runWorkflow("access-deploy.yml", old.branch, DEFAULT_BRANCH, event, "main");
  expect(outcome(results)).toMatchObject({ review: "failure", announce: "skipped", deploy: "skipped" });
  expect(results["review"]?.log).toContain("a newer commit is on main: its own run deploys it");
});

test("the nightly comparison opens one issue for what was changed by hand", async () => {
  workflows = forBucket;
  await fixture.changeByHand();
  const results = await runWorkflow("access-drift.yml", "main", DEFAULT_BRANCH, {});
  expect({ outcome: outcome(results), log: results["post"]?.log }).toMatchObject({
    outcome: { drift: "failure", post: "success" },
  });
  const issues = github.issues.filter(({ number }) => number !== NUMBER);
  expect(issues.map(({ body }) => body)).toEqual([expect.stringContaining("by hand")]);
});
