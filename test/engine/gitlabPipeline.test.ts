import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FakeGitLab } from "../provider/cli/post/hosts";
import { benign, BROKEN, hijackedPackage, programText, risky } from "./support/accessRepository";
import type { Files } from "./support/accessRepository";
import {
  AccessFixture,
  expectNoCommandIn,
  expectNoCommandOfDependency,
  STACK,
} from "./support/accessWorkflows";
import { JobStore, PipelineRun, READ_TOKEN, readPipeline } from "../support/gitlabPipeline";
import type { Pipeline } from "../support/gitlabPipeline";
import { writeInitWorkflows } from "../support/initWorkflows";
import { jwt, OIDC_ISSUER } from "../support/oidc";

const SUBJECT = "project_path:acme/access:ref_type:branch:ref:change";
const SECRET = "glpat-canary";

let scratch: string;
let fixture: AccessFixture;
let gitlab: FakeGitLab;
let canary: string;
let identity: string;
let deployer: string;
/** As `init` writes it; a unit test says that the one of the examples has the same jobs. */
let pipeline: Pipeline;
let branches = 0;
/** The pipeline of the change without danger, of which others take the first jobs. */
let passed: PipelineRun | undefined;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "pulumi-platform-pipeline-"));
  canary = join(scratch, "canary");
  fixture = await AccessFixture.start(scratch);
  identity = await fixture.identityFor(SUBJECT);
  deployer = await fixture.identityFor(SUBJECT, fixture.program.owner);
  const [organization = ""] = STACK.split("/");
  const written = join(writeInitWorkflows(join(scratch, "init"), { organization }), "gitlab-ci.yml");
  setAddresses(written);
  pipeline = readPipeline(written);
});

afterAll(async () => {
  await fixture.close();
  rmSync(scratch, { recursive: true, force: true });
});

beforeEach(async () => {
  gitlab = new FakeGitLab();
  await gitlab.start();
});

afterEach(async () => {
  fixture.emulator.clearFaults();
  rmSync(canary, { force: true });
  expectNoCommandOfDependency(fixture);
  await gitlab.stop();
});

/** `init` writes no address of its own machine into a file; these jobs run there. */
function setAddresses(file: string): void {
  const standIns = /https:\/\/(api|issuer)\.platform\.example/g;
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(standIns, fixture.emulator.url));
}

/** Runs the pipeline of a merge request, or of another event, with these files. */
async function pipelineFor(
  files: Files,
  {
    sourceProject = "12",
    source = "merge_request_event",
    recorded = [] as readonly string[],
    kept = undefined as string | undefined,
  } = {},
): Promise<PipelineRun & { commit: string }> {
  const branch = `change-${(branches += 1)}`;
  const commit = fixture.repository.branch(branch, files);
  gitlab.newest = commit;
  const { GITLAB_TOKEN: token = "", ...host } = gitlab.env;
  const forAll = (value: string) => [{ value, scope: "*" }];
  const settings = Object.fromEntries(
    Object.entries(fixture.backend).map(([key, value]) => [
      key,
      ["access-preview", "production"].map((scope) => ({ value, scope })),
    ]),
  );
  const store = (gitlab.jobs = new JobStore(scratch));
  const run = new PipelineRun(pipeline, {
    jobs: store,
    ...(kept !== undefined && { kept }),
    predefined: {
      ...host,
      CI_PIPELINE_SOURCE: source,
      CI_DEFAULT_BRANCH: source === "push" ? branch : "main",
      ...(source === "merge_request_event" ? {} : { CI_COMMIT_BRANCH: source === "push" ? branch : "main" }),
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: sourceProject,
      CI_MERGE_REQUEST_PROJECT_ID: "12",
      CI_COMMIT_SHA: commit,
      CI_REPOSITORY_URL: `file://${fixture.repository.origin}`,
    },
    project: {
      ...settings,
      GITLAB_TOKEN: [
        { value: token, scope: "access-post" },
        { value: READ_TOKEN, scope: "access-review" },
      ],
      PLATFORM_ROOT_GROUP: forAll(fixture.program.org),
      PLATFORM_PREVIEW_IDENTITY: forAll(identity),
      PLATFORM_REVIEW_IDENTITY: forAll(identity),
      PLATFORM_DEPLOY_IDENTITY: forAll(deployer),
    },
    token: (audience) => jwt({ iss: OIDC_ISSUER, sub: SUBJECT, aud: audience }),
    checkout: (folder) => {
      fixture.repository.checkout(branch, folder);
    },
    tools: () => fixture.tools(),
    ...(passed && { recorded: passed.record(...recorded) }),
    scratch,
  });
  return Object.assign(await run.run(), { commit });
}

