import { GroupInvite } from "../kinds/groupInvite";
import type { GetGroupInviteResult } from "../kinds/groupInvite";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one invite. */
export type GetGroupInviteArgs = ByUidArgs;

/** Which invites to list. All by default, the newest first. Their lists know no names. */
export interface GetGroupInvitesArgs extends ListArgs {
  /** Only those whose code was made with this key. */
  keyId?: string;
}

const { one, list } = defineLookups<GetGroupInviteArgs, GetGroupInvitesArgs, GetGroupInviteResult>(
  GroupInvite,
  {
    calls: ["getGroupInvite", "getGroupInvites"],
    filters: { keyId: validate.sentAs("keyId", validate.text) },
  },
);

/** Reads one invite. Throws where there is none. */
export const getGroupInvite = invoke(one);

/** Returns what `getGroupInvite` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupInviteOutput = invokeOutput(one);

/** Lists the invites that match and that the token may see. */
export const getGroupInvites = invokeWithOptionalArgs(list);

/** Returns what `getGroupInvites` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupInvitesOutput = invokeWithOptionalArgsOutput(list);
