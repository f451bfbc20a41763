import type { ApiHost } from "./http";
import {
  parseBaseUrl,
  findInPages,
  listAll,
  memberByPath,
  numberMember,
  PostError,
  request,
  retryIfUnknown,
  stringMember,
  transportTo,
  upsertComment,
  withAddress,
  apiOf,
} from "./http";
import { printable } from "../../text/printable";
import { readEventFile } from "./event";
import type { Message } from "./message";
import type { Environment } from "../../settings/environment";

const ACTIONS_BOT = "github-actions[bot]";

interface GithubRepository {
  readonly host: ApiHost;
  /** `/repos/owner/name`. */
  readonly path: string;
  readonly env: Environment;
}

function connectToRepository(env: Environment): GithubRepository {
  const token = env["GITHUB_TOKEN"] ?? env["GH_TOKEN"] ?? "";
  if (token === "") throw new PostError("PP7001", "no token: set GITHUB_TOKEN");
  const name = env["GITHUB_REPOSITORY"] ?? "";
  if (!/^[\w.-]+\/[\w.-]+$/.test(name)) {
    throw new PostError("PP7003", "GITHUB_REPOSITORY names no repository: set it to owner/name");
  }
  const host = apiOf(env, "GITHUB_API_URL", "https://api.github.com", token);
  return { host, path: `/repos/${name}`, env };
}

/** The login of the token's owner, whose comments are ours. An app's token may use GraphQL only. */
async function readOwnLogin({ host, env }: GithubRepository): Promise<string> {
  const url = env["GITHUB_GRAPHQL_URL"];
  const variable = "GITHUB_GRAPHQL_URL";
  const graphql =
    url === undefined ? host : { ...host, transport: transportTo(parseBaseUrl(url, variable), variable) };
  try {
    const query = "{ viewer { login } }";
    const body = await request(graphql, "POST", url === undefined ? "/graphql" : "", { query });
    const login = stringMember(body, "data", "viewer", "login");
    if (login !== undefined) return login;
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
  }
  if (env["GITHUB_ACTIONS"] === "true") return ACTIONS_BOT;
  const body = await request(host, "GET", "/user");
  const login = stringMember(body, "login");
  if (login === undefined) throw new PostError("PP7001", "GitHub does not say whose the token is");
  return login;
}

function isOwn(entry: unknown, login: string): boolean {
  const author = stringMember(entry, "user", "login");
  // GraphQL leaves the suffix of a bot's name out in places.
  return author === login || (memberByPath(entry, "user", "type") === "Bot" && author === `${login}[bot]`);
}

/** A run of a workflow, as the event of the job names it. */
interface WorkflowRun {
  /** `owner:branch`. */
  readonly head: string;
  readonly commit: string;
  /** When GitHub chose the workflow's file: from the merge of the commit into the base of that time. */
  readonly created: number;
  readonly defaultBranch: string;
}

function readWorkflowRun(event: unknown): WorkflowRun {
  const run = memberByPath(event, "workflow_run");
  const owner = stringMember(run, "head_repository", "owner", "login");
  const branch = stringMember(run, "head_branch");
  const commit = stringMember(run, "head_sha");
  const created = Date.parse(stringMember(run, "created_at") ?? "");
  const defaultBranch = stringMember(event, "repository", "default_branch");
  if (owner === undefined || branch === undefined || commit === undefined)
    throw new PostError("PP7002", "the workflow_run event names no branch");
  if (defaultBranch === undefined || Number.isNaN(created)) {
    throw new PostError(
      "PP7002",
      "the workflow_run event names no default branch, or not when the run began",
    );
  }
  return { head: `${owner}:${branch}`, commit, created, defaultBranch };
}

const BASE_CHANGES = ["base_ref_changed", "automatic_base_change_succeeded"];

/** How long before a run GitHub may have chosen its workflow: it dates the push, and makes the run of it later. */
const RUN_DELAY_MS = 300_000;

/** @throws PostError unless the base of a pull request has been the default branch since the run began. */
async function checkBase({ host, path }: GithubRepository, pull: unknown, run: WorkflowRun): Promise<void> {
  const number = numberMember(pull, "number") ?? 0;
  const base = stringMember(pull, "base", "ref");
  const remedy =
    "its workflow can be another one; push a new commit to a pull request into the default branch, five minutes later";
  if (base !== run.defaultBranch) {
    const shown = printable(base ?? "", 100);
    const what = stringMember(pull, "head", "sha") === run.commit ? "commit" : "branch";
    throw new PostError(
      "PP7002",
      `pull request #${number} has this ${what} and the base ${shown}: ${remedy}`,
    );
  }
  const changes = await listAll(host, `${path}/issues/${number}/events`);
  const isLater = (entry: unknown): boolean =>
    BASE_CHANGES.includes(stringMember(entry, "event") ?? "") &&
    !(Date.parse(stringMember(entry, "created_at") ?? "") < run.created - RUN_DELAY_MS);
  if (changes.some(isLater)) {
    throw new PostError("PP7002", `pull request #${number} had another base when the run began: ${remedy}`);
  }
}

