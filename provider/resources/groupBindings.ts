import { isUid, parentOf } from "../api/uid";
import { createAndVerify } from "../engine/createAndVerify";
import { hasCode, PartialFailure, printable, handlerError, refusedFields } from "../engine/messages";
import { SECRET_MASK } from "../engine/spec";
import type { Api, Host, Json, Props } from "../engine/spec";
import { isObject } from "../engine/values";
import { readBody } from "../engine/wire";
import { bindingBatch, grantKey } from "./grants";
import { RoleBinding } from "./roleBinding";

/*
 * The requests of a GroupAccess. Bindings are told apart by what they grant: who holds which role. Two that
 * grant the same at one group are one here: both count as there, and go together.
 */

const { collection: COLLECTION, limit: BATCH, verb: BATCH_CREATE } = bindingBatch;

/** Roles asked for by one list, so that its URL stays short. */
const ROLES_AT_ONCE = 50;

/** How the labels of bindings begin that the program does not have. */
export const UNMANAGED = "unmanaged: ";

/** Whoever has these at a group can put its bindings right again. */
const TO_DELETE = "CAP_IAM_ROLE_BINDINGS_DELETE";
const TO_MANAGE = ["CAP_IAM_ROLE_BINDINGS_CREATE", TO_DELETE];

interface Grant {
  readonly identityUid: string;
  readonly roleUid: string;
}

/** A grant that a group's list names. */
interface ExistingGrant extends Grant {
  /** For people: `alice as owner`. */
  readonly name: string;
  /** The bindings that grant it. */
  readonly uids: readonly string[];
}

/** What a group holds, by what is granted. */
type ExistingGrants = Map<string, ExistingGrant>;

type LabelledGrant = readonly [label: string, grant: Grant];

const keyOf = ({ identityUid, roleUid }: Grant): string => `${identityUid} ${roleUid}`;
const quoted = (label: string): string => JSON.stringify(printable(label, 100));
const namesOf = (some: readonly LabelledGrant[]): string =>
  [...some.slice(0, 3).map(([label]) => quoted(label)), ...(some.length > 3 ? ["…"] : [])].join(", ");
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The bindings among arguments or outputs, with their labels. */
function labelledGrantsIn(props: Props): LabelledGrant[] {
  const { bindings } = props;
  return Object.entries(isObject(bindings) ? bindings : {}).flatMap(([label, grant]): LabelledGrant[] => {
    if (grant === SECRET_MASK) return [[label, { identityUid: SECRET_MASK, roleUid: SECRET_MASK }]];
    if (!isObject(grant)) return [];
    return [[label, { identityUid: text(grant["identityUid"]), roleUid: text(grant["roleUid"]) }]];
  });
}

/** Whether a grant is the recorded one, as far as that can be told: a state may hide parts of it as secrets. */
function matchesRecorded(recorded: Grant, { identityUid, roleUid }: Grant): boolean {
  return (
    [SECRET_MASK, identityUid].includes(recorded.identityUid) &&
    [SECRET_MASK, roleUid].includes(recorded.roleUid)
  );
}

const countHidden = ([, { identityUid, roleUid }]: LabelledGrant): number =>
  Number(identityUid === SECRET_MASK) + Number(roleUid === SECRET_MASK);

/** The grants that arguments declare. */
export function grantsIn(inputs: Props): string[] {
  return labelledGrantsIn(inputs).map(([, grant]) =>
    grantKey("all", { ...grant, parentUid: inputs["parentUid"] }),
  );
}

/** Who holds which role, by a response about a binding. */
function grantOf(response: Record<string, unknown>): Grant {
  const { identityUid, roleUid } = readBody(RoleBinding.spec, response as Props, text(response["uid"]));
  return { identityUid: text(identityUid), roleUid: text(roleUid) };
}

function nameOf(value: unknown, keys: readonly string[]): string {
  const members = isObject(value) ? value : {};
  return keys.map((key) => printable(text(members[key]), 80)).find((name) => name !== "") ?? "";
}

