import type { Api, ReadingApi } from "../fields/resourceSpec";
import { stringOrEmpty, stringsIn } from "../fields/values";
import { isNotFound } from "../lifecycle/messages";
import { isUid, parentOf } from "../text/uid";
import { ROLE_BINDINGS } from "./bindingKinds";
import { readGrant } from "./groupAccess/readBindings";

/* Who the holder of the token is, and what it holds: no endpoint tells a caller, so its token and the bindings do. */

/** A role that an identity holds, and the group of the binding: it is valid for all below that too. */
export interface HeldRole {
  readonly group: string;
  readonly roleUid: string;
}

/** The uid behind the token; undefined where it cannot be told. */
export async function findCaller(api: Pick<Api, "get" | "getCallerClaims">): Promise<string | undefined> {
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

/** The roles that bindings give to an identity, as far as the caller may see them. */
export async function listHeldRoles(api: ReadingApi, identityUid: string): Promise<HeldRole[]> {
  const held: HeldRole[] = [];
  for await (const item of api.list(ROLE_BINDINGS, { identity: identityUid })) {
    const grant = readGrant(item);
    const group = parentOf(stringOrEmpty(item["uid"]));
    if (grant.identityUid === identityUid && group !== undefined)
      held.push({ group, roleUid: grant.roleUid });
  }
  return held;
}

/** What roles give together; one that is gone gives `unread`. */
export async function readCapabilities(
  api: ReadingApi,
  roleUids: readonly string[],
  unread: readonly string[],
): Promise<ReadonlySet<string>> {
  const capabilities = new Set<string>();
  for (const roleUid of new Set(roleUids)) {
    const role = await api.get(api.resourcePath("/iam/v2/roles", roleUid)).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const given = role?.["uid"] === roleUid ? stringsIn(role["capabilities"]) : unread;
    for (const capability of given) capabilities.add(capability);
  }
  return capabilities;
}
