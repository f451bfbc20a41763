import type * as pulumi from "@pulumi/pulumi";
import { durationNanos } from "../engine/times";
import { PlatformResource } from "../engine/resource";
import { defineResource, parentGroup } from "../engine/spec";

/** The arguments of a GroupInvite. Nothing of an invite can be changed: each change replaces it. */
export interface GroupInviteArgs {
  /** The uid of the group that the invite leads to. Changing it replaces the invite. */
  parentUid: pulumi.Input<string>;
  /** The uid of the role that whoever accepts it gets on the group. Changing it replaces the invite. */
  roleUid: pulumi.Input<string>;
  /** How long it can be accepted, as in `24h` or `86400s`. Changing it replaces the invite. */
  ttl: pulumi.Input<string>;
  /** The only e-mail address that may accept it; anyone with the code if not given. Changing it replaces the invite. */
  email?: pulumi.Input<string>;
  /** Whether it is used up by the first who accepts it. Changing it replaces the invite. */
  singleUse?: pulumi.Input<boolean>;
}

const COLLECTION = "/iam/v2/groupInvites";

/** The role is told whole for as long as it exists (contract, section 5): without it, the invite grants nothing. */
function withRole(invite: Record<string, unknown>): Record<string, unknown> {
  const { role } = invite;
  return role !== null && typeof role === "object" ? invite : { ...invite, roleUid: "" };
}

/** Lets somebody join a group with a role, by a code. Contract, section 5. */
export class GroupInvite extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<GroupInviteArgs>({
    kind: "GroupInvite",
    noun: "group invite",
    collection: COLLECTION,
    events: "iam.group_invite",
    listsByName: false,
    fields: {
      parentUid: parentGroup({ required: true }),
      roleUid: {
        type: "string",
        format: "uid",
        required: true,
        immutable: true,
        security: true,
        access: "role",
      },
      ttl: {
        type: "string",
        format: "duration",
        required: true,
        immutable: true,
        inputOnly: true,
        access: "until",
      },
      email: { type: "string", immutable: true, security: true, access: "limits" },
      singleUse: { type: "boolean", immutable: true, security: true, access: "limits" },
    },
    outputs: {
      code: { type: "string", secret: true, createOnly: true },
      keyId: { type: "string" },
      expirationTime: { type: "string", format: "timestamp" },
    },
    // How long it was to live is never answered: without it the next run replaces the invite.
    unseen: (inputs) => ({ ...inputs, ttl: null }),
    operations: {
      get: async (api, uid) => withRole(await api.get(api.address(COLLECTION, uid))),
    },
    listing: { item: withRole },
    gives: "always",
    rules: ({ ttl }) => {
      const nanos = typeof ttl === "string" ? durationNanos(ttl) : undefined;
      return nanos === undefined || nanos > 0n
        ? []
        : [{ property: "ttl", reason: "must be longer than nothing" }];
    },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly roleUid: pulumi.Output<string>;
  declare readonly ttl: pulumi.Output<string>;
  declare readonly email: pulumi.Output<string | undefined>;
  declare readonly singleUse: pulumi.Output<boolean | undefined>;
  /** What to hand to whoever is invited: a secret, answered once, when the invite is made. */
  declare readonly code: pulumi.Output<string>;
  /** Names the code without telling it. */
  declare readonly keyId: pulumi.Output<string>;
  /** When it can no longer be accepted. */
  declare readonly expirationTime: pulumi.Output<string>;

  constructor(name: string, args: GroupInviteArgs, opts?: pulumi.CustomResourceOptions) {
    super(GroupInvite.spec, name, args, opts);
  }

  /** Reads an invite that this program does not manage. Its code and `ttl` are not known then. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): GroupInvite {
    return new GroupInvite(name, undefined as unknown as GroupInviteArgs, { ...opts, id: uid });
  }
}
