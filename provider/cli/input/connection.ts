import type { TokenSource } from "../../http/tokens";
import type { Client } from "../../http/client";
import { ConfigError } from "../../http/errors";
import { printable } from "../../text/printable";
import { createClient, readSettings } from "../../settings/settings";
import type { Settings, SettingSources } from "../../settings/settings";
import type { Flag } from "../framework/flags";
import { logError } from "../output/log";
import { PulumiError, readStackConfig } from "./pulumi";
import { listMisspeltSettings, readEnvironment } from "../../settings/environment";

/** Where a command reads its connection settings from. */
interface ConnectOptions {
  /** `--stack`: take the configuration of this stack of the project in `cwd` too; absent: the environment alone. */
  readonly stack?: string;
  /** The folder of the Pulumi project; default: the current one. */
  readonly cwd?: string;
  /** Takes a line for each setting whose name is probably misspelt; by default that is logged. */
  readonly note?: (line: string) => void;
}

/** A client of the API, and what it was created from. */
export interface Connection {
  readonly client: Client;
  readonly settings: Settings;
  readonly tokens: TokenSource;
  /** The uid of the group that the stack's program works below, as the programs of `init` read it from the configuration. */
  readonly rootUid?: string;
}

/** The flag of a command that reads a stack's configuration for its connection. */
export const stackFlag = {
  type: "string",
  value: "STACK",
  default: "the environment alone",
  help: "read the configuration of this stack of the project in this folder too",
} as const satisfies Flag;

const TOKEN = "platform:token";
const PLAIN_TOKEN = `${TOKEN} is plain text in the file of the stack: run pulumi config set --secret ${TOKEN}, and revoke the one that stands there`;

/**
 * Where a command's settings come from. With `stack`, that is `pulumi config` of that stack (its secrets too: the
 * token may be one), then the environment, in the order of each setting; without it, the environment alone.
 *
 * @throws ConfigError when the stack's configuration cannot be read.
 */
async function settingSources({
  stack,
  cwd,
  note = logError,
}: ConnectOptions): Promise<SettingSources & { readonly rootUid?: string }> {
  const env = readEnvironment();
  const config = stack === undefined ? {} : await stackConfiguration(stack, cwd);
  for (const line of listMisspeltSettings(Object.keys(config), env)) note(line);
  if (config[TOKEN]?.secret === false) note(PLAIN_TOKEN);
  const rootUid = Object.entries(config).find(([key]) => key.endsWith(":rootUid"))?.[1].value;
  return {
    stack: (key) => config[`platform:${key}`]?.value,
    env,
    rootUid,
  };
}

/** Names the sources of settings for a person. */
export function describeSources({ stack }: ConnectOptions): string {
  return stack === undefined
    ? "the environment"
    : `the configuration of stack ${printable(stack)} and the environment`;
}

/**
 * Builds the client of a command. It sends no request, and exchanges no token, before its first call.
 *
 * @throws ConfigError naming the setting that is missing or wrong.
 */
export async function openConnection(options: ConnectOptions = {}): Promise<Connection> {
  const sources = await settingSources(options);
  if (options.stack === undefined && !sources.env["PLATFORM_BASE_URL"]) {
    throw new ConfigError(
      "PP2001",
      "the address of the API is missing: set PLATFORM_BASE_URL, or name a stack that has it with --stack",
    );
  }
  const settings = readSettings(sources);
  const { rootUid } = sources;
  return { ...createClient(settings), settings, rootUid };
}

async function stackConfiguration(
  stack: string,
  cwd: string | undefined,
): ReturnType<typeof readStackConfig> {
  try {
    return await readStackConfig(stack, cwd);
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    throw new ConfigError(
      "PP2005",
      `the configuration of stack ${JSON.stringify(stack)} cannot be read: ${error.message}`,
    );
  }
}
