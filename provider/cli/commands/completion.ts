import { quoteForShell } from "../../text/plain";
import { defineCommand, helpFlag } from "../framework/defineCommand";
import { exitCodes, UsageError } from "../framework/exitCodes";
import type { Flag, Flags } from "../framework/flags";
import { ownCommand } from "../input/packageManager";
import { commands } from "./list";

const NAME = "completion";

/** What a shell runs for the words of a line, the last of which is not complete: it prints what may stand there. */
const ASK = `${NAME} words --`;

/** The script of each shell. Of what has no words of its own, the shell offers the names of files. */
const shells: Readonly<Record<string, (program: string) => string>> = {
  bash: (program) => `# bash completion for pulumi-platform
_pulumi_platform() {
  local IFS=$'\\n'
  COMPREPLY=($(${program} ${ASK} "\${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _pulumi_platform pulumi-platform
`,
  zsh: (program) => `#compdef pulumi-platform
_pulumi_platform() {
  local -a offered=("\${(@f)$(${program} ${ASK} "\${(@)words[2,CURRENT]}")}")
  compadd -- \${offered:#} || _files
}
if [ "$funcstack[1]" = _pulumi_platform ] || [ "$funcstack[1]" = _pulumi-platform ]; then
  _pulumi_platform "$@"
else
  compdef _pulumi_platform pulumi-platform
fi
`,
  fish: (program) => `# fish completion for pulumi-platform
complete -c pulumi-platform -a '(${program.replace(/['\\]/g, "\\$&")} ${ASK} (commandline -opc)[2..-1] (commandline -ct))'
`,
};
const names = Object.keys(shells);

export const command = defineCommand(
  {
    name: NAME,
    usage: ["bash|zsh|fish"],
    about:
      "Prints the completion script of a shell. bash: source <(pulumi-platform completion bash) in ~/.bashrc; zsh: " +
      "pulumi-platform completion zsh > a file _pulumi-platform of your $fpath; fish: pulumi-platform completion fish > " +
      "~/.config/fish/completions/pulumi-platform.fish",
    arguments: ["SHELL"],
    flags: {},
    exitCodes: ["clean", "error", "usage"],
  },
  ({ positionals: [shell = "", ...more] }) => {
    if (shell === "words") {
      process.stdout.write(
        listWords(more)
          .map((word) => `${word}\n`)
          .join(""),
      );
      return Promise.resolve(exitCodes.clean);
    }
    const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
    if (script === undefined || more.length > 0) {
      throw new UsageError(
        "PP5004",
        `completion takes one shell of ${names.join(", ")}: write ${ownCommand()} completion bash`,
      );
    }
    // By its path: the folder in which a shell completes a line may have no such package.
    process.stdout.write(script(quoteForShell(process.argv[1] ?? "pulumi-platform")));
    return Promise.resolve(exitCodes.clean);
  },
);
export const { main } = command;

/** The flag with a value that a word names: `--output`, `-o`. */
const findFlag = (flags: Flags, word: string | undefined): Flag | undefined =>
  Object.entries(flags).find(
    ([name, { short, type }]) => type === "string" && (word === `--${name}` || word === `-${short}`),
  )?.[1];

/** The words that may stand for the last one of a line. @param line without the name of the program */
function listWords([name = "", ...words]: readonly string[]): readonly string[] {
  const all = commands.map((one) => one.name);
  const startingWith = (text: string, offered: readonly string[]) =>
    offered.filter((word) => word.startsWith(text));
  if (words.length === 0) return startingWith(name, [...all, "--help", "--version"]);
  const entry = commands.find((one) => one.name === name);
  const flags: Flags = { ...entry?.load().description.flags, ...helpFlag };
  // bash takes each = for a word of its own; other shells leave it where it is.
  const last = words.at(-1) ?? "";
  const [, assigned, text = last === "=" ? "" : last] = /^(--[^=]+)=(.*)$/.exec(last) ?? [];
  const before = words.slice(0, -1).findLast((word) => word !== "=");
  const flag = findFlag(flags, assigned ?? before);
  if (flag !== undefined) {
    const offered = startingWith(text, flag.choices ?? flag.formats ?? []);
    return assigned === undefined ? offered : offered.map((word) => `${assigned}=${word}`);
  }
  if (name === NAME) return startingWith(text, names);
  const spellings = Object.entries(flags).flatMap(([each, { short }]) => [
    `--${each}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
  return text.startsWith("-") ? startingWith(text, spellings) : [];
}
