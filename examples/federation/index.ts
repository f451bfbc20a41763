import * as pulumi from "@pulumi/pulumi";
import {
  ExternalGroupRoleMapping,
  getRole,
  Group,
  GroupInvite,
  IdentityProvider,
  ScimToken,
  TermsAcceptance,
} from "pulumi-platform";

const config = new pulumi.Config();

const organisation = new Group("organisation", {
  name: "acme",
  description: "Acme's organisation",
});

// Read the documents first. An acceptance cannot be withdrawn.
const terms = new TermsAcceptance("terms", {
  parentUid: organisation.id,
  documentIds: ["guardener-tos.v1"],
});

const viewer = getRole({ name: "viewer", builtIn: true }).then((role) => role.uid);
const owner = getRole({ name: "owner", builtIn: true }).then((role) => role.uid);

// People sign in through Acme's directory. With a client secret (pulumi config set --secret oidcClientSecret …)
// PKCE comes on top; without one it stands alone.
const directory = new IdentityProvider(
  "directory",
  {
    parentUid: organisation.id,
    name: "directory",
    description: "Acme's directory",
    defaultRole: viewer,
    oidc: {
      issuer: "https://login.example.com",
      clientId: "platform",
      clientSecret: config.getSecret("oidcClientSecret"),
      additionalScopes: ["email", "groups"],
      groupsClaim: "groups",
      pkceEnabled: true,
    },
  },
  { dependsOn: terms },
);

// Whoever is in the directory's group of platform engineers owns the organisation.
new ExternalGroupRoleMapping("platform-engineers", {
  parentUid: directory.id,
  externalGroupId: "platform-engineers",
  roleUid: owner,
  scope: organisation.id,
});

// The directory provisions people with this token. Another value rotates it; the old token stays valid for one more day.
const provisioning = new ScimToken("provisioning", {
  parentUid: directory.id,
  overlap: "24h",
  rotate: "2027-01",
});

// Somebody who is not in the directory.
const auditor = new GroupInvite(
  "auditor",
  {
    parentUid: organisation.id,
    roleUid: viewer,
    ttl: "168h",
    email: "auditor@example.com",
    singleUse: true,
  },
  { dependsOn: terms },
);

export const scimEndpoint = provisioning.endpointUrl;
export const scimToken = provisioning.token;
export const auditorCode = auditor.code;
