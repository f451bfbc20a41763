// @ts-check
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { excerpt, run } from "./processes.mjs";

const CALL_MS = 300_000;

/** What a program in TypeScript needs. No more than that: each run would load the types of every linked package. */
const PACKAGES = ["@pulumi/pulumi", "@types/node", "pulumi-platform", "typescript"];

/** A variable that would lead the CLI or the provider elsewhere. */
const FOREIGN = /^(PLATFORM_|PULUMI_|NODE_OPTIONS$|FORCE_COLOR$)/;

/** The environment of every child. */
function cleanEnvironment() {
  /** @type {NodeJS.ProcessEnv} */
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
  clean.NO_COLOR = "1";
  // A proxy cannot reach an address of this computer.
  for (const name of ["NO_PROXY", "no_proxy"]) {
    clean[name] = [process.env[name], "127.0.0.1", "localhost"].filter(Boolean).join(",");
  }
  return clean;
}

/**
 * @typedef {object} StackOptions
 * @property {string} folder
 * @property {string} root
 * @property {string} example The folder of the program.
 * @property {import("./pulumi.mjs").PulumiCli} cli
 * @property {NodeJS.ProcessEnv} [env] Further variables.
 * @property {{ url: string, token: string }} server
 * @property {string[]} [packages] What the program needs.
 */

/** A copy of a program with a stack of its own, on a file backend, all in one folder. */
export class Stack {
  /** @param {StackOptions} options */
  constructor({ folder, root, example, cli, env, server, packages = PACKAGES }) {
    this.cli = cli;
    this.folder = folder;
    this.root = root;
    this.packages = packages;
    this.program = path.join(folder, "program");
    this.backend = path.join(folder, "backend");
    const home = path.join(folder, "home");
    for (const each of [this.program, this.backend, home]) mkdirSync(each);
    this.#copyProgram(example);
    this.env = {
      ...cleanEnvironment(),
      PATH: [cli.pulumiDir, process.env.PATH].join(path.delimiter),
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${this.backend}`,
      PULUMI_CONFIG_PASSPHRASE: "secret",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PLATFORM_BASE_URL: server.url,
      PLATFORM_TOKEN: server.token,
      ...env,
    };
  }

  /** @param {string} example */
  #copyProgram(example) {
    cpSync(example, this.program, {
      recursive: true,
      // Packages are linked; stacks of somebody who runs the example are theirs.
      filter: (file) => !/^(node_modules|Pulumi\..+\.yaml)$/.test(path.basename(file)),
    });
    const project = path.join(this.program, "Pulumi.yaml");
    if (!existsSync(project)) {
      const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
      writeFileSync(project, `name: acme\n${runtime}`);
      writeFileSync(path.join(this.program, "package.json"), '{ "name": "acme", "main": "index.js" }\n');
    }
    this.linkPackages(this.program);
  }

  /** Does what `npm install` would do in a folder. @param {string} folder */
  linkPackages(folder) {
    for (const name of this.packages) {
      const link = path.join(folder, "node_modules", name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(this.root, "node_modules", name), link, "junction");
    }
  }

  /**
   * @param {string[]} args
   * @param {{ started?: (pid: number) => void, cwd?: string, env?: NodeJS.ProcessEnv }} [options] `cwd`: the program's
   *   folder by default; `env`: further variables.
   */
  async pulumi(args, { started, cwd = this.program, env } = {}) {
    const result = await run(this.cli.pulumi, args, {
      cwd,
      env: { ...this.env, ...env },
      timeoutMs: CALL_MS,
      started,
    });
    if (result.timedOut) {
      throw new Error(`pulumi ${args.join(" ")} was not done after ${CALL_MS / 1000} seconds`);
    }
    return result;
  }

  /** The standard output of a command that must succeed. @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
  async succeed(args, env) {
    const { code, stdout, output } = await this.pulumi(args, { env });
    if (code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${code}:\n${excerpt(output)}`);
    return stdout;
  }

  /**
   * Runs a command line as a reader of the documents types it.
   * @param {string} command
   * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, expected?: number[] }} [options] `cwd`: the program's folder by
   *   default; `env`: further variables; `expected`: the exit codes of a success.
   */
  async type(command, { cwd = this.program, env, expected = [0] } = {}) {
    const main = path.join(this.root, "dist", "provider", "cli", "main.js");
    // Packages are linked here without the commands that npx runs.
    const script = `npx() { '${process.execPath}' '${main}' "\${@:3}"; }\n${command}`;
    const { code, output } = await run("bash", ["-c", script], {
      cwd,
      env: { ...this.env, ...env },
      timeoutMs: CALL_MS,
    });
    if (!expected.includes(code)) throw new Error(`${command} ended with ${code}:\n${excerpt(output)}`);
    return { code, output };
  }

  /** @returns {Promise<any>} The state. */
  async export() {
    return JSON.parse(await this.succeed(["stack", "export"]));
  }
}
