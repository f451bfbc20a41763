import type { Access, EffectiveAccess } from "../graph/effectiveAccess";
import { urnParts } from "../documents/engineState";
import type { Entity, AccessGraph } from "../graph/model";
import { compareTexts } from "../../fields/values";
import { describeUnused } from "./unusedAccess";
import type { SignIn, UnusedAccess } from "./unusedAccess";
import { lifetimesOf, textAt, textMeant } from "../graph/describedFields";

/** One line of "who has what": every value is a string, empty where nothing tells it. */
export interface AccessRow {
  /** In words: "GitHub Actions of acme/pay". */
  readonly subject: string;
  /** The name of the identity. */
  readonly subjectName: string;
  readonly subjectType: string;
  readonly subjectUid: string;
  readonly role: string;
  readonly roleUid: string;
  readonly group: string;
  readonly groupUid: string;
  /** How the subject comes to it: by which resource, at which group, and inherited by which. */
  readonly path: string;
  readonly sourceKind: string;
  readonly sourceUid: string;
  /** The stack that declares the grant; "unmanaged" where none of the stacks that were read does. */
  readonly stack: string;
  /** RFC 3339. */
  readonly expires: string;
  /** When the identity was last seen: RFC 3339. */
  readonly lastUsed: string;
  /** "yes"; "unknown" where nothing tells whether the role holds the capability that was asked for. */
  readonly matches: string;
}

export const accessColumns: Readonly<Record<keyof AccessRow, string>> = {
  subject: "Subject",
  subjectName: "Name",
  subjectType: "Type",
  subjectUid: "Subject uid",
  role: "Role",
  roleUid: "Role uid",
  group: "Group",
  groupUid: "Group uid",
  path: "Granted by",
  sourceKind: "Source",
  sourceUid: "Source uid",
  stack: "Stack",
  expires: "Expires",
  lastUsed: "Last used",
  matches: "Matches",
};

/** When access ends by itself: an invite, and the keys of an identity, have an end. */
function findEarliestEnd(subject: Entity | undefined, source: Entity | undefined): string {
  const ends = [
    ...lifetimesOf(source?.kind ?? "").map(
      ({ field }) => textAt(source?.details, field.returnedAs ?? "") ?? "",
    ),
    (subject && textMeant(subject, "trust.keysEnd")) ?? "",
  ].filter((time) => !Number.isNaN(Date.parse(time)));
  return ends.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? "";
}

function buildRow(
  { grant, inheritedBy }: Access,
  graph: AccessGraph,
  hasStacks: boolean,
  matches: string,
): AccessRow {
  const { subject, role, group, sourceKind, urn, uid } = grant;
  const source = [...(uid === undefined ? [] : [uid]), ...(urn === undefined ? [] : [urn])]
    .map((key) => graph.entities.get(key))
    .find((entity) => entity !== undefined);
  const name = urn === undefined ? (source?.name ?? uid ?? "") : urnParts(urn).name;
  const inherited = inheritedBy === undefined ? "" : `, inherited by ${inheritedBy.path}`;
  const entity = graph.entities.get(subject.key);
  return {
    subject: subject.displayName,
    subjectName: subject.name ?? "",
    subjectType: subject.type,
    subjectUid: subject.uid ?? "",
    role: role.name ?? role.uid ?? "",
    roleUid: role.uid ?? "",
    group: group.path,
    groupUid: group.uid ?? "",
    path: `${[sourceKind, name].filter(Boolean).join(" ")} at ${group.path}${inherited}`,
    sourceKind,
    sourceUid: uid ?? "",
    stack: urn === undefined ? (hasStacks ? "unmanaged" : "") : urnParts(urn).stack,
    expires: findEarliestEnd(entity, source),
    lastUsed: entity?.lastSeenTime ?? "",
    matches,
  };
}

/** Unused identities that hold nothing, and those of which nobody knows whether they are used. */
function unheldRows({ unused, unknown }: UnusedAccess, held: readonly Access[]): AccessRow[] {
  const holders = new Set(held.map(({ grant }) => grant.subject.key));
  const rowOf = (signIn: SignIn, matches: string): AccessRow => ({
    subject: signIn.name ?? signIn.key,
    subjectName: signIn.name ?? "",
    subjectType: "identity",
    subjectUid: signIn.uid ?? "",
    role: "",
    roleUid: "",
    group: "",
    groupUid: "",
    path: describeUnused(signIn),
    sourceKind: "",
    sourceUid: "",
    stack: signIn.urn === undefined ? "" : urnParts(signIn.urn).stack,
    expires: "",
    lastUsed: signIn.lastSeenTime ?? "",
    matches,
  });
  return [
    ...unused.filter(({ key }) => !holders.has(key)).map((each) => rowOf(each, "yes")),
    ...unknown.map((each) => rowOf(each, "unknown")),
  ];
}

/**
 * Who has what, in one order for the same access.
 *
 * @param hasStacks whether a stack was read: what has no urn is then in none of them.
 * @param unused identities that have a row also where they hold nothing.
 */
export function accessRows(
  { access, undecided }: EffectiveAccess,
  graph: AccessGraph,
  hasStacks: boolean,
  unused?: UnusedAccess,
): AccessRow[] {
  const rows = [
    ...access.map((entry) => buildRow(entry, graph, hasStacks, "yes")),
    ...undecided.map((entry) => buildRow(entry, graph, hasStacks, "unknown")),
    ...(unused === undefined ? [] : unheldRows(unused, [...access, ...undecided])),
  ].map((row) => ({ row, key: JSON.stringify(Object.values(row)) }));
  return rows.sort((a, b) => compareTexts(a.key, b.key)).map(({ row }) => row);
}
