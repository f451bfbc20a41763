import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource, description, parentGroup } from "../engine/spec";
import { adviseOnCapabilities, capabilityNames } from "./capabilities";

/** The arguments of a Role. */
export interface RoleArgs {
  /** The uid of the group that the role belongs to. Changing it replaces the role. */
  parentUid: pulumi.Input<string>;
  /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. */
  description?: pulumi.Input<string>;
  /** What the role allows: one or more full names, as in `CAP_REPO_LIST`. Order means nothing. */
  capabilities: pulumi.Input<pulumi.Input<string>[]>;
}

/** A custom role. Built-in roles never change: find them with `getRole`. Contract, sections 5 and 12. */
export class Role extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<RoleArgs>({
    kind: "Role",
    noun: "role",
    collection: "/iam/v2/roles",
    events: "iam.roles",
    listsByName: true,
    readsByList: {},
    fields: {
      parentUid: parentGroup({ required: true }),
      name: { type: "string", required: true },
      description,
      capabilities: {
        type: "list",
        required: true,
        unordered: true,
        security: true,
        access: "powers",
        items: { type: "enum", prefix: "CAP_", known: capabilityNames },
      },
    },
    listing: { builtIn: true },
    gives: "bound",
    dependents: [{ collection: "/iam/v2/roleBindings", noun: "bindings that hold it", by: "role" }],
    advise: { capabilities: adviseOnCapabilities },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly capabilities: pulumi.Output<string[]>;

  constructor(name: string, args: RoleArgs, opts?: pulumi.CustomResourceOptions) {
    super(Role.spec, name, args, opts);
  }

  /** Reads a role that this program does not manage, a built-in one included. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Role {
    return new Role(name, undefined as unknown as RoleArgs, { ...opts, id: uid });
  }
}
