import { DAY_MS, timestampNanos } from "../../fields/formats";
import { compareTexts } from "../../fields/values";
import { urnParts } from "../documents/engineState";
import type { Inventory } from "../documents/inventory";
import { specs } from "../documents/specs";
import { lifetimesOf, textAt, textMeant } from "../graph/describedFields";
import type { Access, EffectiveAccess } from "../graph/effectiveAccess";
import type { Entity, AccessGraph } from "../graph/model";
import { findLastOwners } from "../rules/facts";
import { csv, markdown } from "./render/escape";
import { documentHead, markup } from "./render/html";
import { formatTime } from "./render/words";

/** The columns of "who has what": every value is a string, empty where nothing tells it. */
export const accessColumns = {
  /** In words: "GitHub Actions of acme/pay". */
  subject: "Subject",
  /** The name of the identity. */
  subjectName: "Name",
  subjectType: "Type",
  subjectUid: "Subject uid",
  role: "Role",
  roleUid: "Role uid",
  group: "Group",
  groupUid: "Group uid",
  /** How the subject comes to it: by which resource, at which group, inherited by which, and with whose tokens. */
  path: "Granted by",
  sourceKind: "Source",
  sourceUid: "Source uid",
  /** The stack that declares the grant; "unmanaged" where none of the stacks that were read does. */
  stack: "Stack",
  /** RFC 3339. */
  expires: "Expires",
  /** When the identity was last seen: RFC 3339. */
  lastUsed: "Last used",
  /** "yes"; "unknown" where nothing tells whether the role holds the capability that was asked for. */
  matches: "Matches",
} as const;

type Column = keyof typeof accessColumns;
export type AccessRow = Readonly<Record<Column, string>>;

const columns = Object.keys(accessColumns) as Column[];

const emptyRow = Object.fromEntries(columns.map((column) => [column, ""])) as Record<Column, string>;

/** When access ends by itself: an invite, or the keys of an identity, have an end. */
function findEnd(subject: Entity | undefined, source: Entity | undefined): string {
  const ends = [
    ...lifetimesOf(source?.kind ?? "").map(
      ({ field }) => textAt(source?.details, field.returnedAs ?? "") ?? "",
    ),
    (subject && textMeant(subject, "trust.keysEnd")) ?? "",
  ];
  return ends.find((time) => !Number.isNaN(Date.parse(time))) ?? "";
}

function buildRow(
  { grant, inheritedBy, byTokensOf }: Access,
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
  const tokens = byTokensOf === undefined ? "" : `, with tokens of ${byTokensOf}`;
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
    path: `${[sourceKind, name].filter(Boolean).join(" ")} at ${group.path}${inherited}${tokens}`,
    sourceKind,
    sourceUid: uid ?? "",
    stack: urn === undefined ? (hasStacks ? "unmanaged" : "") : urnParts(urn).stack,
    expires: findEnd(entity, source),
    lastUsed: entity?.lastSeenTime ?? "",
    matches,
  };
}

