import { resource } from "../program/resource";
import { isRoot, optionalParentUid } from "../fields/wire";
import {
  enumOf,
  kind,
  list,
  string,
  times,
  type ArgsOf,
  type OfKind,
  type Resolved,
  type ResultOf,
} from "../fields/builders";
import type { Input } from "@pulumi/pulumi";
import { adviseOnCapabilities, capabilityNames, type Capability, type UsualCapability } from "./capabilities";
import { adviseOnName, description, nameOnly, parentGroup } from "./common";

const role = kind({
  kind: "Role",
  collection: "/iam/v2/roles",
  capabilities: "IAM_ROLES",
  eventPrefix: "iam.roles",
  listsByName: true,
  listing: { contents: "complete" },
  grantsAccess: "bound",
  usedBy: "uid",
  deletion: {
    blockedBy: "bindings",
    dependents: [{ collection: "/iam/v2/roleBindings", noun: "bindings that use it", parameter: "role" }],
  },
  fields: {
    /** The uid of the group that the role belongs to. Changing it replaces the role. */
    parentUid: parentGroup,
    /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
    name: string({ required: true, ...nameOnly }),
    /** One line, at most 512 characters. */
    description,
    /** What the role allows: one or more full names, as in `CAP_REPO_LIST`. Order means nothing. */
    capabilities: list(enumOf<"CAP_", UsualCapability>("CAP_", capabilityNames, { open: true }), {
      required: true,
      unordered: true,
      access: "capabilities",
    }),
  },
  reads: {
    /** Whether it is one of the platform's own, which never change. */
    builtIn: isRoot,
    /** The uid of its group; left out on a built-in role. */
    parentUid: optionalParentUid,
    ...times,
  },
  inputWarnings: { name: adviseOnName, capabilities: adviseOnCapabilities },
});

/** The arguments of a Role. */
export interface RoleArgs extends ArgsOf<typeof role>, OfKind {
  /** What the role allows: one or more full names, as in `CAP_REPO_LIST`. Order means nothing. */
  readonly capabilities: Input<Input<Capability>[]>;
}
/** A role. Of a capability that is newer than the gateway, `capabilities` holds the number. */
export interface GetRoleResult extends ResultOf<typeof role> {}
/** A custom role. Built-in roles never change: find them with `getRole`. */
export class Role extends resource<RoleArgs>(role) {}
export interface Role extends Resolved<RoleArgs> {}
