/* eslint-disable @typescript-eslint/no-require-imports -- A command is loaded when it is called; jest has no import() for that. */
import type { LoadedCommand } from "../framework/defineCommand";

/** One command of the command line. Its code is loaded when it is called: the others cost its start nothing. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => LoadedCommand;
}

/** A file of a command. */
interface CommandModule {
  readonly command: LoadedCommand;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "init",
    summary: "write a first program, its policy file and the workflows of the access review",
    load: () => (require("./init/init") as CommandModule).command,
  },
  {
    name: "emulator",
    summary: "serve the Platform API from memory, to try and test programs",
    load: () => (require("./emulator") as CommandModule).command,
  },
  {
    name: "whoami",
    summary: "show which identity the credential authenticates as, and when it expires",
    load: () => (require("./whoami") as CommandModule).command,
  },
  {
    name: "doctor",
    summary: "check configuration, address, TLS, token, clock and versions",
    load: () => (require("./doctor") as CommandModule).command,
  },
  {
    name: "review",
    summary: "show who gains and who loses access in a preview",
    load: () => (require("./review") as CommandModule).command,
  },
  {
    name: "verify",
    summary: "check after an update that access is what the approved review announced",
    load: () => (require("./verify") as CommandModule).command,
  },
  {
    name: "access",
    summary: "show who can do what where",
    load: () => (require("./access") as CommandModule).command,
  },
  {
    name: "explain",
    summary: "explain a rule of the access review, how to fix it and how to make an exception",
    load: () => (require("./explain") as CommandModule).command,
  },
  {
    name: "post",
    summary: "post a report of review or drift as a comment or an issue",
    load: () => (require("./post") as CommandModule).command,
  },
  {
    name: "inventory",
    summary: "list the live organisation into one document",
    load: () => (require("./inventory") as CommandModule).command,
  },
  {
    name: "drift",
    summary: "find what was changed outside of its program",
    load: () => (require("./drift") as CommandModule).command,
  },
  {
    name: "adopt",
    summary: "write the program, and the state, of what exists",
    load: () => (require("./adopt/adopt") as CommandModule).command,
  },
  {
    name: "watch",
    summary: "receive events, and check the resources that they name",
    load: () => (require("./watch/watch") as CommandModule).command,
  },
  {
    name: "plugin",
    summary: "install the native plugin: for pulumi import, two addresses, YAML, Python and Go",
    load: () => (require("./plugin") as CommandModule).command,
  },
  {
    name: "completion",
    summary: "print the completion script of a shell",
    load: () => (require("./completion") as CommandModule).command,
  },
];
