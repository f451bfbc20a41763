import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pulumiEnvironment } from "../../../../provider/cli/input/backend";
import { temporaryFolder } from "../../../support/folders";

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