/** Unused identities that hold nothing, and those of which nobody knows whether they are used. */
function unheldRows({ unused, unknown }: UnusedAccess, held: readonly Access[]): AccessRow[] {
  const holders = new Set(held.map(({ grant }) => grant.subject.key));
  const rowOf = (signIn: SignIn, matches: string): AccessRow => ({
    ...emptyRow,
    subject: signIn.name ?? signIn.key,
    subjectName: signIn.name ?? "",
    subjectType: "identity",
    subjectUid: signIn.uid ?? "",
    path: describeUnused(signIn),
    stack: signIn.urn === undefined ? "" : urnParts(signIn.urn).stack,
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

/** An identity, and what the inventory says of when it signed in. */
export interface SignIn {
  readonly key: string;
  readonly uid?: string;
  readonly urn?: string;
  readonly name?: string;
  /** RFC 3339; absent of one that has never signed in. */
  readonly lastSeenTime?: string;
  /** RFC 3339; absent where nothing tells it. */
  readonly createTime?: string;
  /**
   * Where one that is unused is removed: a line of the program, a URN, or the uid of what no program declares. Absent where
   * nothing tells whether it is used, and of the last owner of a root group.
   */
  readonly remove?: string;
  /** The path of the root group that would have no owner without it. */
  readonly lastOwnerOf?: string;
}

/** Identities that have not signed in for some days. */
export interface UnusedAccess {
  readonly days: number;
  /** RFC 3339: who signed in since then is used. */
  readonly before: string;
  /** Seen before that time, or never and older than it. */
  readonly unused: readonly SignIn[];
  /** Nothing tells when they were seen or created: neither used nor unused. */
  readonly unknown: readonly SignIn[];
}

/** Where a resource or a grant is removed. */
const placeOfRemoval = ({ location, urn, uid }: Pick<Entity, "location" | "urn" | "uid">): string =>
  location === undefined ? (urn ?? uid ?? "") : `${location.file}:${location.line}`;

const isBefore = (time: string, nanos: bigint): boolean | undefined => {
  const at = timestampNanos(time);
  return at === undefined ? undefined : at < nanos;
};

/**
 * Finds the identities that have not signed in for some days before their inventory was taken: what happened since then is
 * not known.
 */
export function findUnused(graph: AccessGraph, inventory: Inventory, days: number): UnusedAccess {
  const before = new Date(Date.parse(inventory.takenAt) - days * DAY_MS).toISOString();
  const limit = timestampNanos(before) ?? 0n;
  const objects = new Map(inventory.objects.map((object) => [`${object.kind} ${object.uid}`, object]));
  const lastOwners = findLastOwners(graph);
  const unused: SignIn[] = [];
  const unknown: SignIn[] = [];
  for (const entity of graph.entities.values()) {
    const { kind, key, uid, urn, name } = entity;
    // What a preview creates has no uid, and nobody can have used it.
    if (uid === undefined || !Object.hasOwn(specs[kind]?.reads ?? {}, "lastSeenTime")) continue;
    const { lastSeenTime, createTime } = objects.get(`${kind} ${uid}`) ?? {};
    const isUnused = isBefore(lastSeenTime ?? createTime ?? "", limit);
    if (isUnused === false) continue;
    const signIn = { key, uid, urn, name, lastSeenTime, createTime };
    const lastOwnerOf = lastOwners.get(uid)?.path;
    if (isUnused === undefined) unknown.push(signIn);
    else
      unused.push({
        ...signIn,
        ...(lastOwnerOf === undefined ? { remove: placeOfRemoval(entity) } : { lastOwnerOf }),
      });
  }
  return { days, before, unused, unknown };
}

/** When an identity was seen last, and what to do about one that is unused, in words. */
export function describeUnused(signIn: SignIn): string {
  const { remove, lastOwnerOf } = signIn;
  const advice =
    lastOwnerOf !== undefined
      ? `; do not remove it: ${lastOwnerOf} has no other owner`
      : remove === undefined
        ? ""
        : `; remove ${remove}`;
  return `${describeLastSignIn(signIn)}${advice}`;
}

function describeLastSignIn({ lastSeenTime, createTime }: SignIn): string {
  if (lastSeenTime !== undefined) return `last signed in ${lastSeenTime}`;
  return createTime === undefined
    ? "not known when it signed in or was created"
    : `never signed in, created ${createTime}`;
}

/** A table of access, and what was not read for it. */
interface AccessTable {
  readonly rows: readonly AccessRow[];
  readonly incomplete: readonly string[];
  /** How the access breaks what a policy file asserts, a line each. */
  readonly broken: readonly string[];
}

/** What a person reads: the uids are for programs, and the source's kind is the first word of the path. */
const readable = columns.filter((column) => !column.endsWith("Uid") && column !== "sourceKind");

/** What a cell says where nothing is to be said. */
const nothing = (column: Column): string => (column === "matches" ? "yes" : "");

/** The columns in which some row says something. */
function shownColumns(rows: readonly AccessRow[], without: readonly Column[] = []): Column[] {
  return readable.filter(
    (column) => !without.includes(column) && rows.some((row) => row[column] !== nothing(column)),
  );
}

const readableValue = (row: AccessRow, column: Column): string =>
  column === "expires" || column === "lastUsed" ? formatTime(row[column]) : row[column];

/** RFC 4180: a header, quoted fields, CRLF. */
export function accessAsCsv({ rows }: AccessTable): string {
  const lines = [
    columns.map((column) => accessColumns[column]),
    ...rows.map((row) => columns.map((column) => row[column])),
  ];
  return lines.map((fields) => `${fields.map(csv).join(",")}\r\n`).join("");
}

export function accessAsMarkdown({ rows, incomplete, broken }: AccessTable): string {
  const line = (fields: readonly string[]): string => `| ${fields.join(" | ")} |`;
  const shown = shownColumns(rows);
  return [
    "# Who has what",
    "",
    ...incomplete.flatMap((reason) => [`**Incomplete**: ${markdown(reason)}`, ""]),
    ...broken.flatMap((line) => [`**Broken**: ${markdown(line)}`, ""]),
    line(shown.map((column) => accessColumns[column])),
    line(shown.map(() => "---")),
    ...rows.map((row) => line(shown.map((column) => markdown(readableValue(row, column))))),
    "",
  ].join("\n");
}

/** One page that loads nothing, in the style of a report's. */
export function accessAsHtml({ rows, incomplete, broken }: AccessTable): string {
  const shown = shownColumns(rows, ["subject", "subjectName"]);
  const heads = (["subject", ...shown] as const).map(
    (column) => markup`<th scope="col">${accessColumns[column]}</th>`,
  );
  const body = rows.map((row) => {
    const { subject, subjectName } = row;
    // The words for a subject often contain its name.
    const isNamed = subjectName === "" || subject.includes(subjectName);
    const name = isNamed ? undefined : markup`<div class="where">${subjectName}</div>`;
    const cells = shown.map(
      (column) => markup`<td data-label="${accessColumns[column]}">${readableValue(row, column)}</td>`,
    );
    return markup`<tr><th scope="row">${subject}${name}</th>${cells}</tr>\n`;
  });
  const notes = [
    ...incomplete.map((reason) => markup`<p><strong>Incomplete</strong>: ${reason}</p>\n`),
    ...broken.map((line) => markup`<p><strong>Broken</strong>: ${line}</p>\n`),
  ];
  return markup`${documentHead("Who has what")}
<body><main class="wrap sections">
<h2>Who has what <span class="n">${String(rows.length)} grants</span></h2>
${notes.length === 0 ? undefined : markup`<div class="alert">${notes}</div>\n`}<table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table>
</main></body>
</html>
`.text;
}
