import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readRepository, readRunUrl, webAddress } from "../../../../provider/cli/input/repository";
import { parseFlags } from "../../../../provider/cli/framework/flags";
import { provenanceFlags, readProvenance } from "../../../../provider/cli/input/provenance";
import { inventoryOf } from "../../../support/documents";
import { temporaryFolder } from "../../../support/folders";

const github = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "acme/access",
  GITHUB_RUN_ID: "17",
};
const gitlab = {
  CI_PROJECT_URL: "https://git.example/acme/sub/access",
  CI_PIPELINE_URL: "https://git.example/acme/sub/access/-/pipelines/3",
};

test("GitHub Actions and GitLab CI name the repository and the run", () => {
  expect(readRepository(github)).toEqual({ host: "github", url: "https://github.com/acme/access" });
  expect(readRunUrl(github)).toBe("https://github.com/acme/access/actions/runs/17");
  expect(readRepository(gitlab)).toEqual({ host: "gitlab", url: gitlab.CI_PROJECT_URL });
  expect(readRunUrl(gitlab)).toBe(gitlab.CI_PIPELINE_URL);
  expect([readRepository({}), readRunUrl({})]).toEqual([undefined, undefined]);
});

test.each([
  { ...github, GITHUB_SERVER_URL: "javascript:alert(1)//" },
  { ...github, GITHUB_SERVER_URL: "https://user:secret@github.com" },
  { ...github, GITHUB_SERVER_URL: "https://github.com?x=" },
  { ...github, GITHUB_REPOSITORY: "acme/../evil" },
  { ...github, GITHUB_REPOSITORY: "../evil" },
  { ...github, GITHUB_REPOSITORY: 'acme/"onclick' },
  { CI_PROJECT_URL: "data:text/html,x", CI_PIPELINE_URL: "file:///etc/passwd" },
  { CI_PROJECT_URL: "no address", CI_PIPELINE_URL: "" },
])("an address that is not http or https gives no link: %j", (env) => {
  expect([readRepository(env), readRunUrl(env)]).toEqual([undefined, undefined]);
});

test("a run without a number gives no link", () => {
  expect(readRunUrl({ ...github, GITHUB_RUN_ID: "17/../../x" })).toBeUndefined();
});

test("an address is percent-encoded", () => {
  expect(webAddress('https://reports.example/a b"<x>.html?y=1')).toBe(
    "https://reports.example/a%20b%22%3Cx%3E.html?y=1",
  );
  expect(webAddress("ftp://reports.example")).toBeUndefined();
});

const now = new Date("2026-03-01T00:10:00Z");
const sha = "a".repeat(40);
const head = "b".repeat(40);

describe("the provenance of a report", () => {
  const folder = temporaryFolder();

  it.each([
    ["of its own commit, not of the merge", { pull_request: { head: { sha: head } } }],
    ["of the commit whose run started this one", { workflow_run: { head_sha: head } }],
  ])("is that %s on GitHub", (_which, event) => {
    const file = join(folder, "event.json");
    writeFileSync(file, JSON.stringify(event));
    const env = { GITHUB_SHA: sha, GITHUB_EVENT_PATH: file };
    expect(readProvenance({}, { now }, env).commit).toBe(head);
  });

  it.each([
    [
      "a merged result of GitLab",
      { CI_COMMIT_SHA: sha, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head, CI_MERGE_REQUEST_IID: "9" },
      { commit: head, pullRequest: "9" },
    ],
    ["no event", { GITHUB_SHA: sha, GITHUB_REF: "refs/pull/7/merge" }, { commit: sha, pullRequest: "7" }],
    ["a push to GitHub", { GITHUB_SHA: sha, GITHUB_REF: "refs/heads/main" }, { commit: sha }],
    ["GitLab", { CI_COMMIT_SHA: sha, CI_MERGE_REQUEST_IID: "9" }, { commit: sha, pullRequest: "9" }],
    ["values that are none", { GITHUB_SHA: "x; rm", CI_MERGE_REQUEST_IID: "../1" }, {}],
    ["an event that cannot be read", { GITHUB_EVENT_PATH: "/none", GITHUB_SHA: sha }, { commit: sha }],
  ])("is that of %s", (_where, env, expected) => {
    const { commit, pullRequest } = readProvenance({}, { now }, env);
    expect({ ...(commit && { commit }), ...(pullRequest && { pullRequest }) }).toEqual(expected);
  });

  it("reads the flags first, and has the age of the inventory", () => {
    const inventory = { ...inventoryOf(""), takenAt: "2026-03-01T00:00:00Z" };
    const flags = { commit: head, "pull-request": "3" };
    expect(readProvenance(flags, { now, inventory, cli: "v3.230.0" }, { GITHUB_SHA: sha })).toMatchObject({
      commit: head,
      pullRequest: "3",
      time: now.toISOString(),
      cli: "v3.230.0",
      inventoryAgeSeconds: 600,
    });
    const later = { ...inventory, takenAt: "2026-03-02T00:00:00Z" };
    expect(readProvenance({}, { now, inventory: later }, {}).inventoryAgeSeconds).toBe(0);
  });

  it.each([
    [["--commit", "main"], '--commit must be a commit in hex, as in 1f2e3d4c, not "main"'],
    [["--pull-request", "#3"], '--pull-request must be a number, as in 12, not "#3"'],
  ])("refuses %j", (argv, message) => {
    expect(() => parseFlags("review", provenanceFlags, argv)).toThrow(message);
  });
});
