import { parentOf } from "../../text/uid";
import { printable } from "../../text/printable";
import { matchesPattern } from "../../fields/formats";
import type { ReadingApi } from "../../fields/resourceSpec";
import { isObject, SECRET_MASK, stringOrEmpty, stringsIn } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { readBody } from "../../fields/wire";
import { ROLE_BINDINGS } from "../bindingKinds";
import { RoleBinding } from "../roleBinding";

/** Who holds which role. Bindings are told apart by it: two that grant the same at one group are one here. */
export interface HeldGrant {
  readonly identityUid: string;
  readonly roleUid: string;
}

export type LabelledGrant = readonly [label: string, grant: HeldGrant];

export const identityRoleKey = ({ identityUid, roleUid }: HeldGrant): string => `${identityUid} ${roleUid}`;

export function identityRoleKeys(grants: readonly LabelledGrant[]): ReadonlySet<string> {
  return new Set(grants.map(([, grant]) => identityRoleKey(grant)));
}

export const quoteLabel = (label: string): string => JSON.stringify(printable(label, 100));

/** The bindings among arguments or outputs, with their labels. */
export function labelledGrantsIn(props: Props): LabelledGrant[] {
  const { bindings } = props;
  return Object.entries(isObject(bindings) ? bindings : {}).flatMap(([label, grant]): LabelledGrant[] => {
    if (grant === SECRET_MASK) return [[label, { identityUid: SECRET_MASK, roleUid: SECRET_MASK }]];
    if (!isObject(grant)) return [];
    return [
      [label, { identityUid: stringOrEmpty(grant["identityUid"]), roleUid: stringOrEmpty(grant["roleUid"]) }],
    ];
  });
}

/** A grant that a group's list names. */
export interface ExistingGrant extends HeldGrant {
  /** As messages show it: `alice as owner`. */
  readonly name: string;
  /** The bindings that grant it. */
  readonly uids: readonly string[];
}

/** The grants at a group, by their keys. */
export type ExistingGrants = Map<string, ExistingGrant>;

/** Who holds which role, by a response about a binding. */
export function readGrant(response: Record<string, unknown>): HeldGrant {
  const { identityUid, roleUid } = readBody(
    RoleBinding.spec,
    response as Props,
    stringOrEmpty(response["uid"]),
  );
  return { identityUid: stringOrEmpty(identityUid), roleUid: stringOrEmpty(roleUid) };
}

function findFirstName(value: unknown, keys: readonly string[]): string {
  const members = isObject(value) ? value : {};
  return keys.map((key) => printable(stringOrEmpty(members[key]), 80)).find((name) => name !== "") ?? "";
}

/** All grants at a group itself, not those at groups above it. */
export async function listGrants(api: ReadingApi, group: string): Promise<ExistingGrants> {
  const grants: ExistingGrants = new Map();
  for await (const item of api.list(ROLE_BINDINGS, { "uidp.children_of": group })) {
    const uid = stringOrEmpty(item["uid"]);
    if (parentOf(uid) !== group) continue;
    const grant = readGrant(item);
    const known = grants.get(identityRoleKey(grant));
    const who = findFirstName(item["identity"], ["name", "email", "subject"]) || grant.identityUid;
    const role = findFirstName(item["role"], ["name"]) || grant.roleUid;
    grants.set(identityRoleKey(grant), {
      ...grant,
      name: `${who} as ${role}`,
      uids: [...(known?.uids ?? []), uid],
    });
  }
  return grants;
}

/** How the labels of bindings begin that the program does not have. */
export const UNMANAGED = "unmanaged: ";

export const isManaged = ([label]: readonly [label: string, grant: unknown]): boolean =>
  !label.startsWith(UNMANAGED);

/** What the grant of an unmanaged label may be called: `withLabels` adds parentheses to a name that is taken. */
export function namesOfUnmanaged(label: string): string[] {
  const name = label.slice(UNMANAGED.length);
  return [name, name.replace(/ \([^()]*\)$/, "")];
}

