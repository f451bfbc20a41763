import { readTextFile } from "../../text/files";
import type { Environment } from "../../settings/environment";
import { PostError, stringMember } from "./http";

/** The event that started the job of GitHub Actions; undefined elsewhere. */
export function readEventFile(env: Environment): unknown {
  const file = env["GITHUB_EVENT_PATH"];
  if (file === undefined || file === "") return undefined;
  try {
    return JSON.parse(readTextFile(file)) as unknown;
  } catch {
    throw new PostError("PP7002", "the file that GITHUB_EVENT_PATH names cannot be read");
  }
}

/**
 * The newest commit of the pull or merge request, as the host names it: the report is written from what the author
 * of that commit controls. Undefined where the job is about none.
 */
export function readCommit(env: Environment): string | undefined {
  const event = readEventFile(env);
  const candidates = [
    stringMember(event, "pull_request", "head", "sha"),
    stringMember(event, "workflow_run", "head_sha"),
    // Where GitLab runs a merged result, CI_COMMIT_SHA is a commit that is in no branch.
    env["CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"],
    env["CI_COMMIT_SHA"],
  ];
  return candidates.find((commit) => commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit));
}
