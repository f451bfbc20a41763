import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/engine";
import { run } from "../support/project";

const TOKEN = "pul-canary-5d1f0c";
const scratch = mkdtempSync(join(tmpdir(), "pulumi-platform-backend-"));
const program = join(scratch, "infra");

/** The authorization of each request that arrives; every one is refused. */
const authorizations: (string | undefined)[] = [];
const server = createServer(({ headers }, response) => {
  authorizations.push(headers.authorization);
  response.writeHead(401, { "Content-Type": "application/json" }).end("{}");
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(program);
  writeFileSync(join(program, "index.js"), "");
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(scratch, { recursive: true, force: true });
});
beforeEach(() => authorizations.splice(0));

const COMMANDS: readonly (readonly string[])[] = [
  ["drift", "--stack", "acme/infra/prod", "--root", "acme"],
  ["watch", "--stack", "acme/infra/prod", "--group", "0".repeat(40), "--issuer", "https://issuer.example"],
  ["inventory", "--stack", "acme/infra/prod", "--root", "acme"],
  ["whoami", "--stack", "acme/infra/prod"],
  ["doctor", "--stack", "acme/infra/prod"],
  ["adopt", "--root", "acme", "--out", ".", "--stack", "acme/infra/prod"],
];

/** Runs a command in the folder of the program, on a machine that is logged in to some backends. */
async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  logins: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  const home = mkdtempSync(join(scratch, "home-"));
  const accounts = Object.fromEntries(logins.map((login) => [login, { accessToken: TOKEN }]));
  writeFileSync(join(home, "credentials.json"), JSON.stringify({ current: logins[0], accounts }));
  const path = `${process.env["PULUMI_PLATFORM_CLI_DIR"] ?? ""}:${process.env["PATH"] ?? ""}`;
  const settings = { PATH: path, PULUMI_HOME: home, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const main = join(ROOT, "dist", "provider", "cli", "main.js");
  return await run(process.execPath, [main, ...args], {
    cwd: program,
    env: { ...settings, PLATFORM_BASE_URL: "http://127.0.0.1:9", PLATFORM_TOKEN: "token", ...env },
  });
}

function writeProject(name: string, address: string): void {
  for (const other of ["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"])
    rmSync(join(program, other), { force: true });
  const text = `{ "name": "infra", "runtime": "nodejs", "backend": { "url": "${address}" } }`;
  writeFileSync(join(program, name), text);
}

test.each(COMMANDS)(
  "%s does not send the token to a backend that only the project names",
  async (...args) => {
    writeProject("Pulumi.yaml", url);
    const { code, output } = await runCommand(args, { PULUMI_ACCESS_TOKEN: TOKEN });
    expect(code).not.toBe(0);
    expect(output).toContain(`infra/Pulumi.yaml is "${url}", and a project file alone may not say`);
    expect(output).toContain("set PULUMI_BACKEND_URL to the same value, or run pulumi login there");
    expect(output).toContain("PP2011");
    expect(output).not.toContain(TOKEN);
    expect(authorizations).toEqual([]);
  },
);

const INVENTORY = COMMANDS[2] ?? [];

test.each(["Pulumi.json", "Pulumi.yaml", "Pulumi.yml"])(
  "%s is refused too, and a login to another backend does not confirm this one",
  async (name) => {
    writeProject(name, url);
    const { output } = await runCommand(INVENTORY, { PULUMI_ACCESS_TOKEN: TOKEN }, ["https://other.example"]);
    expect(output).toContain("(PP2011)");
    expect(authorizations).toEqual([]);
  },
);

test.each<[string, (to: string) => readonly [Record<string, string>, readonly string[]]]>([
  ["the environment", (to) => [{ PULUMI_BACKEND_URL: to, PULUMI_ACCESS_TOKEN: TOKEN }, []]],
  ["the current login", (to) => [{}, [to]]],
  ["another login", (to) => [{}, ["https://other.example", to]]],
])("%s confirms the backend, which then gets the token", async (_, confirm) => {
  writeProject("Pulumi.yaml", url);
  const { output } = await runCommand(INVENTORY, ...confirm(url));
  expect(output).not.toContain("PP2011");
  expect(authorizations).toContain(`token ${TOKEN}`);
});

test("the backend of the environment comes before that of the project", async () => {
  writeProject("Pulumi.yaml", "https://stranger.example");
  const env = { PULUMI_BACKEND_URL: url, PULUMI_ACCESS_TOKEN: TOKEN };
  expect((await runCommand(INVENTORY, env)).output).not.toContain("PP2011");
  expect(authorizations).toContain(`token ${TOKEN}`);
});

test("a state in the repository is refused as well", async () => {
  writeProject("Pulumi.yaml", "file://./state");
  expect((await runCommand(INVENTORY, {})).output).toContain("(PP2011)");
});

test.each<[string, (address: string) => readonly [Record<string, string>, readonly string[]]]>([
  ["PULUMI_BACKEND_URL", (address) => [{ PULUMI_BACKEND_URL: address }, []]],
  ["backend.url of", (address) => [{}, [address]]],
])("plain http is refused: %s", async (name, confirm) => {
  const address = "http://backend.example";
  writeProject("Pulumi.yaml", address);
  const { output } = await runCommand(INVENTORY, ...confirm(address));
  expect(output).toContain(name);
  expect(output).toContain(`is "${address}": plain http would show PULUMI_ACCESS_TOKEN`);
  expect(output).toContain("(PP2011)");
});