/** All grants at a group itself. */
async function listGrants(api: Api, group: string): Promise<ExistingGrants> {
  const grants: ExistingGrants = new Map();
  for await (const item of api.list(COLLECTION, { "uidp.children_of": group })) {
    const uid = text(item["uid"]);
    if (parentOf(uid) !== group) continue;
    const grant = grantOf(item);
    const known = grants.get(keyOf(grant));
    const who = nameOf(item["identity"], ["name", "email", "subject"]) || grant.identityUid || uid;
    const role = nameOf(item["role"], ["name"]) || grant.roleUid;
    grants.set(keyOf(grant), {
      ...grant,
      name: `${who} as ${role}`,
      uids: [...(known?.uids ?? []), uid],
    });
  }
  return grants;
}

function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

/** Which bindings of others the arguments leave alone. */
function ignoreFilter({ ignore }: Props, host: Host): (existing: ExistingGrant) => boolean {
  const members: Record<string, Json | undefined> = isObject(ignore) ? ignore : {};
  // Any binding may be one that a hidden part excepts.
  if ([ignore, ...Object.values(members)].includes(SECRET_MASK)) return () => true;
  const identities = new Set(stringsIn(members["identityUids"]));
  const roles = new Set(stringsIn(members["roleUids"]));
  const patterns = stringsIn(members["namePatterns"]);
  return ({ identityUid, roleUid, name }) =>
    identities.has(identityUid) ||
    roles.has(roleUid) ||
    patterns.some((pattern) => host.matchesPattern(pattern, name));
}

const isOwn = ([label]: LabelledGrant): boolean => !label.startsWith(UNMANAGED);

/**
 * Grants under the labels that a program knows them by; what it does not have gets one that names it, and
 * keeps it from one refresh to the next. What is excepted is left out, unless the program has it.
 */
function withLabels(
  grants: Iterable<ExistingGrant>,
  known: readonly LabelledGrant[],
  isExcepted: (existing: ExistingGrant) => boolean = () => false,
): Props {
  const open = new Map([...grants].map((existing) => [keyOf(existing), existing]));
  const bindings = new Map<string, Grant>();
  const put = (label: string, grant: Grant) => {
    if (bindings.has(label) || !open.delete(keyOf(grant))) return;
    bindings.set(label, { identityUid: grant.identityUid, roleUid: grant.roleUid });
  };
  for (const one of [...known].sort((a, b) => countHidden(a) - countHidden(b))) {
    const candidates = countHidden(one) === 0 ? [open.get(keyOf(one[1]))] : [...open.values()];
    const matching = candidates.filter(
      (existing) => existing !== undefined && matchesRecorded(one[1], existing),
    );
    const existing =
      matching.find((each) => each && !isExcepted(each)) ?? (isOwn(one) ? matching[0] : undefined);
    if (existing) put(one[0], existing);
  }
  for (const existing of [...open.values()]) {
    if (isExcepted(existing)) continue;
    const label = `${UNMANAGED}${existing.name}`;
    const tail = (uid: string) => uid.slice(-8);
    put(label, existing);
    put(`${label} (${tail(existing.identityUid)})`, existing);
    put(`${label} (${keyOf(existing)})`, existing);
  }
  // An own member, whatever the label: `__proto__` too.
  return Object.fromEntries([...bindings].map(([label, grant]) => [label, { ...grant }]));
}

/** What a group holds, in the program's labels; what is excepted is not told. Undefined below no group. */
export async function readBindings(api: Api, group: string, olds: Props, host: Host): Promise<Props> {
  const grants = await listGrants(api, group);
  // The list of a group that is gone may be just empty.
  if (grants.size === 0) await api.get(api.address("/iam/v2/groups", group));
  const bindings = withLabels(grants.values(), labelledGrantsIn(olds), ignoreFilter(olds, host));
  return { uid: group, bindings };
}

