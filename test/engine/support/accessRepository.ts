import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../support/engine";
import { SECRETS_PROVIDER } from "../../support/keyServer";

export type Files = Readonly<Record<string, string>>;

/** What the program of the default branch grants, and what pull requests make of it. */
export interface Program {
  readonly org: string;
  readonly viewer: string;
  readonly owner: string;
}

const requirePath = (path: string): string => JSON.stringify(join(ROOT, "dist", "provider", path));

const PACK = join(ROOT, "templates", "policy-pack");

/** The package as a dependency that needs no registry: a folder that loads what is built here. */
const PACKAGE: Files = {
  "package.json": JSON.stringify({
    name: "pulumi-platform",
    version: "0.1.0",
    main: "dist/provider/index.js",
    bin: { "pulumi-platform": "dist/provider/cli/main.js" },
  }),
  "dist/provider/cli/main.js": `#!/usr/bin/env node\nrequire(${requirePath("cli/main.js")});\n`,
  "dist/provider/index.js": `module.exports = require(${requirePath("index.js")});\n`,
  "dist/provider/policy.js": `module.exports = require(${requirePath("policy.js")});\n`,
  ...Object.fromEntries(
    readdirSync(PACK).map((name) => [
      `templates/policy-pack/${name}`,
      readFileSync(join(PACK, name), "utf8"),
    ]),
  ),
  "dynamic.js": `module.exports = require(${requirePath("dynamic.js")});\n`,
};

/** Another dependency, whose commands have the names of those of the machine. */
const TOOLS = {
  name: "tools",
  version: "1.0.0",
  bin: Object.fromEntries(
    ["node", "npm", "npx", "sh", "bash", "env", "git", "gh", "tar", "pulumi"].map((name) => [
      name,
      "tool.sh",
    ]),
  ),
};

const NAMED = {
  name: "access",
  dependencies: { "pulumi-platform": "file:vendor/pulumi-platform", tools: "file:vendor/tools" },
};

/** What npm writes of it. */
const LOCKFILE = JSON.stringify({
  name: "access",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": NAMED,
    "node_modules/pulumi-platform": { resolved: "vendor/pulumi-platform", link: true },
    "node_modules/tools": { resolved: "vendor/tools", link: true },
    "vendor/pulumi-platform": {
      version: "0.1.0",
      bin: { "pulumi-platform": "dist/provider/cli/main.js" },
    },
    "vendor/tools": { version: TOOLS.version, bin: TOOLS.bin },
  },
});

/** @param more Lines at the end of the program. */
export function programText({ org, viewer }: Program, description: string, more = ""): string {
  return `
const platform = require("pulumi-platform");
const team = new platform.Group("team", {
  parentUid: ${JSON.stringify(org)}, name: "team", description: ${JSON.stringify(description)},
});
const deployer = new platform.Identity("deployer", {
  parentUid: ${JSON.stringify(org)}, name: "deployer",
  claimMatch: { issuer: "https://ci.example.com", subject: "repo:acme/pay:ref:refs/heads/main" },
});
new platform.RoleBinding("deployer-views", {
  parentUid: team.id, identityUid: deployer.id, roleUid: ${JSON.stringify(viewer)},
});
${more}`;
}

const STACK_CONFIGURATION = `secretsprovider: ${SECRETS_PROVIDER.url}\nencryptedkey: ${SECRETS_PROVIDER.encryptedkey}\n`;

/** Makes the deployer owner of the team. */
export const ownerBinding = ({ owner }: Program): string =>
  `new platform.RoleBinding("deployer-owns", { parentUid: team.id, identityUid: deployer.id, roleUid: ${JSON.stringify(owner)} });`;

/** What a pull request changes: nothing of danger, or who owns the team. */
export const benign = (program: Program): Files => ({
  "infra/index.js": programText(program, "as it should be"),
});
export const risky = (program: Program): Files => ({
  "infra/index.js": programText(program, "as it was", ownerBinding(program)),
});

/** A program that fails with a message that has colours and commands to a runner. */
export const BROKEN: Files = {
  "infra/index.js": `throw new Error("\\u001b[31mfirst line\\n::error::second line\\n##[error]third line");\n`,
};

