import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commentMarker } from "../../../../provider/access/report/render/escape";
import { reportDigest } from "../../../../provider/access/report/report";
import type { DriftReport, Report } from "../../../../provider/access/report/report";
import type { PostHost, PostOptions } from "../../../../provider/cli/post";
import { post } from "../../../../provider/cli/post";
import { command as postCommand } from "../../../../provider/cli/commands/post";
import { checkPullRequest } from "../../../../provider/cli/post/github";
import { appendSummary } from "../../../../provider/cli/output/writeReport";
import { codeInMessage } from "../../../../provider/errors/codedError";
import {
  cleanReview,
  largeReview,
  nightDrift,
  rewritten,
  riskyReview,
} from "../../access/report/render/reports";
import { ending, runCommand } from "../support";
import { FakeGitHub, FakeGitLab } from "./hosts";
import type { Fault } from "./hosts";
import { measureVirtually } from "../../support/virtualTime";
import { temporaryFolder } from "../../../support/folders";

let folder: string;
let github: FakeGitHub;
let gitlab: FakeGitLab;
let said: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  github = new FakeGitHub();
  gitlab = new FakeGitLab();
  await Promise.all([github.start(), gitlab.start()]);
  said = [];
});

afterEach(async () => {
  expect(said.join("\n")).not.toContain("canary");
  await Promise.all([github.stop(), gitlab.stop()]);
});

async function run(host: PostHost, report: Report, more: Partial<PostOptions> = {}): Promise<boolean> {
  const before = said.length;
  const env = host === "gitlab-mr" ? gitlab.env : { ...github.env, GITHUB_REF: "refs/pull/1/merge" };
  await post(report, { host, dryRun: false, env, log: (text) => said.push(text), ...more });
  return !said.slice(before).some((text) => /: not posted: |: this would be posted:/.test(text));
}

const marker = commentMarker("review", "acme/access/prod");
const drift: DriftReport = { ...nightDrift, complete: true, incomplete: [] };
const noDrift: DriftReport = { ...drift, failing: 0, differences: [], findings: [] };
const event = (value: unknown): string => {
  const file = join(folder, "event.json");
  writeFileSync(file, JSON.stringify(value));
  return file;
};

/** The event of a workflow_run. */
const runEvent = (more: object = {}, event_: object = {}): string =>
  event({
    repository: { default_branch: "main" },
    workflow_run: {
      head_branch: "patch",
      head_sha: "abc",
      head_repository: { owner: { login: "mallory" } },
      created_at: "2026-05-11T06:00:00Z",
      ...more,
    },
    ...event_,
  });

