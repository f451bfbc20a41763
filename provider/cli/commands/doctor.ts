import { withCode } from "../../errors/codedError";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import satisfies from "semver/functions/satisfies";
import { apiEndpoint } from "../../http/client";
import { ConnectionError } from "../../http/errors";
import { readTextFile } from "../../text/files";
import { printable } from "../../text/printable";
import { isUid, rootOf } from "../../text/uid";
import { proxyFor, Transport } from "../../http/transport";
import { json } from "../../access/report/render/escape";
import { exitCodes } from "../framework/exitCodes";
import { openConnection, describeSources, stackFlag } from "../input/connection";
import { checkProjectFiles, findModuleProblem } from "../input/projectFiles";
import { execPulumi } from "../input/pulumi";
import type { Connection } from "../input/connection";
import { defineCommand } from "../framework/defineCommand";
import { installedFolder } from "../output/packageSource";
import { writeResults } from "../output/writeFiles";
import { describeGroups, listRootGroups } from "../input/groups";
import type { NamedGroup } from "../input/groups";
import { outputFlag, readDestinations } from "../framework/options";
import { describeToken, describeExpiry, hasExpired } from "../input/token";
import { readEnvironment } from "../../settings/environment";
import { failed, ok, unchecked, warning, wrong } from "./checkResult";
import type { CheckResult } from "./checkResult";
import { checkCi } from "./doctorCi/checkCi";

const skipped = (check: string, blocker: string): CheckResult => unchecked(check, `fix ${blocker} first`);

const MAX_SKEW_MS = 60_000;

interface Manifest {
  readonly version: string;
}

/** What package.json of this package says. */
interface OwnManifest extends Manifest {
  readonly engines: { readonly node: string };
  readonly peerDependencies: { readonly "@pulumi/pulumi": string };
}

