import { json } from "../access/report/render/escape";
import { claimsOf, timeClaim } from "../api/claims";
import type { Claims } from "../api/claims";
import type { Client } from "../api/client";
import { printable } from "../api/errors";
import { isUid } from "../api/uid";
import { exitCodeOf, exitCodes } from "./command";
import { connect, describeSources, stackFlag } from "./connection";
import { defineCommand } from "./define";
import { writeResults } from "./files";
import { describeGroups, listRootGroups } from "./groups";
import type { NamedGroup } from "./groups";
import { outputFlag, readDestinations } from "./options";

/** What the command answers with `-o json`; a claim that the token does not make is null. */
export interface WhoAmI {
  readonly schemaVersion: 1;
  /** The settings that the credential came from, as in "PLATFORM_TOKEN". */
  readonly source: string;
  /** "the environment", or the stack and the environment. */
  readonly settings: string;
  /** Whether the token says nothing that could be read. */
  readonly opaque: boolean;
  /** The uid of the identity. */
  readonly subject: string | null;
  readonly issuer: string | null;
  readonly audience: readonly string[];
  readonly email: string | null;
  /** Whose OIDC token was exchanged. */
  readonly actor: { readonly issuer: string | null; readonly subject: string | null } | null;
  /** RFC 3339. */
  readonly expiry: string | null;
}

const textClaim = (claims: Claims | undefined, name: string): string | null => {
  const value = claims?.[name];
  return typeof value === "string" && value !== "" ? printable(value) : null;
};

/** What the API shows the credential. */
export interface VisibleGroups {
  /** The name of the identity; null where the API does not tell it. */
  readonly name: string | null;
  /** The highest groups that it may see; null where they could not be listed. */
  readonly rootGroups: readonly NamedGroup[] | null;
  /** Why they could not be listed. */
  readonly problem: string | null;
}

/** Asks the API what it shows: no endpoint names the caller, so an opaque token is known by its groups alone. */
async function readVisibleGroups(
  client: Client,
  subject: string | null,
): Promise<{ visible: VisibleGroups; isRefused: boolean }> {
  try {
    const rootGroups = await listRootGroups(client);
    const name = subject !== null && isUid(subject) ? await readName(client, subject) : null;
    return { visible: { name, rootGroups, problem: null }, isRefused: false };
  } catch (error) {
    const problem = printable(error instanceof Error ? error.message : "it failed", 500);
    const isRefused = exitCodeOf(error) === exitCodes.authentication;
    return { visible: { name: null, rootGroups: null, problem }, isRefused };
  }
}

/** An identity may not be allowed to read itself. */
async function readName(client: Client, uid: string): Promise<string | null> {
  const identity = await client.get(client.address("/iam/v2/identities", uid)).catch(() => undefined);
  const name = identity?.["name"];
  return typeof name === "string" && name !== "" ? printable(name, 200) : null;
}

/**
 * What a token says of itself. Not verified: it is shown to whoever holds the token.
 *
 * @param expiry when the exchange said that it ends.
 */
export function describeToken(
  token: string,
  from: Pick<WhoAmI, "source" | "settings">,
  expiry?: Date,
): WhoAmI {
  const claims = claimsOf(token);
  const { aud, act } = claims ?? {};
  const actor = act !== null && typeof act === "object" && !Array.isArray(act) ? (act as Claims) : undefined;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  const ends = timeClaim(claims, "exp") ?? expiry;
  return {
    schemaVersion: 1,
    ...from,
    opaque: claims === undefined,
    subject: textClaim(claims, "sub"),
    issuer: textClaim(claims, "iss"),
    audience: audiences.flatMap((one) => (typeof one === "string" ? [printable(one)] : [])),
    email: textClaim(claims, "email"),
    actor: actor ? { issuer: textClaim(actor, "iss"), subject: textClaim(actor, "sub") } : null,
    expiry: ends?.toISOString() ?? null,
  };
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** A time as a person says it: "in 54 minutes", "3 days ago". */
export function formatRelativeTime(time: Date, now: number): string {
  const away = time.getTime() - now;
  const [unit, ms] = UNITS.find(([, size]) => Math.abs(away) >= 2 * size) ?? ["second", 1000];
  return new Intl.RelativeTimeFormat("en").format(Math.trunc(away / ms), unit);
}

/** When a token ends, in words and exactly. */
export function describeExpiry({ expiry, opaque }: WhoAmI, now: number): string {
  if (expiry === null) return opaque ? "unknown" : "never, by its own words";
  const time = new Date(expiry);
  return `${time.getTime() <= now ? "ended " : ""}${formatRelativeTime(time, now)} (${expiry})`;
}

export function hasExpired({ expiry }: WhoAmI, now: number): boolean {
  return expiry !== null && Date.parse(expiry) <= now;
}

function formatGroups({ rootGroups, problem }: VisibleGroups): string {
  if (rootGroups === null) return `unknown: ${problem ?? "not listed"}`;
  return rootGroups.length === 0 ? "none: the API shows it no group" : describeGroups(rootGroups);
}

function formatText(who: WhoAmI & VisibleGroups, now: number): string {
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
    ["ends", describeExpiry(who, now)],
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
    const outputs = readDestinations(output, forms, "text");
    const { client, settings, tokens } = await connect({ stack });
    const token = await tokens.token();
    const from = { source: settings.credentials.setting, settings: describeSources({ stack }) };
    const said = describeToken(token, from, tokens.expiry?.());
    const now = Date.now();
    const { visible, isRefused } = hasExpired(said, now)
      ? { visible: { name: null, rootGroups: null, problem: "the token has ended" }, isRefused: true }
      : await readVisibleGroups(client, said.subject);
    const who = { ...said, ...visible };
    writeResults(outputs, { text: () => `${formatText(who, now)}\n`, json: () => `${json(who)}\n` });
    if (isRefused) return exitCodes.authentication;
    return who.opaque && who.rootGroups === null ? exitCodes.incomplete : exitCodes.clean;
  },
);
export const { main } = command;
