import { readRepository, readRunUrl, webAddress } from "../../../../provider/cli/input/repository";

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
