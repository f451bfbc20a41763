import type { Repository } from "../../access/report/render";
import { hasUserinfo } from "../../text/address";
import type { Environment } from "../../settings/environment";
import { withoutTrailing } from "../../text/plain";

/** An http or https address in canonical form; undefined for another one, or one with credentials. */
export function webAddress(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && !hasUserinfo(url) ? url.href : undefined;
}

/** The same without a query, a fragment and a slash at the end: what a path can follow. */
function baseAddress(text: string | undefined): string | undefined {
  const address = webAddress(text);
  return address === undefined || /[?#]/.test(address) ? undefined : withoutTrailing(address, "/");
}

function githubRepository(env: Environment): string | undefined {
  const server = baseAddress(env["GITHUB_SERVER_URL"]);
  const name = env["GITHUB_REPOSITORY"] ?? "";
  const isName = /^[\w.-]+\/[\w.-]+$/.test(name) && name.split("/").every((part) => !/^\.+$/.test(part));
  return server === undefined || !isName ? undefined : `${server}/${name}`;
}

/** The repository of the job, as GitHub Actions or GitLab CI names it; undefined elsewhere. */
export function readRepository(env: Environment): Repository | undefined {
  const github = githubRepository(env);
  if (github !== undefined) return { host: "github", url: github };
  const gitlab = baseAddress(env["CI_PROJECT_URL"]);
  return gitlab === undefined ? undefined : { host: "gitlab", url: gitlab };
}

/** The address of the run that keeps the files of the job; undefined outside of GitHub Actions and GitLab CI. */
export function readRunUrl(env: Environment): string | undefined {
  const [github, run] = [githubRepository(env), env["GITHUB_RUN_ID"] ?? ""];
  if (github !== undefined && /^\d{1,20}$/.test(run)) return `${github}/actions/runs/${run}`;
  return baseAddress(env["CI_PIPELINE_URL"]);
}