/** The first job writes the same note of each change. */
const started = { recorded: ["access-start"] };

function outcome({ results }: PipelineRun): Record<string, string> {
  const present = Object.entries(results).filter(([, { result }]) => result !== "absent");
  return Object.fromEntries(present.map(([name, { result }]) => [name, result]));
}

/** The report of the first pipeline, which passed. */
function storedReport(): Promise<string> {
  const { stored } = passed!.record("access-review")["access-review"]!;
  const report = stored.dotenv?.["ACCESS_REPORT"] ?? "";
  return readFile(join(stored.artifacts ?? "", report), "utf8");
}

function note(): string {
  expect(gitlab.notes).toHaveLength(1);
  return gitlab.notes[0]?.body ?? "";
}

test("a harmless change passes with a note that names its commit", async () => {
  const run = await pipelineFor(benign(fixture.program));
  passed = run;
  expect({ outcome: outcome(run), log: run.results["access-review"]?.log }).toMatchObject({
    outcome: {
      "access-start": "success",
      "access-preview": "success",
      "access-review": "success",
      "access-post": "success",
      "access-gate": "success",
    },
  });
  expect(note()).toContain("Passes");
  expect(note()).toContain(run.commit);
});

test("a dangerous change fails with its findings, sees no GitLab token, and cannot influence the review", async () => {
  const record = `require("fs").appendFileSync(${JSON.stringify(canary)}, (process.env.CI_JOB_NAME ?? "none") + " " + JSON.stringify(process.env) + "\\n");`;
  const run = await pipelineFor({ ...risky(fixture.program), ...hijackedPackage(scratch, record) });
  expect(outcome(run)).toMatchObject({
    "access-preview": "success",
    "access-review": "failure",
    "access-post": "success",
    "access-gate": "skipped",
  });
  expect(run.status).toBe("failure");
  expect(note()).toContain("**Fails: ");
  const lines = readFileSync(canary, "utf8").trim().split("\n");
  expect(new Set(lines.map((line) => line.split(" ")[0]))).toEqual(new Set(["access-preview"]));
  expect(lines.join("\n")).not.toContain(SECRET);
  const withToken = Object.entries(run.environments).flatMap(([name, { GITLAB_TOKEN: token }]) =>
    token === undefined ? [] : [[name, token]],
  );
  expect(withToken).toEqual([
    ["access-start", SECRET],
    ["access-review", READ_TOKEN],
    ["access-post", SECRET],
  ]);
});

test("a merge request with a stack file that sets environment variables is not reviewed", async () => {
  const files = { ...benign(fixture.program), "infra/Pulumi.dev.yaml": "environment: [acme/evil]\n" };
  const run = await pipelineFor(files, { recorded: ["access-start", "access-preview"] });
  expect(outcome(run)).toMatchObject({ "access-review": "failure", "access-gate": "skipped" });
  expect(run.results["access-review"]?.log).toMatch(
    /environment of .*infra\/Pulumi\.dev\.yaml: Pulumi ESC sets/,
  );
  expect(note()).toContain("**Not reviewed:** the review wrote no report; its log says why");
});

test("a merge request from a fork is not reviewed, and its program never runs", async () => {
  const record = `require("fs").appendFileSync(${JSON.stringify(canary)}, "ran");\n`;
  const run = await pipelineFor({ "infra/index.js": record }, { sourceProject: "99" });
  expect(outcome(run)).toEqual({ "access-gate": "failure" });
  expect(run.results["access-gate"]?.log).toContain("Not reviewed: a merge request from a fork");
  expect(run.status).toBe("failure");
  expect(existsSync(canary)).toBe(false);
});

