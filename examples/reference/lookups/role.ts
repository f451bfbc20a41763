import { getGroupOutput, getRoleOutput, getRolesOutput } from "pulumi-platform";

// A role of the platform itself.
export const viewerUid = getRoleOutput({ name: "viewer", builtIn: true }).uid;

const acme = getGroupOutput({ name: "acme" });
const custom = getRolesOutput({ descendantsOf: acme.uid });
export const customRoles = custom.apply((roles) => roles.map(({ name }) => name));
