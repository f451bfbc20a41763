import type { Client } from "../../http/client";
import { printable } from "../../text/printable";
import { isUid, parentOf } from "../../text/uid";
import { groupPath } from "../../access/graph/groupHierarchy";
import { UsageError } from "../framework/exitCodes";
import { compareTexts } from "../../fields/values";

/** A group as people name it. */
export interface NamedGroup {
  readonly uid: string;
  readonly name: string;
}

const COLLECTION = "/iam/v2/groups";

async function findGroups(client: Client, query: Readonly<Record<string, string>>): Promise<NamedGroup[]> {
  const groups: NamedGroup[] = [];
  for await (const { uid, name } of client.list(COLLECTION, query)) {
    if (typeof uid === "string") groups.push({ uid, name: typeof name === "string" ? name : "" });
  }
  return groups.sort((a, b) => compareTexts(a.uid, b.uid));
}

/** The root groups that the credential may see; for one that sees no root, the highest groups that it sees. */
export async function listRootGroups(client: Client): Promise<NamedGroup[]> {
  const roots = await findGroups(client, { "uidp.in_root": "true" });
  if (roots.length > 0) return roots;
  const all = await findGroups(client, {});
  const uids = new Set(all.map(({ uid }) => uid));
  return all.filter(({ uid }) => !uids.has(parentOf(uid) ?? ""));
}

/** "acme (0123…), beta (4567…)", at most one line of a terminal or a log. */
export function describeGroups(groups: readonly NamedGroup[]): string {
  const shown = groups.slice(0, 10).map(({ uid, name }) => `${printable(name, 80) || "no name"} (${uid})`);
  return [
    ...shown,
    ...(groups.length > shown.length ? [`and ${groups.length - shown.length} more`] : []),
  ].join(", ");
}

/** The groups that have a path as reports write it: `acme / payments`. */
async function findByPath(client: Client, path: string): Promise<NamedGroup[]> {
  if (!path.includes(" / ")) return [];
  const all = new Map((await findGroups(client, {})).map((group) => [group.uid, group]));
  const namesTo = (uid = ""): string[] => {
    const group = all.get(uid);
    return group === undefined ? [] : [...namesTo(parentOf(uid)), group.name];
  };
  return [...all.values()].filter(({ uid }) => groupPath(namesTo(uid)) === path);
}

/**
 * The uid of a group that a flag names by its uid, its name or its path.
 *
 * @throws UsageError that lists candidates where no group has the name, or several do.
 */
export async function resolveGroup(client: Client, text: string, flag: string): Promise<string> {
  if (isUid(text)) return text;
  const shown = JSON.stringify(printable(text, 80));
  const called = (await findGroups(client, { name: text })).filter(({ name }) => name === text);
  const named = called.length > 0 ? called : await findByPath(client, text);
  const [only] = named;
  if (only !== undefined && named.length === 1) return only.uid;
  if (named.length > 1) {
    throw new UsageError(
      "PP5014",
      `${flag} ${shown} names several groups: give the uid of one: ${describeGroups(named)}`,
    );
  }
  const roots = await listRootGroups(client);
  const candidates =
    roots.length === 0 ? "the credential can see no group" : `the root groups are ${describeGroups(roots)}`;
  throw new UsageError("PP5008", `${flag}: no group has the uid, name or path ${shown}; ${candidates}`);
}
