import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, byUid, listing, listRules } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one invite. */
export type GetGroupInviteArgs = ByUidArgs;

/** The role that an invite gives. */
export interface InviteRole {
  /** The uid. */
  uid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** Full names, as in `CAP_REPO_LIST`; of one newer than the gateway its number. */
  capabilities: string[];
}

/** An invite to a group. Contract, section 5. Its code is answered once, when it is made, and never here. */
export interface GetGroupInviteResult {
  /** The uid. */
  uid: string;
  /** The uid of its group. */
  parentUid: string;
  /** The uid of the role; empty once the role is deleted. */
  roleUid: string;
  /** The role as the API shows it; left out once it is deleted. */
  role?: InviteRole;
  /** The only e-mail address that may use it; empty where anyone with the code may. */
  email: string;
  /** Whether it ends with its first use. */
  singleUse: boolean;
  /** The id of the key that the code was made with. */
  keyId: string;
  /** When it ends: RFC 3339, as the API wrote it. */
  expirationTime?: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
}

/** Which invites to list. All by default, the newest first. Their lists know no names. */
export interface GetGroupInvitesArgs extends ListArgs {
  /** Only those whose code was made with this key. */
  keyId?: string;
}

const COLLECTION = "/iam/v2/groupInvites";

const readInvite = read.object<GetGroupInviteResult>({
  uid: read.text,
  parentUid: read.certainParent,
  roleUid: read.uidOrIn("role"),
  role: read.optional<InviteRole>({
    uid: read.text,
    name: read.text,
    description: read.text,
    capabilities: read.enumNames,
  }),
  email: read.text,
  singleUse: read.flag,
  keyId: read.text,
  expirationTime: read.time,
  createTime: read.time,
});

const oneInvite = byUid("getGroupInvite", COLLECTION, readInvite);

const invites = listing<GetGroupInvitesArgs, GetGroupInviteResult>({
  call: "getGroupInvites",
  collection: COLLECTION,
  rules: { ...listRules, keyId: take.sentAs("keyId", take.text) },
  read: readInvite,
});

/** Reads one invite. Throws where there is none. */
export function getGroupInvite(args: GetGroupInviteArgs): Promise<GetGroupInviteResult> {
  return ask(oneInvite, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getGroupInviteOutput(
  args: LookupInputs<GetGroupInviteArgs>,
): pulumi.Output<GetGroupInviteResult> {
  return askLater(oneInvite, args);
}

/** Lists the invites that match and that the token may see. */
export function getGroupInvites(args: GetGroupInvitesArgs = {}): Promise<GetGroupInviteResult[]> {
  return ask(invites, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getGroupInvitesOutput(
  args: LookupInputs<GetGroupInvitesArgs> = {},
): pulumi.Output<GetGroupInviteResult[]> {
  return askLater(invites, args);
}
