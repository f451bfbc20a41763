import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import type { Declarations, Run } from "../support/engine";
import { jwt, OIDC_ISSUER, trustingIdentity } from "../support/oidc";
import { run } from "../support/project";
import { temporaryFolder } from "../support/folders";

/** Claims that turn up in the tokens' own text alone: whoever shows them, leaked a token. */
const CANARY = "canary-claim-4142135623";
const RUNNER_TOKEN = "canary-runner-7320508075";
const SUBJECT = "repo:acme/pay:ref:refs/heads/main";

const groups = (parentUid: string): Declarations =>
  Object.fromEntries(
    ["one", "two", "three"].map((name) => [name, { kind: "Group", args: { name, parentUid } }]),
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
    folder = temporaryFolder();
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
    github.close();
    await emulator.close();
  });

  const byGithub = () => ({
    PLATFORM_IDENTITY: identity,
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?v=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: RUNNER_TOKEN,
  });

  test("each run requests one GitHub token, for the issuer's host", async () => {
    stack.declare(groups(identity.slice(0, 40)));
    emulator.clearRequests();
    minted = 0;
    await succeeds(["up", "--yes", "--skip-preview"], byGithub());
    expect(exchanges().map(({ path, status }) => [path, status])).toEqual([["/sts/exchange", 200]]);
    await succeeds(["destroy", "--yes", "--skip-preview"], byGithub());
    expect(minted).toBe(2);
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