describe("a comment on a pull request of GitHub", () => {
  beforeEach(() => {
    github.issue("alice", "the pull request", { number: 1, pull_request: {} });
  });
  const comments = () => github.issues[0]!.comments;

  test("is created once, then updated, and not written if nothing changes", async () => {
    expect(await run("github-pr", riskyReview)).toBe(true);
    expect(comments().map(({ body }) => body.split("\n")[0])).toEqual([marker]);
    expect(await run("github-pr", cleanReview)).toBe(true);
    expect(comments()).toHaveLength(1);
    expect(comments()[0]?.body).toContain("Passes: no change of access");
    expect(await run("github-pr", cleanReview)).toBe(true);
    expect(github.writes()).toEqual([
      "POST /repos/acme/access/issues/1/comments",
      `PATCH /repos/acme/access/issues/comments/${comments()[0]?.id}`,
    ]);
    expect(said.map((line) => line.replace(/ https.*/, ""))).toEqual([
      "pulumi-platform: --post github-pr: created",
      "pulumi-platform: --post github-pr: updated",
      "pulumi-platform: --post github-pr: unchanged",
    ]);
  });

  test("is one for each stack, each command and each marker", async () => {
    for (const report of [riskyReview, { ...riskyReview, stacks: ["acme/access/dev"] }, drift])
      await run("github-pr", report);
    await run("github-pr", riskyReview, { marker: "europe" });
    expect(new Set(comments().map(({ body }) => body.split("\n")[0])).size).toBe(4);
  });

  test("never replaces a stranger's, whatever its text", async () => {
    const strangers = ["mallory", "github-actions", "other[bot]"].map((login) =>
      github.comment(login, `${marker}\nforged`),
    );
    comments().push(...strangers);
    await run("github-pr", riskyReview);
    expect(strangers.map(({ body }) => body)).toEqual(Array(3).fill(`${marker}\nforged`));
    expect(comments()).toHaveLength(4);
  });

  test("is found among hundreds, and only where the marker begins it", async () => {
    for (let index = 0; index < 250; index += 1)
      comments().push(github.comment("github-actions[bot]", `quoted: ${marker}`));
    const own = github.comment("github-actions[bot]", `${marker}\nold`);
    comments().push(own);
    await run("github-pr", riskyReview);
    expect(comments()).toHaveLength(251);
    expect(github.seen.filter(({ method, path }) => method === "GET" && /comments/.test(path))).toHaveLength(
      3,
    );
    expect(own.body).toContain("Access review of");
  });

  // GraphQL leaves out the suffix of an app.
  test.each([
    ["deploy-user", "deploy-user"],
    ["acme-app", "acme-app[bot]"],
  ])("is that of the token, which GitHub says is of %s, written by %s", async (login, author) => {
    github.login = login;
    const own = github.comment(author, `${marker}\nold`);
    comments().push(github.comment("github-actions[bot]", `${marker}\nother`), own);
    await run("github-pr", riskyReview);
    expect(own.body).toContain("Access review of");
    expect(comments()).toHaveLength(2);
  });

  test("is known by GitHub's own name, or that of the user, where the token may not use GraphQL", async () => {
    github.login = "deploy-user";
    github.mayUseGraphql = false;
    const strangers = github.comment("mallory", `${marker}\nforged`);
    const own = ["deploy-user", "github-actions[bot]"].map((login) =>
      github.comment(login, `${marker}\nold`),
    );
    comments().push(strangers, ...own);
    const { GITHUB_API_URL: url = "" } = github.env;
    const env = { ...github.env, GITHUB_REF: "refs/pull/1/merge", GITHUB_GRAPHQL_URL: `${url}/graphql` };
    const updated = async (more: object) => {
      await run("github-pr", riskyReview, { env: { ...env, ...more } });
      return comments().map(({ body }) => body.includes("Access review of"));
    };
    expect(await updated({})).toEqual([false, true, false]);
    expect(await updated({ GITHUB_ACTIONS: "true" })).toEqual([false, true, true]);
  });

  test("is posted to the pull request that the event names", async () => {
    github.issue("bob", "another", { number: 42, pull_request: {} });
    const posted = (value: object) =>
      run("github-pr", riskyReview, { env: { ...github.env, GITHUB_EVENT_PATH: event(value) } });
    expect(await posted({ pull_request: { number: 42 } })).toBe(true);
    expect(github.issues[1]?.comments).toHaveLength(1);
    // A comment on a pull request, and one on an issue.
    expect(await posted({ issue: { number: 1, pull_request: {} } })).toBe(true);
    expect(comments()).toHaveLength(1);
    expect(await posted({ issue: { number: 42 } })).toBe(false);
  });

  test("is posted, from a workflow_run, to the pull request with its commit, not to one that a fork could name", async () => {
    github.pulls.push(
      { number: 7, owner: "mallory", branch: "patch", sha: "old" },
      { number: 1, owner: "mallory", branch: "patch", sha: "abc" },
    );
    const env = { ...github.env, GITHUB_EVENT_PATH: runEvent() };
    expect(await run("github-pr", riskyReview, { env })).toBe(true);
    expect(comments()).toHaveLength(1);
    const moved = { ...github.env, GITHUB_EVENT_PATH: runEvent({ head_sha: "gone" }) };
    expect(await run("github-pr", riskyReview, { env: moved })).toBe(false);
    expect(said.at(-1)).toContain("no open pull request has the commit");
  });

  const mine = { number: 1, owner: "mallory", branch: "patch", sha: "abc" };
  const other = { ...mine, number: 8, base: "mallorys-base" };
  const changed = (created_at: string) => [{ event: "base_ref_changed", created_at }];

  test.each<[string, { pulls: typeof github.pulls; events?: ReturnType<typeof changed> }]>([
    ["#1 has this commit and the base mallorys-base", { pulls: [{ ...mine, base: "mallorys-base" }] }],
    ["#8 has this commit and the base mallorys-base", { pulls: [mine, other] }],
    ["#8 has this commit", { pulls: [{ ...other, state: "closed" }, mine] }],
    ["#1 had another base", { pulls: [mine], events: changed("2026-05-11T06:00:01Z") }],
    ["#1 had another base", { pulls: [mine], events: changed("2026-05-11T05:55:01Z") }],
    ["#8 has this branch and the base mallorys-base", { pulls: [mine, { ...other, sha: "moved" }] }],
    [
      "#8 has this branch",
      {
        pulls: [mine, { ...other, sha: "moved", state: "closed", closed_at: "2026-05-11T06:00:01Z" }],
      },
    ],
    ["several open pull requests", { pulls: [mine, { ...mine, number: 9 }] }],
    ["no open pull request", { pulls: [{ ...mine, state: "closed" }] }],
  ])("is not posted for a workflow_run: %s", async (reason, { pulls, events = [] }) => {
    github.pulls.push(...pulls);
    github.events.set(1, events);
    const env = { ...github.env, GITHUB_EVENT_PATH: runEvent() };
    expect(await run("github-pr", riskyReview, { env })).toBe(false);
    expect(said.at(-1)).toContain(reason);
    expect(github.writes()).toEqual([]);
    await expect(checkPullRequest(env)).rejects.toMatchObject({ errorCode: "PP7002" });
  });

  test("is not posted by --check, which only says whether it would be", async () => {
    github.pulls.push(mine);
    const env = { ...github.env, GITHUB_EVENT_PATH: runEvent() };
    const check = ["--check", "--to", "github-pr"];
    expect(await runCommand(postCommand.main, check, env)).toMatchObject(
      ending(0, "pull request #1 into the default branch"),
    );
    github.pulls.push(other);
    expect(await runCommand(postCommand.main, check, env)).toMatchObject(ending(4, "(PP7002)"));
    const pull = { repository: { default_branch: "main" }, pull_request: { number: 1, base: { ref: "x" } } };
    const ofPull = { ...env, GITHUB_EVENT_PATH: event(pull) };
    expect((await runCommand(postCommand.main, check, ofPull)).code).toBe(4);
    for (const wrong of [
      ["--check"],
      ["--check", "--to", "gitlab-mr"],
      [...check, "--dry-run"],
      [...check, "report.json"],
    ])
      expect((await runCommand(postCommand.main, wrong, env)).code).toBe(2);
    expect(github.writes()).toEqual([]);
  });

  test("is posted where the base was changed long before the run began, or the branch had another base", async () => {
    const old = { ...other, sha: "moved", state: "closed", closed_at: "2026-05-11T05:54:59Z" };
    github.pulls.push(mine, old);
    github.events.set(1, changed("2026-05-11T05:54:59Z"));
    const env = { ...github.env, GITHUB_EVENT_PATH: runEvent() };
    expect(await run("github-pr", riskyReview, { env })).toBe(true);
    expect(await checkPullRequest(env)).toBe(1);
    // What lies behind the last page that is read may be a newer change.
    github.events.set(1, Array.from({ length: 3400 }, () => changed("2026-05-11T05:54:59Z")).flat());
    await expect(checkPullRequest(env)).rejects.toThrow("the list has more than 34 pages");
  });

  test.each([
    ["no default branch, or not when", {}, { repository: {} }],
    ["no default branch, or not when the run began", { created_at: undefined }, {}],
    ["no branch", { head_branch: undefined }, {}],
  ])("is not posted where the event names %s", async (missing, more, event_) => {
    github.pulls.push(mine);
    const env = { ...github.env, GITHUB_EVENT_PATH: runEvent(more, event_) };
    expect(await run("github-pr", riskyReview, { env })).toBe(false);
    expect(said.at(-1)).toContain(`the workflow_run event names ${missing}`);
  });

  test("has the size that GitHub takes, with the verdict", async () => {
    await run("github-pr", largeReview(1500));
    const [comment] = comments();
    expect(Buffer.byteLength(comment!.body)).toBeLessThanOrEqual(65_000);
    expect(comment?.body).toContain("**Fails: ");
  });

  test("has no marker but its own, whatever the names are", async () => {
    const marked = rewritten(riskyReview, (text) => `${text}${commentMarker("review", "other")}`);
    await run("github-pr", marked, { marker: "mine" });
    expect(comments()[0]?.body.match(/<!--/g)).toHaveLength(1);
  });

  test.each([
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "7" } }, 7000],
    ["a secondary limit", { status: 403, headers: { "retry-after": "30" } }, 30_000],
    ["429 alone", { status: 429 }, 1500],
    ["no requests left", { status: 403, headers: { "x-ratelimit-remaining": "0" } }, 1500],
  ])("waits as the host asks: %s", async (_, fault, wait) => {
    github.faults.push({ ...fault, times: 1, method: "POST" });
    expect(await measureVirtually(() => run("github-pr", riskyReview))).toBe(wait);
    expect(comments()).toHaveLength(1);
  });

  test.each<[what: string, fault: Fault, message: string]>([
    [
      "a fork's token that may not write",
      { method: "POST", status: 403, body: { message: "Resource not accessible by integration" } },
      "warning: --post github-pr: not posted: POST /repos/acme/access/issues/1/comments: HTTP 403: Resource not accessible by integration; the token may not write here",
    ],
    ["a limit that ends in an hour", { status: 403, headers: { "retry-after": "3600" } }, "HTTP 403"],
    [
      "a response that is no list",
      { method: "GET", status: 200, body: {} },
      "the response is no list (PP7004)",
    ],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/stolen" } }, "HTTP 307"],
    [
      "a refusal that repeats the token",
      { status: 401, body: { message: "bad token ghs_canary" } },
      "bad token [credential]",
    ],
  ])("is a warning, without waiting, after %s", async (_, fault, message) => {
    github.faults.push(fault);
    expect(await measureVirtually(() => run("github-pr", riskyReview))).toBe(0);
    expect(said.at(-1)).toContain(message);
  });

  test("is looked for before it is created again, if the response was lost", async () => {
    github.faults.push({ status: 502, method: "POST", times: 1, after: true });
    expect(await run("github-pr", riskyReview)).toBe(true);
    expect(comments()).toHaveLength(1);
    expect(said.at(-1)).toContain("unchanged");
  });

  test("is posted after a short outage of the host, and not after a long one", async () => {
    github.faults.push({ status: 503, method: "GET", times: 2 });
    await measureVirtually(() => run("github-pr", riskyReview));
    expect(said.at(-1)).toContain("created");
    github.faults.push({ status: 500 });
    await measureVirtually(() => run("github-pr", cleanReview));
    expect(said.at(-1)).toContain(
      "warning: --post github-pr: not posted: GET /repos/acme/access/issues/1/comments: HTTP 500",
    );
  });

  test("is tried again where no connection was made, also what is not safe to send twice", async () => {
    const env = { ...github.env, GITHUB_REF: "refs/pull/1/merge", GITHUB_API_URL: "http://127.0.0.1:1" };
    // The first question for the login is a POST, the second a GET.
    expect(await measureVirtually(() => run("github-pr", riskyReview, { env }))).toBe(2 * 10_500);
    expect(said.at(-1)).toContain("GET http://127.0.0.1:1/user: connection refused");
  });

  test.each([
    [{ GITHUB_TOKEN: "" }, "no token: set GITHUB_TOKEN", "PP7001"],
    [{ GITHUB_REPOSITORY: "../../evil" }, "GITHUB_REPOSITORY names no repository", "PP7003"],
    [{ GITHUB_API_URL: "http://evil.example" }, "GITHUB_API_URL must begin with https://", "PP7003"],
    [{ GITHUB_API_URL: "nowhere" }, "GITHUB_API_URL is no URL", "PP7003"],
    [{ GITHUB_REF: "refs/heads/main" }, "this job runs for no pull request", "PP7002"],
    [{ GITHUB_EVENT_PATH: "/nowhere/event.json" }, "GITHUB_EVENT_PATH names cannot be read", "PP7002"],
  ])("is a warning that says what is missing: %j", async (wrong, message, code) => {
    const env = { ...github.env, GITHUB_REF: "refs/pull/1/merge", ...wrong };
    expect(await run("github-pr", riskyReview, { env })).toBe(false);
    expect(said.at(-1)).toContain(message);
    expect(codeInMessage(said.at(-1) ?? "")).toBe(code);
  });

  test("is only printed in a dry run, and no line of it is a command to a runner", async () => {
    const commanding = rewritten(riskyReview, (text) => `${text}\n::error::x ##[error]y`);
    expect(await run("github-pr", commanding, { dryRun: true, env: {} })).toBe(false);
    expect(said.join("\n")).toContain("<!-- pulumi-platform:review:");
    for (const line of said) expect(line).not.toMatch(/^\s*::|##\[/m);
    expect(github.seen).toEqual([]);
  });
});

