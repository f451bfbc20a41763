import type { CodeTable } from "./description";

const HELP = "`npx pulumi-platform <command> --help` and [commands](commands.md) show all options.";

/** What is wrong with the arguments of a command, or with what they name. */
export const commandCodes = {
  PP5001: {
    title: "Unknown command, option or argument",
    meaning: "The command line has a word that the command does not know.",
    look: HELP,
    fix: "Correct the word.",
  },
  PP5002: {
    title: "An option has a wrong value",
    meaning: "The value is missing, empty, or not of the form that the option needs.",
    look: HELP,
    fix: "Give a value as the message says.",
  },
  PP5003: {
    title: "Options do not go together",
    meaning: "Two options conflict, or one needs another one that is missing.",
    look: HELP,
    fix: "Add or remove an option as the message says.",
  },
  PP5004: {
    title: "A required option or argument is missing",
    meaning: "The command cannot know what to work on.",
    look: HELP,
    fix: "Give the option or the file that the message names.",
  },
  PP5005: {
    title: "A file cannot be read",
    meaning:
      "The file does not exist, is a folder, or this user may not read it. Or it is a symbolic link to a file outside of its folder. So an artifact or a pull request of others could name any file of the machine.",
    look: "`ls -l` shows the file. Paths are relative to the folder in which the command runs.",
    fix: "Correct the path, or name the file that the link leads to. In CI, check that the step that writes the file ran before.",
  },
  PP5006: {
    title: "A file cannot be written",
    meaning:
      "The folder does not exist, the path is a folder, this user may not write there, or the disk is full. Standard output is such a file too. Or its reader ended too early, as `head` does: the command then ends with 1, or with the code of its findings.",
    look: "`ls -ld` shows the folder, and `df` the space on the disk.",
    fix: "Create the folder, free space, or give another path. Write to a file (`-o text=report.txt`) before you shorten it.",
  },
  PP5007: {
    title: "No file matches a pattern",
    meaning: "The pattern is valid and matches nothing.",
    look: "`ls` with the same pattern in the same folder shows what matches.",
    fix: "Correct the pattern, and quote it so that the shell passes it on.",
  },
  PP5008: {
    title: "A name is not known",
    meaning: "There is no group, stack, kind, rule or code of this name.",
    look: "The message lists what there is, or how to list it.",
    fix: "Correct the name.",
  },
  PP5009: {
    title: "The Pulumi CLI failed",
    meaning: "`pulumi` is not on the PATH, or ended with an error.",
    look: "Run the command that the message names.",
    fix: "Install the CLI, log in to the backend, or correct what it reports.",
  },
  PP5010: {
    title: "An address cannot be listened on",
    meaning: "Another process has the port, or the address is not of this machine.",
    look: "`ss -ltnp` lists the processes that listen.",
    fix: "Give another port, or end the other process.",
  },
  PP5011: {
    title: "The folder is not ready",
    meaning: "The folder of adopt or init holds a file of this name, another project, or no program yet.",
    look: "`ls` shows the folder.",
    fix: "Do as the message says, or give another folder. `adopt --force` replaces a file.",
  },
  PP5012: {
    title: "The stack changed, so nothing was imported",
    meaning: "The stack was updated while adopt ran, or the program shows changes after the import.",
    look: "`pulumi preview --diff` shows what would change. `pulumi stack history` lists updates.",
    fix: "Run again when no other update is running. The state is as it was before.",
  },
  PP5013: {
    title: "The base of a change cannot be read with git",
    meaning: "`--base-ref` names no commit of this clone, or git cannot be run.",
    look: "`git rev-parse --verify <ref>` shows whether the clone has the commit.",
    fix: "Fetch it: in GitHub Actions, `fetch-depth: 0`. Or give the file with `--policy-base`.",
  },
  PP5015: {
    title: "A version is not supported",
    meaning: "Node, the SDK of Pulumi or its CLI is older or newer than this package supports.",
    look: "`npx pulumi-platform doctor` shows all versions.",
    fix: "Install the version that the message names.",
  },
  PP5014: {
    title: "A name is ambiguous",
    meaning: "Several groups have this name.",
    look: "The message lists their uids.",
    fix: "Give the uid of one.",
  },
} as const satisfies CodeTable;
