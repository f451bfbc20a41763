import { parentOf } from "../../api/uid";
import { printable } from "../../engine/operations/messages";
import type { Api, Props } from "../../engine/description";
import { isObject, stringOrEmpty } from "../../engine/values/values";
import { readBody } from "../../engine/wire/decode";
import { COLLECTION } from "../grants";
import { RoleBinding } from "../roleBinding";
import { identityRoleKey } from "./grant";
import type { Grant } from "./grant";

/** A grant that a group's list names. */
export interface ExistingGrant extends Grant {
  /** As messages show it: `alice as owner`. */
  readonly name: string;
  /** The bindings that grant it. */
  readonly uids: readonly string[];
}

/** The grants at a group, by their keys. */
export type ExistingGrants = Map<string, ExistingGrant>;

/** Who holds which role, by a response about a binding. */
export function readGrant(response: Record<string, unknown>): Grant {
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
export async function listGrants(api: Api, group: string): Promise<ExistingGrants> {
  const grants: ExistingGrants = new Map();
  for await (const item of api.list(COLLECTION, { "uidp.children_of": group })) {
    const uid = stringOrEmpty(item["uid"]);
    if (parentOf(uid) !== group) continue;
    const grant = readGrant(item);
    const known = grants.get(identityRoleKey(grant));
    const who = findFirstName(item["identity"], ["name", "email", "subject"]) || grant.identityUid || uid;
    const role = findFirstName(item["role"], ["name"]) || grant.roleUid;
    grants.set(identityRoleKey(grant), {
      ...grant,
      name: `${who} as ${role}`,
      uids: [...(known?.uids ?? []), uid],
    });
  }
  return grants;
}
