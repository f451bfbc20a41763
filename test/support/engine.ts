import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseType } from "../../provider/program/resource";
import { QUICK_PROCESSES } from "../../scripts/lib/quickProcesses.cjs";
import { decryptAll, SECRETS_PROVIDER, startKeyServer } from "./keyServer";

/** The repository's root. */
export const ROOT = resolve(__dirname, "../..");

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in that order: what a person sees. */
  readonly output: string;
}

/** One resource in a state. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
  readonly initErrors?: string[];
  readonly [key: string]: unknown;
}

/** What the file backend keeps of a stack. */
interface Checkpoint {
  readonly checkpoint: { readonly latest?: { readonly resources?: StateResource[] } };
}

function cliDirectory(): string {
  const directory = process.env["PULUMI_PLATFORM_CLI_DIR"];
  if (directory === undefined || !existsSync(join(directory, "pulumi"))) {
    throw new Error(
      "PULUMI_PLATFORM_CLI_DIR names no Pulumi CLI: run the tests with `npm test`, which sets it up",
    );
  }
  return directory;
}

/**
 * Declares one resource of the test program. The text `${name}` stands for the id of resource `name`; the option `parent`
 * names a resource, or is `component`.
 */
export interface Declaration {
  readonly kind: string;
  readonly args: Record<string, unknown>;
  readonly options?: Record<string, unknown>;
  /** Arguments of the top level that the program makes secrets. */
  readonly secret?: readonly string[];
  /** The uid of an object that exists: read with `.get`, or taken over. */
  readonly get?: string;
  readonly adopt?: string;
}

export type Declarations = Record<string, Declaration>;

/** A program that declares what `resources.json` beside it says. */
const PROGRAM = `
const fs = require("fs");
const pulumi = require("@pulumi/pulumi");
const platform = require(process.env.PLATFORM_OF_TEST);
const wanted = JSON.parse(fs.readFileSync(__dirname + "/resources.json", "utf8"));
const made = {};
const resolve = (value) => {
  const reference = typeof value === "string" && /^\\$\\{(.+)\\}$/.exec(value);
  if (reference) return made[reference[1]].id;
  if (Array.isArray(value)) return value.map(resolve);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }
  return value;
};
let component;
const parentOf = (name) =>
  name === "component" ? (component ??= new pulumi.ComponentResource("test:index:Folder", "folder")) : made[name];
for (const [name, declaration] of Object.entries(wanted)) {
  const { kind, options: { parent, dependsOn = [], ...more } = {}, secret = [], get, adopt } = declaration;
  const options = {
    ...more,
    ...(parent ? { parent: parentOf(parent) } : {}),
    ...(dependsOn.length ? { dependsOn: dependsOn.map((other) => made[other]) } : {}),
  };
  if (get) {
    made[name] = platform[kind].get(name, get, options);
    continue;
  }
  const args = resolve(declaration.args);
  for (const key of secret) args[key] = pulumi.secret(args[key]);
  made[name] = new platform[kind](name, adopt ? platform.adopt(adopt, args) : args, options);
}
`;

export interface StackOptions {
  readonly url: string;
  readonly token: string;
  /** Further environment variables; undefined removes one. */
  readonly env?: Record<string, string | undefined>;
  /** A project that exists, to run in instead of the test program. */
  readonly directory?: string;
}

/** Environment of a stack of many resources: the engine writes the state once a run instead of after each step. */
export const WRITES_STATE_ONCE = { PULUMI_SKIP_CHECKPOINTS: "true" };

/** Variables for processes that start the CLI from these folders: its language host finds the SDK without Node. */
export const commandPath = (...folders: readonly (string | undefined)[]) => ({
  PATH: [join(ROOT, "test/support/bin"), ...folders].filter(Boolean).join(delimiter),
  NODE_OF_TESTS: process.execPath,
});

/** A value of a state that was exported with its secrets, in the clear. */
export function revealed(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(revealed);
  const members = value as Record<string, unknown>;
  // The engine's mark of a secret.
  if ("4dabf18193072939515e22adb298388d" in members)
    return JSON.parse(String(members["plaintext"])) as unknown;
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, revealed(member)]));
}

/** The resources of this package, by the names that the program gave them. */
function oursIn(resources: readonly StateResource[]): Record<string, StateResource> {
  return Object.fromEntries(
    resources
      .filter(({ type }) => parseType(type) !== undefined)
      .map((resource) => [resource.urn.slice(resource.urn.lastIndexOf("::") + 2), resource]),
  );
}

