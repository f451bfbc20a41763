import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readWorkflow, WorkflowRun } from "../support/githubActions";
import type { Job } from "../support/githubActions";
import { evaluate, projectRoot, temporaryFolder, writeProgram } from "./support";

const problems = (...args: unknown[]) =>
  evaluate("release.mjs", `m.releaseProblems(${JSON.stringify(args).slice(1, -1)})`);

const home = "https://github.com/acme/platform";
const named = { version: "1.2.3", repository: home, bugs: home, homepage: home };
const unnamed = ["repository", "bugs", "homepage"].map((name) => `package.json has no ${name}`);

test.each<[string | null, object, string, string[]]>([
  ["v1.2.3", named, "# Changelog\n\n## 1.2.3 (2026-01-01)\n", []],
  ["v1.2.4", named, "## 1.2.3\n", ["the tag is v1.2.4, package.json says 1.2.3"]],
  ["v1.2.3", named, "## 1.2.30\n", ["CHANGELOG.md has no section 1.2.3"]],
  ["v1.2.3", { version: "1.2.3" }, "## 1.2.3\n", unnamed],
  [null, { version: "1.2.3" }, "## 1.2.3\n", []],
])("a release of tag %j of %j with %j has problems or none", async (tag, manifest, changelog, expected) => {
  expect(await problems(tag, manifest, changelog)).toEqual(expected);
});

test("a release is refused while OWNER is left, and each place is named", async () => {
  const places = ["examples/ci/gitlab-ci.yml:2", "docs/ci.md:1"];
  const text = JSON.stringify({
    "examples/ci/gitlab-ci.yml": "include:\n  - component: OWNER/pulumi-platform/review@v1",
    "docs/ci.md": "OWNER/pulumi-platform",
    "README.md": "acme/pulumi-platform",
  });
  expect(await evaluate("release.mjs", `m.ownerPlaces(${text})`)).toEqual(places);
  expect(await problems("v1.2.3", named, "## 1.2.3\n", places)).toEqual([
    expect.stringContaining(places.join(", ")),
  ]);
  expect(await problems(null, named, "## 1.2.3\n", places)).toEqual([]);
});

test("the oldest SDK that CI runs the tests with is that of package.json's range", () => {
  const read = (file: string) => readFileSync(path.join(projectRoot, file), "utf8");
  const [, oldest] = /sdk: \["([\d.]+)", "3"\]/.exec(read(".github/workflows/ci.yml")) ?? [];
  expect(JSON.parse(read("package.json"))).toMatchObject({
    peerDependencies: { "@pulumi/pulumi": `>=${oldest} <4` },
  });
});

test("the nightly run names its seed in each suite that takes one", async () => {
  const suites = (await evaluate("nightly.mjs", "m.suitesOf(77)")) as { env?: object; script: string[] }[];
  const seeded = suites.filter(({ env = {}, script }) => [...Object.values(env), ...script].includes("77"));
  expect(seeded.length).toBeGreaterThanOrEqual(5);
});

const workflowsFolder = path.join(projectRoot, ".github", "workflows");
const workflowNames = readdirSync(workflowsFolder);
const jobsOf = (name: string): [string, Job][] =>
  Object.entries(readWorkflow(path.join(workflowsFolder, name)).jobs);

/** Whether a job can publish something, or get a credential that can. */
const isCredentialed = (job: Job): boolean =>
  job.environment !== undefined ||
  /\bsecrets\b/.test(JSON.stringify(job)) ||
  ["id-token", "contents", "packages", "pages"].some((name) => job.permissions?.[name] === "write");

/** The one command of such a job: npm runs no script of a file that another job has packed. */
const PUBLISH = ["sha256sum --check --strict", "npm publish ./package.tgz --ignore-scripts"];

