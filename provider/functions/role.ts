import type * as pulumi from "@pulumi/pulumi";
import { parentOf } from "../api/uid";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, listing, listRules, selecting } from "./lookup";
import type { ListArgs } from "./lookup";

/** Selects one role: by `uid`, or by `name`. */
export interface GetRoleArgs {
  /** The uid, as the `id` of a Role. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a custom role of this group. */
  parentUid?: string;
  /** True: only a built-in role. False: only custom ones. */
  builtIn?: boolean;
}

/** A role. Contract, sections 5 and 12. */
export interface GetRoleResult {
  /** The uid. */
  uid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** Full names, as in `CAP_REPO_LIST`; of one newer than the gateway its number. */
  capabilities: string[];
  /** Whether it is one of the platform's own, which never change. */
  builtIn: boolean;
  /** The uid of its group; left out on a built-in role. */
  parentUid?: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which roles to list. All by default: built-in and custom ones mixed. */
export interface GetRolesArgs extends ListArgs {
  /** The exact name. */
  name?: string;
  /** True: only built-in roles. False: only custom ones. Picked out of the list by this package, not by the server. */
  builtIn?: boolean;
}

const COLLECTION = "/iam/v2/roles";

const readRole = read.object<GetRoleResult>({
  uid: read.text,
  name: read.text,
  description: read.text,
  capabilities: read.enumNames,
  builtIn: (_value, { uid }) => parentOf(read.text(uid)) === undefined,
  parentUid: read.parent,
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetRoleArgs> = {
  uid: take.uid,
  name: take.text,
  parentUid: take.uid,
  builtIn: take.flag,
};
const oneRole = selecting("getRole", COLLECTION, rules, readRole, { root: ({ builtIn }) => builtIn });

const roles = listing<GetRolesArgs, GetRoleResult>({
  call: "getRoles",
  collection: COLLECTION,
  rules: { ...listRules, name: take.sentAs("name", take.text), builtIn: take.flag },
  read: readRole,
  keep: ({ builtIn }) => (builtIn === undefined ? undefined : (role) => role.builtIn === builtIn),
});

/**
 * Finds exactly one role. Role lists mix custom roles with built-in ones (contract, section 12): give
 * `builtIn: true` for a built-in role. Throws where there is none, and where there are several, with
 * their uids and parents.
 */
export function getRole(args: GetRoleArgs): Promise<GetRoleResult> {
  return ask(oneRole, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRoleOutput(args: LookupInputs<GetRoleArgs>): pulumi.Output<GetRoleResult> {
  return askLater(oneRole, args);
}

/** Lists the roles that match and that the token may see. */
export function getRoles(args: GetRolesArgs = {}): Promise<GetRoleResult[]> {
  return ask(roles, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRolesOutput(args: LookupInputs<GetRolesArgs> = {}): pulumi.Output<GetRoleResult[]> {
  return askLater(roles, args);
}