/** Runs an action for each item, as many at once as requests may be under way; starts none once one has failed. */
async function inParallel<T>(
  items: readonly T[],
  { api, host }: { readonly api: Api; readonly host: Host },
  action: (item: T) => Promise<void>,
): Promise<Error[]> {
  const failures: Error[] = [];
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) {
      if (failures.length > 0) return;
      await action(item).catch((error: unknown) => failures.push(host.explain("writing bindings", error)));
    }
  };
  await Promise.all(Array.from({ length: Math.min(api.maxConcurrency, items.length) }, lane));
  return failures;
}

/** Creates bindings, by one request where all of them are accepted. What it creates is added to the holdings. */
class BindingCreator {
  /** What was sent again after a send without a response: that one may have taken effect too. */
  private readonly sentAgain = new Set<string>();

  constructor(
    private readonly api: Api,
    private readonly host: Host,
    private readonly group: string,
    private readonly existing: ExistingGrants,
  ) {}

  async createAll(batch: readonly LabelledGrant[]): Promise<void> {
    try {
      await this.createAndVerify(batch, (open) => this.sendBatch(open));
    } catch (error) {
      if (!isRefusal(error)) {
        throw this.host.explain(
          `creating ${batch.length} bindings of group ${this.group} (${namesOf(batch)})`,
          error,
        );
      }
      // All or none: each goes alone, so that the one at fault gets the error; the likely one first.
      const suspects = new Set(
        refusedFields(error).map((field) => Number(/^requests\[(\d+)\]/.exec(field)?.[1] ?? -1)),
      );
      const ordered = [...batch].sort(
        (a, b) => Number(suspects.has(batch.indexOf(b))) - Number(suspects.has(batch.indexOf(a))),
      );
      for (const one of ordered) if (!this.exists(one)) await this.createOne(one);
    }
  }

  private async createOne(labelledGrant: LabelledGrant): Promise<void> {
    const [label, { identityUid, roleUid }] = labelledGrant;
    const address = this.api.address(COLLECTION, this.group);
    try {
      await this.createAndVerify([labelledGrant], async () => {
        const response = await this.api.post(address, { identityUid, roleUid }, { isIdempotent: false });
        return parentOf(text(response["uid"])) === this.group;
      });
    } catch (error) {
      throw this.host.explain(`creating binding ${quoted(label)} of group ${this.group}`, error);
    }
  }

  private async sendBatch(open: readonly LabelledGrant[]): Promise<boolean> {
    const body = bindingBatch.body(
      this.group,
      open.map(([, { identityUid, roleUid }]) => ({ identityUid, roleUid })),
    );
    const address = this.api.address(COLLECTION, undefined, `:${BATCH_CREATE}`);
    const response = await this.api.post(address, body, { isIdempotent: false });
    const created = response[bindingBatch.member];
    return Array.isArray(created) && created.length === open.length;
  }

  /**
   * After a lost response what exists belongs to the group, whoever made it, and only the rest is sent again. `send`
   * returns whether the response names all of them.
   */
  private async createAndVerify(
    items: readonly LabelledGrant[],
    send: (open: readonly LabelledGrant[]) => Promise<boolean>,
  ): Promise<void> {
    let lost: unknown;
    const findMissing = async () => {
      await this.findExisting(items, lost);
      return items.filter((item) => !this.exists(item));
    };
    await createAndVerify<true>({
      send: async () => {
        const open = items.filter((item) => !this.exists(item));
        if (lost !== undefined) for (const [, grant] of open) this.sentAgain.add(keyOf(grant));
        if (await send(open)) {
          for (const [, grant] of open) this.existing.set(keyOf(grant), { ...grant, name: "", uids: [] });
          return true;
        }
        const missing = await findMissing();
        if (missing.length === 0) return true;
        throw handlerError(
          `creating bindings of group ${this.group}: the server answered without an error, but did not make ${namesOf(missing)}`,
        );
      },
      findLostCreate: async (error) => {
        lost = error;
        return (await findMissing()).length === 0 ? true : undefined;
      },
      explainUnknown: (error) => error,
      sleep: this.host.sleep,
    });
  }

