import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../../../../provider/cli/commands/post";
import { nightDrift, riskyReview } from "../../access/report/render/reports";
import { FakeGitHub } from "../post/hosts";
import { temporaryFolder } from "../../../support/folders";

let folder: string;
let github: FakeGitHub;
let said: string[];
const before = process.env;

beforeEach(async () => {
  folder = temporaryFolder();
  github = new FakeGitHub();
  await github.start();
  process.env = {
    ...before,
    ...github.env,
    GITHUB_REF: "refs/pull/1/merge",
    GITHUB_EVENT_PATH: "",
    GITHUB_ACTIONS: "true",
  };
  delete process.env["GITHUB_GRAPHQL_URL"];
  said = [];
  jest.spyOn(console, "error").mockImplementation((line: string) => {
    said.push(line);
  });
});

afterEach(async () => {
  jest.restoreAllMocks();
  process.env = before;
  await github.stop();
});

const risky = JSON.stringify(riskyReview);
const written = (text: string): string => {
  const file = join(folder, "report.json");
  writeFileSync(file, text);
  return file;
};

test("a report from a file is posted", async () => {
  github.issue("alice", "the pull request", { number: 1, pull_request: {} });
  expect(await main([written(risky), "--to", "github-pr", "--source-root", "infra"])).toBe(0);
  expect(github.issues[0]?.comments[0]?.body).toContain("`infra/index.ts:40`");
  const night = written(JSON.stringify(nightDrift));
  expect(await main([night, "--to", "github-issue", "--marker", "night"])).toBe(0);
  expect(github.issues[1]?.body).toContain("<!-- pulumi-platform:drift:night -->");
});

test("prints a warning if the job has no place for a summary", async () => {
  process.env["GITHUB_STEP_SUMMARY"] = "";
  github.issue("alice", "the pull request", { number: 1, pull_request: {} });
  expect(await main([written(risky), "--to", "github-pr", "--summary"])).toBe(0);
  expect(said).toContainEqual(expect.stringMatching(/warning: --summary: .* \(PP7005\)$/));
});

test.each([
  ["{", "ends in the middle: it was cut off", "PP6001"],
  ["{}", "is not a valid report", "PP6003"],
  [JSON.stringify({ ...riskyReview, findings: [{}] }), "findings[0].id is missing", "PP6003"],
])("refuses a file that is not a report, and posts nothing", async (text, message, errorCode) => {
  const error = { code: "USAGE", errorCode, message: expect.stringContaining(message) };
  await expect(main([written(text), "--to", "github-pr"])).rejects.toMatchObject(error);
  expect(github.seen).toEqual([]);
});

test("posts the reason why nothing was reviewed in place of a report", async () => {
  github.issue("alice", "the pull request", { number: 1, pull_request: {} });
  const argv = ["--marker", "acme/access/prod", "--to", "github-pr"];
  expect(await main([written(risky), ...argv])).toBe(0);
  expect(await main(["--not-reviewed", "the inventory failed", ...argv])).toBe(0);
  const expected = "**Not reviewed:** the inventory failed. What this change does to access is unknown.";
  const bodies = () => github.issues[0]?.comments.map(({ body }) => body);
  expect(bodies()).toEqual([expect.stringContaining(expected)]);
  expect(await main([written(risky), ...argv])).toBe(0);
  expect(bodies()).toEqual([expect.not.stringContaining("Not reviewed")]);
});

const toPull = ["--to", "github-pr"];
test.each([
  [toPull, "post takes one report"],
  [["FILE", "--to", "mail"], "--to must be one of github-pr, github-issue, gitlab-mr"],
  [["/nowhere.json", ...toPull], "/nowhere.json cannot be read"],
  [["FILE", "--not-reviewed", "x", "--marker", "y", ...toPull], "--not-reviewed conflicts with a report"],
  [["--not-reviewed", "x", ...toPull], "--not-reviewed needs --marker"],
  [["--not-reviewed", "x", "--marker", "y", "--summary", ...toPull], "--summary needs a report"],
])("%j is refused in one clear error", async (argv, message) => {
  const file = written(risky);
  await expect(main(argv.map((arg) => (arg === "FILE" ? file : arg)))).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining(message),
  });
});
