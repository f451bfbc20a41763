import type { Message, Value } from "../gateway/fields";
import type { Call } from "../gateway/gateway";
import { permissionDenied } from "../gateway/status";
import type { Entry, Store } from "./store";
import { personUid } from "./store";
import type { Caller } from "./tokens";
import { operator } from "./tokens";

/** The caller with the emulator's own token may do everything. */
const operatorUid = personUid(operator.issuer, operator.subject);

/** Decides what a caller may do by the roles that bindings grant to it, on a group and on everything below it. */
export class CapabilityCheck {
  constructor(private readonly store: Store) {}

  /** @throws StatusError code 7 that names the first capability the caller lacks. */
  requireCapabilities({ method, request }: Call, caller: Caller): void {
    if (caller.uid === operatorUid) return;
    const scope = findScope(method.pattern, request);
    for (const capability of method.capabilities ?? []) {
      if (this.isGranted(caller, capability, scope)) continue;
      throw permissionDenied(`CAP_${capability} is needed${scope === undefined ? "" : ` at "${scope}"`}`);
    }
  }

  /** Whether a list shows an entry to the caller; what belongs to no group is shown to everybody who may list. */
  isVisible({ uid, builtIn }: Entry, { method }: Call, caller: Caller): boolean {
    if (caller.uid === operatorUid || builtIn) return true;
    return (method.capabilities ?? []).every((capability) => this.isGranted(caller, capability, uid));
  }

  /** Built-in roles, advisories and the like have no group, so a grant anywhere is enough for them. */
  private isGranted(caller: Caller, capability: string, uid: string | undefined): boolean {
    const isAnywhere = uid === undefined || this.belongsToNoGroup(uid);
    return this.store
      .referrersOf("RoleBinding", "identityUid", caller.uid)
      .filter(({ parent }) => isAnywhere || uid === parent || uid.startsWith(`${parent}/`))
      .some(({ value }) => this.findRoleCapabilities(value.roleUid).includes(`CAP_${capability}`));
  }

  private belongsToNoGroup(uid: string): boolean {
    const [root = ""] = uid.split("/");
    return uid !== "" && this.store.find("Group", root) === undefined;
  }

  private findRoleCapabilities(roleUid: Value | undefined): readonly string[] {
    const role = this.store.find("Role", roleUid as string);
    return (role?.value.capabilities ?? []) as string[];
  }
}

/** The uid that a request is about: the one in its path, or the parent of a batch. Lists have none. */
function findScope(pattern: string, request: Message): string | undefined {
  const field = /\{([A-Za-z.]+)=\*\*\}/.exec(pattern)?.[1] ?? (request.parent === undefined ? "" : "parent");
  if (field === "") return undefined;
  const value = field
    .split(".")
    .reduce<Value | undefined>((holder, key) => (holder as Message | undefined)?.[key], request);
  return (value ?? "") as string;
}
