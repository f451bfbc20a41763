import { RoleBinding } from "../kinds/roleBinding";
import type { GetRoleBindingResult } from "../kinds/roleBinding";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByUidArgs, ListArgs } from "./lookup";

/** Selects one role binding. */
export type GetRoleBindingArgs = ByUidArgs;

/** Which role bindings to list. All by default. Their lists know no names. */
export interface GetRoleBindingsArgs extends ListArgs {
  /** Only bindings of the identity with this uid. */
  identityUid?: string;
  /** Only what is granted on the group with this uid. */
  groupUid?: string;
  /** Only grants of the role with this uid. */
  roleUid?: string;
}

const { one, list } = defineLookups<GetRoleBindingArgs, GetRoleBindingsArgs, GetRoleBindingResult>(
  RoleBinding,
  {
    calls: ["getRoleBinding", "getRoleBindings"],
    filters: {
      identityUid: validate.sentAs("identity", validate.uid),
      groupUid: validate.sentAs("group", validate.uid),
      roleUid: validate.sentAs("role", validate.uid),
    },
  },
);

/** Reads one role binding. Throws where there is none. */
export const getRoleBinding = invoke(one);

/** Returns what `getRoleBinding` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleBindingOutput = invokeOutput(one);

/** Lists the role bindings that match and that the token may see. */
export const getRoleBindings = invokeWithOptionalArgs(list);

/** Returns what `getRoleBindings` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleBindingsOutput = invokeWithOptionalArgsOutput(list);