describe("an issue of GitHub", () => {
  test("is one for each stack: created, updated, closed with a note, reopened", async () => {
    expect(await run("github-issue", noDrift)).toBe(true);
    expect(github.issues).toEqual([]);
    await run("github-issue", drift);
    expect(github.issues).toMatchObject([{ title: "Access drift: acme/production", state: "open" }]);
    await run("github-issue", { ...drift, findings: drift.findings.slice(0, 1) });
    expect(github.issues).toHaveLength(1);
    await run("github-issue", { ...noDrift, complete: false, incomplete: ["a list was refused"] });
    expect(github.issues[0]?.state).toBe("open");
    expect(github.issues[0]?.body).toContain("a list was refused");
    await run("github-issue", noDrift);
    expect(github.issues[0]?.state).toBe("closed");
    expect(github.issues[0]?.comments.map(({ body }) => body)).toEqual([
      "Closed: a complete run found nothing any more (pulumi-platform 0.1.0).\n",
    ]);
    await run("github-issue", noDrift);
    expect(github.issues[0]?.comments).toHaveLength(1);
    await run("github-issue", drift);
    expect(github.issues).toMatchObject([{ state: "open" }]);
    const done = "nothing created updated updated closed nothing reopened";
    expect(said.map((line) => line.split(": ").at(-1)?.split(" ")[0]).join(" ")).toBe(done);
  });

  test("is not created by an incomplete run without findings, and never replaces a stranger's", async () => {
    await run("github-issue", { ...noDrift, complete: false, incomplete: ["refused"] });
    expect(github.issues).toEqual([]);
    const text = `${commentMarker("drift", "acme/production")}\nforged`;
    // GitHub lists pull requests among the issues.
    const pull = github.issue(github.login, text, { pull_request: {} });
    const forged = github.issue("mallory", text);
    await run("github-issue", drift);
    expect([forged.body, pull.body]).toEqual([text, text]);
    expect(github.issues).toHaveLength(3);
  });
});

