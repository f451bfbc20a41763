import type { Props } from "../fields/values";

/** What a RoleBinding and the GroupAccess of its group have in common. */

export const ROLE_BINDINGS = "/iam/v2/roleBindings";

/** What is the same of both kinds. A group's bindings are owned one by one, or all by a GroupAccess. */
export function bindingKind({ ownsAll }: { readonly ownsAll: boolean }) {
  return {
    collection: ROLE_BINDINGS,
    grantsAccess: "always",
    owns: {
      kind: "RoleBinding",
      children: "role bindings",
      all: ownsAll,
      advice: "keep one GroupAccess for a group, and move the bindings of others into its bindings",
    },
  } as const;
}

/** The key of a grant, declared by a RoleBinding (`one`) or by the GroupAccess of its group (`all`). */
export function declaredGrantKey(owner: "one" | "all", { parentUid, identityUid, roleUid }: Props): string {
  return JSON.stringify(["grant", owner, parentUid, identityUid, roleUid]);
}