/** The package.json of a package; undefined where the current folder has it not installed. */
function readManifest(name: string): Manifest | undefined {
  try {
    const path = createRequire(join(process.cwd(), "package.json")).resolve(`${name}/package.json`);
    return JSON.parse(readFileSync(path, "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

async function checkVersions(stack: string | undefined): Promise<CheckResult[]> {
  const own = JSON.parse(readFileSync(join(installedFolder(), "package.json"), "utf8")) as OwnManifest;
  const { node } = own.engines;
  const sdk = own.peerDependencies["@pulumi/pulumi"];
  const installed = readManifest("@pulumi/pulumi");
  return [
    ok("package", `pulumi-platform ${own.version}`),
    satisfies(process.version, node, { includePrerelease: true })
      ? ok("node", process.version)
      : wrong("node", `${process.version} is too old: install Node ${node}`, "PP5015"),
    installed === undefined
      ? warning("sdk", `@pulumi/pulumi is not installed in this folder: npm install "@pulumi/pulumi@${sdk}"`)
      : satisfies(installed.version, sdk, { includePrerelease: true })
        ? ok("sdk", `@pulumi/pulumi ${installed.version}`)
        : wrong(
            "sdk",
            `@pulumi/pulumi ${installed.version} is not supported: npm install "@pulumi/pulumi@${sdk}"`,
            "PP5015",
          ),
    ...checkTypeScript(),
    await checkCli(),
    ...checkLoopback(),
    ...checkProject(stack),
  ];
}

/** Whether the engine can run the TypeScript of this folder. @throws FileError */
function findTypeScriptProblems(): CheckResult[] {
  const problem = findModuleProblem(".", existsSync("index.ts") ? "index.ts" : undefined);
  if (problem !== undefined) return [wrong("typescript", problem, "PP5015")];
  // Without TypeScript in the project the engine compiles by an old one of its own, which does not know all options.
  const isNew = existsSync("tsconfig.json") && /node16|nodenext/i.test(readTextFile("tsconfig.json"));
  if (!isNew || readManifest("typescript") !== undefined) return [];
  return [
    wrong(
      "typescript",
      "it is not installed in this folder, and tsconfig.json needs it: npm install -D typescript @types/node",
      "PP5015",
    ),
  ];
}

function checkTypeScript(): CheckResult[] {
  try {
    return findTypeScriptProblems();
  } catch (error) {
    return [failed("typescript", error)];
  }
}

/** A program talks to the engine at 127.0.0.1 by a library that takes the proxy for that too, by the names in small letters. */
function checkLoopback(): CheckResult[] {
  const { https_proxy: https = "", http_proxy: http = "", no_proxy: direct = "" } = readEnvironment();
  const isDirect = direct.split(",").some((host) => host !== "" && "127.0.0.1".endsWith(host));
  if (https === "" && http === "") return [];
  return isDirect || /(^|,)127\.[\d.]+\/\d/.test(direct)
    ? []
    : [
        wrong(
          "proxy",
          `every pulumi command would fail with "No connection established": by ${https === "" ? "http_proxy" : "https_proxy"}, its program reaches the engine at 127.0.0.1 through the proxy; add 127.0.0.1 to no_proxy`,
          "PP2106",
        ),
      ];
}

/** Whether the files of the project in this folder leave it to the machine what runs. */
function checkProject(stack: string | undefined): CheckResult[] {
  try {
    const path = checkProjectFiles(".", stack);
    if (path === undefined) return [];
    return [
      ok(
        "project",
        `${basename(path)} and its stack files set no environment variables and replace no plugin`,
      ),
    ];
  } catch (error) {
    return [failed("project", error)];
  }
}

async function checkCli(): Promise<CheckResult> {
  try {
    const version = printable(await execPulumi(["version"], { timeout: 30_000 }), 50);
    return /^v?3\./.test(version)
      ? ok("cli", `pulumi ${version}`)
      : wrong("cli", `pulumi ${version} is not supported: install version 3 of the Pulumi CLI`, "PP5015");
  } catch {
    return wrong(
      "cli",
      "the Pulumi CLI is not on PATH, or does not run; folders of node_modules are not searched: https://www.pulumi.com/docs/install/",
      "PP5009",
    );
  }
}

/** Through which proxy requests went, which is an address then. */
function describeProxy(baseUrl: string): string {
  const proxy = proxyFor(baseUrl);
  return proxy === undefined ? "" : ` through the proxy ${new URL(proxy).host}`;
}

/** Address, TLS and clock, by one request that carries no credential. */
async function checkServer({ settings }: Connection): Promise<CheckResult[]> {
  const { baseUrl, timeoutMs } = settings;
  const call = { method: "GET", path: "/ping/v2/ping" } as const;
  const transport = new Transport({ ...apiEndpoint(settings), timeoutMs, maxSockets: 1 });
  let date: number;
  try {
    const response = await transport.send({ ...call, headers: {}, attempt: 1 });
    transport.read(call, response);
    date = Date.parse(response.header("date") ?? "");
  } catch (error) {
    return error instanceof ConnectionError && error.errorCode === "PP2105"
      ? [
          ok("address", `${baseUrl} accepts connections${describeProxy(baseUrl)}`),
          failed("tls", error),
          skipped("clock", "tls"),
        ]
      : [failed("address", error), skipped("tls", "address"), skipped("clock", "address")];
  }
  const skew = Date.now() - date;
  return [
    ok("address", `${baseUrl} responds to a ping${describeProxy(baseUrl)}`),
    checkTls(baseUrl),
    Number.isNaN(skew)
      ? warning("clock", "the response has no Date header")
      : Math.abs(skew) <= MAX_SKEW_MS
        ? ok("clock", "agrees with the clock of the server")
        : warning(
            "clock",
            `this machine is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? "ahead of" : "behind"} the server: set its clock by NTP`,
          ),
  ];
}

function checkTls(baseUrl: string): CheckResult {
  if (!baseUrl.startsWith("https:")) return warning("tls", "not used: the address is plain http");
  return readEnvironment()["NODE_TLS_REJECT_UNAUTHORIZED"] === "0"
    ? warning("tls", "NODE_TLS_REJECT_UNAUTHORIZED has no effect here: the certificate is checked; unset it")
    : ok("tls", "the certificate is valid");
}

async function checkToken({ settings, tokens }: Connection, from: string): Promise<CheckResult> {
  const source = settings.credentials.setting;
  try {
    const who = describeToken(await tokens.token(), { source, settings: from }, tokens.expiry?.());
    const now = Date.now();
    const text = `from ${source}; expires: ${describeExpiry(who, now)}`;
    return hasExpired(who, now)
      ? wrong("token", `${text}: replace it`, "PP3401", exitCodes.authentication)
      : ok("token", text);
  } catch (error) {
    return addFix(failed("token", error), settings);
  }
}

/** Whether the API accepts the token, and which root groups it returns. */
async function checkAccess({ client, settings, rootUid }: Connection): Promise<CheckResult[]> {
  try {
    const groups = await listRootGroups(client);
    return groups.length === 0
      ? [
          warning(
            "access",
            "the API accepts the token, but returns no group: does the identity have a role binding?",
          ),
        ]
      : [
          ok("access", "the API accepts the token and lists groups"),
          { ...ok("groups", describeGroups(groups)), groups },
          ...checkRoot(groups, rootUid, settings),
        ];
  } catch (error) {
    return [addFix(failed("access", error), settings)];
  }
}

/** Whether the group that the stack's configuration names is in what the token sees: with another server all else is right. */
function checkRoot(
  groups: readonly NamedGroup[],
  rootUid: string | undefined,
  settings: Connection["settings"],
): CheckResult[] {
  if (rootUid === undefined) return [];
  if (!isUid(rootUid)) {
    const shown = JSON.stringify(printable(rootUid, 100));
    const text = `rootUid of the stack's configuration must be the uid of a group, as the line above prints, not ${shown}`;
    return [wrong("rootUid", text, "PP5008")];
  }
  const { baseUrl, setting } = apiEndpoint(settings);
  return groups.some(({ uid }) => rootOf(uid) === rootOf(rootUid))
    ? [ok("rootUid", `${rootUid}, of the stack's configuration, is in an organisation that the token sees`)]
    : [
        wrong(
          "rootUid",
          `${rootUid}, of the stack's configuration, is in no organisation that the token sees at ${baseUrl}: check ${setting}, the token, and pulumi config get rootUid`,
          "PP3408",
        ),
      ];
}

/** Adds what to do about a credential that was refused, unless the error says that already. */
function addFix(
  result: CheckResult,
  { credentials: { setting }, baseUrl }: Connection["settings"],
): CheckResult {
  const { code, text } = result;
  if (code !== exitCodes.authentication || text.includes(setting)) return result;
  const question = `is the token of ${setting} for ${baseUrl}? If not, replace it`;
  return { ...result, text: `${text}; ${question}` };
}

/** Runs all checks, in the order of the report; skips what a failed check makes meaningless. */
async function runChecks(stack: string | undefined, connecting: Promise<Connection>): Promise<CheckResult[]> {
  const versions = checkVersions(stack);
  const from = describeSources({ stack });
  let connection: Connection;
  try {
    connection = await connecting;
  } catch (error) {
    return [
      ...(await versions),
      failed("configuration", error),
      ...["address", "tls", "clock", "token", "access"].map((check) => skipped(check, "configuration")),
    ];
  }
  const server = await checkServer(connection);
  const token = await checkToken(connection, from);
  const blocker = [...server, token].find(({ state }) => state === "wrong");
  return [
    ...(await versions),
    ok("configuration", `from ${from}: the API at ${connection.settings.baseUrl}`),
    ...server,
    token,
    ...(blocker ? [skipped("access", blocker.check)] : await checkAccess(connection)),
  ];
}

const LEAST_WIDTH = 13;
const COMMAND_INDENT = 9;

function formatText(results: readonly CheckResult[]): string {
  const width = Math.max(LEAST_WIDTH, ...results.map(({ check }) => check.length));
  return results
    .map(({ check, state, text, errorCode, command }, index) => {
      const shown = printable(text, 2000);
      const line = errorCode === undefined ? shown : withCode(shown, errorCode);
      // A command stands on a line of its own, to be copied, and once below checks that follow each other and need the same one.
      const isSaid = command === undefined || results[index + 1]?.command === command;
      const mend = isSaid ? "" : `${" ".repeat(COMMAND_INDENT)}${printable(command, 10_000)}\n`;
      return `${state.padEnd(7)}  ${check.padEnd(width)}  ${line}\n${mend}`;
    })
    .join("");
}

/** Of `--ci`, what was not checked makes the result incomplete; without it, a check is skipped only below one that failed. */
const chooseExitCodeOfCi = (results: readonly CheckResult[]): number =>
  chooseExitCode(results) === exitCodes.clean && results.some(({ state }) => state === "skipped")
    ? exitCodes.incomplete
    : chooseExitCode(results);

/** 2 comes first, since without a configuration nothing else was checked; 3 means that only the credential is wrong. */
function chooseExitCode(results: readonly CheckResult[]): number {
  const codes = results.flatMap(({ code }) => code ?? []);
  if (codes.length === 0) return exitCodes.clean;
  if (codes.includes(exitCodes.usage)) return exitCodes.usage;
  return codes.every((code) => code === exitCodes.authentication)
    ? exitCodes.authentication
    : exitCodes.error;
}

const forms = ["text", "json"] as const;

export const command = defineCommand(
  {
    name: "doctor",
    usage: ["[options]"],
    about:
      "Checks what a run needs, one line each, with the fix where something is wrong. Changes nothing, shows no secret. " +
      "With --ci it checks the review in CI: the files of the repository, and by GITHUB_TOKEN or GITLAB_TOKEN its " +
      "settings; what is wrong has the command that mends it.",
    flags: {
      ci: { type: "boolean", help: "check how the review is set up in the repository of this folder" },
      stack: stackFlag,
      output: outputFlag(forms),
    },
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete"],
  },
  async ({ values: { ci, stack, output } }) => {
    const outputs = readDestinations(output, forms);
    const misspelt: CheckResult[] = [];
    const connecting = openConnection({ stack, note: (line) => misspelt.push(warning("settings", line)) });
    // Whether it fails is looked at by the checks that need it.
    await connecting.catch(() => undefined);
    const results = [
      ...(ci
        ? [...checkProject(stack), ...(await checkCi(() => connecting, stack))]
        : await runChecks(stack, connecting)),
      ...misspelt,
    ];
    const code = ci ? chooseExitCodeOfCi(results) : chooseExitCode(results);
    writeResults(outputs, {
      text: () => formatText(results),
      json: () => `${json({ schemaVersion: 1, ok: code === exitCodes.clean, checks: results })}\n`,
    });
    return code;
  },
);
export const { main } = command;
