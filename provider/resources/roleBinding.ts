import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource, parentGroup } from "../engine/spec";
import type { BatchMethod, Json, Ownership, Props } from "../engine/spec";

/** The arguments of a RoleBinding. */
export interface RoleBindingArgs {
  /** The uid of the group on which, and below which, the role is granted. Changing it replaces the binding. */
  parentUid: pulumi.Input<string>;
  /** The uid of the identity that gets the role. */
  identityUid: pulumi.Input<string>;
  /** The uid of the role: a Role's id, or what `getRole` finds. */
  roleUid: pulumi.Input<string>;
}

/** An answer carries the uid, the hydrated object, or both (contract, section 5). */
function flat(uid: Json | undefined, hydrated: Json | undefined): Json | undefined {
  // Of another type than a text it is passed on: it shows that the answer is no role binding.
  if (uid !== undefined && uid !== null && uid !== "") return uid;
  return hydrated !== null && typeof hydrated === "object" && !Array.isArray(hydrated)
    ? hydrated["uid"]
    : undefined;
}

/** A group's bindings are owned one by one, or all by a GroupAccess. */
export function bindingsOf({ all }: Pick<Ownership, "all">): Ownership {
  return {
    of: "role bindings",
    all,
    advice: "keep one GroupAccess for a group, and move the bindings of others into its bindings",
  };
}

/** What tells one grant from another, declared by a RoleBinding (`one`) or by the GroupAccess of its group (`all`). */
export function grantKey(owner: "one" | "all", { parentUid, identityUid, roleUid }: Props): string {
  return JSON.stringify(["grant", owner, parentUid, identityUid, roleUid]);
}

/** Who holds which role, by an answer about a binding. */
export function grantOf(body: Props): { identityUid: Json | undefined; roleUid: Json | undefined } {
  return {
    identityUid: flat(body["identityUid"], body["identity"]),
    roleUid: flat(body["roleUid"], body["role"]),
  };
}

const COLLECTION = "/iam/v2/roleBindings";

/** At most 25, all or none (contract, section 6). */
export const bindingBatch: BatchMethod = {
  collection: COLLECTION,
  verb: "batchCreate",
  limit: 25,
  body: (parent, bindings) => ({
    parent,
    requests: bindings.map((roleBinding) => ({ parent, roleBinding })),
  }),
  member: "roleBindings",
};

/** A grant: an identity holds a role on a group and all below it. Contract, section 5. */
export class RoleBinding extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<RoleBindingArgs>({
    kind: "RoleBinding",
    noun: "role binding",
    collection: COLLECTION,
    listsByName: false,
    readsByList: {},
    batchCreate: bindingBatch,
    events: "iam.rolebindings",
    gives: "always",
    fields: {
      parentUid: parentGroup({ required: true }),
      identityUid: { type: "string", format: "uid", required: true, security: true, access: "match" },
      roleUid: { type: "string", format: "uid", required: true, security: true, access: "role" },
    },
    fromServer: (body) => ({ ...body, ...grantOf(body) }),
    owns: bindingsOf({ all: false }),
    declares: (inputs) => [grantKey("one", inputs)],
    keptBy: (inputs) => [grantKey("all", inputs)],
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly identityUid: pulumi.Output<string>;
  declare readonly roleUid: pulumi.Output<string>;

  constructor(name: string, args: RoleBindingArgs, opts?: pulumi.CustomResourceOptions) {
    super(RoleBinding.spec, name, args, opts);
  }

  /** Reads a role binding that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): RoleBinding {
    return new RoleBinding(name, undefined as unknown as RoleBindingArgs, { ...opts, id: uid });
  }
}