test.each(workflowNames)("no job of %s has a credential and runs code of the repository", (name) => {
  for (const [job, definition] of jobsOf(name).filter(([, one]) => isCredentialed(one))) {
    const uses = definition.steps.flatMap(({ uses: action = "" }) => action.split("@")[0] ?? "");
    expect({ job, checksOut: uses.includes("actions/checkout") }).toEqual({ job, checksOut: false });
    for (const { run } of definition.steps.filter((step) => step.run !== undefined)) {
      const commands = (run ?? "").trim().split("\n");
      expect(commands).toEqual(PUBLISH.map((command) => expect.stringContaining(command) as string));
    }
  }
});

test("the jobs with a credential are those that publish", () => {
  const found = workflowNames.flatMap((name) =>
    jobsOf(name)
      .filter(([, job]) => isCredentialed(job))
      .map(([job]) => `${name} ${job}`),
  );
  expect(found).toEqual(["release.yml publish", "site.yml deploy"]);
});

/** Runs the workflow of a release up to its end, with a stand-in for npm; the tests of CI do not run. */
async function release(replaced?: string, ref_type = "tag") {
  const scratch = temporaryFolder();
  const bin = path.join(scratch, "bin");
  const calls = path.join(scratch, "calls");
  writeProgram(
    path.join(bin, "npm"),
    `const { appendFileSync, writeFileSync } = require("fs");
     const args = process.argv.slice(2);
     appendFileSync(${JSON.stringify(calls)}, args.join(" ") + "\\n");
     if (args[0] === "pack") writeFileSync(args[args.indexOf("--pack-destination") + 1] + "/x-1.2.3.tgz", "packed");
     if (args[0] === "publish") console.log("published " + require("fs").readFileSync(args[1], "utf8"));`,
  );
  let stored = "";
  const workflow = readWorkflow(path.join(workflowsFolder, "release.yml"));
  const { test: ofCi, ...jobs } = workflow.jobs;
  if (ofCi === undefined) throw new Error("release.yml has no job test");
  const results = await new WorkflowRun(
    { ...workflow, jobs: { test: { ...ofCi, steps: [] }, ...jobs } },
    {
      contexts: { github: { ref_type } },
      actions: {
        "actions/checkout": () => undefined,
        "actions/setup-node": () => undefined,
        "actions/upload-artifact": ({ path: folder = "" }) => {
          expect(readdirSync(folder)).toEqual(["package.tgz"]);
          stored = readFileSync(path.join(folder, "package.tgz"), "utf8");
          return undefined;
        },
        "actions/download-artifact": ({ path: folder = "" }) => {
          mkdirSync(folder);
          writeFileSync(path.join(folder, "package.tgz"), replaced ?? stored);
          return undefined;
        },
      },
      composites: {},
      environment: () => ({ PATH: `${bin}${path.delimiter}${process.env["PATH"] ?? ""}` }),
      token: () => "token",
      env: {},
      scratch,
    },
  ).run();
  return { results, calls: readFileSync(calls, "utf8").trim().split("\n") };
}

const PACKING = ["ci --ignore-scripts", "run build"];

test("a release publishes the file that was packed, with provenance and without scripts", async () => {
  const { results, calls } = await release();
  expect(results["pack"]?.outputs).toEqual({ digest: createHash("sha256").update("packed").digest("hex") });
  expect(results["publish"]).toMatchObject({
    result: "success",
    log: expect.stringContaining("published packed") as string,
  });
  expect(calls).toEqual([
    ...PACKING,
    expect.stringMatching(/^pack --ignore-scripts --pack-destination /),
    "publish ./package.tgz --ignore-scripts --access public --provenance",
  ]);
});

test("a package that was replaced after it was packed is not published", async () => {
  const { results, calls } = await release("replaced");
  expect(results["publish"]).toMatchObject({ result: "failure" });
  expect(calls.filter((call) => call.startsWith("publish"))).toEqual([]);
});

test("without a tag nothing is published, and the digest is there all the same", async () => {
  const { results } = await release(undefined, "branch");
  expect(results["publish"]).toMatchObject({ result: "skipped" });
  expect(results["pack"]?.outputs["digest"]).toMatch(/^[0-9a-f]{64}$/);
});