type IgnoreFilter = (existing: Omit<ExistingGrant, "uids">) => boolean;

/** Which bindings of others the arguments leave alone. */
export function ignoreFilter({ ignore }: Props, matches = matchesPattern): IgnoreFilter {
  const members: Record<string, Json | undefined> = isObject(ignore) ? ignore : {};
  // A hidden part may name any binding.
  if ([ignore, ...Object.values(members)].includes(SECRET_MASK)) return () => true;
  const identities = new Set(stringsIn(members["identityUids"]));
  const roles = new Set(stringsIn(members["roleUids"]));
  const patterns = stringsIn(members["namePatterns"]);
  return ({ identityUid, roleUid, name }) =>
    identities.has(identityUid) || roles.has(roleUid) || patterns.some((pattern) => matches(pattern, name));
}

/** Whether a grant may be the recorded one: a state may hide parts of it as secrets. */
function matchesRecorded(recorded: HeldGrant, { identityUid, roleUid }: HeldGrant): boolean {
  return (
    [SECRET_MASK, identityUid].includes(recorded.identityUid) &&
    [SECRET_MASK, roleUid].includes(recorded.roleUid)
  );
}

const countHidden = ([, { identityUid, roleUid }]: LabelledGrant): number =>
  Number(identityUid === SECRET_MASK) + Number(roleUid === SECRET_MASK);

/**
 * The grants of a group, each under one label: `recorded` are those that the program or the state knows. A label that is
 * taken gets an addition which names the grant, and so stays the same from one refresh to the next.
 */
export function withLabels(
  grants: Iterable<ExistingGrant>,
  recorded: readonly LabelledGrant[],
  isIgnored: IgnoreFilter = () => false,
  prefix = UNMANAGED,
): Props {
  const open = new Map([...grants].map((existing) => [identityRoleKey(existing), existing]));
  const labelled = new Map<string, HeldGrant>();
  const add = (existing: ExistingGrant, ...labels: readonly string[]): void => {
    const label = labels.find((each) => !labelled.has(each));
    if (label === undefined) return;
    labelled.set(label, { identityUid: existing.identityUid, roleUid: existing.roleUid });
    open.delete(identityRoleKey(existing));
  };
  for (const each of [...recorded].sort((a, b) => countHidden(a) - countHidden(b))) {
    const [label, grant] = each;
    const matching = [...(countHidden(each) > 0 ? open.values() : [open.get(identityRoleKey(grant))])].filter(
      (existing) => existing !== undefined && matchesRecorded(grant, existing),
    );
    // An ignored grant keeps only the label of a program.
    const existing =
      matching.find((one) => one && !isIgnored(one)) ?? (isManaged(each) ? matching[0] : undefined);
    if (existing === undefined) continue;
    add(existing, label, `${label} (replaced)`, `${label} (${identityRoleKey(existing)})`);
  }
  for (const existing of [...open.values()].filter((one) => !isIgnored(one))) {
    const label = `${prefix}${existing.name}`;
    const { identityUid } = existing;
    add(existing, label, `${label} (${identityUid.slice(-8)})`, `${label} (${identityRoleKey(existing)})`);
  }
  // An own member, whatever the label: `__proto__` too.
  return Object.fromEntries([...labelled].map(([label, grant]) => [label, { ...grant }]));
}

/**
 * What a group holds, in the program's labels, without what is ignored. An import has no program yet: its labels are for one
 * to have.
 * @throws ApiError where the group does not exist
 */
export async function readBindings(api: ReadingApi, group: string, olds: Props): Promise<Props> {
  const grants = await listGrants(api, group);
  // The list of a group that is gone may be just empty.
  if (grants.size === 0) await api.get(api.resourcePath("/iam/v2/groups", group));
  const isImport = olds["parentUid"] === undefined;
  const prefix = isImport ? "" : UNMANAGED;
  const bindings = withLabels(grants.values(), labelledGrantsIn(olds), ignoreFilter(olds), prefix);
  return { uid: group, bindings };
}
