// @ts-check

/** @typedef {import("./builder.cjs").OrganisationBuilder} OrganisationBuilder */
/** @typedef {(builder: OrganisationBuilder, n: number) => Record<string, unknown> | undefined} Maker */

const DAY_MS = 86_400_000;
const CAPABILITIES = [
  "CAP_REPO_LIST",
  "CAP_REPO_UPDATE",
  "CAP_TAG_LIST",
  "CAP_TAG_CREATE",
  "CAP_IAM_GROUPS_LIST",
];

/** Who may act as an identity: one form after the other where they vary. @param {OrganisationBuilder} builder @param {number} n */
function relationshipOf(builder, n) {
  const forms = [claimMatchOf, claimPatternsOf, staticKeysOf, awsIdentityOf];
  return ((builder.isVaried && forms[n % forms.length]) || claimMatchOf)(builder, n);
}

/** @param {OrganisationBuilder} builder @param {number} n */
function claimMatchOf(builder, n) {
  const claimMatch = {
    issuer: "https://token.actions.example.com",
    subject: `repo:acme/r${n}:ref:refs/heads/main`,
    ...(builder.isChosen() ? { audience: builder.pickOne(["token.actions.example.com", "api"]) } : {}),
    ...(builder.isChosen() ? { claims: { repository_owner: "acme", "odd key": builder.pickOddText() } } : {}),
  };
  return { claimMatch };
}

const claimPatternsOf = () => ({
  claimMatch: {
    issuerPattern: "^https://[a-z]+\\.example\\.com$",
    subjectPattern: "^repo:acme/.+$",
    claimPatterns: { ref: "^refs/heads/.+$" },
  },
});

/** @param {OrganisationBuilder} builder */
const staticKeysOf = (builder) => ({
  company: "Acme & Sons",
  staticKeys: {
    issuer: "https://kubernetes.default.svc",
    subject: "system:serviceaccount:ci:deployer",
    issuerKeys: '{"keys":[{"kty":"RSA","kid":"a","use":"sig","n":"AQAB","e":"AQAB"}]}',
    expirationTime: new Date(builder.now + (builder.randomBelow(360) - 15) * DAY_MS).toISOString(),
    ...(builder.isChosen() ? { audiences: ["api"] } : {}),
  },
});

/** @param {OrganisationBuilder} builder */
const awsIdentityOf = (builder) => ({
  awsIdentity: {
    awsAccount: "123456789012",
    ...(builder.isChosen()
      ? { arn: "arn:aws:sts::123456789012:assumed-role/deploy/session" }
      : { arnPattern: "^arn:aws:sts::123456789012:assumed-role/deploy/.+$" }),
    ...(builder.isChosen() ? { userIdPattern: "^AROA[A-Z0-9]+:.+$" } : { userId: "AROAEXAMPLE:session" }),
  },
});

/** What a repository has besides a name: one that follows another takes the rest from it. @param {OrganisationBuilder} builder @param {number} n */
function repoContentOf(builder, n) {
  if (!builder.isVaried) return { bundles: ["base"] };
  if (n % 4 === 3) {
    const syncConfig = { source: "f".repeat(40), google: "gcr.example.com", uniqueTags: true };
    return { syncConfig, catalogTier: "CATALOG_TIER_BASE", bundles: ["base"], activeTags: ["latest"] };
  }
  const customOverlay = {
    contents: { packages: ["curl", "jq"] },
    environment: { LANG: "C.UTF-8", "odd-key": builder.pickOddText() },
    accounts: { runAs: "65532", users: [{ username: "app", uid: 65532, gid: 65532 }] },
  };
  return {
    ...(builder.isChosen() ? { catalogTier: "CATALOG_TIER_AI", aliases: ["acme/repo:latest"] } : {}),
    ...(builder.isChosen() ? { customOverlay } : {}),
  };
}

