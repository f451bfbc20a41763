import { isUid, parentOf } from "../../api/uid";
import { handlerError } from "../../engine/operations/messages";
import type { Api } from "../../engine/description";
import { COLLECTION } from "../grants";
import { readGrant } from "./existingGrants";
import { quoteLabels, stringsIn } from "./grant";
import type { Grant, LabelledGrant } from "./grant";
import { stringOrEmpty } from "../../engine/values/values";

/** Roles in one list request, so that its URL stays short. */
const ROLES_AT_ONCE = 50;

/** Whoever has these at a group can restore its bindings. */
const TO_DELETE = "CAP_IAM_ROLE_BINDINGS_DELETE";
const TO_MANAGE = ["CAP_IAM_ROLE_BINDINGS_CREATE", TO_DELETE];

/** The capabilities of roles, by uid; a role that cannot be read is missing. */
type CapabilitiesByRole = ReadonlyMap<string, readonly string[]>;

async function readCapabilities(api: Api, roleUids: readonly string[]): Promise<CapabilitiesByRole> {
  const capabilities = new Map<string, string[]>();
  const uids = [...new Set(roleUids)];
  for (let i = 0; i < uids.length; i += ROLES_AT_ONCE) {
    const query = { "uidp.ids": uids.slice(i, i + ROLES_AT_ONCE) };
    for await (const role of api.list("/iam/v2/roles", query)) {
      capabilities.set(stringOrEmpty(role["uid"]), stringsIn(role["capabilities"]));
    }
  }
  return capabilities;
}

/** The uid behind the token; undefined where it cannot be told. */
async function findCaller(api: Api): Promise<string | undefined> {
  const claims = await api.getCallerClaims();
  if (claims === undefined) return undefined;
  const { issuer, subject } = claims;
  if (isUid(subject)) return subject;
  try {
    const found = await api.get("/iam/v2/identities:lookupIdentity", { issuer, subject });
    return stringOrEmpty(found["uid"]) || undefined;
  } catch {
    return undefined;
  }
}

/** The roles that an identity holds at the groups above one. */
async function listRolesAbove(api: Api, group: string, identityUid: string): Promise<string[]> {
  if (parentOf(group) === undefined) return [];
  const roles: string[] = [];
  for await (const item of api.list(COLLECTION, { identity: identityUid })) {
    const grant = readGrant(item);
    const at = parentOf(stringOrEmpty(item["uid"]));
    if (grant.identityUid === identityUid && at !== undefined && group.startsWith(`${at}/`))
      roles.push(grant.roleUid);
  }
  return roles;
}

/** The removal of bindings from a group, and what it leaves there. */
export interface Removal {
  readonly group: string;
  readonly removed: readonly LabelledGrant[];
  readonly remaining: readonly Grant[];
  /** What a person does who wants it nevertheless. */
  readonly override: string;
}

/** The removal of the bindings of one identity, which is or may be the caller. */
class CallerRemoval {
  constructor(
    private readonly identityUid: string,
    private readonly removed: readonly LabelledGrant[],
    private readonly isCaller: boolean,
  ) {}

  /** The capabilities that it takes from the identity, which keeps some roles. */
  findLost(keptRoles: readonly string[], capabilities: CapabilitiesByRole): string[] {
    return TO_MANAGE.filter(
      (capability) =>
        this.removed.some(
          (binding) => !keptRoles.includes(binding[1].roleUid) && mayGive(binding, capability, capabilities),
        ) && !keptRoles.some((roleUid) => capabilities.get(roleUid)?.includes(capability)),
    );
  }

  isLockout(lost: readonly string[], keptRoles: readonly string[]): boolean {
    if (!this.isCaller) return lost.includes(TO_DELETE);
    return lost.length > 0 || keptRoles.length === 0;
  }

  toError(group: string, lost: readonly string[], capabilities: CapabilitiesByRole, override: string): Error {
    const giving = this.removed.filter(
      (binding) => lost.length === 0 || lost.some((capability) => mayGive(binding, capability, capabilities)),
    );
    const loss = lost.length === 0 ? "its last role there" : lost.join(" and ");
    const what = `removing binding ${quoteLabels(giving)} of group ${group}: it takes ${loss} from`;
    return handlerError(
      "PP4011",
      this.isCaller
        ? `${what} the caller itself (${this.identityUid}); nothing was changed: keep such a binding there or above, let another identity do it, or ${override}`
        : `${what} ${this.identityUid}, and the token does not say whether that is the caller itself; nothing was changed: if it is not, or if you intend it, ${override}`,
    );
  }
}

/** A removed role that cannot be read may give any capability. */
function mayGive([, { roleUid }]: LabelledGrant, capability: string, known: CapabilitiesByRole): boolean {
  return known.get(roleUid)?.includes(capability) ?? true;
}

/**
 * Refuses a removal that takes from the caller what it needs to restore the bindings. Where the token does not tell who
 * the caller is, that may be anyone who loses the right to delete bindings: the caller has it, or it could not do this.
 */
export async function refuseSelfLockout(api: Api, removal: Removal): Promise<void> {
  const { group, removed, remaining, override } = removal;
  if (removed.length === 0) return;
  const caller = await findCaller(api);
  const suspects =
    caller === undefined ? removed : removed.filter(([, { identityUid }]) => identityUid === caller);
  if (suspects.length === 0) return;
  const rolesHere = (identityUid: string) =>
    remaining.filter((grant) => grant.identityUid === identityUid).map(({ roleUid }) => roleUid);
  const identities = [...new Set(suspects.map(([, { identityUid }]) => identityUid))];
  const capabilities = await readCapabilities(api, [
    ...suspects.map(([, { roleUid }]) => roleUid),
    ...identities.flatMap(rolesHere),
  ]);
  for (const identityUid of identities) {
    const theirs = suspects.filter(([, grant]) => grant.identityUid === identityUid);
    const own = new CallerRemoval(identityUid, theirs, caller !== undefined);
    const here = rolesHere(identityUid);
    if (!own.isLockout(own.findLost(here, capabilities), here)) continue;
    const above = await listRolesAbove(api, group, identityUid);
    const kept = [...here, ...above];
    const known = new Map([...capabilities, ...(await readCapabilities(api, above))]);
    const lost = own.findLost(kept, known);
    if (own.isLockout(lost, kept)) throw own.toError(group, lost, known, override);
  }
}
