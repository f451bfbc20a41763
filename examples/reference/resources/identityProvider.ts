import * as pulumi from "@pulumi/pulumi";
import { getRoleOutput, Group, IdentityProvider } from "pulumi-platform";

const config = new pulumi.Config();
const acme = new Group("acme", { name: "acme" });

new IdentityProvider("directory", {
  parentUid: acme.id,
  name: "directory",
  defaultRole: getRoleOutput({ name: "viewer", builtIn: true }).uid,
  oidc: {
    issuer: "https://login.example.com",
    clientId: "platform",
    // pulumi config set --secret oidcClientSecret
    clientSecret: config.requireSecret("oidcClientSecret"),
    groupsClaim: "groups",
    pkceEnabled: true,
  },
});
