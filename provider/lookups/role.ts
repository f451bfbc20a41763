import { Role } from "../kinds/role";
import type { GetRoleResult } from "../kinds/role";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one role: by `uid`, or by `name`. */
export interface GetRoleArgs extends ByNameArgs {
  /** True: only a built-in role. False: only custom ones. */
  builtIn?: boolean;
}

/** Which roles to list. All by default: built-in and custom ones mixed. */
export interface GetRolesArgs extends NamedListArgs {
  /** True: only built-in roles. False: only custom ones. Picked out of the list by this package, not by the server. */
  builtIn?: boolean;
}

const { one, list } = defineLookups<GetRoleArgs, GetRolesArgs, GetRoleResult>(Role, {
  calls: ["getRole", "getRoles"],
  selects: { builtIn: validate.flag },
  filters: { builtIn: validate.flag },
  byName: { root: ({ builtIn }) => builtIn },
  keep: ({ builtIn }) => (builtIn === undefined ? undefined : (role) => role.builtIn === builtIn),
});

/**
 * Finds exactly one role. Role lists mix custom roles with built-in ones: give `builtIn: true` for a built-in role.
 * Throws where there is none, and where there are several, with their uids and parents.
 */
export const getRole = invoke(one);

/** Returns what `getRole` returns, as an output. Its arguments can be outputs of other resources. */
export const getRoleOutput = invokeOutput(one);

/** Lists the roles that match and that the token may see. */
export const getRoles = invokeWithOptionalArgs(list);

/** Returns what `getRoles` returns, as an output. Its arguments can be outputs of other resources. */
export const getRolesOutput = invokeWithOptionalArgsOutput(list);
