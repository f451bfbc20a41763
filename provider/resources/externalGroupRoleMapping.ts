import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource } from "../engine/spec";

/** The arguments of an ExternalGroupRoleMapping. Nothing of a mapping can be changed: each change replaces it. */
export interface ExternalGroupRoleMappingArgs {
  /** The uid of the identity provider whose groups are meant. Changing it replaces the mapping. */
  parentUid: pulumi.Input<string>;
  /** The group, as the provider's `groupsClaim` names it. Changing it replaces the mapping. */
  externalGroupId: pulumi.Input<string>;
  /** The uid of the role that members of the group get. Changing it replaces the mapping. */
  roleUid: pulumi.Input<string>;
  /** The uid of the root group on which they get it. Changing it replaces the mapping. */
  scope: pulumi.Input<string>;
}

/** Gives a role to all members of a group of an identity provider. Contract, section 5. */
export class ExternalGroupRoleMapping extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<ExternalGroupRoleMappingArgs>({
    kind: "ExternalGroupRoleMapping",
    noun: "external group role mapping",
    collection: "/iam/v2/externalGroupRoleMappings",
    events: "iam.external_group_role_mappings",
    identifiedBy: ["parentUid", "externalGroupId", "roleUid", "scope"],
    listsByName: false,
    readsByList: {},
    fields: {
      parentUid: {
        type: "string",
        format: "uid",
        path: true,
        required: true,
        immutable: true,
        access: "match",
      },
      externalGroupId: { type: "string", required: true, immutable: true, security: true, access: "match" },
      roleUid: {
        type: "string",
        format: "uid",
        required: true,
        immutable: true,
        security: true,
        access: "role",
      },
      scope: {
        type: "string",
        format: "groupUid",
        pattern: { regex: /^[^/]*$/, must: "the uid of a root group, which has no slash" },
        required: true,
        immutable: true,
        security: true,
        access: "match",
      },
    },
    gives: "always",
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly externalGroupId: pulumi.Output<string>;
  declare readonly roleUid: pulumi.Output<string>;
  declare readonly scope: pulumi.Output<string>;

  constructor(name: string, args: ExternalGroupRoleMappingArgs, opts?: pulumi.CustomResourceOptions) {
    super(ExternalGroupRoleMapping.spec, name, args, opts);
  }

  /** Reads a mapping that this program does not manage. */
  static get(
    name: string,
    uid: pulumi.Input<string>,
    opts?: pulumi.CustomResourceOptions,
  ): ExternalGroupRoleMapping {
    const none = undefined as unknown as ExternalGroupRoleMappingArgs;
    return new ExternalGroupRoleMapping(name, none, { ...opts, id: uid });
  }
}