/** A stack of its own on a file backend in a temporary folder, run by the real CLI. */
export class Stack {
  readonly directory: string;
  private readonly home: string;
  /** What names the stack and what decrypts its secrets, once it exists. */
  private stackEnv: Record<string, string> = {};
  /** What the test program imports: `pulumi-platform`, or the classes of the native form. */
  private module = "pulumi-platform";

  constructor(private readonly options: StackOptions) {
    this.home = mkdtempSync(join(tmpdir(), "pulumi-platform-test-"));
    this.directory = options.directory ?? join(this.home, "program");
    mkdirSync(join(this.home, "backend"));
    if (options.directory !== undefined) return;
    mkdirSync(this.directory);
    symlinkSync(join(ROOT, "node_modules"), join(this.directory, "node_modules"));
    writeFileSync(
      join(this.directory, "Pulumi.yaml"),
      "name: test\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
    );
    writeFileSync(join(this.directory, "package.json"), '{ "name": "test", "main": "index.js" }\n');
    writeFileSync(join(this.directory, "index.js"), PROGRAM);
  }

  /** Lets the test program use the classes of a form. The plugin that the build made is installed for the native one. */
  useForm(form: "dynamic" | "native"): this {
    this.module = form === "native" ? "pulumi-platform/native" : "pulumi-platform";
    if (form === "native") this.installPlugin();
    return this;
  }

  /** Installs the plugin as `pulumi plugin install` does, as a version that there may be several of. */
  installPlugin(version = "0.1.0"): void {
    const folder = join(this.home, "home", "plugins", `resource-platform-v${version}`);
    cpSync(join(ROOT, "dist", "plugin"), folder, { recursive: true });
  }