  /** Names the grants that two bindings give. Both belong to the group's access and go together. */
  async reportDuplicates(): Promise<void> {
    if (this.sentAgain.size === 0) return;
    for (const [key, { name, uids }] of await listGrants(this.api, this.group)) {
      if (!this.sentAgain.has(key) || uids.length < 2) continue;
      this.host.warn(
        `group ${this.group} holds ${name} ${uids.length} times (${uids.join(", ")}): what was sent before a lost answer has arrived too; each gives the same, and all go when the program takes this binding out`,
      );
    }
  }

  private exists([, grant]: LabelledGrant): boolean {
    return this.existing.has(keyOf(grant));
  }

  /** Adds to the holdings which of these the group holds by now. */
  private async findExisting(items: readonly LabelledGrant[], lost: unknown): Promise<void> {
    try {
      const now = await listGrants(this.api, this.group);
      for (const [, grant] of items) {
        const existing = now.get(keyOf(grant));
        if (existing) this.existing.set(keyOf(grant), existing);
      }
    } catch (error) {
      const message = (of: unknown) => (of instanceof Error ? of.message : "it tells not what was made");
      throw handlerError(
        `creating bindings of group ${this.group}: an answer was lost (${message(lost)}), and looking for what it made failed (${message(error)}); run again: what is there is taken, not made twice`,
      );
    }
  }
}

function isRefusal(error: unknown): boolean {
  return [
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "ALREADY_EXISTS",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
  ].some((code) => hasCode(error, code));
}

/** What each of some roles allows; a role that cannot be read is missing. */
async function readCapabilities(
  api: Api,
  roleUids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const open = [...new Set(roleUids)];
  for (let i = 0; i < open.length; i += ROLES_AT_ONCE) {
    const query = { "uidp.ids": open.slice(i, i + ROLES_AT_ONCE) };
    for await (const role of api.list("/iam/v2/roles", query)) {
      found.set(text(role["uid"]), stringsIn(role["capabilities"]));
    }
  }
  return found;
}

/** The uid behind the token; undefined where it cannot be told. */
async function findCaller(api: Api): Promise<string | undefined> {
  const claims = await api.getCallerClaims();
  if (claims === undefined) return undefined;
  const { issuer, subject } = claims;
  if (isUid(subject)) return subject;
  try {
    const found = await api.get("/iam/v2/identities:lookupIdentity", { issuer, subject });
    return text(found["uid"]) || undefined;
  } catch {
    return undefined;
  }
}

/** The roles that an identity holds at the groups above one. */
async function listRolesAbove(api: Api, group: string, identityUid: string): Promise<string[]> {
  if (parentOf(group) === undefined) return [];
  const roles: string[] = [];
  for await (const item of api.list(COLLECTION, { identity: identityUid })) {
    const grant = grantOf(item);
    const at = parentOf(text(item["uid"]));
    if (grant.identityUid === identityUid && at !== undefined && group.startsWith(`${at}/`))
      roles.push(grant.roleUid);
  }
  return roles;
}

/**
 * Refuses what would take from the caller what it needs to put things right again. Where nobody can tell who
 * the caller is, it may be anyone who loses the right to delete bindings, which the caller must have to get this
 * far: a needless refusal is told with the way out, a caller who has locked itself out needs somebody else.
 */
