import { narrowed, whole, widened } from "./sample";
import type { Sample } from "./sample";
import { inDays, withLogin } from "./values";

export const accounts: readonly Sample[] = [
  {
    label: "accounts",
    kind: "AccountAssociation",
    beside: { parentUid: "${team}" },
    own: { kind: "Group", args: { parentUid: "${org}", name: "with accounts" } },
    args: {
      parentUid: "${own}",
      name: "accounts",
      description: "before",
      amazon: { account: "123456789012" },
      google: { projectId: "acme-production", projectNumber: "987654321098" },
      azure: { tenantId: "7b1e9a4c-0000-4000-8000-000000000001", clientIds: { pull: "client-1" } },
      chainguard: { serviceBindings: { INGESTER: `${"ab".repeat(20)}/0123456789abcdef` } },
      github: {
        appInstallations: {
          "12345": {
            installations: [{ installationId: "9007199254740993", name: "acme" }, { installationId: "2" }],
          },
        },
      },
    },
    fields: [
      { path: "name", to: "accounts two" },
      { path: "description", to: "after", empty: "" },
      widened("amazon.account", "210987654321"),
      widened("google.projectId", "acme-staging"),
      widened("google.projectNumber", "123"),
      widened("azure.tenantId", "7b1e9a4c-0000-4000-8000-000000000002"),
      widened("azure.clientIds", { pull: "client-1", push: "client-2" }),
      widened("chainguard.serviceBindings", { SKILLS: `${"cd".repeat(20)}/0123456789abcdef` }),
      widened("github.appInstallations", {
        "678": { installations: [{ installationId: "3", name: "other" }] },
      }),
      whole("amazon", { account: "3" }),
      whole("google", { projectId: "other", projectNumber: "4" }),
      whole("azure", { tenantId: "t", clientIds: { a: "b" } }),
      whole("chainguard", { serviceBindings: { SKILLS: "ef".repeat(20) } }),
      whole("github", { appInstallations: { "9": { installations: [{ installationId: "9" }] } } }),
    ],
    updates: [{ awaitReady: ["amazon"] }],
  },
  {
    label: "provider",
    kind: "IdentityProvider",
    own: { kind: "Group", args: { name: "with provider" } },
    args: {
      parentUid: "${own}",
      name: "provider",
      description: "before",
      defaultRole: "${reader}",
      oidc: {
        issuer: "https://login.example.com",
        clientId: "platform",
        clientSecret: "before",
        additionalScopes: ["email", "groups"],
        groupsClaim: "groups",
        pkceEnabled: true,
      },
    },
    fields: [
      { path: "name", to: "provider two" },
      { path: "description", to: "after", empty: "" },
      widened("defaultRole", "${writer}"),
      widened("oidc.issuer", "https://other.example.com"),
      widened("oidc.clientId", "other"),
      { path: "oidc.clientSecret", unseen: true, to: "after", empty: "" },
      narrowed("oidc.additionalScopes", ["email"], []),
      widened("oidc.groupsClaim", "teams", ""),
      widened("oidc.pkceEnabled", false),
    ],
    updates: [{ scimEnabled: true }],
    replacements: [{ property: "oidc.correlationRule", to: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" }],
  },
  {
    label: "scim",
    kind: "ScimToken",
    own: withLogin,
    args: { parentUid: "${own}", expireTime: inDays(100), overlap: "30m", rotate: "one" },
    writing: {
      update: { method: "POST", address: "/iam/v2/identityProviders/${own}:regenerateScimToken" },
      delete: { method: "POST", address: "/iam/v2/identityProviders/${own}:revokeScimToken", body: {} },
    },
    fields: [],
    updates: [
      { rotate: "two" },
      { expireTime: undefined, neverExpires: true },
      { overlap: "0s", rotate: "three" },
      { overlap: undefined, rotate: undefined },
    ],
  },
  {
    label: "terms",
    kind: "TermsAcceptance",
    own: { kind: "Group", args: { parentUid: "${org}", name: "with terms" } },
    args: { parentUid: "${own}", documentIds: ["guardener-tos.v1"] },
    permanent: true,
    fields: [],
  },
  {
    label: "invite",
    kind: "GroupInvite",
    args: {
      parentUid: "${org}",
      roleUid: "${reader}",
      ttl: "24h",
      email: "ada@example.com",
      singleUse: true,
    },
    fields: [],
    replacements: [
      { property: "roleUid", to: "${writer}" },
      { property: "ttl", to: "48h" },
      { property: "email", to: "grace@example.com" },
      { property: "singleUse", to: false },
    ],
  },
  {
    label: "open-invite",
    kind: "GroupInvite",
    args: { parentUid: "${org}", roleUid: "${reader}", ttl: "1h30m" },
    fields: [],
  },
  {
    label: "mapping",
    kind: "ExternalGroupRoleMapping",
    own: withLogin,
    beside: { externalGroupId: "others" },
    args: {
      parentUid: "${own}",
      externalGroupId: "engineers",
      roleUid: "${reader}",
      scope: "${org}",
    },
    fields: [],
    replacements: [
      { property: "externalGroupId", to: "others" },
      { property: "roleUid", to: "${writer}" },
      // The only root that the server takes is the provider's own.
      { property: "scope", to: "${abroad}", also: { parentUid: "${abroadLogin}" } },
    ],
  },
];