  /** Replaces the whole program. */
  files(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.directory, name), text);
  }

  /** A stack with the same state, configuration and program (but for the files left out) that talks to another server. */
  copyFor(options: StackOptions, leftOut: ReadonlySet<string> = new Set()): Stack {
    const { url, token, env } = options;
    const copy = new Stack({ url, token, ...(env && { env }) });
    copy.stackEnv = this.stackEnv;
    cpSync(join(this.home, "backend"), join(copy.home, "backend"), { recursive: true });
    copy.copy(this.directory, leftOut);
    return copy;
  }

  /** Puts other resources into the state. */
  editState(edit: (resources: StateResource[]) => StateResource[]): void {
    const file = this.stateFile();
    const { checkpoint, ...more } = JSON.parse(readFileSync(file, "utf8")) as Checkpoint;
    const { latest } = checkpoint;
    const edited = { ...latest, resources: edit(latest?.resources ?? []) };
    writeFileSync(file, JSON.stringify({ ...more, checkpoint: { ...checkpoint, latest: edited } }));
  }

  /** Copies a runnable example in place of the program. */
  copy(folder: string, leftOut: ReadonlySet<string> = new Set()): void {
    for (const name of readdirSync(folder)) {
      if (name !== "node_modules" && !leftOut.has(name))
        cpSync(join(folder, name), join(this.directory, name), { recursive: true });
    }
  }

  declare(resources: Declarations): void {
    writeFileSync(join(this.directory, "resources.json"), JSON.stringify(resources, null, 2));
  }

  environment(): NodeJS.ProcessEnv {
    const env: NodeJS.ProcessEnv = {};
    for (const [key, value] of Object.entries(process.env)) {
      if (!/^(PLATFORM_|PULUMI_|JEST_|NODE_OPTIONS$)/.test(key)) env[key] = value;
    }
    const ours: Record<string, string | undefined> = {
      ...commandPath(cliDirectory(), process.env["PATH"]),
      PULUMI_HOME: join(this.home, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.home, "backend")}`,
      ...this.stackEnv,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PLATFORM_OF_TEST: this.module,
      PLATFORM_BASE_URL: this.options.url,
      PLATFORM_TOKEN: this.options.token,
      ...(process.env["PULUMI_PLATFORM_TEST_BATCHING"] === "off" ? { PLATFORM_BATCHING: "false" } : {}),
      NO_COLOR: "1",
      ...QUICK_PROCESSES,
      ...this.options.env,
    };
    // An undefined value takes a variable out: a child gets only those that have one.
    return { ...env, ...ours };
  }

  pulumi(args: readonly string[], env: Record<string, string | undefined> = {}): Promise<Run> {
    return new Promise((done, failed) => {
      const merged = { ...this.environment(), ...env };
      const child = spawn("pulumi", [...args, "--non-interactive"], { cwd: this.directory, env: merged });
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      child.on("error", failed);
      child.on("close", (code) => done({ code: code ?? -1, stdout, stderr, output: stdout + stderr }));
    });
  }

  /** Runs a command that must succeed. */
  async succeed(args: readonly string[], env: Record<string, string | undefined> = {}): Promise<Run> {
    const run = await this.pulumi(args, env);
    if (run.code !== 0) throw new Error(`pulumi ${args.join(" ")} ended with ${run.code}:\n${run.output}`);
    return run;
  }

  /** Makes the stack by its files, since `pulumi stack init` takes 0.3 s of processor time. */
  async init(config: Record<string, string> = {}): Promise<this> {
    this.stackEnv = {
      PULUMI_STACK: "test",
      VAULT_SERVER_URL: await startKeyServer(),
      VAULT_SERVER_TOKEN: "test",
    };
    this.writeConfiguration(config);
    this.writeEmptyState();
    return this;
  }

  private writeConfiguration(config: Record<string, string>): void {
    const { url, encryptedkey } = SECRETS_PROVIDER;
    const file = join(this.directory, "Pulumi.test.yaml");
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    const lines = Object.entries(config).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
    const section = lines.length > 0 ? `config:\n${lines.join("")}` : "";
    writeFileSync(file, `secretsprovider: ${url}\nencryptedkey: ${encryptedkey}\n${before}${section}`);
  }

  private writeEmptyState(): void {
    const settings = readFileSync(join(this.directory, "Pulumi.yaml"), "utf8");
    const [, project = ""] = /^name: *(\S+)$/m.exec(settings) ?? [];
    const latest = {
      manifest: { time: "0001-01-01T00:00:00Z", magic: "", version: "" },
      secrets_providers: { type: "cloud", state: SECRETS_PROVIDER },
    };
    const checkpoint = { stack: `organization/${project}/test`, latest };
    const backend = join(this.home, "backend", ".pulumi");
    const stacks = join(backend, "stacks", project);
    mkdirSync(stacks, { recursive: true });
    writeFileSync(join(backend, "meta.yaml"), "version: 1\n");
    writeFileSync(join(stacks, "test.json"), JSON.stringify({ version: 3, checkpoint }));
  }

  up(...more: string[]): Promise<Run> {
    return this.succeed(["up", "--yes", "--skip-preview", ...more]);
  }

  /** The state with its secrets in the clear. */
  resources(): Promise<StateResource[]> {
    return Promise.resolve(decryptAll(this.checkpoint()) as StateResource[]);
  }

  private stateFile(): string {
    const stacks = join(this.home, "backend", ".pulumi", "stacks");
    const [project = "", ...others] = readdirSync(stacks);
    if (others.length > 0)
      throw new Error(`the backend holds other projects than ${project}: ${others.join()}`);
    return join(stacks, project, "test.json");
  }

  /** The state as the file backend keeps it, with its secrets encrypted. */
  private checkpoint(): StateResource[] {
    const { checkpoint } = JSON.parse(readFileSync(this.stateFile(), "utf8")) as Checkpoint;
    return checkpoint.latest?.resources ?? [];
  }

  /** What `pulumi stack export` prints in a fifth of a second, with its secrets in the clear if asked. */
  exported({ showSecrets = false } = {}): string {
    const { checkpoint } = JSON.parse(readFileSync(this.stateFile(), "utf8")) as Checkpoint;
    const deployment = showSecrets ? decryptAll(checkpoint.latest) : checkpoint.latest;
    return JSON.stringify({ version: 3, deployment });
  }

  /** The resources of this package as the file of the backend holds them, with their secrets encrypted. */
  recorded(): Readonly<Record<string, StateResource>> {
    return oursIn(this.checkpoint());
  }

  /** The uids of this package's resources, by the names that the program gave them. */
  ids(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries(Object.entries(this.recorded()).map(([name, { id }]) => [name, id]));
  }

  /** The resources of this package in the state, with their secrets in the clear, by the names that the program gave them. */
  async ours(): Promise<Record<string, StateResource>> {
    return oursIn(await this.resources());
  }

  /** Every byte that the backend and the CLI's home hold. */
  everyByte(): string {
    const texts: string[] = [];
    const visit = (folder: string) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) visit(path);
        else if (entry.isFile()) texts.push(readFileSync(path, "latin1"));
      }
    };
    visit(join(this.home, "backend"));
    if (existsSync(join(this.home, "home"))) visit(join(this.home, "home"));
    return texts.join("\n");
  }

  dispose(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
