import {
  getExternalGroupRoleMappingsOutput,
  getGroupOutput,
  getIdentityProviderOutput,
} from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const directory = getIdentityProviderOutput({ name: "directory", parentUid: acme.uid });
const mappings = getExternalGroupRoleMappingsOutput({ identityProviderUid: directory.uid });

export const mappedGroups = mappings.apply((all) => all.map(({ externalGroupId }) => externalGroupId));
