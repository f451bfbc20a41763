import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main as doctor } from "../../../../provider/cli/commands/doctor";
import { call } from "../../../support/wire";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { temporaryFolder, writeFiles } from "../../../support/folders";
import { exchanging, jwt } from "../../../support/oidc";
import { runCommand } from "../support";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());
const VERSION = Object.getOwnPropertyDescriptor(process, "version") ?? {};

/** The folder of a CLI that runs this script. */
function installPulumi(script: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

/** Runs the command with a CLI, and nothing else, on PATH; returns what it says of each check too. */
async function run(env: Readonly<Record<string, string>> = {}, ...argv: readonly string[]) {
  const PATH = installPulumi("echo v3.230.0");
  const ended = await runCommand(doctor, argv, { PATH, PLATFORM_BASE_URL: emulator.url, ...env });
  const lines = ended.stdout.split("\n").map((line): [string, string] => {
    const [state = "", check = "", ...text] = line.split(/ {2,}/);
    return [check.trim(), `${state}: ${text.join(" ")}`];
  });
  return { ...ended, report: Object.fromEntries(lines) as Partial<Record<string, string>> };
}

describe("doctor", () => {
  test("prints one line for each check if all succeed", async () => {
    const { env } = await exchanging(emulator);
    emulator.clearRequests();
    expect((await run(env)).report).toMatchObject({
      package: expect.stringMatching(/^ok: pulumi-platform \d/) as unknown,
      node: `ok: ${process.version}`,
      sdk: expect.stringMatching(/^ok: @pulumi\/pulumi 3\./) as unknown,
      configuration: `ok: from the environment: the API at ${emulator.url}`,
      address: `ok: ${emulator.url} responds to a ping`,
      tls: "warning: not used: the address is plain http",
      clock: "ok: agrees with the clock of the server",
      token: expect.stringMatching(
        /^ok: from PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN; expires: in (59|60) minutes/,
      ) as unknown,
    });
    const [ping, exchange, list] = emulator.requests;
    expect([ping?.path, exchange?.path, list?.path]).toEqual([
      "/ping/v2/ping",
      "/sts/exchange",
      "/iam/v2/groups",
    ]);
  });

  test("distinguishes a refused token by its exit code, and prints it nowhere", async () => {
    const { code, stdout, report } = await run({ PLATFORM_TOKEN: "canary-token-2236067977" });
    const { access, cli } = report;
    expect(cli).toBe("ok: pulumi v3.230.0");
    expect(access).toMatch(/^wrong: GET \/iam\/v2\/groups: UNAUTHENTICATED \(HTTP 401\)/);
    expect(access).toMatch(/or set a new one with PLATFORM_TOKEN \(PP3401\)$/);
    expect(code).toBe(3);
    expect(stdout).not.toContain("canary");
  });

  test("names the root groups, and prints JSON", async () => {
    const env = { PLATFORM_TOKEN: emulator.token };
    const { access } = (await run(env)).report;
    expect(access).toMatch(/^warning: the API accepts the token, but returns no group: /);
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "acme" });
    expect((await run(env)).report["groups"]).toBe(`ok: acme (${String(uid)})`);
    const { code, stdout } = await run(env, "-o", "json");
    const document = JSON.parse(stdout) as { ok: boolean; checks: object[] };
    expect(document).toMatchObject({ schemaVersion: 1, ok: code === 0 });
    expect(document.checks).toContainEqual(
      expect.objectContaining({ check: "groups", state: "ok", groups: [{ uid, name: "acme" }] }),
    );
  });

  test.each([
    ["nodejs", /^wrong: .* as CommonJS: take the type "module" out of package\.json/],
    ["{ name: nodejs, options: { nodeargs: --import tsx } }", /^$/],
  ])(
    "names a TypeScript program that is an ES module, unless a loader runs it: %s",
    async (runtime, said) => {
      const before = process.cwd();
      process.chdir(temporaryFolder());
      writeFileSync("index.ts", "");
      writeFileSync("package.json", '{ "type": "module" }');
      writeFileSync("Pulumi.yaml", `name: access\nruntime: ${runtime}\n`);
      const { report } = await run().finally(() => process.chdir(before));
      expect(report["typescript"] ?? "").toMatch(said);
    },
  );

  test("names versions that are not supported, and TypeScript where tsconfig.json needs it", async () => {
    const before = process.cwd();
    const folder = temporaryFolder();
    process.chdir(folder);
    writeFileSync("tsconfig.json", '{ "compilerOptions": { "module": "Node16" } }');
    writeFiles(folder, { "node_modules/@pulumi/pulumi/package.json": '{ "version": "2.9.0" }' });
    Object.defineProperty(process, "version", { ...VERSION, value: "v18.20.0" });
    const { code, report } = await run().finally(() => process.chdir(before));
    Object.defineProperty(process, "version", VERSION);
    expect(code).toBe(1);
    expect(report).toMatchObject({
      sdk: expect.stringMatching(
        /^wrong: @pulumi\/pulumi 2\.9\.0 is not supported: .*pulumi@>=3\.\S+ <4"/,
      ) as unknown,
      node: expect.stringMatching(/^wrong: v18\.20\.0 is too old: install Node >=20\./) as unknown,
    });
    expect(report["typescript"]).toBe(
      "wrong: it is not installed in this folder, and tsconfig.json needs it: npm install -D typescript @types/node (PP5015)",
    );
  });

  test.each([
    ["https_proxy", "", true],
    ["http_proxy", "example.com", true],
    ["https_proxy", "example.com,127.0.0.1", false],
    ["https_proxy", "127.0.0.0/8,example.com", false],
  ])(
    "refuses a proxy between a program and the engine that is named by %s where no_proxy is %j: %j",
    async (variable, direct, isWarned) => {
      const proxy = { [variable]: "http://proxy.example.com:3128", no_proxy: direct };
      const { report } = await run({ ...proxy, PLATFORM_TOKEN: emulator.token });
      expect(report["proxy"]).toEqual(
        isWarned
          ? expect.stringMatching(` by ${variable}, .*; add 127\\.0\\.0\\.1 to no_proxy \\(PP2106\\)$`)
          : undefined,
      );
    },
  );

  test.each([
    [
      "of that organisation",
      (uid: string) => `${uid}/0123456789abcdef`,
      "ok",
      "is in an organisation that the token sees",
    ],
    ["of another one", () => "f".repeat(40), "wrong", "is in no organisation that the token sees at http"],
    ["in no form of a uid", () => "acme", "wrong", 'as the line above prints, not "acme" (PP5008)'],
  ])("compares rootUid of the stack, %s, with the groups", async (_, rootUid, state, text) => {
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "acme" });
    const config = JSON.stringify({ "access:rootUid": { value: rootUid(String(uid)) } });
    const env = { PATH: installPulumi(`echo '${config}'`), PLATFORM_TOKEN: emulator.token };
    const { report } = await run(env, "--stack", "prod");
    expect(report["rootUid"]).toContain(`${state}: `);
    expect(report["rootUid"]).toContain(text);
  });

  test("says that a token has expired, and asks the API nothing more", async () => {
    const ended = jwt({ sub: "x", exp: Math.floor(Date.now() / 1000) - 7300 });
    expect((await run({ PLATFORM_TOKEN: ended })).report).toMatchObject({
      token: expect.stringMatching(
        /^wrong: from PLATFORM_TOKEN; expires: expired 2 hours ago .*: replace it/,
      ) as unknown,
      access: "skipped: not checked: fix token first",
    });
  });

  test("ends with 2 where the address is missing, as every command", async () => {
    const { code, report } = await run({ PLATFORM_BASE_URL: "" });
    expect(code).toBe(2);
    expect(report["configuration"]).toContain("the address of the API is missing");
  });

  test("says what to do where the exchange is refused", async () => {
    const { env } = await exchanging(emulator);
    emulator.addFault({ path: "/sts/exchange", status: 401, body: { code: 16, message: "no" } });
    expect((await run(env)).report["token"]).toMatch(
      /^wrong: .*PLATFORM_OIDC_TOKEN.*\? If not, replace it \(PP2009\)$/,
    );
  });

  test.each([[[]], [["--ci"]]])("%j names settings that are misspelt", async (argv) => {
    const { code, report } = await run({ PLATFORM_TOKN: "canary" }, ...argv);
    expect(report["settings"]).toBe(
      "warning: PLATFORM_TOKN is no setting and has no effect; did you mean PLATFORM_TOKEN?",
    );
    expect(code).not.toBe(0);
  });

  test("reports a missing Pulumi CLI, and one of another version", async () => {
    const withCli = async (PATH: string) => (await run({ PATH })).report["cli"];
    expect(await withCli(temporaryFolder())).toMatch(/^wrong: the Pulumi CLI is not on PATH, .* \(PP5009\)$/);
    expect(await withCli(installPulumi("echo v2.25.0"))).toMatch(
      /^wrong: pulumi v2\.25\.0 is not supported: .* \(PP5015\)$/,
    );
  });

  test("reports a refused connection, and a clock that is wrong", async () => {
    const env = { PLATFORM_TOKEN: emulator.token };
    const { code, report } = await run({ ...env, PLATFORM_BASE_URL: "http://127.0.0.1:1" });
    expect(code).toBe(1);
    expect(report["address"]).toMatch(
      /^wrong: GET .*connection refused \(ECONNREFUSED\); check PLATFORM_BASE_URL: does the server run, and at port 1\? /,
    );
    for (const [skew, words] of [
      [3_650_000, "ahead of"],
      [-3_650_000, "behind"],
    ] as const) {
      const headers = { Date: new Date(Date.now() - skew).toUTCString() };
      emulator.addFault({ path: "/ping/v2/ping", headers, count: 1 });
      expect((await run(env)).report["clock"]).toMatch(
        new RegExp(`^warning: this machine is 36\\d\\d s ${words} the server: set its clock by NTP`),
      );
    }
  });
});