async function refuseSelfLockout(
  api: Api,
  group: string,
  removed: readonly LabelledGrant[],
  remaining: readonly Grant[],
  allow: string,
): Promise<void> {
  if (removed.length === 0) return;
  const caller = await findCaller(api);
  const suspects =
    caller === undefined ? removed : removed.filter(([, { identityUid }]) => identityUid === caller);
  if (suspects.length === 0) return;
  const keptHere = (identityUid: string) =>
    remaining.filter((grant) => grant.identityUid === identityUid).map(({ roleUid }) => roleUid);
  const identities = [...new Set(suspects.map(([, { identityUid }]) => identityUid))];
  const capabilities = await readCapabilities(api, [
    ...suspects.map(([, { roleUid }]) => roleUid),
    ...identities.flatMap(keptHere),
  ]);
  for (const identityUid of identities) {
    const theirs = suspects.filter(([, grant]) => grant.identityUid === identityUid);
    // A role that cannot be read is taken to give all where it goes, and nothing where it stays.
    const gives = ([, { roleUid }]: LabelledGrant, capability: string) =>
      capabilities.get(roleUid)?.includes(capability) ?? true;
    const lost = (kept: readonly string[], known: typeof capabilities) =>
      TO_MANAGE.filter(
        (capability) =>
          theirs.some((one) => !kept.includes(one[1].roleUid) && gives(one, capability)) &&
          !kept.some((roleUid) => known.get(roleUid)?.includes(capability)),
      );
    const matters = (missing: readonly string[], kept: readonly string[]) =>
      caller === undefined ? missing.includes(TO_DELETE) : missing.length > 0 || kept.length === 0;
    const here = keptHere(identityUid);
    if (!matters(lost(here, capabilities), here)) continue;
    const above = await listRolesAbove(api, group, identityUid);
    const kept = [...here, ...above];
    const missing = lost(kept, new Map([...capabilities, ...(await readCapabilities(api, above))]));
    if (!matters(missing, kept)) continue;
    const giving = theirs.filter((one) => missing.length === 0 || missing.some((each) => gives(one, each)));
    const labels = namesOf(giving);
    const loss = missing.length === 0 ? "its last role there" : missing.join(" and ");
    const what = `removing binding ${labels} of group ${group}: it takes ${loss} from`;
    throw handlerError(
      caller === undefined
        ? `${what} ${identityUid}, and the token does not tell whether that is the caller itself; nothing was changed: if it is not, or if that is meant, ${allow}`
        : `${what} the caller itself (${caller}); nothing was changed: keep such a binding there or above, let another identity do it, or ${allow}`,
    );
  }
}

/** Removes grants; the holdings lose what is gone. */
function deleteGrants(
  api: Api,
  host: Host,
  group: string,
  grants: ExistingGrants,
  surplus: readonly LabelledGrant[],
): Promise<Error[]> {
  return inParallel(surplus, { api, host }, async ([label, grant]) => {
    const existing = grants.get(keyOf(grant));
    try {
      // A RoleBinding of the program may grant the same from now on.
      for (const uid of existing?.uids ?? []) {
        if (!host.isOwned("RoleBinding", uid)) await api.delete(COLLECTION, uid);
      }
    } catch (error) {
      throw host.explain(`deleting binding ${quoted(label)} of group ${group}`, error);
    }
    grants.delete(keyOf(grant));
  });
}

/**
 * Makes a group's bindings those of `news`: creates, and only then deletes what `olds` had. What neither has
 * stays until a refresh has shown it: nothing goes that no preview has named.
 */
