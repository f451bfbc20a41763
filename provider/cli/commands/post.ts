import { parseReport } from "../../access/report/report";
import type { Report } from "../../access/report/report";
import { printableMessage } from "../../http/errors";
import { printable } from "../../text/printable";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { readBytes } from "../input/readFiles";
import { log } from "../output/log";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Parsed } from "../framework/flags";
import { commonFlags, postHosts, readPageUrl } from "../framework/options";
import { post } from "../post";
import { checkPullRequest } from "../post/github";
import type { NotReviewed } from "../post/message";
import { writeSummary } from "../output/writeReport";
import { readEnvironment } from "../../settings/environment";

const flags = {
  to: { type: "string", value: "WHERE", choices: postHosts, help: "where to post" },
  "not-reviewed": {
    type: "string",
    value: "REASON",
    help: 'instead of a report: replace what an earlier run has posted by "not reviewed" and this reason; needs --marker',
  },
  marker: commonFlags.marker,
  "source-root": commonFlags["source-root"],
  "page-url": commonFlags["page-url"],
  summary: commonFlags.summary,
  check: {
    type: "boolean",
    help: "check that the job is about one open pull request into the default branch, post nothing; only with --to github-pr",
  },
  "dry-run": { type: "boolean", help: "print what would be sent, send nothing" },
} as const satisfies Flags;

/** @throws UsageError, DocumentError in one line. */
function readReport(path: string): Report {
  const name = printable(path, 200);
  const cannotRead = `the report, which --output json=FILE writes: ${name} cannot be read`;
  return parseReport(readBytes(path, cannotRead), path);
}

/** @throws UsageError, DocumentError in one line. */
function readContent({ values, positionals: [path, ...more] }: Parsed<typeof flags>): Report | NotReviewed {
  const notReviewed = values["not-reviewed"];
  if (notReviewed === undefined) {
    if (path !== undefined && more.length === 0) return readReport(path);
    throw new UsageError("PP5004", "post takes one report: write it with review --output json=report.json");
  }
  if (path !== undefined)
    throw new UsageError("PP5003", "--not-reviewed conflicts with a report; give only one of them");
  if (values.summary)
    throw new UsageError("PP5003", "--summary needs a report; leave it out with --not-reviewed");
  if (values.marker === undefined) {
    throw new UsageError("PP5003", "--not-reviewed needs --marker: the one that the review is posted with");
  }
  return { notReviewed, marker: values.marker };
}

export const command = defineCommand(
  {
    name: "post",
    usage: [
      "<report.json> --to WHERE [options]",
      "--not-reviewed REASON --marker KEY --to WHERE",
      "--check --to github-pr",
    ],
    about:
      "Posts a report that review, drift or verify wrote with --output json=report.json: for a job that may write comments, " +
      "and runs no code of the pull request. The report is checked and its names are escaped. A post that fails is a " +
      "warning: exit code 0. A check that fails has exit code 4.",
    arguments: ["report.json"],
    flags,
    exitCodes: ["clean", "error", "usage", "incomplete"],
  },
  postReport,
);
export const { main } = command;

/** @throws UsageError where another option or a report stands beside it. */
async function check({ values, positionals }: Parsed<typeof flags>): Promise<number> {
  const others = ["not-reviewed", "marker", "source-root", "page-url"] as const;
  const isOther = others.some((name) => values[name] !== undefined) || values.summary || values["dry-run"];
  if (values.to !== "github-pr" || isOther || positionals.length > 0)
    throw new UsageError("PP5003", "--check takes no report, and no other option than --to github-pr");
  try {
    const number = await checkPullRequest(readEnvironment());
    log(`pulumi-platform: --check: pull request #${number} into the default branch`);
    return exitCodes.clean;
  } catch (error) {
    log(`pulumi-platform: --check: ${printableMessage(error)}`);
    return exitCodes.incomplete;
  }
}

/** @throws UsageError, DocumentError in one line. */
async function postReport(parsed: Parsed<typeof flags>): Promise<number> {
  const { values } = parsed;
  if (values.check) return await check(parsed);
  const host = values.to;
  if (host === undefined) throw new UsageError("PP5004", `--to must be one of ${postHosts.join(", ")}`);
  const content = readContent(parsed);
  const sourceRoot = values["source-root"];
  const pageUrl = readPageUrl(values["page-url"]);
  if (values.summary && "tool" in content) writeSummary(content, { sourceRoot, pageUrl });
  await post(content, {
    host,
    marker: values.marker,
    sourceRoot,
    pageUrl,
    dryRun: values["dry-run"],
    env: readEnvironment(),
    log,
  });
  return exitCodes.clean;
}
