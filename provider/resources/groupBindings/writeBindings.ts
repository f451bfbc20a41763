import { errorCodeOf } from "../../errorCodes/codedError";
import { PartialFailure } from "../../engine/operations/messages";
import { UNCONFIRMED } from "../../engine/description";
import type { Api, Host, Json, Props } from "../../engine/description";
import { isObject, sortedJson } from "../../engine/values/values";
import { bindingBatch, COLLECTION, declaredGrantKey } from "../grants";
import { BindingCreator } from "./bindingCreator";
import { listGrants } from "./existingGrants";
import type { ExistingGrant, ExistingGrants } from "./existingGrants";
import { identityRoleKey, identityRoleKeys, labelledGrantsIn, quoteLabel, selfRemovalKey } from "./grant";
import type { Grant, LabelledGrant } from "./grant";
import { ignoreFilter, isDeclared, withLabels } from "./readBindings";
import { refuseSelfLockout } from "./selfLockout";

/** A group, and what is needed to write its bindings. */
interface GroupContext {
  readonly api: Api;
  readonly host: Host;
  readonly group: string;
}

/** Runs an action for each item, as many at once as requests may be under way; starts none once one has failed. */
async function inParallel<T>(
  { api, host }: GroupContext,
  items: readonly T[],
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

/** Deletes grants, and removes from `existing` what is gone. */
function deleteGrants(
  context: GroupContext,
  existing: ExistingGrants,
  surplus: readonly LabelledGrant[],
): Promise<Error[]> {
  const { api, host, group } = context;
  return inParallel(context, surplus, async ([label, grant]) => {
    try {
      // A RoleBinding of the program may grant the same from now on.
      for (const uid of existing.get(identityRoleKey(grant))?.uids ?? []) {
        if (!host.isOwned("RoleBinding", uid)) await api.delete(COLLECTION, uid);
      }
    } catch (error) {
      throw host.explain(`deleting binding ${quoteLabel(label)} of group ${group}`, error);
    }
    existing.delete(identityRoleKey(grant));
  });
}

/** What a write creates and deletes, of the grants that a group holds. */
interface WritePlan {
  readonly existing: ExistingGrants;
  readonly recorded: readonly LabelledGrant[];
  readonly wanted: readonly LabelledGrant[];
  /** Keys of what the state or the program has. */
  readonly managedKeys: ReadonlySet<string>;
  readonly missing: readonly LabelledGrant[];
  readonly surplus: readonly LabelledGrant[];
  /** Grants that neither the state nor the program has, and that are not ignored. */
  readonly unmanaged: readonly ExistingGrant[];
}

function planWrite(existing: ExistingGrants, olds: Props, news: Props, host: Host): WritePlan {
  const recorded = labelledGrantsIn(olds);
  const wanted = labelledGrantsIn(news);
  const wantedKeys = identityRoleKeys(wanted);
  const managedKeys = new Set([...wantedKeys, ...identityRoleKeys(recorded)]);
  const isIgnored = ignoreFilter(news, host);
  return {
    existing,
    recorded,
    wanted,
    managedKeys,
    missing: wanted.filter(([, grant]) => !existing.has(identityRoleKey(grant))),
    surplus: recorded.filter((binding) => {
      const key = identityRoleKey(binding[1]);
      const grant = existing.get(key);
      return grant !== undefined && !wantedKeys.has(key) && (isDeclared(binding) || !isIgnored(grant));
    }),
    unmanaged: [...existing.values()].filter(
      (grant) => !managedKeys.has(identityRoleKey(grant)) && !isIgnored(grant),
    ),
  };
}

/** What became of a plan: after a failure nothing more is done. */
interface Applied {
  readonly failures: readonly Error[];
  /** Grants that were sent, and of which nobody knows whether they exist. */
  readonly unconfirmed: readonly Grant[];
}

/** Creates what is missing, and then deletes what is too much. */
async function applyPlan(context: GroupContext, plan: WritePlan): Promise<Applied> {
  const { api, host, group } = context;
  const { existing, missing, surplus } = plan;
  const creator = new BindingCreator(api, host, group, existing);
  const batches: LabelledGrant[][] = [];
  for (let i = 0; i < missing.length; i += bindingBatch.limit) {
    batches.push(missing.slice(i, i + bindingBatch.limit));
  }
  const create = (batch: readonly LabelledGrant[]) => creator.createAll(batch);
  const steps = [
    // One goes ahead: where nothing can be created, one request finds out.
    () => inParallel(context, batches.slice(0, 1), create),
    () => inParallel(context, batches.slice(1), create),
    () => inParallel(context, [creator], (each) => each.reportDuplicates()),
    () => deleteGrants(context, existing, surplus),
  ];
  for (const step of steps) {
    const failures = await step();
    if (failures.length > 0) return { failures, unconfirmed: creator.unconfirmed };
  }
  return { failures: [], unconfirmed: [] };
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
  if (olds["parentUid"] !== undefined && grantsSame(olds, news)) return done;

  const existing = await listGrants(api, group);
  const keysBefore = new Set(existing.keys());
  const plan = planWrite(existing, olds, news, host);
  warnOfUnmanaged(context, plan.unmanaged);
  if (news["allowSelfRemoval"] !== true) {
    await refuseSelfLockout(api, {
      group,
      removed: plan.surplus,
      remaining: [...without(existing, plan.surplus), ...plan.wanted.map(([, grant]) => grant)],
      override: "set allowSelfRemoval to true",
    });
  }
  const applied = await applyPlan(context, plan);
  const [failure] = applied.failures;
  if (failure === undefined) return done;
  throw isSameSet(keysBefore, new Set(existing.keys())) && applied.unconfirmed.length === 0
    ? failure
    : partialFailure(group, news, plan, applied);
}

/** Records which bindings of the state and of the program exist after a failure, or may exist: a destroy deletes those too. */
function partialFailure(
  group: string,
  news: Props,
  { existing, managedKeys, wanted, recorded }: WritePlan,
  { failures, unconfirmed }: Applied,
): PartialFailure {
  const managed = [
    ...[...existing.values()].filter((grant) => managedKeys.has(identityRoleKey(grant))),
    ...unconfirmed.map((grant) => ({ ...grant, name: "", uids: [] })),
  ];
  const reasons = failures.map(({ message }) => message);
  const stored = Object.fromEntries(Object.entries(news).filter(([key]) => !key.startsWith("__")));
  const bindings = withLabels(managed, [...wanted, ...recorded]);
  const codes = new Set(failures.map(errorCodeOf));
  const [code = "PP4012"] = codes.size === 1 ? codes : [];
  const outs = { ...stored, bindings, ...(unconfirmed.length > 0 && { [UNCONFIRMED]: true }) };
  return new PartialFailure(code, group, outs, [...new Set(reasons)]);
}

function without(existing: ExistingGrants, removed: readonly LabelledGrant[]): ExistingGrant[] {
  const keys = identityRoleKeys(removed);
  return [...existing.values()].filter((grant) => !keys.has(identityRoleKey(grant)));
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}

function warnOfUnmanaged({ host, group }: GroupContext, unmanaged: readonly ExistingGrant[]): void {
  if (unmanaged.length === 0) return;
  const names = unmanaged.map(({ name }) => name);
  const shown = [...names.slice(0, 10), ...(names.length > 10 ? ["…"] : [])].join(", ");
  host.warn(
    `group ${group} holds ${names.length === 1 ? "a binding" : `${names.length} bindings`} that no program of this stack has: ${shown}; a refresh shows such bindings, and the next up removes them, unless ignore names them`,
  );
}

/**
 * Whether another resource of the program declares a grant: the group's new GroupAccess, or a RoleBinding. Of bindings
 * that grant the same, those that no RoleBinding has are deleted as soon as one of them is a RoleBinding's.
 */
function isDeclaredElsewhere({ host, group }: GroupContext, grant: Grant, existing: ExistingGrant): boolean {
  const inputs = { ...grant, parentUid: group };
  if (host.isDeclared(declaredGrantKey("all", inputs))) return true;
  return host.isDeclared(declaredGrantKey("one", inputs)) && !hasOwnedBinding(host, existing);
}

function hasOwnedBinding(host: Host, existing: ExistingGrant | undefined): boolean {
  return existing?.uids.some((uid) => host.isOwned("RoleBinding", uid)) === true;
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
    return isDeclared(binding) && grant !== undefined && !isDeclaredElsewhere(context, binding[1], grant);
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
