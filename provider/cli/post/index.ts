import { errorCodeOf, errorMessage, withCode } from "../../errors/codedError";
import type { Report } from "../../access/report/report";
import { printable } from "../../text/printable";
import { postToIssue, postToPullRequest } from "./github";
import { postToMergeRequest } from "./gitlab";
import { PostError } from "./http";
import type { Message, NotReviewed } from "./message";
import type { Environment } from "../../settings/environment";
import { reportMessage, createNotReviewedMessage } from "./message";

export type PostHost = "github-pr" | "github-issue" | "gitlab-mr";

interface Target {
  /** The most bytes of a comment there. */
  readonly maxBytes: number;
  readonly post: (message: Message, env: Environment) => Promise<string>;
  /** What to do where the host refuses the token. */
  readonly refused: string;
}

const forkAdvice =
  "the token may not write here; it needs `pull-requests: write` (or `issues: write`), and for a pull request from a fork it can never: see docs/ci.md";

const targets: Readonly<Record<PostHost, Target>> = {
  "github-pr": { maxBytes: 65_000, post: postToPullRequest, refused: forkAdvice },
  "github-issue": { maxBytes: 65_000, post: postToIssue, refused: forkAdvice },
  "gitlab-mr": {
    maxBytes: 1_000_000,
    post: postToMergeRequest,
    refused: "GITLAB_TOKEN needs the scope api, and a role that may comment (Reporter or above)",
  },
};

export interface PostOptions {
  readonly host: PostHost;
  /** Tells this comment from others; the report's stack where it is undefined. */
  readonly marker?: string | undefined;
  readonly sourceRoot?: string | undefined;
  readonly pageUrl?: string | undefined;
  /** Prints what would be posted, and sends nothing. */
  readonly dryRun: boolean;
  readonly env: Environment;
  /** Logs text for a person. */
  readonly log: (text: string) => void;
}

/** @throws PostError where the event of the job cannot be read. */
function composeMessage(content: Report | NotReviewed, options: PostOptions, target: Target): Message {
  const { env, marker, sourceRoot, pageUrl } = options;
  if ("notReviewed" in content) return createNotReviewedMessage(content, env);
  return reportMessage(content, marker, { sourceRoot, pageUrl }, target.maxBytes, env);
}

/**
 * Posts a report, or why there is none, as one comment (or issue) for each stack, which later runs update.
 * A failure is a warning: it never throws, and must not change the exit code.
 */
export async function post(content: Report | NotReviewed, options: PostOptions): Promise<void> {
  const { host, env, log: say } = options;
  const target = targets[host];
  try {
    const message = composeMessage(content, options, target);
    if (options.dryRun) {
      say(`pulumi-platform: --post ${host}: this would be posted:`);
      say(message.body);
      return;
    }
    say(`pulumi-platform: --post ${host}: ${printable(await target.post(message, env), 300)}`);
  } catch (error) {
    const status = error instanceof PostError ? error.status : undefined;
    const advice = status === 401 || status === 403 ? `; ${target.refused}` : "";
    const text = `--post ${host}: not posted: ${printable(errorMessage(error), 600)}${advice}`;
    say(withCode(`pulumi-platform: warning: ${text}`, errorCodeOf(error)));
  }
}
