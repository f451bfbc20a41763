import { resource } from "../program/resource";
import { kind, resultObject, string, time } from "../fields/builders";
import type { ArgsOf, OfKind, Resolved, ResultOf, Returned } from "../fields/builders";
import { namedObject, parentGroup } from "./common";
import { bindingKind, ROLE_BINDINGS, declaredGrantKey } from "./bindingKinds";

const required = { format: "uid", required: true, security: true } as const;

const holder = {
  /** The `sub` claim of its tokens; empty where none is fixed. */
  subject: string(),
  /** The `iss` claim of its tokens; empty where none is fixed. */
  issuer: string(),
  /** The e-mail address of a person; empty where there is none. */
  email: string(),
};

/** The identity that a binding gives a role. */
export interface BoundIdentity extends Returned<typeof namedObject>, Returned<typeof holder> {}

/** The group that a binding is for. */
export interface BoundGroup extends Returned<typeof namedObject> {}

/** The role that a binding gives. */
export interface BoundRole extends Returned<typeof namedObject> {}

const roleBinding = kind({
  ...bindingKind({ ownsAll: false }),
  kind: "RoleBinding",
  capabilities: "IAM_ROLE_BINDINGS",
  eventPrefix: "iam.rolebindings",
  listing: { contents: "complete" },
  fields: {
    /** The uid of the group on which, and below which, the role is granted. Changing it replaces the binding. */
    parentUid: parentGroup,
    /** The uid of the identity that gets the role. */
    identityUid: string({ ...required, access: "subject", refersTo: "Identity", hydratedIn: "identity" }),
    /** The uid of the role: a Role's id, or what `getRole` finds. */
    roleUid: string({ ...required, access: "role", hydratedIn: "role" }),
  },
  reads: {
    /** The identity as the API shows it; left out where the response does not hold it. */
    identity: resultObject<BoundIdentity>({ ...namedObject, ...holder }),
    /** The group as the API shows it; left out where the response does not hold it. */
    group: resultObject<BoundGroup>(namedObject),
    /** The role as the API shows it; left out where the response does not hold it. */
    role: resultObject<BoundRole>(namedObject),
    /** When it was made: RFC 3339, as the API wrote it. */
    createTime: time,
  },
  operations: {
    create: (api, inputs, body) => api.createShared(ROLE_BINDINGS, inputs["parentUid"] as string, body),
  },
  declaredKeys: (inputs) => [declaredGrantKey("one", inputs)],
  retainedBy: (inputs) => [declaredGrantKey("all", inputs)],
});

/** The arguments of a RoleBinding. */
export interface RoleBindingArgs extends ArgsOf<typeof roleBinding>, OfKind {}
/** A grant: an identity holds a role on a group and all below it. */
export interface GetRoleBindingResult extends ResultOf<typeof roleBinding> {}
/** A grant: an identity holds a role on a group and all below it. */
export class RoleBinding extends resource<RoleBindingArgs>(roleBinding) {}
export interface RoleBinding extends Resolved<RoleBindingArgs> {}
