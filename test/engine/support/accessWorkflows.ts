import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join, resolve } from "node:path";
import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { AccessRepository } from "./accessRepository";
import type { Program } from "./accessRepository";
import { QUICK_PROCESSES } from "../../../scripts/lib/quickProcesses.cjs";
import { commandPath } from "../../support/engine";
import type { Action } from "../../support/githubActions";
import { SECRETS_PROVIDER, startKeyServer } from "../../support/keyServer";
import { identityFor, jwt, OIDC_ISSUER } from "../../support/oidc";
import { run } from "../../support/project";
import { writeReplayedNpm } from "../../support/replayedNpm";
import type { Values } from "../../support/shell";
import { builtInRole, call, create } from "../../support/wire";

export const STACK = "organization/access/prod";

/** What pull requests and their pipelines work on: an organisation, its program in a repository, and credentials. */
export class AccessFixture {
  readonly artifacts: string;
  /** What the credential of Pulumi Cloud opens. */
  readonly backend: Values;
  /** The folder of the commands that jobs find before those of the machine. */
  readonly commands: string;
  private minting: Server | undefined;

  private constructor(
    readonly scratch: string,
    readonly emulator: Emulator,
    readonly program: Program,
    readonly repository: AccessRepository,
    keyServer: string,
  ) {
    this.artifacts = join(scratch, "artifacts");
    mkdirSync(join(scratch, "backend"));
    this.commands = join(scratch, "bin");
    writeReplayedNpm(this.commands, join(scratch, "npm"));
    writeFileSync(join(this.commands, "gh"), GH, { mode: 0o755 });
    this.backend = {
      PULUMI_BACKEND_URL: `file://${join(scratch, "backend")}`,
      VAULT_SERVER_URL: keyServer,
      VAULT_SERVER_TOKEN: "test",
    };
  }

  /** @param scratch An empty folder. */
  static async start(scratch: string): Promise<AccessFixture> {
    const emulator = await startEmulator();
    const [org, viewer, owner] = await Promise.all([
      create(emulator, "/iam/v2/groups", { name: "acme" }),
      builtInRole(emulator, "viewer"),
      builtInRole(emulator, "owner"),
    ]);
    const program = { org, viewer, owner };
    const repository = new AccessRepository(scratch, program).init();
    const fixture = new AccessFixture(scratch, emulator, program, repository, await startKeyServer());
    await fixture.startMinting();
    await fixture.deploy();
    return fixture;
  }

  async close(): Promise<void> {
    await this.emulator.close();
    this.minting?.closeAllConnections();
    await new Promise((done) => this.minting?.close(done));
  }

  /** An identity that may view the organisation, and trusts one subject of the CI system. */
  identityFor(subject: string, role = this.program.viewer): Promise<string> {
    return identityFor(this.emulator, subject, this.program.org, role);
  }

  /** What somebody changes at the server, past the program. */
  async changeByHand(): Promise<void> {
    const team = this.emulator.state()["groups"]?.find(({ name }) => name === "team");
    const path = `/iam/v2/groups/${String(team?.["uid"])}?updateMask=description`;
    await call(this.emulator, "PATCH", path, { description: "by hand" });
  }