/** @param {OrganisationBuilder} builder @param {number} n */
function accountsOf(builder, n) {
  const amazon = { account: String(100_000_000_000 + n) };
  if (!builder.isVaried) return { amazon };
  if (n % 2 === 0) {
    const clientIds = { pull: "client-1" };
    return {
      amazon,
      google: { projectId: "acme-production", projectNumber: "987654321098" },
      azure: { tenantId: "7b1e9a4c-0000-4000-8000-000000000001", clientIds },
    };
  }
  const installations = [{ installationId: "2", name: "acme" }];
  return {
    chainguard: { serviceBindings: { INGESTER: builder.pickReference("Identity") } },
    github: { appInstallations: { 12345: { installations } } },
  };
}

/** @param {OrganisationBuilder} builder @param {number} n */
function oidcOf(builder, n) {
  const login = { issuer: "https://login.example.com", clientId: `client-${n}` };
  if (!builder.isVaried) return { ...login, pkceEnabled: true };
  return {
    ...login,
    ...(builder.isChosen() ? { pkceEnabled: true } : { clientSecret: "the secret" }),
    correlationRule: `CORRELATION_RULE_${builder.pickOne(["SUB", "OID"])}_EQUALS_EXTERNAL_ID`,
    additionalScopes: builder.isChosen() ? ["email", "groups"] : [],
    groupsClaim: "groups",
  };
}

/** Kinds that need more than their description says, in an order in which each finds what it refers to. @type {Readonly<Record<string, Maker>>} */
const makers = {
  Group: (builder, n) => ({
    parentUid: builder.parentOfGroup(`\${Group-${n}}`),
    ...builder.createTexts("Group"),
  }),
  Identity: (builder, n) => ({
    parentUid: builder.pickReference("Group"),
    ...builder.createTexts("Identity"),
    ...relationshipOf(builder, n),
  }),
  Role: (builder, n) => ({
    parentUid: builder.pickReference("Group"),
    ...builder.createTexts("Role"),
    capabilities: CAPABILITIES.filter(
      (_, index) => index === n % CAPABILITIES.length || builder.random() < 0.4,
    ),
  }),
  RoleBinding: (builder) => builder.newGrant(),
  Repo: (builder, n) => ({
    parentUid: builder.pickReference("Group"),
    ...builder.createTexts("Repo"),
    ...repoContentOf(builder, n),
  }),
  RepoReadme: (builder, n) => {
    const parentUid = builder.findNextWithout("RepoReadme", "Repo");
    return parentUid === undefined ? undefined : { parentUid, content: `# Number ${n}\n` };
  },
  Tag: (builder, n) => ({
    parentUid: builder.pickReference("Repo"),
    name: `v${n}`,
    digest: `sha256:${Array.from({ length: 64 }, () => builder.randomBelow(16).toString(16)).join("")}`,
  }),
  IdentityProvider: (builder, n) => ({
    parentUid: "${org}",
    ...builder.createTexts("IdentityProvider"),
    defaultRole: builder.pickReference("Role"),
    oidc: oidcOf(builder, n),
  }),
  ScimToken: (builder) => {
    const parentUid = builder.findNextWithout("ScimToken", "IdentityProvider");
    return parentUid === undefined ? undefined : { parentUid, neverExpires: true };
  },
  ExternalGroupRoleMapping: (builder, n) => ({
    parentUid: builder.pickReference("IdentityProvider"),
    externalGroupId: `group ${n}`,
    roleUid: builder.pickReference("Role"),
    scope: "${org}",
  }),
  AccountAssociation: (builder, n) => {
    const parentUid = builder.findNextWithout("AccountAssociation", "Group");
    if (parentUid === undefined) return undefined;
    return { parentUid, ...builder.createTexts("AccountAssociation"), ...accountsOf(builder, n) };
  },
  GroupInvite: (builder, n) => ({
    parentUid: builder.pickReference("Group"),
    roleUid: builder.pickReference("Role"),
    ttl: "24h",
    email: `somebody-${n}@example.com`,
  }),
  TermsAcceptance: (builder) => {
    const parentUid = builder.findNextWithout("TermsAcceptance", "Group");
    return parentUid === undefined ? undefined : { parentUid, documentIds: ["guardener-tos.v1"] };
  },
};

module.exports = { makers };
