import { getGroupOutput, getIdentityProviderOutput, getIdentityProvidersOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const directory = getIdentityProviderOutput({ name: "directory", parentUid: acme.uid });
const all = getIdentityProvidersOutput({ childrenOf: acme.uid });

export const isProvisioned = directory.apply(({ scim }) => scim?.enabled ?? false);
export const providerNames = all.apply((providers) => providers.map(({ name }) => name));
