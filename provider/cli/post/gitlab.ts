import type { ApiHost } from "./http";
import { apiOf, memberByPath, numberMember, PostError, request, stringMember, upsertComment } from "./http";
import { readCommit } from "./event";
import type { Message } from "./message";
import type { Environment } from "../../settings/environment";

/** The number of a project or a merge request, from GitLab's variables. */
function readNumber(env: Environment, ...variables: readonly (keyof Environment)[]): string {
  const value = variables.map((name) => env[name]).find((text) => text !== undefined && text !== "");
  if (value === undefined || !/^\d+$/.test(value)) {
    throw new PostError(
      "PP7002",
      `${variables.join(" and ")}: no number; is this a pipeline for a merge request?`,
    );
  }
  return value;
}

/** GitLab as the environment of a pipeline describes it, and its address of the merge request. */
function readMergeRequest(env: Environment): { host: ApiHost; path: string } {
  const token = env["GITLAB_TOKEN"] ?? "";
  if (token === "") {
    throw new PostError(
      "PP7001",
      "no token: set GITLAB_TOKEN, with the scope api (CI_JOB_TOKEN cannot write notes)",
    );
  }
  const host = apiOf(env, "CI_API_V4_URL", "https://gitlab.com/api/v4", token);
  // The pipeline of a fork's merge request has the fork's CI_PROJECT_ID.
  const project = readNumber(env, "CI_MERGE_REQUEST_PROJECT_ID", "CI_PROJECT_ID");
  const mergeRequest = readNumber(env, "CI_MERGE_REQUEST_IID");
  return { host, path: `/projects/${project}/merge_requests/${mergeRequest}` };
}

/** Creates or updates our note on the merge request. */
export async function postToMergeRequest(message: Message, env: Environment): Promise<string> {
  const { host, path } = readMergeRequest(env);
  const shown = await request(host, "GET", path);
  // A job of an older pipeline can be started again.
  if (stringMember(shown, "sha") !== readCommit(env))
    throw new PostError("PP7002", "the merge request has another commit now, whose own pipeline is to post");
  const notes = `${path}/notes`;
  const user = await request(host, "GET", "/user");
  const own = numberMember(user, "id");
  if (own === undefined) throw new PostError("PP7001", "GitLab does not say whose the token is");
  return await upsertComment(host, message, {
    address: notes,
    query: "?sort=asc&order_by=created_at",
    isOwn: (entry) => memberByPath(entry, "system") !== true && numberMember(entry, "author", "id") === own,
    change: ["PUT", (id) => `${notes}/${id}`],
  });
}