describe("a note on a merge request of GitLab", () => {
  test("is created once, updated, and never replaces a stranger's", async () => {
    gitlab.notes.push({ id: 1, author: { id: 99 }, body: `${marker}\nforged`, system: false });
    gitlab.notes.push({ id: 2, author: { id: 7 }, body: `${marker}\nof GitLab itself`, system: true });
    for (let index = 3; index < 150; index += 1)
      gitlab.notes.push({ id: index, author: { id: 7 }, body: "ours, another", system: false });
    expect(await run("gitlab-mr", riskyReview)).toBe(true);
    expect(await run("gitlab-mr", cleanReview)).toBe(true);
    expect(await run("gitlab-mr", cleanReview)).toBe(true);
    expect(gitlab.notes).toHaveLength(150);
    expect(gitlab.notes[0]?.body).toBe(`${marker}\nforged`);
    expect(gitlab.notes.at(-1)?.body).toContain("Passes: no change of access");
    expect(said.map((line) => line.split(": ").at(-1))).toEqual(["created", "updated", "unchanged"]);
    expect(gitlab.seen.every(({ token }) => token === "glpat-canary")).toBe(true);
    expect(gitlab.connections).toBe(3);
  });

  test("is posted to the project of the merge request, also from a fork's pipeline", async () => {
    const env = { ...gitlab.env, CI_PROJECT_ID: "99", CI_MERGE_REQUEST_PROJECT_ID: "12" };
    expect(await run("gitlab-mr", riskyReview, { env })).toBe(true);
    expect(gitlab.notes).toHaveLength(1);
  });

  test("is a warning if it cannot be posted", async () => {
    await run("gitlab-mr", riskyReview, { env: { ...gitlab.env, CI_MERGE_REQUEST_IID: "" } });
    expect(said.at(-1)).toContain("CI_MERGE_REQUEST_IID: no number");
    await run("gitlab-mr", riskyReview, { env: { ...gitlab.env, GITLAB_TOKEN: "" } });
    expect(said.at(-1)).toContain("set GITLAB_TOKEN");
    gitlab.faults.push({ status: 400, body: { message: { note: ["too long"] } }, times: 1 });
    await run("gitlab-mr", riskyReview);
    expect(said.at(-1)).toContain('HTTP 400: {"note":["too long"]} (PP7004)');
    gitlab.faults.push({ status: 403, body: { message: "403 Forbidden" } });
    await run("gitlab-mr", riskyReview);
    expect(said.at(-1)).toMatch(/HTTP 403: 403 Forbidden; GITLAB_TOKEN needs the scope api, .* \(PP7004\)$/);
  });
});

