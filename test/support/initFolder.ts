import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { command } from "../../provider/cli/commands/init/init";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { temporaryFolder, writeFiles } from "./folders";

/** A folder for `pulumi-platform init`, which may be a git repository. */
export class InitFolder {
  readonly root = realpathSync(temporaryFolder());

  write(files: Readonly<Record<string, string>>): this {
    writeFiles(this.root, files);
    return this;
  }

  git(...args: readonly string[]): this {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    const { status, stderr } = spawnSync("git", ["-C", this.root, ...identity, ...args], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return this;
  }

  /** Makes it a repository with this remote, if one is given. */
  repository(remote?: string): this {
    // What `git init` and `git remote add` write: starting them costs more than most tests do.
    for (const folder of ["objects", "refs/heads"])
      mkdirSync(join(this.root, ".git", folder), { recursive: true });
    const origin = `[remote "origin"]\n\turl = ${JSON.stringify(remote)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
    return this.write({
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": `[core]\n\trepositoryformatversion = 0\n${remote === undefined ? "" : origin}`,
    });
  }

  /** The folder of Pulumi's credentials, which is never that of this machine. */
  readonly pulumiHome = realpathSync(temporaryFolder());
  /** Variables of the command beside those of an empty machine. */
  env: Readonly<Record<string, string>> = {};

  /** Runs the command in this process. @param dir below the folder. */
  init(dir: string, ...argv: readonly string[]): Promise<Ended> {
    const env = { PULUMI_HOME: this.pulumiHome, ...this.env };
    return runCommand(command.main, [join(this.root, dir), ...argv], env);
  }

  /** Runs the command, which must succeed; returns what it printed. */
  async succeed(dir: string, ...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.init(dir, ...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  }

  /** Writes what `pulumi login` and `pulumi org` store. */
  writePulumiHome(files: Readonly<Record<string, unknown>>): this {
    writeFiles(this.pulumiHome, files);
    return this;
  }

  /** Every file with its text, git's own left out. */
  files(): Record<string, string> {
    const paths = readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .filter((path) => !path.startsWith(".git/"))
      .sort();
    return Object.fromEntries(paths.map((path) => [path, readFileSync(join(this.root, path), "utf8")]));
  }
}
