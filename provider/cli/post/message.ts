import type { RenderOptions } from "../../access/report/render";
import { renderers } from "../../access/report/render";
import { joinStacks, titles } from "../../access/report/render/words";
import { commentMarker, markdown, markdownCode, shorten } from "../../access/report/render/escape";
import { plainText } from "../../text/printable";
import type { Report } from "../../access/report/report";
import { readRepository, readRunUrl } from "../input/repository";
import { readCommit } from "./event";
import type { Environment } from "../../settings/environment";

/** What is posted. */
export interface Message {
  /** The hidden first line, by which a later run finds the comment. */
  readonly marker: string;
  /** Begins with the marker. */
  readonly body: string;
  /** The title, for an issue. */
  readonly title: string;
  /** Whether the run was complete and found nothing. */
  readonly isClean: boolean;
  /** Whether the run found something. */
  readonly hasFindings: boolean;
  /** The comment that closes an issue. */
  readonly closingNote: string;
}

/** What is posted in place of a review that did not take place. */
export interface NotReviewed {
  /** One line for a person: what failed, or that the review is under way. */
  readonly notReviewed: string;
  /** The key in the marker by which a later run finds the comment that it replaces. */
  readonly marker: string;
}

/** Names the commit, so that a comment on an older one cannot pass for one on the newest. */
function commitLine(env: Environment): string {
  const commit = readCommit(env);
  return commit === undefined ? "" : `Commit ${markdownCode(commit)}\n\n`;
}

/** Creates the comment that replaces an earlier one about another commit. */
export function createNotReviewedMessage({ notReviewed, marker }: NotReviewed, env: Environment): Message {
  const hidden = commentMarker("review", marker);
  const title = shorten(`Access review: ${plainText(marker)}`, 200);
  const reason = markdown(shorten(notReviewed, 500));
  const lines = [
    hidden,
    `${commitLine(env)}### ${markdown(title)}`,
    "",
    `⚠️ **Not reviewed:** ${reason}. What this change does to access is unknown.`,
    "",
  ];
  return {
    marker: hidden,
    body: lines.join("\n"),
    title,
    isClean: false,
    hasFindings: true,
    closingNote: "",
  };
}

/**
 * @param key What tells this comment from others; the stack where it is undefined.
 * @param maxBytes What the host accepts.
 * @param env Names the commit of a review: the job's, never the report's.
 */
export function reportMessage(
  report: Report,
  key: string | undefined,
  { sourceRoot, pageUrl }: Pick<RenderOptions, "sourceRoot" | "pageUrl">,
  maxBytes: number,
  env: Environment,
): Message {
  // A run of another scope must not replace what this one posts.
  const scope = report.command === "drift" && report.scope !== undefined ? ` (${report.scope})` : "";
  const stacks = joinStacks(report);
  const marker = `${key ?? stacks ?? "default"}${scope}`;
  const stack = `${stacks === undefined ? "" : `: ${plainText(stacks)}`}${plainText(scope)}`;
  const name = report.command === "drift" ? "Access drift" : titles[report.command];
  const hidden = commentMarker(report.command, marker);
  const body = renderers.md(report, {
    marker,
    maxBytes,
    sourceRoot,
    pageUrl,
    repository: readRepository(env),
    runUrl: readRunUrl(env),
    commit: report.command === "review" ? readCommit(env) : undefined,
  });
  return {
    marker: hidden,
    body,
    title: shorten(`${name}${stack}`, 200),
    isClean: report.complete && report.findings.length === 0,
    hasFindings: report.findings.length > 0,
    closingNote: `Closed: a complete run found nothing any more (${markdown(`${report.tool.name} ${report.tool.version}`)}).\n`,
  };
}
