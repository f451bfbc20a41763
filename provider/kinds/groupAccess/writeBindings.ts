import { errorCodeOf, errorMessage } from "../../errors/codedError";
import { parentOf } from "../../text/uid";
import { ConnectionError, HandlerError, hasUnknownOutcome, PartialFailure } from "../../lifecycle/messages";
import { sortedJson } from "../../fields/formats";
import type { Api, Host } from "../../fields/resourceSpec";
import { isObject, stringOrEmpty, UNCONFIRMED } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { findCaller, listHeldRoles, readCapabilities } from "../caller";
import { ROLE_BINDINGS, declaredGrantKey } from "../bindingKinds";
import {
  identityRoleKey,
  identityRoleKeys,
  ignoreFilter,
  isManaged,
  labelledGrantsIn,
  listGrants,
  quoteLabel,
  withLabels,
} from "./readBindings";
import type { ExistingGrant, ExistingGrants, HeldGrant, LabelledGrant } from "./readBindings";

/* How a GroupAccess changes the bindings of its group: what is missing is created, and only then what is too much deleted. */

/** How long after a lost response the list of bindings is asked for: they may arrive late. */
const LOOK_DELAY_MS = 500;

/** So many creates share a request, which goes ahead: where nothing can be created, it finds out. */
const FIRST_CREATES = 25;

/** A group, and what is needed to write its bindings. */
interface GroupContext {
  readonly api: Api;
  readonly host: Host;
  readonly group: string;
}

/** The key by which the GroupAccess of a group allows that the caller loses its own bindings. */
const selfRemovalKey = (group: Json | undefined): string => JSON.stringify(["selfRemoval", group]);

/** The keys of what arguments declare: the grants, and whether the caller's own may go. */
export function declaredGrantKeys(inputs: Props): string[] {
  const { parentUid, allowSelfRemoval } = inputs;
  const grants = labelledGrantsIn(inputs).map(([, grant]) =>
    declaredGrantKey("all", { ...grant, parentUid }),
  );
  return allowSelfRemoval === true ? [...grants, selfRemovalKey(parentUid)] : grants;
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}

/** Whether arguments name the same grants, whatever their labels. What is no grant that can be read equals itself alone. */
export function grantsSame(olds: Props, news: Props): boolean {
  const [before, after] = [olds["bindings"], news["bindings"]];
  const isRead = (bindings: Json | undefined): boolean =>
    isObject(bindings) && Object.values(bindings).every(isObject);
  if (!isRead(before) || !isRead(after)) return sortedJson(before) === sortedJson(after);
  return isSameSet(identityRoleKeys(labelledGrantsIn(news)), identityRoleKeys(labelledGrantsIn(olds)));
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
  const context = { api, host, group };
  const done = { uid: group, bindings: news["bindings"] };
  const isUpdate = olds["parentUid"] !== undefined;
  if (isUpdate && grantsSame(olds, news)) return done;

  const existing = await listGrants(api, group);
  const keysBefore = new Set(existing.keys());
  const recorded = labelledGrantsIn(olds);
  const wanted = labelledGrantsIn(news);
  const wantedKeys = identityRoleKeys(wanted);
  // A state also records bindings of others, under labels of unmanaged ones.
  const knownKeys = new Set([...wantedKeys, ...identityRoleKeys(recorded)]);
  const isIgnored = ignoreFilter(news);
  const missing = wanted.filter(([, grant]) => !existing.has(identityRoleKey(grant)));
  // What was the program's goes whatever `ignore` names, which is about bindings of others.
  const surplus = recorded.filter((binding) => {
    const key = identityRoleKey(binding[1]);
    const grant = existing.get(key);
    return grant !== undefined && !wantedKeys.has(key) && (isManaged(binding) || !isIgnored(grant));
  });
  const unrecorded = [...existing].filter(([key, grant]) => !knownKeys.has(key) && !isIgnored(grant));
  warnOfUnrecorded(
    context,
    unrecorded.map(([, { name }]) => name),
  );
  if (news["allowSelfRemoval"] !== true) {
    await refuseSelfLockout(api, {
      group,
      removed: surplus,
      remaining: [...without(existing, surplus), ...wanted.map(([, grant]) => grant)],
      override: "set allowSelfRemoval to true",
    });
  }

  const unconfirmed = new Map<string, HeldGrant>();
  let failures = await createGrants(context, missing, existing, unconfirmed);
  if (failures.length === 0) failures = await deleteGrants(context, existing, surplus);
  const [failure] = failures;
  if (failure === undefined) return done;
  if (isSameSet(keysBefore, new Set(existing.keys())) && unconfirmed.size === 0) throw failure;
  // What exists of the state and of the program, or may exist, is recorded: a destroy deletes that too.
  const known = [
    ...[...existing.values()].filter((grant) => knownKeys.has(identityRoleKey(grant))),
    ...[...unconfirmed.values()].map((grant) => ({ ...grant, name: "", uids: [] })),
  ];
  const stored = Object.fromEntries(Object.entries(news).filter(([key]) => !key.startsWith("__")));
  const bindings = withLabels(known, [...wanted, ...recorded]);
  const codes = new Set(failures.map(errorCodeOf));
  const [code = "PP4012"] = codes.size === 1 ? codes : [];
  const outs = { ...stored, bindings, ...(unconfirmed.size > 0 && { [UNCONFIRMED]: true }) };
  throw new PartialFailure(code, group, outs, [...new Set(failures.map(({ message }) => message))]);
}

