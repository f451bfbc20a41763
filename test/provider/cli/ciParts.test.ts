import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { ROOT } from "../../support/engine";
import { OWNER, ownActions, readAction, WorkflowRun } from "../../support/githubActions";
import type { Job, Step } from "../../support/githubActions";
import { JobStore, PipelineRun, READ_TOKEN, readComponent, readPipeline } from "../../support/gitlabPipeline";
import { spreadOf } from "../../support/properties";
import type { Values } from "../../support/shell";
import { FakeGitLab } from "./post/hosts";
import { temporaryFolder, writeFiles } from "../../support/folders";

const actions = Object.values(ownActions).map((folder) => {
  const { inputs, outputs = {}, runs } = readAction(folder);
  return { name: `actions/${basename(folder)}`, inputs, outputs, runs };
});
const components = ["review", "deploy", "drift"].map((name) => ({
  name: `templates/${name}`,
  ...readComponent(join(ROOT, "templates", name, "template.yml")),
}));

interface Part {
  readonly name: string;
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
}

/** The inputs that a document names between its brackets. */
const inputsIn = (content: unknown): Set<string> =>
  new Set([...JSON.stringify(content).matchAll(/\binputs\.([\w-]+)/g)].map(([, name = ""]) => name));

describe("the parts for CI declare what they use", () => {
  test.each<Part>([...actions, ...components])(
    "$name uses each of its inputs, and no other",
    ({ inputs, ...more }) => {
      expect(inputsIn(more)).toEqual(new Set(Object.keys(inputs)));
    },
  );

  test.each(actions)("$name has inputs that are required or have a default", ({ inputs }) => {
    const wrong = Object.entries(inputs).filter(
      ([, input]) => (input.required === true) === (input.default !== undefined),
    );
    expect(wrong).toEqual([]);
  });

  test.each<Part>([...actions, ...components])("docs/ci.md has the inputs of $name", ({ name, inputs }) => {
    const page = readFileSync(join(ROOT, "docs", "ci.md"), "utf8");
    const [, section = ""] = page.split(new RegExp(`^#### \`${name}\`$`, "m"));
    const cells = (section.split(/^#/m)[0] ?? "")
      .split("\n")
      .filter((line) => /^\| `/.test(line))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    const described = Object.entries(inputs).map(([input, { description, default: value }]) => [
      `\`${input}\``,
      description,
      value === undefined ? "required" : value === "" ? "none" : `\`${value}\``,
    ]);
    expect(cells.map((line) => line.slice(1, 4))).toEqual(described);
  });
});

test.each(components)(
  "each job of $name is for merge requests, or for the default branch alone",
  ({ jobs }) => {
    const conditions = Object.values(jobs).flatMap(({ rules = [] }) => rules.map((rule) => rule.if));
    expect(conditions).not.toEqual([]);
    for (const condition of conditions)
      expect(condition).toMatch(/== "merge_request_event"|&& \$CI_COMMIT_BRANCH == \$CI_DEFAULT_BRANCH$/);
  },
);

test.each(actions.filter(({ name }) => name !== "actions/preview"))(
  "$name first refuses a branch that is not the default one",
  ({ runs }) => {
    expect(runs.steps[0]).toMatchObject({
      if: "github.event_name != 'schedule' && github.ref != format('refs/heads/{0}', github.event.repository.default_branch)",
      run: expect.stringMatching(/\nexit 1\n$/) as string,
    });
  },
);

let scratch: string;
let calls: string;
let environment: Values;
const gitlab = new FakeGitLab();

/** Stands in for a command: records its arguments. */
const RECORDER = `#!/bin/bash
printf '%s\\0' "\${0##*/}" "$@" $'\\x1e' >> "$CALLS"
for arg in "$@"; do
  if [ "$before" = --save-plan ]; then printf '{}' > "$arg"; fi
  before=$arg
done
case "\${0##*/} $1" in
  "git clone") mkdir "\${!#}/$ACCESS_FOLDER" && touch "\${!#}/$ACCESS_FOLDER/package-lock.json" ;;
  "npm ci") mkdir -p node_modules && cp -r "$INSTALLED" node_modules ;;
esac
`;

/** Stands in for our command: records its arguments, and writes what its options name. */
const OUR_RECORDER = `
const { appendFileSync, writeFileSync } = require("fs");
const args = process.argv.slice(2);
appendFileSync(process.env.CALLS, ["ours", ...args, "\\x1e"].map((text) => text + "\\0").join(""));
for (const arg of args) if (arg.startsWith("json=")) writeFileSync(arg.slice("json=".length), '{"digest":"0"}');
`;

beforeAll(async () => {
  await gitlab.start();
  scratch = temporaryFolder();
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  for (const command of ["npx", "npm", "pulumi", "git", "intruder"])
    writeFileSync(join(bin, command), RECORDER, { mode: 0o755 });
  const installed = join(scratch, "pulumi-platform");
  const files = {
    "package.json": '{ "main": "dist/provider/index.js" }',
    "dist/provider/index.js": "",
    "dist/provider/cli/main.js": OUR_RECORDER,
  };
  writeFiles(installed, files);
  calls = join(scratch, "calls");
  environment = {
    PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
    CALLS: calls,
    INSTALLED: installed,
  };
});

beforeEach(() => {
  writeFileSync(calls, "");
});

afterAll(async () => {
  await gitlab.stop();
});

const HOSTILE = [
  "main$(intruder)",
  "main`intruder`",
  'main"; intruder; "',
  "main'; intruder; '",
  "main\nintruder\n",
  "main & intruder | intruder",
  "main $PATH ${HOME} ~ *",
];

/** Nothing of the value ran, and these options got it as it was given. */
function expectHarmless(value: string, inputs: readonly string[]): void {
  const recorded = readFileSync(calls, "utf8")
    .split("\x1e\0")
    .map((call) => call.split("\0"));
  expect(recorded.map(([command]) => command)).not.toContain("intruder");
  const ours = recorded.filter(([command]) => command === "ours").flat();
  for (const input of inputs) expect(ours).toContain(`--${input}=${value}`);
}

async function runAction(name: string, inputs: Values, ref = "refs/heads/main"): Promise<string> {
  const uses = `${OWNER}/pulumi-platform/actions/${name}@v0.1.0`;
  const step: Step = { uses, with: inputs };
  const job: Job = { permissions: {}, steps: [step] };
  const event = { repository: { default_branch: "main" } };
  const results = await new WorkflowRun(
    { on: {}, permissions: {}, jobs: { job } },
    {
      contexts: { github: { event, event_name: "push", ref, sha: "0", run_id: 1 } },
      composites: ownActions,
      actions: {
        "actions/checkout": (_, { workspace }) => {
          const folder = join(workspace, inputs["working-directory"] ?? ".");
          mkdirSync(folder, { recursive: true });
          writeFileSync(join(folder, "package-lock.json"), "{}");
          return undefined;
        },
        "actions/setup-node": () => undefined,
        "pulumi/actions": () => undefined,
        "actions/upload-artifact": () => undefined,
        "actions/download-artifact": (_, { temp }) => {
          writeFiles(temp, { "access-preview/plan.json": "{}", "access-report/report.json": "{}" });
          return undefined;
        },
      },
      environment: () => environment,
      token: () => "token",
      env: {},
      scratch,
    },
  ).run();
  return `${results["job"]?.result ?? ""} ${results["job"]?.log ?? ""}`;
}

const withValue = (name: string, value: string): Values =>
  Object.fromEntries(Object.keys(readAction(join(ROOT, "actions", name)).inputs).map((key) => [key, value]));

/** Each part with the values that this run tries with it: all of them are tried with some part. */
const withHostile = <T extends readonly unknown[]>(...parts: readonly T[]) =>
  parts.flatMap((part, i) => spreadOf(HOSTILE, 2, i).map((value) => [value, ...part] as const));

describe("the value", () => {
  const ofActions = withHostile<readonly [string, Values, readonly string[]]>(
    ["preview", {}, []],
    ["review", {}, ["root", "commit", "policy", "fail-on", "source-root"]],
    ["post", {}, ["marker", "to", "source-root"]],
    ["post", { artifact: "" }, ["not-reviewed", "marker", "to"]],
    ["drift", {}, ["stack", "policy", "fail-on", "source-root"]],
    ["verify", {}, ["stack", "digest", "source-root"]],
  );
  test.each(ofActions)(
    "%j runs nothing as an input of the action %s (%j)",
    async (value, name, more, flags) => {
      const log = await runAction(name, { ...withValue(name, value), ...more });
      expect(log).toMatch(/^success /);
      expectHarmless(value, flags);
    },
  );

  test.each(withHostile(["merge_request_event"], ["push"], ["schedule"]))(
    "%j runs nothing as an input of the components (%s)",
    async (value, source) => {
      const names = ["stack", "working-directory", "base-url", "issuer-url", "policy", "image"];
      const inputs = Object.fromEntries(names.map((name) => [name, value]));
      const pipeline = readPipeline(join(ROOT, "examples", "ci", "gitlab-ci.yml"), inputs);
      const jobs = (gitlab.jobs = new JobStore(scratch));
      const { results } = await new PipelineRun(pipeline, {
        jobs,
        predefined: {
          CI_API_V4_URL: gitlab.env["CI_API_V4_URL"] ?? "",
          CI_PIPELINE_SOURCE: source,
          CI_DEFAULT_BRANCH: value,
          CI_COMMIT_BRANCH: value,
          CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "12",
          CI_PROJECT_ID: "12",
          CI_COMMIT_SHA: value,
          CI_REPOSITORY_URL: value,
        },
        project: { GITLAB_TOKEN: [{ value: READ_TOKEN, scope: "access-review" }] },
        token: () => "token",
        checkout: (folder) => {
          mkdirSync(join(folder, value));
          writeFileSync(join(folder, value, "package-lock.json"), "{}");
        },
        tools: () => environment,
        scratch,
      }).run();
      const failed = Object.entries(results).filter(([, { result }]) => result === "failure");
      expect(failed).toEqual([]);
      expectHarmless(value, source === "merge_request_event" ? ["commit", "policy", "marker"] : ["stack"]);
    },
  );
});

test("without fail-on, the policy file decides what fails a review", async () => {
  expect(await runAction("review", { ...withValue("review", "main"), "fail-on": "" })).toMatch(/^success /);
  expect(readFileSync(calls, "utf8")).toContain("--policy=main");
  expect(readFileSync(calls, "utf8")).not.toContain("fail-on");
  for (const { name, inputs } of [...actions, ...components])
    if (name.endsWith("/review")) expect(inputs["fail-on"]).toMatchObject({ default: "" });
});

test.each(["review", "post", "drift", "verify"])(
  "the action %s runs nothing on the branch of a pull request",
  async (name) => {
    const log = await runAction(name, withValue(name, "main"), "refs/pull/7/merge");
    expect(log).toMatch(/^failure /);
    expect(log).toContain("this action must run on the default branch");
    expect(readFileSync(calls, "utf8")).toBe("");
  },
);
