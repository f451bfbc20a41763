import type { LoadedCommand } from "../framework/defineCommand";

/** One command of the command line. Its code is loaded when it is called: the others cost its start nothing. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => LoadedCommand;
}

/** The file of each command, which has its name, and what it does. */
const TABLE = [
  ["./init/init", "write a first program, its policy file and the workflows of the access review"],
  ["./emulator", "serve the Platform API from memory, to try and test programs"],
  ["./whoami", "show which identity the credential authenticates as, and when it expires"],
  ["./doctor", "check configuration, address, TLS, token, clock and versions"],
  ["./review", "show who gains and who loses access in a preview"],
  ["./verify", "check after an update that access is what the approved review announced"],
  ["./access", "show who can do what where"],
  ["./explain", "explain a rule of the access review, how to fix it and how to make an exception"],
  ["./post", "post a report of review or drift as a comment or an issue"],
  ["./inventory", "list the live organisation into one document"],
  ["./drift", "find what was changed outside of its program"],
  ["./adopt/adopt", "write the program, and the state, of what exists"],
  ["./watch/watch", "receive events, and check the resources that they name"],
  ["./plugin", "install the native plugin: for pulumi import, two addresses, YAML, Python and Go"],
  ["./completion", "print the completion script of a shell"],
] as const;

export const commands: readonly CommandEntry[] = TABLE.map(([file, summary]) => ({
  name: file.slice(file.lastIndexOf("/") + 1),
  summary,
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- jest has no import() for that.
  load: () => (require(file) as { readonly command: LoadedCommand }).command,
}));
