import { join } from "node:path";
import { parse } from "yaml";
import type { Job, Workflow } from "../../../support/githubActions";
import { InitFolder } from "../../../support/initFolder";
import { ending } from "../support";

const GITHUB = "git@github.com:acme/access.git";
const GITLAB = "git@gitlab.com:acme/access.git";
const CLOUD = "https://api.pulumi.com";
const SECRET = "canary";
const WHOLE = "   # the whole address, as this command had it";

let folder: InitFolder;
beforeEach(() => {
  folder = new InitFolder();
});

/** What init printed, and the files for CI as one text. */
async function initCi(
  remote: string,
  backend: string | undefined,
  ...argv: readonly string[]
): Promise<{ printed: string; text: string }> {
  folder.repository(remote);
  if (backend !== undefined) folder.env = { PULUMI_BACKEND_URL: backend };
  const printed = await folder.succeed("infra", ...argv);
  const files = Object.entries(folder.files()).filter(([path]) => /\.github|access-ci/.test(path));
  const text = files.map(([, one]) => one).join("\n");
  // Nothing of the templates is left.
  expect(printed + text).not.toMatch(/[«»]|^\s*#(?:if|end)\b/m);
  return { printed, text };
}

const workflowNames = ["access-deploy", "access-drift", "access-preview", "access-review"];

const workflows = (): Workflow[] =>
  workflowNames.map((name) => parse(folder.files()[`.github/workflows/${name}.yml`] ?? "") as Workflow);

/** Jobs that run the Pulumi CLI, or a command of ours that does. */
const isUsingState = ({ steps }: Job): boolean =>
  steps.some(({ run = "" }) => /\bpulumi (preview|up)\b|node "\$cli" (drift|verify)/.test(run));

const PASSPHRASE = "PULUMI_CONFIG_PASSPHRASE";
const LOGIN = "pulumi/auth-actions";
const [AWS, AZURE] = ["aws-actions/configure-aws-credentials", "azure/login"];
const AWS_ROLES = "AWS_DEPLOY_ROLE AWS_PREVIEW_ROLE";
const AWS_KEYS = "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION";
const AZURE_KEYS = "AZURE_STORAGE_ACCOUNT AZURE_STORAGE_KEY";
const AZURE_IDS = "AZURE_SUBSCRIPTION_ID AZURE_TENANT_ID";
const AZURE_CLIENTS = "AZURE_DEPLOY_CLIENT_ID AZURE_PREVIEW_CLIENT_ID";
const GCP = "GCP_DEPLOY_SERVICE_ACCOUNT GCP_PREVIEW_SERVICE_ACCOUNT GCP_WORKLOAD_IDENTITY_PROVIDER";

/**
 * Each with the action that opens it for a job, the names of the variables and secrets of GitHub, in their order, and of
 * GitLab, and its address in the files where that is another one.
 */
const BACKENDS: readonly [
  backend: string,
  action: string,
  github: string,
  gitlab: string,
  written?: string,
][] = [
  [CLOUD, LOGIN, "", "PULUMI_ACCESS_TOKEN", "${{ vars.PULUMI_BACKEND_URL || 'https://api.pulumi.com' }}"],
  ["https://pulumi.acme.example/", LOGIN, "", "PULUMI_ACCESS_TOKEN", "https://pulumi.acme.example"],
  ["s3://acme-state/access?region=eu-west-1&awssdk=v2", AWS, AWS_ROLES, AWS_KEYS],
  ["s3://acme-state", AWS, `${AWS_ROLES} AWS_REGION`, AWS_KEYS],
  ["gs://acme-state", "google-github-actions/auth", GCP, "GOOGLE_CREDENTIALS"],
  ["azblob://state", AZURE, `${AZURE_CLIENTS} AZURE_STORAGE_ACCOUNT ${AZURE_IDS}`, AZURE_KEYS],
  ["azblob://state?storage_account=acme", AZURE, `${AZURE_CLIENTS} ${AZURE_IDS}`, AZURE_KEYS],
];

describe.each(BACKENDS)("the backend %s", (backend, action, ofGitHub, ofGitLab, written = backend) => {
  const isBucket = action !== LOGIN;
  const [github, gitlab] = [ofGitHub, ofGitLab].map((names) => [
    ...names.split(" ").filter(Boolean),
    ...(isBucket ? [PASSPHRASE] : []),
  ]) as [string[], string[]];
  const stack = isBucket ? "organization/infra/prod" : "ORGANIZATION/infra/prod";

  test("is opened in GitHub by each job that uses the state, and by no other", async () => {
    const { printed, text } = await initCi(GITHUB, backend);
    for (const { env } of workflows())
      expect(env).toMatchObject({ STACK: stack, PULUMI_BACKEND_URL: written });
    for (const job of workflows().flatMap(({ jobs }) => Object.values(jobs))) {
      const uses = job.steps.flatMap((step) => step.uses ?? []);
      const login = uses.findIndex((use) => use.startsWith(`${action}@`));
      expect(login !== -1).toBe(isUsingState(job));
      expect(JSON.stringify(job).includes(`secrets.${PASSPHRASE}`)).toBe(isUsingState(job) && isBucket);
      if (login === -1 || !isBucket) continue;
      expect(login).toBe(uses.findIndex((use) => use.startsWith("actions/checkout@")) + 1);
      expect(JSON.stringify(job)).toContain(job.environment === "production" ? "_DEPLOY_" : "_PREVIEW_");
      expect(JSON.stringify(job)).not.toContain("pulumi/auth-actions");
    }
    const lines = text.match(/uses: (?:aws|google|azure)\S*\/.*/g) ?? [];
    for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const named = text.match(/(?<=\b(?:vars|secrets)\.)(?:AWS|GCP|AZURE|PULUMI_CONFIG)_\w+/g) ?? [];
    expect([...new Set(named)].sort()).toEqual(github);
    for (const name of github)
      expect(printed).toMatch(new RegExp(`^  gh (?:variable|secret) set ${name}\\b`, "m"));
    expect(printed).toContain(`\nbackend: ${backend.replace(/\/$/, "")}`);
    expect(printed).toContain("(PULUMI_BACKEND_URL)\n");
    expect(printed.includes("tokens of teams need the edition Enterprise")).toBe(backend === CLOUD);
  });

  test("is in the pipeline of GitLab, with the names of its variables", async () => {
    const { printed, text } = await initCi(GITLAB, backend);
    const pipeline = parse(text) as Record<string, { variables?: Record<string, { value: string }> }>;
    for (const part of ["review", "deploy", "drift"]) {
      expect(pipeline[`.access-${part}-settings`]?.variables).toMatchObject({
        ACCESS_STACK: { value: stack },
        PULUMI_BACKEND_URL: { value: backend === CLOUD ? CLOUD : written },
      });
    }
    for (const name of gitlab)
      for (const scope of ["access-preview", "production --protected"])
        expect(printed).toMatch(new RegExp(`^  glab variable set ${name} .*--scope ${scope}\\b`, "m"));
    if (gitlab.includes("AWS_REGION"))
      expect(printed).toContain(
        ` "${backend.includes("region=") ? "eu-west-1" : "<region of the bucket>"}"\n`,
      );
    expect(text.replaceAll(/\n# /g, " ").split(`${gitlab.join(", ")} (may`)).toHaveLength(3);
    if (isBucket) expect(text).not.toContain("PULUMI_ACCESS_TOKEN");
  });
});

test("a self-hosted Pulumi Cloud gives the token of each job", async () => {
  await initCi(GITHUB, "https://pulumi.acme.example");
  const steps = workflows().flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  const logins = steps.filter(({ uses = "" }) => uses.startsWith("pulumi/auth-actions@"));
  expect(logins).toHaveLength(5);
  for (const login of logins)
    expect(login.with).toMatchObject({ "cloud-url": "https://pulumi.acme.example" });
});

test.each(["file:///home/ada/state", "file://~", "http://127.0.0.1:8080"])(
  "%s is on this machine: nothing is written for CI until the state has another place",
  async (backend) => {
    const { printed, text } = await initCi(GITHUB, backend);
    expect(text).toBe("");
    expect(Object.keys(folder.files())).toContain("infra/index.ts");
    expect(printed).toContain(
      `\nno workflow yet: each names the backend of the state, and CI cannot reach ${backend}\n`,
    );
    expect(printed).toMatch(
      /^ {2}PULUMI_BACKEND_URL=https:\/\/api\.pulumi\.com npx --no pulumi-platform init /m,
    );
    const before = folder.files();
    const { code, stderr } = await folder.init("infra", "--ci", "github");
    expect(stderr).toContain(`--ci github needs a state that CI can reach, and this one is at ${backend}: `);
    expect({ code, files: folder.files() }).toEqual({ code: 2, files: before });
    const later = await initCi(GITHUB, CLOUD);
    expect(later.printed).toContain('add to index.ts: export * from "./ci";');
    expect(later.text).toContain(CLOUD);
  },
);

describe("where it is found:", () => {
  const login = {
    "credentials.json": { current: "s3://of-login", accounts: { "gs://other": { accessToken: SECRET } } },
  };
  const project = (url: string): Record<string, string> => ({
    "infra/Pulumi.yaml": `name: infra\nruntime: nodejs\nbackend:\n  url: ${url}\n`,
  });

  test("nothing names Pulumi Cloud", async () => {
    const { printed } = await initCi(GITHUB, undefined);
    expect(printed).toContain(`backend: ${CLOUD} (the default: this machine has no pulumi login)\n`);
  });

  test("the login of this machine, without its tokens, or the project, which a login confirms", async () => {
    folder.writePulumiHome(login);
    const { printed, text } = await initCi(GITHUB, undefined);
    const credentials = join(folder.pulumiHome, "credentials.json");
    expect(printed).toContain(`backend: s3://of-login (pulumi login, in ${credentials})\n`);
    expect(text).toContain("PULUMI_BACKEND_URL: s3://of-login\n");
    expect(printed + text).not.toContain(SECRET);

    folder = new InitFolder().writePulumiHome(login).write(project("gs://other"));
    const other = await initCi(GITHUB, undefined);
    expect(other.printed).toMatch(
      /backend: gs:\/\/other \(backend\.url of \S*Pulumi\.yaml, and a pulumi login\)\n/,
    );
    expect(other.text).toContain("PULUMI_BACKEND_URL: gs://other\n");
  });

  test("a project that nothing confirms is refused, as review --stack refuses it", async () => {
    folder.writePulumiHome(login).write(project("s3://of-a-pull-request")).repository(GITHUB);
    expect(await folder.init("infra")).toMatchObject(
      ending(2, /^pulumi-platform: backend\.url of .* \(PP2011\)\n$/),
    );
    expect((await folder.init("infra", "--ci", "none")).code).toBe(0);
  });

  test("the environment comes first, and the output names the project's other one", async () => {
    folder.write(project("s3://user:canary@of-project"));
    const { printed, text } = await initCi(GITHUB, "s3://of-environment");
    expect(text).toContain("PULUMI_BACKEND_URL: s3://of-environment\n");
    expect(printed).toContain("Pulumi.yaml names s3://…@of-project, which CI does not use");
    expect(printed + text).not.toContain(SECRET);
  });

  test("the default organization of the login takes the place of a placeholder", async () => {
    folder.writePulumiHome({ "config.json": { backends: { [CLOUD]: { defaultOrg: "acme-cloud" } } } });
    const { printed, text } = await initCi(GITHUB, undefined);
    expect(text).toContain("STACK: acme-cloud/infra/prod\n");
    expect(printed).not.toContain("ORGANIZATION");
  });
});

test.each([
  [GITHUB, "s3://user:canary@acme-state", "s3://acme-state", "user name and password"],
  [GITLAB, "https://canary@pulumi.acme.example", "https://pulumi.acme.example", "user name and password"],
  [GITHUB, "s3://acme-state?region=a&profile=canary", "s3://acme-state?region=a", "profile"],
  [GITLAB, "gs://acme-state?access_id=canary", "gs://acme-state", "access_id"],
  [GITHUB, "s3://acme-state?endpoint=https://u:canary@minio", "s3://acme-state", "endpoint"],
  [GITLAB, "s3://acme-state?region=$(canary)", "s3://acme-state", "region"],
])("in %s, credentials of %s are neither written nor printed", async (remote, backend, written, omitted) => {
  const { printed, text } = await initCi(remote, backend);
  expect(printed).toContain(`the files leave out: ${omitted}\n`);
  expect(text).toMatch(new RegExp(`PULUMI_BACKEND_URL: (\\{ value: ")?${written.replace("?", "\\?")}["\n]`));
  const all = Object.values(folder.files()).join("\n");
  expect(printed + all).not.toContain(SECRET);
});

test.each([
  ["s3://acme-state?region=eu-west-1", "s3://acme-state?region=eu-west-1", "", []],
  ["https://pulumi.acme.example/", "https://pulumi.acme.example", "", ["--ci", "none"]],
  ["file:///srv/acme's state", "file:///srv/acme'\\''s state", "", []],
  ["s3://user:canary@acme-state", "s3://…@acme-state", WHOLE, ["--ci", "none"]],
  ["s3://acme-state?region=a&profile=canary", "s3://acme-state?…", WHOLE, []],
])(
  "%s of the environment is exported before the stack is made, without a secret",
  async (backend, shown, note, argv) => {
    const { printed } = await initCi(GITHUB, backend, ...argv);
    expect(printed).toContain(`\n  export PULUMI_BACKEND_URL='${shown}'${note}\n  pulumi stack init prod\n`);
    expect(printed).not.toContain(SECRET);
  },
);

test.each([
  ["postgres://user:canary@db.acme.example/state", "postgres://…@db.acme.example/state"],
  ["s3://acme state", "s3://acme state"],
])("%s cannot be written: the files read a variable", async (backend, shown) => {
  const { printed, text } = await initCi(GITHUB, backend);
  expect(text).toContain("PULUMI_BACKEND_URL: ${{ vars.PULUMI_BACKEND_URL }}\n");
  expect(printed).toContain(`backend: ${shown} (`);
  expect(printed).toContain("\n  gh variable set PULUMI_BACKEND_URL ");
  expect(printed.includes("add a step that opens this backend")).toBe(backend.startsWith("postgres"));
  expect(printed + text).not.toContain(SECRET);
});

test.each([
  ["secretsprovider: awskms://alias/access\n", "s3://acme-state", false],
  ["encryptionsalt: v1:abc\n", "s3://acme-state", true],
  ["encryptionsalt: v1:abc\n", CLOUD, true],
  ["config: {}\n", CLOUD, false],
])("a stack with %j in %s needs a passphrase: %p", async (configuration, backend, isNeeded) => {
  folder.write({
    "infra/Pulumi.yaml": "name: infra\nruntime: nodejs\n",
    "infra/Pulumi.live.yaml": configuration,
  });
  const { printed, text } = await initCi(GITHUB, backend);
  expect(text.includes(PASSPHRASE)).toBe(isNeeded);
  expect(printed.includes(PASSPHRASE)).toBe(isNeeded);
});