function warnOfUnrecorded({ host, group }: GroupContext, names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = [...names.slice(0, 10), ...(names.length > 10 ? ["…"] : [])].join(", ");
  host.warn(
    `group ${group} holds ${names.length === 1 ? "a binding" : `${names.length} bindings`} that its GroupAccess does not declare: ${shown}; what another resource of this stack had goes at the end of this run, a refresh shows the others, and the next up removes them, unless ignore names them`,
  );
}

function without(existing: ExistingGrants, removed: readonly LabelledGrant[]): ExistingGrant[] {
  const keys = identityRoleKeys(removed);
  return [...existing.values()].filter((grant) => !keys.has(identityRoleKey(grant)));
}

/** Creates grants. Those that exist by then are added to `existing`, and those that may exist to `unconfirmed`. */
async function createGrants(
  context: GroupContext,
  missing: readonly LabelledGrant[],
  existing: ExistingGrants,
  unconfirmed: Map<string, HeldGrant>,
): Promise<Error[]> {
  const [first, others] = [missing.slice(0, FIRST_CREATES), missing.slice(FIRST_CREATES)];
  const failures = await createAtOnce(context, first, existing, unconfirmed);
  return failures.length > 0 ? failures : createAtOnce(context, others, existing, unconfirmed);
}

/**
 * Creates grants at once. After a lost response a list tells what is there, and the rest is sent once more: a grant that two
 * bindings give by then is one here, and both go with it.
 */
async function createAtOnce(
  context: GroupContext,
  wanted: readonly LabelledGrant[],
  existing: ExistingGrants,
  unconfirmed: Map<string, HeldGrant>,
): Promise<Error[]> {
  const { api, host, group } = context;
  let open = wanted;
  for (let isAgain = false; ; isAgain = true) {
    const failures = new Map<string, Error>();
    const bodies = open.map(([, { identityUid, roleUid }]) => ({ identityUid, roleUid }));
    const responses = await api.createTogether(ROLE_BINDINGS, group, bodies);
    for (const [i, [label, grant]] of open.entries()) {
      const key = identityRoleKey(grant);
      const made = toGrant(group, grant, responses[i]);
      if (!(made instanceof Error)) {
        existing.set(key, made);
        unconfirmed.delete(key);
        continue;
      }
      if (hasUnknownOutcome(made)) unconfirmed.set(key, grant);
      failures.set(key, host.explain(`creating binding ${quoteLabel(label)} of group ${group}`, made));
    }
    if (unconfirmed.size > 0) {
      await host.sleep(LOOK_DELAY_MS);
      try {
        for (const [key, grant] of await listGrants(api, group)) {
          if (!unconfirmed.delete(key)) continue;
          existing.set(key, grant);
          failures.delete(key);
        }
      } catch (error) {
        return [explainSearch(context, [...failures.values()], error)];
      }
    }
    open = open.filter(([, grant]) => unconfirmed.has(identityRoleKey(grant)));
    if (isAgain || open.length === 0 || open.length < failures.size) return [...failures.values()];
  }
}

/** What a create has made. A response that is not about the grant is treated as lost. */
function toGrant(
  group: string,
  grant: HeldGrant,
  response: Record<string, unknown> | Error = {},
): ExistingGrant | Error {
  if (response instanceof Error) return response;
  const uid = stringOrEmpty(response["uid"]);
  if (parentOf(uid) === group) return { ...grant, name: "", uids: [uid] };
  const message = "the server responded without an error, but did not create it";
  return new ConnectionError("PP4004", message, "unknown", false);
}

function explainSearch({ group }: GroupContext, [lost]: readonly Error[], error: unknown): Error {
  return new HandlerError(
    "PP4001",
    `creating bindings of group ${group}: a response was lost (${lost?.message ?? ""}), and the search for what was created failed (${errorMessage(error)}); run again: bindings that exist are not created twice`,
  );
}

