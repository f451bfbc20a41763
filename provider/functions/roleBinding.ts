import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, byUid, listing, listRules } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one role binding. */
export type GetRoleBindingArgs = ByUidArgs;

/** The identity that a binding gives a role. */
export interface BoundIdentity {
  /** The uid. */
  uid: string;
  /** The name; empty where there is none. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** The `sub` claim of its tokens; empty where none is fixed. */
  subject: string;
  /** The `iss` claim of its tokens; empty where none is fixed. */
  issuer: string;
  /** The e-mail address of a person; empty where there is none. */
  email: string;
}

/** The group that a binding is for. */
export interface BoundGroup {
  /** The uid. */
  uid: string;
  /** The name; empty where there is none. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
}

/** The role that a binding gives. */
export interface BoundRole {
  /** The uid. */
  uid: string;
  /** The name; empty where there is none. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
}

/** A grant: an identity holds a role on a group and all below it. Contract, section 5. */
export interface GetRoleBindingResult {
  /** The uid. */
  uid: string;
  /** The uid of the group on which, and below which, the role is granted. */
  parentUid: string;
  /** The uid of the identity. */
  identityUid: string;
  /** The uid of the role. */
  roleUid: string;
  /** The identity as the API shows it; left out where the answer does not hold it. */
  identity?: BoundIdentity;
  /** The group as the API shows it; left out where the answer does not hold it. */
  group?: BoundGroup;
  /** The role as the API shows it; left out where the answer does not hold it. */
  role?: BoundRole;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
}

/** Which role bindings to list. All by default. Their lists know no names. */
export interface GetRoleBindingsArgs extends ListArgs {
  /** Only what the identity with this uid holds. */
  identityUid?: string;
  /** Only what is granted on the group with this uid. */
  groupUid?: string;
  /** Only grants of the role with this uid. */
  roleUid?: string;
}

const COLLECTION = "/iam/v2/roleBindings";

const bound: read.Readers<BoundGroup> = { uid: read.text, name: read.text, description: read.text };

const readBinding = read.object<GetRoleBindingResult>({
  uid: read.text,
  parentUid: read.certainParent,
  identityUid: read.uidOrIn("identity"),
  roleUid: read.uidOrIn("role"),
  identity: read.optional<BoundIdentity>({
    ...bound,
    subject: read.text,
    issuer: read.text,
    email: read.text,
  }),
  group: read.optional<BoundGroup>(bound),
  role: read.optional<BoundRole>(bound),
  createTime: read.time,
});

const oneBinding = byUid("getRoleBinding", COLLECTION, readBinding);

const bindings = listing<GetRoleBindingsArgs, GetRoleBindingResult>({
  call: "getRoleBindings",
  collection: COLLECTION,
  rules: {
    ...listRules,
    identityUid: take.sentAs("identity", take.uid),
    groupUid: take.sentAs("group", take.uid),
    roleUid: take.sentAs("role", take.uid),
  },
  read: readBinding,
});

/** Reads one role binding. Throws where there is none. */
export function getRoleBinding(args: GetRoleBindingArgs): Promise<GetRoleBindingResult> {
  return ask(oneBinding, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRoleBindingOutput(
  args: LookupInputs<GetRoleBindingArgs>,
): pulumi.Output<GetRoleBindingResult> {
  return askLater(oneBinding, args);
}

/** Lists the role bindings that match and that the token may see. */
export function getRoleBindings(args: GetRoleBindingsArgs = {}): Promise<GetRoleBindingResult[]> {
  return ask(bindings, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRoleBindingsOutput(
  args: LookupInputs<GetRoleBindingsArgs> = {},
): pulumi.Output<GetRoleBindingResult[]> {
  return askLater(bindings, args);
}
