import { quoteForShell } from "../../text/plain";
import { defineCommand, helpFlag } from "../framework/defineCommand";
import { exitCodes, UsageError } from "../framework/exitCodes";
import type { Flag, Flags } from "../framework/flags";
import { ownCommand } from "../input/packageManager";
import { commands } from "./list";

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

/** What a completion script knows of a command. */
export interface CompletionEntry {
  readonly name: string;
  readonly summary: string;
  readonly flags: Flags;
}

const PROGRAM = "pulumi-platform";

const allFlags = ({ flags }: CompletionEntry): [string, Flag][] => Object.entries({ ...flags, ...helpFlag });

/** The spellings of a flag: `--output`, `-o`. */
const spellings = (name: string, { short }: Flag): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];

/** The words that a flag takes; undefined where its value is free. */
const wordsOf = ({ choices, formats }: Flag): readonly string[] | undefined => choices ?? formats;

/** A case of the bash function: completes the value of a flag by its words. Of other values readline offers file names. */
function bashCase(entry: CompletionEntry, [name, flag]: [string, Flag]): string[] {
  if (flag.type === "boolean") return [];
  const pattern = spellings(name, flag)
    .map((spelling) => quoteForShell(`${entry.name} ${spelling}`))
    .join(" | ");
  const words = wordsOf(flag)?.join(" ");
  const body = words === undefined ? "" : `COMPREPLY=($(compgen -W ${quoteForShell(words)} -- "$cur")); `;
  return [`    ${pattern}) ${body}return ;;`];
}

/** For bash 4 and above. A word that bash splits at `=` (`--post=…`, `json=…`) is put together first. */
export function bashScript(entries: readonly CompletionEntry[]): string {
  const cases = entries.flatMap((entry) => allFlags(entry).flatMap((flag) => bashCase(entry, flag)));
  const lists = entries.map((entry) => {
    const words = allFlags(entry).flatMap(([name, flag]) => spellings(name, flag));
    return `    ${entry.name}) words=${quoteForShell(words.join(" "))} ;;`;
  });
  return `# bash completion for ${PROGRAM}
_pulumi_platform() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" command="\${COMP_WORDS[1]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -le 1 ]; then
    COMPREPLY=($(compgen -W ${quoteForShell([...entries.map(({ name }) => name), "--help", "--version"].join(" "))} -- "$cur"))
    return
  fi
  if [ "$cur" = = ]; then
    cur=''
  elif [ "$prev" = = ]; then
    prev="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  case "$command $prev" in
${cases.join("\n")}
    'completion completion') COMPREPLY=($(compgen -W 'bash zsh fish' -- "$cur")); return ;;
  esac
  case "$command" in
${lists.join("\n")}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -o default -F _pulumi_platform ${PROGRAM}
`;
}

/** Text in a description of zsh, where colons and brackets have a meaning. */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, "\\$&");

function zshSpec([name, flag]: [string, Flag]): string[] {
  const words = wordsOf(flag);
  const value = zshText((flag.value ?? "value").replace("[=PATH]", ""));
  const action = flag.type === "boolean" ? "" : `:${value}:${words ? `(${words.join(" ")})` : "_files"}`;
  const once = flag.multiple ? "*" : "";
  return spellings(name, flag).map((spelling) =>
    quoteForShell(`${once}${spelling}[${zshText(flag.help)}]${action}`),
  );
}

export function zshScript(entries: readonly CompletionEntry[]): string {
  const names = entries.map(({ name, summary }) => `    ${quoteForShell(`${name}:${zshText(summary)}`)}`);
  const cases = entries.map((entry) => {
    const positional =
      entry.name === "completion" ? quoteForShell("1:shell:(bash zsh fish)") : quoteForShell("*:file:_files");
    const specs = [...allFlags(entry).flatMap(zshSpec), positional];
    return `    ${entry.name}) _arguments -s ${specs.join(" \\\n      ")} ;;`;
  });
  return `#compdef ${PROGRAM}
_pulumi_platform() {
  local -a commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = _pulumi_platform ] || [ "$funcstack[1]" = _${PROGRAM} ]; then
  _pulumi_platform "$@"
else
  compdef _pulumi_platform ${PROGRAM}
fi
`;
}

/** A string in single quotes of fish, which knows two escapes. */
const fishQuote = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;

function fishLine(command: string, [name, flag]: [string, Flag]): string {
  const words = wordsOf(flag);
  const value = words ? ` -x -a ${fishQuote(words.join(" "))}` : flag.type === "boolean" ? "" : " -r -F";
  const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
  const when = fishQuote(`__fish_seen_subcommand_from ${command}`);
  return `complete -c ${PROGRAM} -n ${when} -l ${name}${short}${value} -d ${fishQuote(flag.help)}`;
}

export function fishScript(entries: readonly CompletionEntry[]): string {
  const commandLines = entries.map(
    ({ name, summary }) =>
      `complete -c ${PROGRAM} -n __fish_use_subcommand -f -a ${name} -d ${fishQuote(summary)}`,
  );
  const flagLines = entries.flatMap((entry) => allFlags(entry).map((flag) => fishLine(entry.name, flag)));
  const shell = `complete -c ${PROGRAM} -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'`;
  return `${[`# fish completion for ${PROGRAM}`, ...commandLines, ...flagLines, shell].join("\n")}\n`;
}