export async function writeBindings(
  api: Api,
  group: string,
  olds: Props,
  news: Props,
  host: Host,
): Promise<Props> {
  const done = { uid: group, bindings: news["bindings"] };
  const wanted = labelledGrantsIn(news);
  const before = labelledGrantsIn(olds);
  const wantedKeys = new Set(wanted.map(([, grant]) => keyOf(grant)));
  const beforeKeys = new Set(before.map(([, grant]) => keyOf(grant)));
  if (olds["parentUid"] !== undefined && isSameSet(wantedKeys, beforeKeys)) return done;

  const grants = await listGrants(api, group);
  const found = new Set(grants.keys());
  const isExcepted = ignoreFilter(news, host);
  const missing = wanted.filter(([, grant]) => !grants.has(keyOf(grant)));
  const surplus = before.filter((one) => {
    const existing = grants.get(keyOf(one[1]));
    return (
      existing !== undefined && !wantedKeys.has(keyOf(existing)) && (isOwn(one) || !isExcepted(existing))
    );
  });
  warnOfUnmanaged(host, group, [...grants.values()], (existing) => {
    const key = keyOf(existing);
    return wantedKeys.has(key) || beforeKeys.has(key) || isExcepted(existing);
  });
  if (news["allowSelfRemoval"] !== true) {
    const goes = new Set(surplus.map(([, grant]) => keyOf(grant)));
    const stays = [...grants.values()].filter((existing) => !goes.has(keyOf(existing)));
    const after = [...stays, ...wanted.map(([, grant]) => grant)];
    await refuseSelfLockout(api, group, surplus, after, "set allowSelfRemoval to true");
  }

  const creator = new BindingCreator(api, host, group, grants);
  const batches: LabelledGrant[][] = [];
  for (let i = 0; i < missing.length; i += BATCH) batches.push(missing.slice(i, i + BATCH));
  // One goes ahead: where nothing can be made, one request finds out.
  const failures = await inParallel(batches.splice(0, 1), { api, host }, (batch) => creator.createAll(batch));
  if (failures.length === 0) {
    failures.push(...(await inParallel(batches, { api, host }, (batch) => creator.createAll(batch))));
  }
  if (failures.length === 0) {
    failures.push(...(await inParallel([creator], { api, host }, (one) => one.reportDuplicates())));
  }
  if (failures.length === 0) failures.push(...(await deleteGrants(api, host, group, grants, surplus)));
  const [failure] = failures;
  if (failure === undefined) return done;
  if (isSameSet(found, new Set(grants.keys()))) throw failure;
  const ours = [...grants.values()].filter(
    (existing) => wantedKeys.has(keyOf(existing)) || beforeKeys.has(keyOf(existing)),
  );
  const reasons = failures.map(({ message }) => message);
  const stored = Object.fromEntries(Object.entries(news).filter(([key]) => !key.startsWith("__")));
  throw new PartialFailure(group, { ...stored, bindings: withLabels(ours, [...wanted, ...before]) }, [
    ...new Set(reasons),
  ]);
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}

function warnOfUnmanaged(
  host: Host,
  group: string,
  grants: readonly ExistingGrant[],
  isKnown: (existing: ExistingGrant) => boolean,
): void {
  const names = grants.filter((existing) => !isKnown(existing)).map(({ name }) => name);
  if (names.length === 0) return;
  const shown = [...names.slice(0, 10), ...(names.length > 10 ? ["…"] : [])].join(", ");
  host.warn(
    `group ${group} holds ${names.length === 1 ? "a binding" : `${names.length} bindings`} that no program of this stack has: ${shown}; a refresh shows such bindings, and the next up removes them, unless ignore excepts them`,
  );
}

/**
 * Whether another resource of the program declares a grant: the group's new GroupAccess, or a RoleBinding. Of bindings
 * that grant the same, those that no RoleBinding has are deleted as soon as one of them is a RoleBinding's.
 */
function isDeclaredElsewhere(
  group: string,
  grant: Grant,
  existing: ExistingGrant | undefined,
  host: Host,
): boolean {
  const inputs = { ...grant, parentUid: group };
  if (host.isDeclared(grantKey("all", inputs))) return true;
  return (
    host.isDeclared(grantKey("one", inputs)) &&
    existing?.uids.some((uid) => host.isOwned("RoleBinding", uid)) !== true
  );
}

/** Deletes the bindings of the program. What others made stays, also what a refresh has shown. */
export async function deleteBindings(api: Api, group: string, olds: Props, host: Host): Promise<void> {
  const grants = await listGrants(api, group);
  const surplus = labelledGrantsIn(olds).filter((one) => {
    const existing = grants.get(keyOf(one[1]));
    return isOwn(one) && existing !== undefined && !isDeclaredElsewhere(group, one[1], existing, host);
  });
  if (olds["allowSelfRemoval"] !== true) {
    const ending = surplus.filter(
      ([, grant]) => !grants.get(keyOf(grant))?.uids.some((uid) => host.isOwned("RoleBinding", uid)),
    );
    const goes = new Set(ending.map(([, grant]) => keyOf(grant)));
    const stays = [...grants.values()].filter((existing) => !goes.has(keyOf(existing)));
    await refuseSelfLockout(api, group, ending, stays, "set allowSelfRemoval to true and run up before");
  }
  const [failure] = await deleteGrants(api, host, group, grants, surplus);
  if (failure !== undefined) throw failure;
}
