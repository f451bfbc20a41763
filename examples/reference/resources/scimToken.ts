import { getRoleOutput, Group, IdentityProvider, ScimToken } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const directory = new IdentityProvider("directory", {
  parentUid: acme.id,
  name: "directory",
  defaultRole: getRoleOutput({ name: "viewer", builtIn: true }).uid,
  oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
});

// Another value of `rotate` rotates the token. The old one stays valid for `overlap`.
const provisioning = new ScimToken("provisioning", {
  parentUid: directory.id,
  overlap: "24h",
  rotate: "2027-01",
});

export const scimEndpoint = provisioning.endpointUrl;
export const scimToken = provisioning.token;