/**
 * Finds the one pull request that a `workflow_run` is about, by its commit: what the run hands over is not trusted. A run does
 * not say which pull request started it, so all of the branch are checked that have the commit or were open when it began:
 * the branch of a closed one may have moved on, and its pull request keeps another commit.
 */
async function findPullRequest(repository: GithubRepository, event: unknown): Promise<number> {
  const { host, path } = repository;
  const run = readWorkflowRun(event);
  const pulls = await listAll(host, `${path}/pulls?state=all&head=${encodeURIComponent(run.head)}`);
  const [pull, ...others] = pulls.filter(
    (entry) => stringMember(entry, "state") === "open" && stringMember(entry, "head", "sha") === run.commit,
  );
  const number = numberMember(pull, "number");
  if (number === undefined)
    throw new PostError("PP7002", "no open pull request has the commit of the workflow_run");
  for (const each of pulls) {
    const closed = Date.parse(stringMember(each, "closed_at") ?? "");
    const wasClosed = closed < run.created - RUN_DELAY_MS;
    if (!wasClosed || stringMember(each, "head", "sha") === run.commit)
      await checkBase(repository, each, run);
  }
  if (others.length > 0)
    throw new PostError(
      "PP7002",
      "several open pull requests have the commit of the workflow_run: close all but one",
    );
  return number;
}

/** The number of the pull request that the job is about. */
async function resolvePullRequest(repository: GithubRepository): Promise<number> {
  const { env } = repository;
  const event = readEventFile(env);
  const fromEvent =
    numberMember(event, "pull_request", "number") ??
    (memberByPath(event, "issue", "pull_request") === undefined
      ? undefined
      : numberMember(event, "issue", "number"));
  if (fromEvent !== undefined) return fromEvent;
  if (memberByPath(event, "workflow_run") !== undefined) return await findPullRequest(repository, event);
  const [, fromRef] = /^refs\/pull\/(\d+)\//.exec(env["GITHUB_REF"] ?? "") ?? [];
  if (fromRef !== undefined) return Number(fromRef);
  throw new PostError(
    "PP7002",
    "this job runs for no pull request: neither GITHUB_EVENT_PATH nor GITHUB_REF names one",
  );
}

/** Checks which pull request the job is about, and posts nothing. @throws PostError where that is not clear. */
export async function checkPullRequest(env: Environment): Promise<number> {
  const event = readEventFile(env);
  const base = stringMember(event, "pull_request", "base", "ref");
  if (base !== undefined && base !== stringMember(event, "repository", "default_branch"))
    throw new PostError(
      "PP7002",
      `the pull request has the base ${printable(base, 100)}, not the default branch`,
    );
  return await resolvePullRequest(connectToRepository(env));
}

/** Creates or updates our comment on the pull request. */
export async function postToPullRequest(message: Message, env: Environment): Promise<string> {
  const repository = connectToRepository(env);
  const { host, path } = repository;
  const number = await resolvePullRequest(repository);
  const login = await readOwnLogin(repository);
  return await upsertComment(host, message, {
    address: `${path}/issues/${number}/comments`,
    isOwn: (entry) => isOwn(entry, login),
    change: ["PATCH", (id) => `${path}/issues/comments/${id}`],
  });
}

/**
 * Creates or updates our issue for a stack: open while something differs, closed by the first clean, complete run, and opened again
 * by the next one that finds something.
 */
export async function postToIssue(message: Message, env: Environment): Promise<string> {
  const repository = connectToRepository(env);
  const { host, path } = repository;
  const login = await readOwnLogin(repository);
  const issues = `${path}/issues`;
  const { title, body, isClean, hasFindings } = message;
  const find = (state: "open" | "closed"): Promise<unknown> =>
    findInPages(
      host,
      `${issues}?state=${state}&sort=updated&direction=desc`,
      (entry) =>
        memberByPath(entry, "pull_request") === undefined &&
        isOwn(entry, login) &&
        stringMember(entry, "body")?.startsWith(message.marker),
    );
  return await retryIfUnknown(async () => {
    const open = await find("open");
    const isOpen = open !== undefined;
    if (!isOpen && isClean) return "no issue is open: nothing to do";
    if (!isOpen && !hasFindings) return "no issue is open, and there is nothing to report";
    const found = open ?? (await find("closed"));
    const number = numberMember(found, "number");
    if (number === undefined)
      return withAddress("created", await request(host, "POST", issues, { title, body }));
    if (isOpen && !isClean && stringMember(found, "body") === body) return withAddress("unchanged", found);
    if (isClean) await request(host, "POST", `${issues}/${number}/comments`, { body: message.closingNote });
    const change = isClean
      ? { body, state: "closed", state_reason: "completed" }
      : { title, body, state: "open" };
    const updated = await request(host, "PATCH", `${issues}/${number}`, change);
    return withAddress(isClean ? "closed" : isOpen ? "updated" : "reopened", updated);
  });
}
