import {
  AccountAssociation,
  ExternalGroupRoleMapping,
  getRole,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
} from "pulumi-platform";

const organisation = new Group("organisation", { name: "acme", description: "Acme's organisation" });
const payments = new Group("payments", { parentUid: organisation.id, name: "payments" });
const viewer = getRole({ name: "viewer", builtIn: true }).then((role) => role.uid);

// --- Accounts ---------------------------------------------------------------------------------
// A group has one association, for all its accounts. A manual change of it shows as drift.
const scanner = new Identity("scanner", {
  parentUid: payments.id,
  name: "scanner",
  servicePrincipal: "SERVICE_PRINCIPAL_TENANT_SCANNER",
});
const accounts = new AccountAssociation("payments-accounts", {
  parentUid: payments.id,
  name: "payments-accounts",
  description: "Where payments runs",
  amazon: { account: "123456789012" },
  google: { projectId: "acme-payments", projectNumber: "987654321098" },
  azure: {
    tenantId: "7b1e9a4c-5f0d-4c3e-9a62-0d6f1c2b3a48",
    clientIds: { pull: "2f6c8b1e-0a4d-4e7b-8c55-9d3e7f1a6b20" },
  },
  chainguard: { serviceBindings: { TENANT_SCANNER: scanner.id } },
  // The id of the app, and of each place where it is installed. The name is for people.
  github: {
    appInstallations: { "104851": { installations: [{ installationId: "51920374", name: "acme" }] } },
  },
  // Up to a minute: the trust that each cloud needs may have been set up by this very program.
  awaitReady: ["amazon", "google", "azure"],
});

// --- People -----------------------------------------------------------------------------------
// The code is a secret, returned only at creation. With an e-mail address, only its owner can use it.
const invite = new GroupInvite("auditor", {
  parentUid: payments.id,
  roleUid: viewer,
  ttl: "72h",
  email: "auditor@example.com",
  singleUse: true,
});

// Everybody else comes by the company's login; what they get is decided by their groups there.
const login = new IdentityProvider("login", {
  parentUid: organisation.id,
  name: "acme-login",
  defaultRole: viewer,
  oidc: {
    issuer: "https://login.example.com",
    clientId: "platform",
    pkceEnabled: true,
    additionalScopes: ["groups"],
    groupsClaim: "groups",
  },
});
new ExternalGroupRoleMapping("administrators", {
  parentUid: login.id,
  externalGroupId: "platform-administrators",
  roleUid: getRole({ name: "owner", builtIn: true }).then((role) => role.uid),
  scope: organisation.id,
});

export const accountsOf = accounts.id;
export const inviteCode = invite.code;
export const inviteEnds = invite.expirationTime;
