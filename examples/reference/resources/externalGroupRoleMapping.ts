import { ExternalGroupRoleMapping, getRoleOutput, Group, IdentityProvider } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const viewer = getRoleOutput({ name: "viewer", builtIn: true }).uid;
const directory = new IdentityProvider("directory", {
  parentUid: acme.id,
  name: "directory",
  defaultRole: viewer,
  oidc: {
    issuer: "https://login.example.com",
    clientId: "platform",
    groupsClaim: "groups",
    pkceEnabled: true,
  },
});

// Members of the directory's group "engineers" hold the role "editor".
new ExternalGroupRoleMapping("engineers", {
  parentUid: directory.id,
  externalGroupId: "engineers",
  roleUid: getRoleOutput({ name: "editor", builtIn: true }).uid,
  scope: acme.id,
});
