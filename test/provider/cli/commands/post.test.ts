import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../../../../provider/cli/commands/post";
import { reportDigest } from "../../../../provider/access/report/report";
import { nightDrift, riskyReview } from "../../access/report/render/reports";
import { FakeGitHub } from "../post/hosts";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

let github: FakeGitHub;

beforeEach(async () => {
  github = new FakeGitHub();
  await github.start();
  github.issue("alice", "the pull request", { number: 1, pull_request: {} });
});
afterEach(() => github.stop());

const file = join(temporaryFolder(), "report.json");
const risky = JSON.stringify({ ...riskyReview, digest: reportDigest(riskyReview) });
const toPull = ["--to", "github-pr"];

/** Runs the command; FILE stands for a file with this text. */
const post = (text: string, ...argv: readonly string[]) => {
  writeFileSync(file, text);
  const env = { ...github.env, GITHUB_REF: "refs/pull/1/merge", GITHUB_ACTIONS: "true" };
  const words = argv.map((word) => (word === "FILE" ? file : word));
  return runCommand(main, words, env);
};
const bodies = () => github.issues[0]?.comments.map(({ body }) => body);

test("a report from a file is posted", async () => {
  expect((await post(risky, "FILE", ...toPull, "--source-root", "infra")).code).toBe(0);
  expect(bodies()).toEqual([expect.stringContaining("`infra/index.ts:40`")]);
  const night = ["FILE", "--to", "github-issue", "--marker", "night"];
  expect((await post(JSON.stringify(nightDrift), ...night)).code).toBe(0);
  expect(github.issues[1]?.body).toContain("<!-- pulumi-platform:drift:night -->");
});

test("prints a warning if the job has no place for a summary", async () => {
  expect(await post(risky, "FILE", ...toPull, "--summary")).toMatchObject(
    ending(0, /warning: --summary: .* \(PP7005\)$/m),
  );
});

test("posts the reason why nothing was reviewed in place of a report", async () => {
  const argv = ["--marker", "acme/access/prod", ...toPull];
  expect((await post(risky, "FILE", ...argv)).code).toBe(0);
  expect((await post("", "--not-reviewed", "the inventory failed", ...argv)).code).toBe(0);
  const expected = "**Not reviewed:** the inventory failed. What this change does to access is unknown.";
  expect(bodies()).toEqual([expect.stringContaining(expected)]);
  expect((await post(risky, "FILE", ...argv)).code).toBe(0);
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
  expect(await post(text, ...argv)).toMatchObject(ending(2, message));
  expect(github.seen).toEqual([]);
});
