import { Document, isScalar, isSeq } from "yaml";
import type { Node } from "yaml";
import { printable } from "../../text/printable";
import { nameIn, pathIn } from "../graph/grant";
import { isHighOrCritical } from "../review/finding";
import type { Finding } from "../review/finding";
import { foundProperties } from "./applyPolicy";
import { parsePolicy, PolicyError, readPolicy } from "./policyDocument";
import type { PolicyCommand, PolicyEntry } from "./policyDocument";

const MONTHS = 3;

/**
 * The last day of new exceptions: the end of the third month from now, so that it changes once a month only.
 *
 * @param now milliseconds since the epoch.
 * @returns `2027-01-31`, in UTC.
 */
export function defaultExpiry(now: number): string {
  const today = new Date(now);
  const day = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + MONTHS + 1, 0));
  return day.toISOString().slice(0, 10);
}

/**
 * The entry that accepts a finding as it is now, and nothing beside it: the fingerprint covers the value that was found.
 * @param now milliseconds since the epoch.
 */
export function entryFor(
  { id, drift, fingerprint }: Finding,
  command: PolicyCommand,
  reason: string,
  now: number,
): PolicyEntry {
  const what = drift === undefined ? { rule: id } : { kind: drift.kind };
  return { ...what, fingerprint, for: [command], reason, expires: defaultExpiry(now) };
}

/** The entry that a report shows of a finding. It is refused until a person has completed it. */
export function proposeEntry(finding: Finding, command: PolicyCommand, now: number): string {
  const entry = entryFor(finding, command, "", now);
  const isNamed = isHighOrCritical(finding.severity) && command === "drift";
  return entryText(isNamed ? { ...entry, acceptedBy: "" } : entry, finding);
}

/** The members of an entry, in the order in which the file has them. */
const MEMBERS = [
  ...(["rule", "kind", "type", "match", "fields", "fingerprint"] as const),
  ...(["for", "reason", "acceptedBy", "expires"] as const),
];

/** What a finding is about, in names: for whoever reads the entry. */
function describeAbout(finding: Finding): string {
  const { uid, kind = "", grant, message, name = uid } = finding;
  if (grant !== undefined)
    return `${grant.subject.displayName}: ${nameIn(grant.role)} at ${pathIn(grant.group.path)}`;
  // A kind alone names no object, and the message does.
  return name === undefined ? message : [`${kind} ${name}`.trim(), ...foundProperties(finding)].join(", ");
}

/** An entry as a node of the file, with what its fingerprint stands for as a comment. */
function entryNode(document: Document, entry: PolicyEntry, finding: Finding | undefined): Node {
  const members = MEMBERS.filter((key) => entry[key] !== undefined).map((key) => [key, entry[key]] as const);
  const node = document.createNode(Object.fromEntries(members));
  const fingerprint = node.get("fingerprint", true);
  if (isScalar(fingerprint) && finding !== undefined)
    fingerprint.comment = ` ${printable(describeAbout(finding), 200)}`;
  return node;
}

/** An entry as it stands below `allow:` in the file. */
export function entryText(entry: PolicyEntry, finding?: Finding): string {
  const document = new Document({ allow: [] as unknown[] }, { version: "1.2", schema: "core" });
  // Indented by the printer: a value of several lines may begin with blanks of its own.
  document.set("allow", document.createNode([entryNode(document, entry, finding)]));
  return document
    .toString({ lineWidth: 0 })
    .replace(/^allow:\n/, "")
    .replace(/\n$/, "");
}

/** An entry that is added to a file, and the finding that it accepts. */
export interface NewEntry {
  readonly entry: PolicyEntry;
  readonly finding?: Finding;
}

const HEADER = ` Exceptions from the access review: npx --no pulumi-platform explain
 yaml-language-server: $schema=./node_modules/pulumi-platform/schema/access-policy.schema.json`;

/** An entry below `[]` is no YAML. */
const HOW_TO_ACCEPT = "To accept one: remove the [] of allow, and the # before the lines of the entry.";

/**
 * The text of a policy file with further entries at its end; comments stay.
 * @param text The file as it is; undefined for a new one.
 * @param comments Blocks of lines that follow as comments.
 * @throws PolicyError where the file as it is is wrong.
 */
export function appendEntries(
  text: string | undefined,
  entries: readonly NewEntry[],
  fileName = "access-policy.yaml",
  comments: readonly string[] = [],
): string {
  const { document } = readPolicy(text ?? "allow: []\n", fileName);
  if (text === undefined) document.commentBefore = HEADER;
  const allow = document.get("allow");
  if (!isSeq(allow)) throw new PolicyError([`${fileName}: allow must be a list`]);
  for (const { entry, finding } of entries) {
    allow.flow = false;
    allow.add(entryNode(document, entry, finding));
  }
  const isEmptyWithComments = allow.items.length === 0 && comments.length > 0;
  const lines = isEmptyWithComments ? [HOW_TO_ACCEPT, ...comments] : comments;
  const blocks = lines.map((block) => `${block.replace(/^ {0,2}/gm, "  # ")}\n`);
  const written = [document.toString({ lineWidth: 0 }), ...blocks].join("");
  parsePolicy(written, fileName);
  return written;
}