describe("the summary of a step of GitHub Actions", () => {
  test("is appended to, within GitHub's limit for the step", () => {
    const file = join(folder, "summary.md");
    expect(appendSummary(riskyReview, file)).toBeUndefined();
    const first = readFileSync(file, "utf8");
    expect(appendSummary(largeReview(1500), file)).toBeUndefined();
    expect(statSync(file).size).toBeLessThanOrEqual(1024 * 1024);
    expect(readFileSync(file, "utf8").startsWith(`${first}\n### `)).toBe(true);
    writeFileSync(file, "x".repeat(1024 * 1024 - 100));
    expect(appendSummary(riskyReview, file)).toContain("have filled the summary");
    expect(statSync(file).size).toBe(1024 * 1024 - 100);
  });

  test("is left out with a reason", () => {
    expect(appendSummary(riskyReview, undefined)).toContain("GITHUB_STEP_SUMMARY is not set");
    expect(appendSummary(riskyReview, join(folder, "no", "such", "folder"))).toContain("cannot be written");
  });
});

// `input/repository.test.ts` has where each host names it.
test("a comment names the commit that it is about", async () => {
  const [commit, head] = ["c0ffee", "beef"].map((start) => start.padEnd(40, "0"));
  const env = { ...gitlab.env, CI_COMMIT_SHA: commit, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head };
  gitlab.newest = String(head);
  await run("gitlab-mr", cleanReview, { env });
  expect(gitlab.notes[0]?.body).toContain(`Commit \`${head}\``);
  expect(gitlab.notes[0]?.body).not.toContain(commit);
});