/** Deletes grants, and removes from `existing` what is gone. Starts no other one once one has failed. */
async function deleteGrants(
  { api, host, group }: GroupContext,
  existing: ExistingGrants,
  surplus: readonly LabelledGrant[],
): Promise<Error[]> {
  const failures: Error[] = [];
  const queue = surplus.values();
  const deleteFromQueue = async () => {
    for (const [label, grant] of queue) {
      if (failures.length > 0) return;
      try {
        // A RoleBinding of the program may grant the same from now on.
        for (const uid of existing.get(identityRoleKey(grant))?.uids ?? []) {
          if (!host.isOwned("RoleBinding", uid)) await api.delete(ROLE_BINDINGS, uid);
        }
        existing.delete(identityRoleKey(grant));
      } catch (error) {
        failures.push(host.explain(`deleting binding ${quoteLabel(label)} of group ${group}`, error));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(api.maxConcurrency, surplus.length) }, deleteFromQueue));
  return failures;
}

/**
 * Deletes the bindings of the program. What others created stays, also what a refresh has shown. The group's new GroupAccess
 * may allow the removal: a resource that was renamed is deleted by its old arguments, which nobody can change any more.
 */
export async function deleteBindings(api: Api, group: string, olds: Props, host: Host): Promise<void> {
  const context = { api, host, group };
  const existing = await listGrants(api, group);
  const surplus = labelledGrantsIn(olds).filter((binding) => {
    const grant = existing.get(identityRoleKey(binding[1]));
    return isManaged(binding) && grant !== undefined && !isDeclaredElsewhere(context, binding[1], grant);
  });
  if (olds["allowSelfRemoval"] !== true && !host.isDeclared(selfRemovalKey(group))) {
    const removed = surplus.filter(
      ([, grant]) => !hasOwnedBinding(host, existing.get(identityRoleKey(grant))),
    );
    await refuseSelfLockout(api, {
      group,
      removed,
      remaining: without(existing, removed),
      override:
        "set allowSelfRemoval to true: on the GroupAccess that takes its place, or on this one in an up before",
    });
  }
  const [failure] = await deleteGrants(context, existing, surplus);
  if (failure !== undefined) throw failure;
}

/**
 * Whether another resource of the program declares a grant: the group's new GroupAccess, or a RoleBinding. Of bindings
 * that grant the same, those that no RoleBinding has are deleted as soon as one of them is a RoleBinding's.
 */
function isDeclaredElsewhere(
  { host, group }: GroupContext,
  grant: HeldGrant,
  existing: ExistingGrant,
): boolean {
  const inputs = { ...grant, parentUid: group };
  if (host.isDeclared(declaredGrantKey("all", inputs))) return true;
  return host.isDeclared(declaredGrantKey("one", inputs)) && !hasOwnedBinding(host, existing);
}

function hasOwnedBinding(host: Host, existing: ExistingGrant | undefined): boolean {
  return existing?.uids.some((uid) => host.isOwned("RoleBinding", uid)) === true;
}

/** Whoever has these at a group can restore its bindings. */
const TO_MANAGE_BINDINGS = ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLE_BINDINGS_DELETE"];

/** The removal of bindings from a group, and what it leaves there. */
interface Removal {
  readonly group: string;
  readonly removed: readonly LabelledGrant[];
  readonly remaining: readonly HeldGrant[];
  /** What a person does who wants it nevertheless. */
  readonly override: string;
}

/**
 * Refuses a removal of the caller's own bindings that takes from it what it needs to restore them. Nothing is refused where
 * the token does not tell who the caller is.
 */
async function refuseSelfLockout(api: Api, { group, removed, remaining, override }: Removal): Promise<void> {
  const caller = removed.length === 0 ? undefined : await findCaller(api);
  const own = removed.filter(([, { identityUid }]) => identityUid === caller);
  if (caller === undefined || own.length === 0) return;
  const above = parentOf(group) === undefined ? [] : await listHeldRoles(api, caller);
  const keptRoles = [
    ...remaining.filter(({ identityUid }) => identityUid === caller).map(({ roleUid }) => roleUid),
    ...above.filter(({ group: at }) => group.startsWith(`${at}/`)).map(({ roleUid }) => roleUid),
  ];
  const kept = await readCapabilities(api, keptRoles, []);
  // A role that is gone may have given all.
  const taken = await readCapabilities(
    api,
    own.map(([, { roleUid }]) => roleUid),
    TO_MANAGE_BINDINGS,
  );
  const lost = TO_MANAGE_BINDINGS.filter((capability) => taken.has(capability) && !kept.has(capability));
  if (lost.length === 0) return;
  const labels = own.map(([label]) => quoteLabel(label)).join(", ");
  throw new HandlerError(
    "PP4011",
    `removing binding ${labels} of group ${group}: it takes ${lost.join(" and ")} from the caller itself (${caller}); nothing was changed: keep such a binding there or above, let another identity do it, or ${override}`,
  );
}
