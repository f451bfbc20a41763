import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import type { Resolved } from "../engine/resource";
import { defineFields, defineResource, parentGroup } from "../engine/spec";
import type { Failure, ListSpec, Props } from "../engine/spec";
import { isObject, isUnknown } from "../engine/values";
import { deleteBindings, grantsIn, readBindings, UNMANAGED, writeBindings } from "./groupBindings";
import { bindingsOf } from "./roleBinding";

/** Who holds which role. */
export interface GroupAccessBindingArgs {
  /** The uid of the identity that gets the role. */
  identityUid: pulumi.Input<string>;
  /** The uid of the role: a Role's id, or what `getRole` finds. */
  roleUid: pulumi.Input<string>;
}

/** Bindings made by others that are left alone, and not shown. A binding is one of them where any member fits it. */
export interface GroupAccessIgnoreArgs {
  /** The uids of identities, whatever their roles. */
  identityUids?: pulumi.Input<pulumi.Input<string>[]>;
  /** The uids of roles, whoever holds them. */
  roleUids?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * Regular expressions in RE2's syntax that fit the whole of a binding's name, as a refresh shows it after
   * `unmanaged: `: `break-glass as owner`. Whoever makes an identity chooses its name: uids are safer.
   */
  namePatterns?: pulumi.Input<pulumi.Input<string>[]>;
}

/** The arguments of a GroupAccess. */
export interface GroupAccessArgs {
  /** The uid of the group whose bindings are owned; those of groups below are not. Changing it replaces the resource. */
  parentUid: pulumi.Input<string>;
  /** All bindings of the group, each under a label that previews show. `{}` leaves none. */
  bindings: pulumi.Input<Record<string, pulumi.Input<GroupAccessBindingArgs>>>;
  /** Bindings made by others that are left alone. */
  ignore?: pulumi.Input<GroupAccessIgnoreArgs>;
  /** True: also removes the bindings by which the caller itself manages the group's bindings. */
  allowSelfRemoval?: pulumi.Input<boolean>;
}

const ignored = { type: "list", unordered: true, access: "powers" } as const;
const uids: ListSpec = { ...ignored, items: { type: "string", format: "uid" } };

/** Two labels for one grant: the second would have nothing to make, and removing one would take both. */
function findRepeated({ bindings }: Props): Failure[] {
  const first = new Map<string, string>();
  return Object.entries(isObject(bindings) ? bindings : {}).flatMap(([label, grant]) => {
    const { identityUid, roleUid } = isObject(grant) ? grant : {};
    if (typeof identityUid !== "string" || typeof roleUid !== "string") return [];
    if (isUnknown(identityUid) || isUnknown(roleUid)) return [];
    const key = `${identityUid} ${roleUid}`;
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, label);
      return [];
    }
    const reason = `${JSON.stringify(label)} grants the same role to the same identity as ${JSON.stringify(other)}: remove one of them`;
    return [{ property: "bindings", reason }];
  });
}

/**
 * All role bindings of one group, as one resource: what the program does not have shows as drift in a refresh,
 * by name, and goes with the next `up`. Deleting it takes away the program's bindings, and no others. Contract,
 * sections 5 and 6.
 */
export class GroupAccess extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<GroupAccessArgs>({
    kind: "GroupAccess",
    noun: "group access",
    collection: "/iam/v2/roleBindings",
    sharesParentUid: true,
    listsByName: false,
    listing: { gathers: "RoleBinding" },
    gives: "always",
    fields: {
      parentUid: parentGroup({ required: true }),
      bindings: {
        type: "map",
        required: true,
        mayBeEmpty: true,
        security: true,
        access: "powers",
        keys: {
          regex: /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,100}$/u,
          must: "one line of at most 100 characters",
        },
        refusedKeys: {
          regex: new RegExp(`^${UNMANAGED.trim()}`),
          must: `has a label that begins with "${UNMANAGED.trim()}": so begin those of bindings that the program does not have`,
        },
        values: {
          type: "object",
          fields: defineFields<GroupAccessBindingArgs>({
            identityUid: { type: "string", format: "uid", required: true, access: "match" },
            roleUid: { type: "string", format: "uid", required: true, access: "role" },
          }),
        },
      },
      ignore: {
        type: "object",
        inputOnly: true,
        fields: defineFields<GroupAccessIgnoreArgs>({
          identityUids: uids,
          roleUids: uids,
          namePatterns: { ...ignored, items: { type: "string", format: "regex" } },
        }),
      },
      allowSelfRemoval: { type: "boolean", inputOnly: true },
    },
    owns: bindingsOf({ all: true }),
    declares: grantsIn,
    rules: findRepeated,
    operations: {
      // What is there already is taken over.
      createsOver: true,
      create: (api, inputs, _body, host) =>
        writeBindings(api, inputs["parentUid"] as string, {}, inputs, host),
      get: readBindings,
      update: writeBindings,
      delete: deleteBindings,
    },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly bindings: pulumi.Output<Record<string, Resolved<GroupAccessBindingArgs>>>;
  declare readonly ignore: pulumi.Output<Resolved<GroupAccessIgnoreArgs> | undefined>;
  declare readonly allowSelfRemoval: pulumi.Output<boolean | undefined>;

  constructor(name: string, args: GroupAccessArgs, opts?: pulumi.CustomResourceOptions) {
    super(GroupAccess.spec, name, args, opts);
  }

  /** Reads all bindings of a group, by the group's uid. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): GroupAccess {
    return new GroupAccess(name, undefined as unknown as GroupAccessArgs, { ...opts, id: uid });
  }
}
