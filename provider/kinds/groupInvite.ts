import { resource } from "../program/resource";
import { durationNanos } from "../fields/formats";
import { boolean, enumOf, kind, list, resultObject, secret, string, time } from "../fields/builders";
import type { ArgsOf, OfKind, OutputsOf, Resolved, ResultOf, Returned } from "../fields/builders";
import { namedObject, parentGroup } from "./common";

const powers = {
  /** Full names, as in `CAP_REPO_LIST`; of one newer than the gateway its number. */
  capabilities: list(enumOf("CAP_", [])),
};

/** The role that an invite gives. */
export interface InviteRole extends Returned<typeof namedObject>, Returned<typeof powers> {}

/** The role is hydrated for as long as it exists: without it, the invite grants nothing. */
function withRole(invite: Record<string, unknown>): Record<string, unknown> {
  const { role } = invite;
  return role !== null && typeof role === "object" ? invite : { ...invite, roleUid: "" };
}

const groupInvite = kind({
  kind: "GroupInvite",
  collection: "/iam/v2/groupInvites",
  capabilities: "IAM_GROUP_INVITES",
  eventPrefix: "iam.group_invite",
  grantsAccess: "always",
  fields: {
    /** The uid of the group that the invite leads to. Changing it replaces the invite. */
    parentUid: parentGroup,
    /** The uid of the role that whoever accepts it gets on the group. Changing it replaces the invite. */
    roleUid: string({ format: "uid", required: true, immutable: true, hydratedIn: "role", access: "role" }),
    /** How long it can be accepted, as in `24h` or `86400s`. Changing it replaces the invite. */
    ttl: string({
      format: "duration",
      required: true,
      immutable: true,
      inputOnly: true,
      returnedAs: "expirationTime",
      access: "invite.lifetime",
    }),
    /** The only e-mail address that may accept it; anyone with the code if not given. Changing it replaces the invite. */
    email: string({
      immutable: true,
      access: "invite.address",
      leftOutMeans: "an invite that anyone with the code may accept",
    }),
    /** Whether it is used up by the first who accepts it. Changing it replaces the invite. */
    singleUse: boolean({ immutable: true, access: "invite.once" }),
  },
  outputs: {
    /** What to hand to whoever is invited: a secret, returned only at creation. */
    code: secret({ createOnly: true, required: true }),
    /** Names the code without telling it. */
    keyId: string({ required: true }),
    /** When it can no longer be accepted. */
    expirationTime: string({ format: "timestamp", required: true, access: "expiry" }),
  },
  reads: {
    /** The uid of the role; empty once the role is deleted. */
    roleUid: string(),
    /** The role as the API shows it; left out once it is deleted. */
    role: resultObject<InviteRole>({ ...namedObject, ...powers }),
    /** When it was made: RFC 3339, as the API wrote it. */
    createTime: time,
  },
  operations: { normalizeRead: withRole },
  validate: ({ ttl }) => {
    const nanos = typeof ttl === "string" ? durationNanos(ttl) : undefined;
    if (typeof ttl !== "string" || nanos === undefined || nanos > 0n) return [];
    return [{ property: "ttl", reason: `must be greater than 0s, not ${ttl}`, code: "PP1010" }];
  },
});

/** The arguments of a GroupInvite. Nothing of an invite can be changed: each change replaces it. */
export interface GroupInviteArgs extends ArgsOf<typeof groupInvite>, OfKind {}
/** An invite to a group. Its code is returned only at creation, never here. */
export interface GetGroupInviteResult extends ResultOf<typeof groupInvite> {}
/** Invites people to a group with a role, by a code. */
export class GroupInvite extends resource<GroupInviteArgs>(groupInvite) {}
export interface GroupInvite extends Resolved<GroupInviteArgs>, OutputsOf<typeof groupInvite> {}