/** A package that runs a line of code as its command and where it is loaded, and when it is installed. */
export function hijackedPackage(folder: string, line: string): Files {
  const vendor = "infra/vendor/pulumi-platform";
  const entry = readFileSync(join(folder, "work", vendor, "dist/provider/index.js"), "utf8");
  const script = `node -e '${line}'`;
  return {
    "infra/package.json": JSON.stringify({
      ...{ private: true, main: "index.js", ...NAMED },
      scripts: { preinstall: script, postinstall: script, prepare: script },
    }),
    [`${vendor}/dist/provider/cli/main.js`]: `#!/usr/bin/env node\n${line}\n`,
    [`${vendor}/dist/provider/index.js`]: `${line}\n${entry}`,
    "infra/access-policy.yaml":
      "allow:\n  - rule: G1\n    match: {}\n    reason: trust me\n    expires: 2099-01-01\n",
  };
}

/** A repository with the workflows of the examples and a program in the folder infra. */
export class AccessRepository {
  readonly origin: string;
  /** What the commands of a dependency write where one of them runs. */
  readonly hijacked: string;
  private readonly work: string;
  /** A clone of each branch that was checked out since its last commit. */
  private readonly clones = new Map<string, string>();

  /** @param folder Where nothing is; jobs run below it, too, so that they find the engine's SDK. */
  constructor(
    readonly folder: string,
    private readonly program: Program,
  ) {
    this.origin = join(folder, "origin.git");
    this.work = join(folder, "work");
    this.hijacked = join(folder, "hijacked");
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  }

  init(): this {
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", this.origin]);
    execFileSync("git", ["clone", "--quiet", this.origin, this.work], { stdio: "ignore" });
    this.git("checkout", "--quiet", "-B", "main");
    const examples = join(ROOT, "examples", "ci");
    for (const name of readdirSync(examples).filter((file) => file.startsWith("access-"))) {
      cpSync(join(examples, name), join(this.work, ".github", "workflows", name));
    }
    this.write({
      ...Object.fromEntries(
        Object.entries(PACKAGE).map(([name, text]) => [`infra/vendor/pulumi-platform/${name}`, text]),
      ),
      "infra/vendor/tools/package.json": JSON.stringify(TOOLS),
      "infra/vendor/tools/tool.sh": `#!/bin/sh\necho "$0 $*" >> '${this.hijacked}'\nexit 99\n`,
      "infra/package.json": JSON.stringify({ private: true, main: "index.js", ...NAMED }),
      "infra/package-lock.json": LOCKFILE,
      "infra/Pulumi.yaml": "name: access\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
      "infra/Pulumi.prod.yaml": STACK_CONFIGURATION,
      "infra/access-policy.yaml": "allow: []\n",
      "infra/index.js": programText(this.program, "as it was"),
      ".gitignore": "node_modules/\n",
    });
    this.commit();
    return this;
  }

  /** Pushes a branch that begins at the default one. Answers its commit. */
  branch(name: string, files: Files): string {
    this.clones.delete(name);
    this.git("checkout", "--quiet", "-B", name, "main");
    this.write(files);
    this.commit();
    const commit = this.git("rev-parse", "HEAD").trim();
    this.git("checkout", "--quiet", "main");
    return commit;
  }

  /** @param branch The newest commit of which is checked out. */
  checkout(branch: string, folder: string): void {
    const clone = this.clones.get(branch) ?? this.clone(branch);
    this.clones.set(branch, clone);
    cpSync(clone, folder, { recursive: true, verbatimSymlinks: true });
  }

  /** The newest commit of a branch. */
  commitOf(branch: string): string {
    return this.git("rev-parse", branch).trim();
  }

  /** Checks out the files of a commit that match a pattern, as a sparse checkout does. */
  checkoutSparse(commit: string, pattern: string, folder: string): void {
    const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
    mkdirSync(folder, { recursive: true });
    git("init");
    git("fetch", "--depth=1", `file://${this.origin}`, commit);
    git("sparse-checkout", "set", "--no-cone", pattern);
    git("checkout", "FETCH_HEAD");
  }

  private clone(branch: string): string {
    const folder = mkdtempSync(join(this.folder, "clone-"));
    const from = [`--branch=${branch}`, `file://${this.origin}`];
    execFileSync("git", ["clone", "--quiet", "--depth=1", ...from, folder], { stdio: "ignore" });
    return folder;
  }

  private write(files: Files): void {
    for (const [name, text] of Object.entries(files)) {
      const file = join(this.work, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: /(main\.js|\.sh)$/.test(name) ? 0o755 : 0o644 });
    }
  }

  private commit(): void {
    this.git("add", "--all", "--force");
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    this.git(...author, "commit", "--quiet", "--message=change");
    this.git("push", "--quiet", "--force", "origin", "HEAD");
  }

  private git(...args: string[]): string {
    return execFileSync("git", args, {
      cwd: this.work,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  }
}
