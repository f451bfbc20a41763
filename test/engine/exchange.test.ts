import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import type { Declarations, Run } from "../support/engine";
import { jwt, OIDC_ISSUER, trustingIdentity } from "../support/oidc";
import { run } from "../support/project";

/** Claims that turn up in the tokens' own text alone: whoever shows them, leaked a token. */
const CANARY = "canary-claim-4142135623";
const RUNNER_TOKEN = "canary-runner-7320508075";
const SUBJECT = "repo:acme/pay:ref:refs/heads/main";

/** Creates of the run that outlives its tokens, each of a second at least. */
const CREATES = 7;

const groups = (count: number, parentUid?: string): Declarations =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `team-${index}`;
      const parent = parentUid ?? (index === 0 ? undefined : `\${team-${index - 1}}`);
      return [
        name,
        { kind: "Group", args: { name, ...(parent === undefined ? {} : { parentUid: parent }) } },
      ];
    }),
  );

describe("an exchange, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let github: Server;
  let folder: string;
  let identity: string;
  let oidc: string;
  /** Every token that was ever handed out, and the one that was exchanged for them. */
  const tokens: string[] = [];
  let printed = "";
  let minted = 0;

  const exchanges = () => emulator.requests.filter(({ path }) => path.startsWith("/sts/"));
  const pulumi = async (args: string[], env: Record<string, string | undefined>): Promise<Run> => {
    const result = await stack.pulumi(args, {
      PLATFORM_TOKEN: undefined,
      PLATFORM_ISSUER_URL: emulator.url,
      PLATFORM_LOG: "debug",
      ...env,
    });
    printed += result.output;
    return result;
  };
  const succeeds = async (args: string[], env: Record<string, string | undefined>): Promise<Run> => {
    const result = await pulumi(args, env);
    expect({ code: result.code, output: result.code === 0 ? "" : result.output }).toEqual({
      code: 0,
      output: "",
    });
    return result;
  };
  /** Runs a command in the folder of the stack. */
  const ofStack = (env: Record<string, string>, ...argv: string[]): Promise<Run> => {
    const environment = {
      ...stack.environment(),
      PLATFORM_TOKEN: undefined,
      PLATFORM_ISSUER_URL: emulator.url,
    };
    return run(process.execPath, [join(ROOT, "dist/provider/cli/main.js"), ...argv, "--stack", "test"], {
      cwd: stack.directory,
      env: { ...environment, ...env },
    });
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    folder = mkdtempSync(join(tmpdir(), "pulumi-platform-oidc-"));
    identity = await trustingIdentity(emulator, SUBJECT);
    oidc = jwt({ iss: OIDC_ISSUER, sub: SUBJECT, aud: emulator.url, canary: CANARY });
    tokens.push(oidc);
    writeFileSync(join(folder, "oidc"), oidc);
    github = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
      const isRunner = request.headers.authorization === `Bearer ${RUNNER_TOKEN}`;
      minted += 1;
      const value = jwt({
        iss: OIDC_ISSUER,
        sub: SUBJECT,
        aud: searchParams.get("audience"),
        minted,
        canary: CANARY,
      });
      tokens.push(value);
      response.writeHead(isRunner ? 200 : 403, { "Content-Type": "application/json" });
      response.end(JSON.stringify(isRunner ? { value } : {}));
    });
    await new Promise<void>((done) => github.listen(0, "127.0.0.1", done));
    stack = await new Stack(emulator).init();
  });
  afterAll(async () => {
    stack.dispose();
    rmSync(folder, { recursive: true, force: true });
    github.close();
    await emulator.close();
  });

  const byFile = () => ({
    PLATFORM_IDENTITY: identity,
    PLATFORM_OIDC_TOKEN_FILE: join(folder, "oidc"),
  });
  const byGithub = () => ({
    PLATFORM_IDENTITY: identity,
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?v=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: RUNNER_TOKEN,
  });

  test("a run that takes longer than a token's three seconds succeeds, with one exchange for each token", async () => {
    const org = identity.slice(0, 40);
    emulator.settings({ tokenLifetimeMs: 3000, refreshTokens: true });
    emulator.addFault({ path: /^\/iam\//, latencyMs: 1000 });
    emulator.clearRequests();
    // Each below the one before: creates of a second, one after the other.
    const chain = groups(CREATES);
    chain["team-0"] = { kind: "Group", args: { name: "team-0", parentUid: org } };
    stack.declare(chain);
    const started = performance.now();
    await succeeds(["up", "--yes", "--skip-preview"], { ...byFile(), PLATFORM_MAX_RETRIES: "0" });
    const seconds = (performance.now() - started) / 1000;
    console.log(`${exchanges().length} exchanges in ${seconds.toFixed(1)} s`);
    expect(seconds).toBeGreaterThan(CREATES);
    // A token is renewed when a quarter of its life is left, of which a second is the resolution of HTTP's dates.
    expect(exchanges().length).toBeGreaterThan(CREATES / 3);
    expect(exchanges().length).toBeLessThanOrEqual(seconds / 1.5 + 2);
    expect(exchanges().map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/sts/exchange", "/sts/exchange_refresh_token"]),
    );
    emulator.settings({ tokenLifetimeMs: 3_600_000, refreshTokens: false });
    emulator.clearFaults();
  });

  test("each run requests one GitHub token, for the issuer's host", async () => {
    stack.declare(groups(3, identity.slice(0, 40)));
    emulator.clearRequests();
    minted = 0;
    await succeeds(["up", "--yes", "--skip-preview"], byGithub());
    expect(exchanges().map(({ path, status }) => [path, status])).toEqual([["/sts/exchange", 200]]);
    await succeeds(["destroy", "--yes", "--skip-preview"], byGithub());
    expect(minted).toBe(2);
  });

  test("a refused exchange is one error that names the token and the issuer, and changes nothing", async () => {
    stack.declare(groups(1, identity.slice(0, 40)));
    const stranger = jwt({ iss: OIDC_ISSUER, sub: "repo:mallory/x", aud: emulator.url, canary: CANARY });
    tokens.push(stranger);
    emulator.clearRequests();
    const env = { PLATFORM_IDENTITY: identity, PLATFORM_OIDC_TOKEN: stranger };
    const { code, output } = await pulumi(["up", "--yes", "--skip-preview"], env);
    expect(code).not.toBe(0);
    expect(output).toContain(
      `exchanging the OIDC token of PLATFORM_OIDC_TOKEN at ${emulator.url} for identity ${identity}: PERMISSION_DENIED (HTTP 403)`,
    );
    expect(output).toContain('subject "repo:mallory/x"');
    expect(emulator.requests.map(({ path }) => path)).toEqual(["/sts/exchange"]);
  });

  /** Writes the stack's configuration. */
  const configure = (config: Record<string, string>) => {
    const file = join(stack.directory, "Pulumi.test.yaml");
    const document = parseDocument(readFileSync(file, "utf8"));
    for (const [key, value] of Object.entries(config)) document.setIn(["config", `platform:${key}`], value);
    writeFileSync(file, String(document));
  };

  test("a command reads the configuration of the stack that it names", async () => {
    configure({ identity, issuerUrl: emulator.url });
    const { stdout, code } = await ofStack({ PLATFORM_OIDC_TOKEN: oidc }, "whoami", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      subject: identity,
      source: "platform:identity with PLATFORM_OIDC_TOKEN",
      settings: "the configuration of stack test and the environment",
    });
  });

  test("a stack file sends no credential of the environment elsewhere, in the engine or in a command", async () => {
    const issuer = "http://127.0.0.1:1";
    configure({ identity, issuerUrl: issuer });
    emulator.clearRequests();
    const refusal = `the credential of GitHub Actions belongs to this machine, and a stack file alone may not say where it goes: platform:issuerUrl is "${issuer}", but PLATFORM_ISSUER_URL is "${emulator.url}"`;
    const up = await pulumi(["up", "--yes", "--skip-preview"], byGithub());
    expect(up.output).toContain(refusal);
    for (const name of ["whoami", "doctor"]) {
      const told = await ofStack(byGithub(), name);
      expect(told.code).not.toBe(0);
      expect(told.output).toContain(refusal);
    }
    expect(emulator.requests).toEqual([]);
  });

  test("no token of any kind is in output, state, history or a file of the CLI", () => {
    expect(printed).toMatch(/platform: POST \/sts\/exchange -> 200 in \d+ ms/);
    const everything = printed + stack.everyByte();
    for (const token of tokens) {
      const [, body = "", signature = ""] = token.split(".");
      expect(signature).not.toBe("");
      expect(everything).not.toContain(body);
    }
    for (const canary of [CANARY, RUNNER_TOKEN, "eyJhbGciOi"]) expect(everything).not.toContain(canary);
  });
});
