import { chmodSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../../../provider/cli/input/connection";
import { temporaryFolder } from "../../../support/folders";
import { pulumiEnvironment } from "../../../../provider/cli/input/backend";

const { env: ofProcess } = process;
afterEach(() => {
  process.env = ofProcess;
});

test("a command without a stack and without an address names both ways to give it", async () => {
  process.env = { PLATFORM_TOKEN: "token" };
  await expect(openConnection()).rejects.toThrow(
    "the address of the API is missing: set PLATFORM_BASE_URL, or name a stack that has it with --stack",
  );
});

test("a stack whose configuration cannot be read is named", async () => {
  process.env = { PLATFORM_TOKEN: "token", PATH: "/nowhere" };
  await expect(openConnection({ stack: "acme/access/prod" })).rejects.toMatchObject({
    errorCode: "PP2005",
    message: expect.stringContaining('the configuration of stack "acme/access/prod" cannot be read'),
  });
});

test.each([
  ["error: no stack named 'prod' found", "pulumi config --json .* ended with 6: no stack named \"?'prod"],
  [
    "error: organization name must be 'organization'",
    "a bucket or a folder has no organisations: write organization/access/prod, or prod in the folder of its project",
  ],
  [
    "error: pass the fully qualified name",
    "there is no Pulumi project in .* or above it: run the command in the folder",
  ],
  ["", "ended with 6$"],
])("what the CLI says of it is in the message: %j", async (said, message) => {
  const folder = temporaryFolder();
  const script = `#!/bin/sh\nprintf %s "${said}" >&2\nexit 6\n`;
  writeFileSync(join(folder, "pulumi"), script, { mode: 0o755 });
  process.env = { PATH: folder, PLATFORM_TOKEN: "token" };
  const opening = openConnection({ stack: "acme/access/prod", cwd: folder });
  await expect(opening).rejects.toThrow(new RegExp(message));
});

test("a folder that is not there is named, and not taken for a missing CLI", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "pulumi"), "#!/bin/sh\n", { mode: 0o755 });
  process.env = { PATH: folder, PLATFORM_TOKEN: "token" };
  const opening = openConnection({ stack: "prod", cwd: join(folder, "nowhere") });
  await expect(opening).rejects.toThrow(/ended with ENOENT: there is no folder \S+nowhere$/);
});

test("what is wrong in the settings of a stack is said, also where another one is then missing", async () => {
  const folder = temporaryFolder();
  const lines: string[] = [];
  const config = {
    "platform:baseURL": { value: "https://api.example.com" },
    "platform:token": { value: "token", secret: false },
  };
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\necho '${JSON.stringify(config)}'\n`);
  chmodSync(join(folder, "pulumi"), 0o755);
  process.env = { PATH: folder, PLATFORM_TOKEN: "token" };
  const opening = openConnection({ stack: "prod", cwd: folder, note: (line) => lines.push(line) });
  await expect(opening).rejects.toMatchObject({ errorCode: "PP2001" });
  expect(lines).toEqual([
    "platform:baseURL is no setting and has no effect; did you mean platform:baseUrl?",
    expect.stringMatching(
      /^platform:token is plain text in the file of the stack: run pulumi config set --secret/,
    ),
  ]);
});

/* Which backend a command asks for the state, and so where its token goes; `initBackend.test.ts` has the other cases. */

const CLOUD = "https://pulumi.acme.example";
const OTHER = "https://other.example";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, "home"));
});

const logIn = (...logins: readonly string[]): void => {
  const accounts = Object.fromEntries(logins.map((login) => [login, { accessToken: "canary" }]));
  writeFileSync(join(folder, "home", "credentials.json"), JSON.stringify({ current: logins[0], accounts }));
};

/** The backend of a command in a project that names one, on a machine with this environment. */
function backendOf(url: string, env: Readonly<Record<string, string>> = {}, file = "Pulumi.yaml") {
  const project = { name: "infra", runtime: "nodejs", backend: { url } };
  writeFileSync(join(folder, file), JSON.stringify(project));
  const home = { PULUMI_HOME: join(folder, "home") };
  return pulumiEnvironment({ ...home, ...env }, "prod", folder)["PULUMI_BACKEND_URL"];
}

test.each(["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"])(
  "a backend that only %s names is refused, and a login to another one does not confirm it",
  (file) => {
    logIn(OTHER);
    expect(() => backendOf(CLOUD, {}, file)).toThrow(
      expect.objectContaining({
        errorCode: "PP2011",
        message: expect.stringMatching(
          /may not say .*set PULUMI_BACKEND_URL to the same value, or run pulumi login there$/,
        ) as unknown,
      }) as Error,
    );
    expect(() => backendOf("file://./state", {}, file)).toThrow(/may not say/);
  },
);

test("the environment, the current login or another one confirms it; the environment comes first", () => {
  expect(backendOf(CLOUD, { PULUMI_BACKEND_URL: CLOUD })).toBe(CLOUD);
  expect(backendOf(CLOUD, { PULUMI_BACKEND_URL: OTHER })).toBe(OTHER);
  for (const logins of [[CLOUD], [OTHER, CLOUD]]) {
    logIn(...logins);
    expect(backendOf(CLOUD)).toBe(CLOUD);
  }
});

test("plain http is refused, wherever it comes from", () => {
  const plain = "http://backend.example";
  logIn(plain);
  expect(() => backendOf(plain)).toThrow(/^backend\.url of .*plain http would show PULUMI_ACCESS_TOKEN/);
  expect(() => backendOf(plain, { PULUMI_BACKEND_URL: plain })).toThrow(
    /^PULUMI_BACKEND_URL is .*plain http/,
  );
});
