import { commands } from "./list";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { bashScript, fishScript, zshScript } from "../framework/completionScripts";
import type { CompletionEntry } from "../framework/completionScripts";
import { defineCommand } from "../framework/defineCommand";
import { ownCommand } from "../input/packageManager";

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript };
const names = Object.keys(shells).join(", ");

/** Every command with its flags. */
function loadEntries(): CompletionEntry[] {
  return commands.map(({ name, summary, load }) => ({ name, summary, flags: load().description.flags }));
}

export const command = defineCommand(
  {
    name: "completion",
    usage: ["bash|zsh|fish"],
    about:
      "Prints the completion script of a shell. bash: source <(pulumi-platform completion bash) in ~/.bashrc; zsh: " +
      "pulumi-platform completion zsh > a file _pulumi-platform of your $fpath; fish: pulumi-platform completion fish > " +
      "~/.config/fish/completions/pulumi-platform.fish",
    arguments: ["SHELL"],
    flags: {},
    exitCodes: ["clean", "error", "usage"],
  },
  ({ positionals: [shell, ...more] }) => {
    const script = Object.entries(shells).find(([name]) => name === shell)?.[1];
    if (script === undefined || more.length > 0) {
      throw new UsageError(
        "PP5004",
        `completion takes one shell of ${names}: write ${ownCommand()} completion bash`,
      );
    }
    process.stdout.write(script(loadEntries()));
    return Promise.resolve(exitCodes.clean);
  },
);
export const { main } = command;
