/* eslint-disable @typescript-eslint/no-require-imports -- A command is loaded when it is called; jest has no import() for that. */
import type * as accessModule from "./access";
import type * as adoptModule from "./adopt/adopt";
import type * as completionModule from "./completion";
import type * as doctorModule from "./doctor";
import type * as driftModule from "./drift";
import type * as emulatorModule from "./emulator";
import type * as explainModule from "./explain";
import type * as initModule from "./init/init";
import type * as inventoryModule from "./inventory";
import type * as pluginModule from "./plugin";
import type * as postReportModule from "./post";
import type * as reviewModule from "./review";
import type * as verifyModule from "./verify";
import type * as watchModule from "./watch/watch";
import type * as whoamiModule from "./whoami";
import type { LoadedCommand } from "../framework/defineCommand";

/** One command of the command line. Its code is loaded when it is called: the others cost its start nothing. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => LoadedCommand;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "init",
    summary: "write a first program, its policy file and the workflows of the access review",
    load: () => (require("./init/init") as typeof initModule).command,
  },
  {
    name: "emulator",
    summary: "serve the Platform API from memory, to try and test programs",
    load: () => (require("./emulator") as typeof emulatorModule).command,
  },
  {
    name: "whoami",
    summary: "show which identity the credential authenticates as, and when it expires",
    load: () => (require("./whoami") as typeof whoamiModule).command,
  },
  {
    name: "doctor",
    summary: "check configuration, address, TLS, token, clock and versions",
    load: () => (require("./doctor") as typeof doctorModule).command,
  },
  {
    name: "review",
    summary: "show who gains and who loses access in a preview",
    load: () => (require("./review") as typeof reviewModule).command,
  },
  {
    name: "verify",
    summary: "check after an update that access is what the approved review announced",
    load: () => (require("./verify") as typeof verifyModule).command,
  },
  {
    name: "access",
    summary: "show who can do what where",
    load: () => (require("./access") as typeof accessModule).command,
  },
  {
    name: "explain",
    summary: "explain a rule of the access review, how to fix it and how to make an exception",
    load: () => (require("./explain") as typeof explainModule).command,
  },
  {
    name: "post",
    summary: "post a report of review or drift as a comment or an issue",
    load: () => (require("./post") as typeof postReportModule).command,
  },
  {
    name: "inventory",
    summary: "list the live organisation into one document",
    load: () => (require("./inventory") as typeof inventoryModule).command,
  },
  {
    name: "drift",
    summary: "find what was changed outside of its program",
    load: () => (require("./drift") as typeof driftModule).command,
  },
  {
    name: "adopt",
    summary: "write the program, and the state, of what exists",
    load: () => (require("./adopt/adopt") as typeof adoptModule).command,
  },
  {
    name: "watch",
    summary: "receive events, and check the resources that they name",
    load: () => (require("./watch/watch") as typeof watchModule).command,
  },
  {
    name: "plugin",
    summary: "install the native plugin: for pulumi import, two addresses, YAML, Python and Go",
    load: () => (require("./plugin") as typeof pluginModule).command,
  },
  {
    name: "completion",
    summary: "print the completion script of a shell",
    load: () => (require("./completion") as typeof completionModule).command,
  },
];