test("a preview that failed fails the review, and the note says so", async () => {
  const run = await pipelineFor(BROKEN, started);
  expect(outcome(run)).toMatchObject({
    "access-preview": "failure",
    "access-review": "failure",
    "access-gate": "skipped",
  });
  expect(note()).toMatch(/preview failed/i);
  expect(note()).not.toContain("[31m");
  expectNoCommandIn(run.results["access-preview"]?.log);
});

test("after the merge, the plan that was reviewed is applied, and another job compares the result", async () => {
  const run = await pipelineFor(benign(fixture.program), { source: "push" });
  const logs = Object.values(run.results).map(({ log }) => log);
  expect({ outcome: outcome(run), logs }).toMatchObject({
    outcome: {
      "access-plan": "success",
      "access-plan-review": "success",
      "access-deploy": "success",
      "access-verify": "success",
    },
  });
  const described = fixture.emulator.state()["groups"]?.map(({ description }) => description);
  expect(described).toContain("as it should be");
});

test("an update that computes another role than the report announces is refused before its request", async () => {
  const { org, owner } = fixture.program;
  const lie = `
const harmless = new platform.Role("harmless", { parentUid: ${JSON.stringify(org)}, name: "harmless", capabilities: ["CAP_REPO_LIST"] });
new platform.RoleBinding("lie", {
  parentUid: team.id, identityUid: deployer.id, roleUid: harmless.id.apply(() => ${JSON.stringify(owner)}),
});`;
  const grants = () => fixture.emulator.state()["roleBindings"];
  const before = grants();
  const files = { "infra/index.js": programText(fixture.program, "as it should be", lie) };
  const run = await pipelineFor(files, { source: "push" });
  expect({ outcome: outcome(run), log: run.results["access-deploy"]?.log }).toMatchObject({
    outcome: { "access-plan-review": "success", "access-deploy": "failure" },
    log: expect.stringMatching(
      /not-announced[^]*roleUid is not what the approved report announces: Role harmless/,
    ) as string,
  });
  expect(grants()).toEqual(before);
});

/** Lines of a program that upload files, or variables, for the job that runs it. */
const upload = (type: "archive" | "dotenv", body: string): string => `
  require("child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(`
    const { CI_API_V4_URL: api, CI_JOB_ID: id, CI_JOB_TOKEN: token } = process.env;
    const headers = { "job-token": token, "content-type": "${type === "dotenv" ? "text/plain" : "application/json"}" };
    const body = ${body};
    fetch(api + "/jobs/" + id + "/artifacts?artifact_type=${type}", { method: "POST", headers, body }).then((response) => {
      if (!response.ok) throw new Error(String(response.status));
    });
  `)}], { stdio: "inherit" });
`;

/** What each later job would have in its environment: files that this job names, and a script that Node.js loads first. */
const INTRUDER = "intruder.js";
const hostileEnvironment = (files: Files): string =>
  upload("archive", `JSON.stringify(${JSON.stringify(files)})`) +
  upload(
    "dotenv",
    JSON.stringify(
      `NODE_OPTIONS=--require=./${INTRUDER}\nACCESS_REPORT=forged\nACCESS_DIGEST=0\nACCESS_REASON=forged\n`,
    ),
  );

test("what the program of a preview uploads under other names reaches no job that reviews, posts or decides", async () => {
  const files = {
    [INTRUDER]: `require("fs").appendFileSync(${JSON.stringify(canary)}, process.env.CI_JOB_NAME + "\n");`,
    "access-preview/preview.json": '{"steps":[],"changeSummary":{}}',
    "forged/report.json": "{}",
  };
  const run = await pipelineFor(
    { "infra/index.js": hostileEnvironment(files) + (risky(fixture.program)["infra/index.js"] ?? "") },
    started,
  );
  for (const name of ["access-review", "access-post"]) {
    expect(run.environments[name]).toMatchObject({
      NODE_OPTIONS: expect.not.stringContaining(INTRUDER) as string,
      CI_JOB_NAME: name,
    });
  }
  expect(existsSync(canary)).toBe(false);
  // The forged preview is data, and without its plan nothing passes.
  expect(run.results["access-review"]).toMatchObject({ result: "failure" });
  expect(note()).toContain("**Not reviewed:** there is no plan of this preview");
});