  /** Where a job gets its OIDC token from, as GitHub gives it to a job with `id-token: write`. */
  tokenRequest(subject: string): Values {
    const { port } = this.minting!.address() as AddressInfo;
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/?subject=${encodeURIComponent(subject)}`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-the-runner",
    };
  }

  /** The environment of every job: the tools, and what the project's settings hold. */
  tools(): Values {
    const { PULUMI_PLATFORM_CLI_DIR: cli, PATH: path } = process.env;
    return {
      ...QUICK_PROCESSES,
      ...commandPath(this.commands, cli, path),
      PULUMI_HOME: mkdtempSync(join(this.scratch, "home-")),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    };
  }

  /** Brings the organisation to what the default branch says. */
  private async deploy(): Promise<void> {
    const folder = join(this.scratch, "deployed");
    this.repository.checkout("main", folder);
    await this.runAll(join(folder, "infra"), [
      ["npm", "ci", "--ignore-scripts"],
      ["pulumi", "stack", "init", STACK, "--secrets-provider", SECRETS_PROVIDER.url, "--non-interactive"],
      ["pulumi", "up", "--stack", STACK, "--yes", "--skip-preview", "--non-interactive"],
    ]);
  }

  private async runAll(cwd: string, commands: readonly (readonly string[])[]): Promise<void> {
    const env = {
      ...this.tools(),
      ...this.backend,
      PLATFORM_BASE_URL: this.emulator.url,
      PLATFORM_TOKEN: this.emulator.token,
    };
    for (const [command, ...args] of commands) {
      const { code, output } = await run(command ?? "", args, { cwd, env });
      if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
    }
  }

  private async startMinting(): Promise<void> {
    this.minting = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
      const claims = {
        iss: OIDC_ISSUER,
        sub: searchParams.get("subject"),
        aud: searchParams.get("audience"),
      };
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ value: jwt(claims) }));
    });
    await new Promise<void>((done) => this.minting?.listen(0, "127.0.0.1", done));
  }
}

/** Of the CLI of GitHub, which its runners have: the two forms of a request that the workflows use. */
const GH = `#!/usr/bin/env node
const [api, silent, method, verb, path, ...fields] = process.argv.slice(2);
const { GITHUB_API_URL: origin, GITHUB_TOKEN: token } = process.env;
const headers = { authorization: \`Bearer \${token}\`, "content-type": "application/json" };
if (api === "api" && method === undefined) {
  require("http").get(\`\${origin}/\${silent}\`, { headers }, (response) => {
    response.pipe(process.stdout);
    process.exitCode = response.statusCode < 300 ? 0 : 1;
  });
  return;
}
const isKnown = api === "api" && silent === "--silent" && method === "--method";
if (!isKnown) throw new Error("gh: unknown arguments");
const body = Object.fromEntries(
  fields.filter((field) => field !== "-f").map((field) => field.match(/^([^=]+)=([\\s\\S]*)$/).slice(1)),
);
require("http")
  .request(\`\${origin}/\${path}\`, { method: verb, headers })
  .on("response", ({ statusCode }) => process.exit(statusCode < 300 ? 0 : 1))
  .end(JSON.stringify(body));
`;

/** No command of a dependency has run in a job, though each has the name of one of the machine's. */
export function expectNoCommandOfDependency({ repository: { hijacked } }: AccessFixture): void {
  const ran = existsSync(hijacked) ? readFileSync(hijacked, "utf8") : "";
  rmSync(hijacked, { force: true });
  expect(ran).toBe("");
}

/** The log of a program that is broken has the cause, and no command to a runner. */
export function expectNoCommandIn(log = ""): void {
  expect(log).toContain("first line");
  expect(log).not.toMatch(/^::|##\[/m);
  expect(log).not.toContain("\u001b[31m");
}

/** The key of the app that sets the required status: a secret of an environment of the default branch. */
export const APP_KEY = "-----BEGIN RSA PRIVATE KEY-----";

/** What stands in for the actions: folders in place of GitHub's storage, and no downloads. */
export function actionsOf(fixture: AccessFixture, branch: string): Record<string, Action> {
  const stored = (name = ""): string => join(fixture.artifacts, name);
  return {
    "actions/checkout": ({ ref, path = ".", "sparse-checkout": pattern }, job) => {
      const folder = resolve(job.workspace, path);
      if (ref !== undefined && pattern !== undefined) fixture.repository.checkoutSparse(ref, pattern, folder);
      else fixture.repository.checkout(branch, folder);
      return undefined;
    },
    "actions/setup-node": () => undefined,
    "pulumi/actions": () => undefined,
    "pulumi/auth-actions": (_, job) => {
      Object.assign(job.env, fixture.backend);
      return undefined;
    },
    "aws-actions/configure-aws-credentials": (_, job) => {
      Object.assign(job.env, fixture.backend);
      return undefined;
    },
    "actions/upload-artifact": (inputs, job) => {
      const paths = (inputs["path"] ?? "").trim().split("\n");
      const found = paths
        .map((path) => resolve(job.workspace, path.trim()))
        .filter((path) => existsSync(path));
      if (found.length === 0 && inputs["if-no-files-found"] === "error") throw new Error("no files found");
      for (const path of found) {
        const target = statSync(path).isDirectory() ? "" : basename(path);
        cpSync(path, join(stored(inputs["name"]), target), { recursive: true });
      }
      return undefined;
    },
    "actions/download-artifact": (inputs, job) => {
      if (!existsSync(stored(inputs["name"]))) throw new Error(`no artifact ${inputs["name"] ?? ""}`);
      cpSync(stored(inputs["name"]), resolve(job.workspace, inputs["path"] ?? ""), { recursive: true });
      return undefined;
    },
    "actions/create-github-app-token": ({ "private-key": key }, job) => {
      if (key !== APP_KEY) throw new Error("the key of the app is wrong");
      return { token: `ghs_app_${job.name}` };
    },
  };
}
