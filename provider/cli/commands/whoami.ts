import { errorCodeOf, errorMessage, withCode } from "../../errors/codedError";
import type { ErrorCode } from "../../errors/registry";
import { json } from "../../access/report/render/escape";
import type { Client } from "../../http/client";
import { printable } from "../../text/printable";
import { isUid } from "../../text/uid";
import { defineCommand } from "../framework/defineCommand";
import { exitCodeOf, exitCodes } from "../framework/exitCodes";
import { outputFlag, readDestinations } from "../framework/options";
import { openConnection, describeSources, stackFlag } from "../input/connection";
import { describeGroups, listRootGroups } from "../input/groups";
import type { NamedGroup } from "../input/groups";
import { describeExpiry, describeToken, hasExpired } from "../input/token";
import type { TokenDescription } from "../input/token";
import { writeResults } from "../output/writeFiles";

/** What the API returns for the credential. */
type VisibleGroups = {
  /** The name of the identity; null where the credential may not read it. */
  readonly name: string | null;
  // The highest groups that it may see, or why they could not be listed.
} & (
  | { readonly rootGroups: readonly NamedGroup[]; readonly problem: null; readonly errorCode: null }
  | { readonly rootGroups: null; readonly problem: string; readonly errorCode: ErrorCode }
);

const EXPIRED: VisibleGroups = {
  name: null,
  rootGroups: null,
  problem: "the token has expired",
  errorCode: "PP3401",
};

/** No endpoint names the caller, so an opaque token is known by its groups alone. */
async function readVisibleGroups(
  client: Client,
  subject: string | null,
): Promise<{ visible: VisibleGroups; isRefused: boolean }> {
  try {
    const rootGroups = await listRootGroups(client);
    const name = subject !== null && isUid(subject) ? await readName(client, subject) : null;
    return { visible: { name, rootGroups, problem: null, errorCode: null }, isRefused: false };
  } catch (error) {
    const problem = printable(errorMessage(error), 500);
    const isRefused = exitCodeOf(error) === exitCodes.authentication;
    return { visible: { name: null, rootGroups: null, problem, errorCode: errorCodeOf(error) }, isRefused };
  }
}

/** An identity may not be allowed to read itself. */
async function readName(client: Client, uid: string): Promise<string | null> {
  const identity = await client.get(client.resourcePath("/iam/v2/identities", uid)).catch(() => undefined);
  const name = identity?.["name"];
  return typeof name === "string" && name !== "" ? printable(name, 200) : null;
}

function formatGroups({ rootGroups, problem, errorCode }: VisibleGroups): string {
  if (rootGroups === null) return withCode(`unknown: ${problem}`, errorCode);
  return rootGroups.length === 0 ? "none: the API returns no group" : describeGroups(rootGroups);
}

function formatText(who: TokenDescription & VisibleGroups, now: number): string {
  const rows: [string, string | null][] = [
    [
      "identity",
      who.opaque ? "unknown: the token is opaque, and the API does not name its caller" : who.subject,
    ],
    ["name", who.name],
    ["e-mail", who.email],
    ["issuer", who.issuer],
    ["audience", who.audience.length === 0 ? null : who.audience.join(", ")],
    ["acting for", who.actor?.subject ?? null],
    ["  of issuer", who.actor?.issuer ?? null],
    ["source", who.source],
    ["settings", who.settings],
    ["expires", describeExpiry(who, now)],
    ["groups", formatGroups(who)],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(11)}  ${value}`])).join("\n");
}

const forms = ["text", "json"] as const;

export const command = defineCommand(
  {
    name: "whoami",
    usage: ["[options]"],
    about:
      "Shows which identity the configured credential authenticates as, as the access token says, which source it came " +
      "from, when it expires, and the root groups that the API shows it. Shows no secret.",
    flags: { stack: stackFlag, output: outputFlag(forms) },
    exitCodes: ["clean", "error", "usage", "authentication", "incomplete"],
  },
  async ({ values: { stack, output } }) => {
    const outputs = readDestinations(output, forms);
    const { client, settings, tokens } = await openConnection({ stack });
    const token = await tokens.token();
    const from = { source: settings.credentials.setting, settings: describeSources({ stack }) };
    const claims = describeToken(token, from, tokens.expiry?.());
    const now = Date.now();
    const { visible, isRefused } = hasExpired(claims, now)
      ? { visible: EXPIRED, isRefused: true }
      : await readVisibleGroups(client, claims.subject);
    const who = { ...claims, ...visible };
    writeResults(outputs, { text: () => `${formatText(who, now)}\n`, json: () => `${json(who)}\n` });
    if (isRefused) return exitCodes.authentication;
    return who.opaque && who.rootGroups === null ? exitCodes.incomplete : exitCodes.clean;
  },
);
export const { main } = command;
