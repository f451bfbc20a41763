import { Document, isScalar, isSeq } from "yaml";
import type { Node } from "yaml";
import { printable } from "../../http/errors";
import { isUid } from "../../text/uid";
import type { Finding } from "../review/finding";
import { globOf } from "../trust/glob";
import { matchesEntry } from "./matchEntry";
import { parsePolicy, PolicyError, readPolicy } from "./parsePolicy";
import { matchKeys } from "./policyDocument";
import type { MatchKey, PolicyEntry } from "./policyDocument";

/** The uids that say which grant of a resource is meant, since one resource may make many. */
function grantUids(grant: Finding["grant"]): Partial<Record<MatchKey, string | undefined>> {
  if (grant === undefined) return {};
  const { subject, role, group } = grant;
  return { subject: subject.uid, role: role.uid, group: group.uid };
}

/**
 * An entry that suppresses this finding, and as few others as possible.
 * @param expires The last day on which it applies: `2027-01-31`.
 * @returns undefined where no glob matches it: that is for a person to write.
 */
export function policyEntryFor(finding: Finding, reason: string, expires: string): PolicyEntry | undefined {
  const { id, uid, name, kind, grant, drift, field } = finding;
  const texts: Partial<Record<MatchKey, string | undefined>> =
    uid !== undefined
      ? { uid, ...grantUids(grant) }
      : grant !== undefined
        ? {
            subject: grant.subject.displayName,
            role: grant.role.name ?? grant.role.uid,
            group: grant.group.path,
          }
        : { name };
  const match: Partial<Record<MatchKey, string>> = {};
  for (const key of matchKeys) {
    const text = texts[key];
    if (text !== undefined && text !== "") match[key] = globOf(text);
  }
  const properties = drift?.paths ?? (field === undefined ? [] : [field]);
  const entry: PolicyEntry = {
    ...(drift ? { kind: drift.kind } : { rule: id }),
    ...(kind === undefined ? {} : { type: kind }),
    ...(Object.keys(match).length === 0 ? {} : { match }),
    ...(properties.length > 0 ? { fields: properties.map(globOf) } : {}),
    fingerprint: finding.fingerprint,
    for: ["drift"],
    reason,
    expires,
  };
  return matchesEntry(entry, finding) ? entry : undefined;
}

/** The members of an entry in the file. */
function orderMembers({
  rule,
  kind,
  type,
  match,
  fields,
  fingerprint,
  for: commands,
  reason,
  acceptedBy,
  expires,
}: PolicyEntry): Record<string, unknown> {
  const members = Object.entries({
    ...{ rule, kind, type, match, fields, fingerprint, for: commands, reason, acceptedBy, expires },
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** What the uids of an entry are called, by member of `match`. */
function namesInFinding({
  name,
  kind,
  grant,
  group,
}: Finding): Partial<Record<MatchKey, string | undefined>> {
  return {
    uid: name === undefined ? undefined : `${kind ?? ""} ${name}`.trim(),
    subject: grant?.subject.displayName,
    role: grant?.role.name,
    group: (grant?.group ?? group)?.path,
  };
}

/** An entry as a node of the file, with the name of each uid as a comment. */
function entryNode(document: Document, entry: PolicyEntry, finding: Finding | undefined): Node {
  const node = document.createNode(orderMembers(entry));
  const names = finding === undefined ? {} : namesInFinding(finding);
  for (const key of matchKeys) {
    const [value, name] = [node.getIn(["match", key], true), names[key]];
    if (isScalar(value) && name !== undefined && isUid(value.value))
      value.comment = ` ${printable(name, 200)}`;
  }
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

const HEADER = ` Exceptions from the access review: pulumi-platform explain
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
