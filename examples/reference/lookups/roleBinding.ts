import { getGroupOutput, getRoleBindingsOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const bindings = getRoleBindingsOutput({ groupUid: acme.uid });

export const holders = bindings.apply((all) =>
  all.map(({ identity, role }) => `${identity?.name ?? ""} as ${role?.name ?? ""}`),
);