test("a report that the updated program uploads, and each variable with it, is not what its result is compared with", async () => {
  const { org, owner } = fixture.program;
  // An honest plan; the update then makes its identity an owner by a request of its own, and forges what verify reads.
  const attack = `
if (!require("@pulumi/pulumi").runtime.isDryRun()) {
  ${hostileEnvironment({ "forged/report.json": "{}", [INTRUDER]: "process.exit(0);" })}
  const { readdirSync, writeFileSync } = require("fs");
  const folder = process.env.CI_PROJECT_DIR;
  for (const name of readdirSync(folder).filter((one) => one.startsWith("access-report-")))
    writeFileSync(folder + "/" + name + "/report.json", "{}");
  require("child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(`
    const [url, token, parent, roleUid] = process.argv.slice(1);
    const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
    const call = async (method, path, body) =>
      (await fetch(url + path, { method, headers, body: JSON.stringify(body) })).json();
    (async () => {
      const claimMatch = { issuer: "https://ci.example.com", subject: "repo:mallory/x:ref:refs/heads/main" };
      const { uid } = await call("POST", "/iam/v2/identities/" + parent, { name: "intruder", claimMatch });
      await call("POST", "/iam/v2/roleBindings/" + parent, { identityUid: uid, roleUid });
    })();
  `)}, ${JSON.stringify(fixture.emulator.url)}, ${JSON.stringify(fixture.emulator.token)}, ${JSON.stringify(org)}, ${JSON.stringify(owner)}]);
}
`;
  const kept = join(scratch, "kept");
  const run = await pipelineFor(
    { "infra/index.js": attack + programText(fixture.program, "as it should be") },
    { source: "push", kept },
  );
  expect(outcome(run)).toEqual({
    "access-plan": "success",
    "access-plan-review": "success",
    "access-deploy": "success",
    "access-verify": "failure",
  });
  expect(run.environments["access-verify"]?.["NODE_OPTIONS"]).not.toContain(INTRUDER);
  expect(run.environments["access-verify"]?.["ACCESS_REPORT"]).toMatch(/^access-report-\d+$/);
  expect(run.results["access-verify"]?.log).toMatch(/repo:mallory\/x\S+\s+holds\s+owner/);
});

test("what a folder that the runner keeps holds from earlier jobs is neither posted nor taken for a result", async () => {
  const kept = join(scratch, "kept-by-runner");
  const forged = { ...JSON.parse(await storedReport()), findings: [], failing: 0 } as object;
  const names = [1001, 1002, 1003, 1004, 1005, 1006].map((id) => `access-report-${id}`);
  for (const name of [...names, "review", "access-report"]) {
    const files = {
      "report.json": JSON.stringify(forged),
      "result.txt": "success",
      "reason.txt": "forged",
      "result.env": `ACCESS_REPORT=${name}/report.json\n`,
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(kept, name, file)), { recursive: true });
      writeFileSync(join(kept, name, file), text);
    }
  }
  // The review fails before it has written anything.
  fixture.emulator.addFault({ path: "/iam/v2/roleBindings", status: 403, body: { code: 7, message: "no" } });
  const run = await pipelineFor(risky(fixture.program), {
    recorded: ["access-start", "access-preview"],
    kept,
  });
  expect(outcome(run)).toMatchObject({ "access-review": "failure", "access-gate": "skipped" });
  expect(run.status).toBe("failure");
  expect(note()).toContain("**Not reviewed:** the inventory of the organisation failed");
});

test("the nightly comparison fails for what was changed by hand", async () => {
  await fixture.changeByHand();
  const run = await pipelineFor(benign(fixture.program), { source: "schedule" });
  expect(outcome(run)).toEqual({ "access-drift": "failure" });
  expect(run.results["access-drift"]?.log).toContain("by hand");
});
