import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../emulator";
import { commands } from "../../provider/cli/commands/list";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { temporaryFolder } from "./folders";
import { environmentOf } from "./wire";

/** Commands that run one after the other, as a user runs them, with their files in one folder. */
export class CommandChain {
  private readonly server: Readonly<Record<string, string>>;

  /**
   * @param folder of another chain, for commands with another environment.
   * @param environment of the commands, for those that run the Pulumi CLI. It is asked for before each.
   */
  constructor(
    emulator?: Emulator,
    readonly folder: string = temporaryFolder(),
    private readonly environment: () => NodeJS.ProcessEnv = () => ({}),
  ) {
    this.server = emulator ? environmentOf(emulator) : {};
  }

  /** Runs a command: its name, then its arguments. */
  run(...[name = "", ...argv]: readonly string[]): Promise<Ended> {
    const entry = commands.find((command) => command.name === name);
    if (entry === undefined) throw new Error(`there is no command ${name}`);
    return runCommand(entry.load().main, argv, { ...this.environment(), ...this.server });
  }

  /** The words of a command in one line; `review.json` is that file of the chain. */
  wordsOf(line: string): string[] {
    return line.split(" ").map((word) => word.replace(/(?<=^|=)[\w-]+\.\w+$/, (name) => this.path(name)));
  }

  /** Runs a command that must end with one of these codes, and answers what it printed. */
  async succeed(codes: readonly number[], ...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...argv);
    if (!codes.includes(code)) throw new Error(`${argv.join(" ")}\nended with ${code}: ${stderr}`);
    return stdout;
  }

  /** The path of a file of the chain. */
  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }
}
