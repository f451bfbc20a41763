import { parentOf } from "../../api/uid";
import { printable } from "../../engine/operations/messages";
import type { Api, Props } from "../../engine/description";
import { isObject } from "../../engine/values/values";
import { readBody } from "../../engine/wire/decode";
import { COLLECTION } from "../grants";
import { RoleBinding } from "../roleBinding";
import { keyOf, stringOf } from "./grant";
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
export function grantOf(response: Record<string, unknown>): Grant {
  const { identityUid, roleUid } = readBody(RoleBinding.spec, response as Props, stringOf(response["uid"]));
  return { identityUid: stringOf(identityUid), roleUid: stringOf(roleUid) };
}

function nameOf(value: unknown, keys: readonly string[]): string {
  const members = isObject(value) ? value : {};
  return keys.map((key) => printable(stringOf(members[key]), 80)).find((name) => name !== "") ?? "";
}

/** All grants at a group itself, not those at groups above it. */
export async function listGrants(api: Api, group: string): Promise<ExistingGrants> {
  const grants: ExistingGrants = new Map();
  for await (const item of api.list(COLLECTION, { "uidp.children_of": group })) {
    const uid = stringOf(item["uid"]);
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