test("a job of an older commit of a merge request posts nothing over that of the newest", async () => {
  const { env } = gitlab;
  gitlab.newest = "d".repeat(40);
  expect(await run("gitlab-mr", cleanReview, { env })).toBe(false);
  expect(gitlab.notes).toEqual([]);
});

describe("the command", () => {
  const risky = JSON.stringify({ ...riskyReview, digest: reportDigest(riskyReview) });
  const toPull = ["--to", "github-pr"];
  const COMMIT = "c0ffee".padEnd(40, "0");

  beforeEach(() => {
    github.issue("alice", "the pull request", { number: 1, pull_request: {} });
  });

  let stepSummary = "";
  /** Runs the command; FILE stands for a file with this text. */
  const postText = (text: string, ...argv: readonly string[]) => {
    const file = join(folder, "report.json");
    writeFileSync(file, text);
    const job = { GITHUB_REF: "refs/pull/1/merge", CI_COMMIT_SHA: COMMIT, GITHUB_STEP_SUMMARY: stepSummary };
    const env = { ...github.env, ...job };
    const words = argv.map((word) => (word === "FILE" ? file : word));
    return runCommand(postCommand.main, words, env);
  };
  const bodies = () => github.issues[0]?.comments.map(({ body }) => body);

  test("a report from a file is posted", async () => {
    expect((await postText(risky, "FILE", ...toPull, "--source-root", "infra")).code).toBe(0);
    expect(bodies()).toEqual([expect.stringContaining("`infra/index.ts:40`")]);
    const night = ["FILE", "--to", "github-issue", "--marker", "night"];
    expect((await postText(JSON.stringify(nightDrift), ...night)).code).toBe(0);
    expect(github.issues[1]?.body).toContain("<!-- pulumi-platform:drift:night -->");
  });

  test("appends to the summary of the step, and prints a warning if the job has no place for it", async () => {
    const warned = await postText(risky, "FILE", ...toPull, "--summary");
    expect(warned).toMatchObject(ending(0, /warning: --summary: .* \(PP7005\)$/m));
    stepSummary = join(folder, "summary.md");
    const ended = await postText(risky, "FILE", ...toPull, "--summary");
    expect(ended.stderr).not.toContain("--summary");
    expect(readFileSync(stepSummary, "utf8")).toContain("Access review of");
  });

  test("posts the reason why nothing was reviewed in place of a report", async () => {
    const argv = ["--marker", "acme/access/prod", ...toPull];
    expect((await postText(risky, "FILE", ...argv)).code).toBe(0);
    expect((await postText("", "--not-reviewed", "the inventory failed", ...argv)).code).toBe(0);
    const expected = `Commit \`${COMMIT}\`\n\n### Access review: acme/access/prod\n\n⚠️ **Not reviewed:** the inventory failed. `;
    expect(bodies()).toEqual([expect.stringContaining(expected)]);
    expect((await postText(risky, "FILE", ...argv)).code).toBe(0);
    expect(bodies()).toEqual([expect.not.stringContaining("Not reviewed")]);
  });

  const REPORT = ["FILE", ...toPull];
  test.each([
    ["ends in the middle: it was cut off; write it again (PP6001)", REPORT, "{"],
    ["is not a valid report", REPORT, "{}"],
    ["findings[0].id is missing", REPORT, JSON.stringify({ ...riskyReview, findings: [{}] })],
    ["report.json has no digest", REPORT, JSON.stringify({ ...riskyReview, digest: undefined })],
    ["report.json does not match its digest", REPORT, risky.replace('"complete":true', '"complete":false')],
    ["post takes one report", toPull, risky],
    ["--to must be one of github-pr, github-issue, gitlab-mr", ["FILE", "--to", "mail"], risky],
    ["/nowhere.json cannot be read", ["/nowhere.json", ...toPull], risky],
    ["--not-reviewed conflicts with a report", [...REPORT, "--not-reviewed", "x", "--marker", "y"], risky],
    ["--not-reviewed needs --marker", ["--not-reviewed", "x", ...toPull], risky],
    ["--summary needs a report", ["--not-reviewed", "x", "--marker", "y", "--summary", ...toPull], risky],
  ])("nothing is posted, and one clear error says %s, with %j", async (message, argv, text) => {
    expect(await postText(text, ...argv)).toMatchObject(ending(2, message));
    expect(github.seen).toEqual([]);
  });
});
