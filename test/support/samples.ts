import type { Declaration, Declarations } from "./engine";

/**
 * Every field of every kind, changed once and cleared once, with what must go over the wire. The
 * expectations are written in wire terms by hand: nothing here is derived from the provider.
 */
export interface FieldCase {
  /** The path in wire terms: what the mask must name. */
  readonly path: string;
  /** The property that the program changes, by its path. */
  readonly property?: string;
  /** The new value: in the program, and on the wire where that differs. */
  readonly to: unknown;
  readonly wire?: unknown;
  /** What clears it on the wire; absent on a field that cannot be cleared. */
  readonly empty?: unknown;
  /** Removed in the program together with the change: the other member of a one-of. */
  readonly without?: string;
  /** An object changed as a whole: sent leaf by leaf. */
  readonly whole?: true;
  /** What the change means for access; neutral if not given. */
  readonly direction?: "widened" | "narrowed";
  /** Nobody sees a change by hand: a secret is in no response, and some flags are not the program's. */
  readonly unseen?: true;
}

/** A change that makes another resource, since the API cannot change the field. */
export interface Replacement {
  readonly property: string;
  readonly to: unknown;
  /** Removed in the program together with the change: the other member of a one-of. */
  readonly without?: string;
  /** What has to change along with it. */
  readonly also?: Readonly<Record<string, unknown>>;
}

/** A request in wire terms; `${own}` in its address stands for the uid of what the sample has for itself. */
export interface WireRequest {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly address: string;
  readonly body?: Record<string, unknown>;
}

/** How a kind is written, where that is not POST below the parent, then PATCH and DELETE of the resource. */
export interface Writing {
  readonly create?: "PATCH";
  /** With a `body` an update sends all of that, whatever changed, and has no mask. */
  readonly update: WireRequest;
  readonly delete?: WireRequest;
}

export interface Sample {
  /** Unique among samples. */
  readonly label: string;
  readonly kind: string;
  readonly args: Record<string, unknown>;
  /** What each copy needs for itself alone; `${own}` in the arguments stands for its id. */
  readonly own?: Declaration;
  readonly writing?: Writing;
  /** Nobody can delete it at the server: it goes with its parent. */
  readonly permanent?: true;
  /** What a second one beside it must have of its own, where the server refuses an equal one. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly fields: readonly FieldCase[];
  /** Updates that are no PATCH of one field: members that take the place of those in `args`. */
  readonly updates?: readonly Readonly<Record<string, unknown>>[];
  /** Besides another parent, which replaces a resource of any kind. */
  readonly replacements?: readonly Replacement[];
}

export const jwks = (kid: string): string =>
  JSON.stringify({ keys: [{ kty: "RSA", kid, use: "sig", n: "sXchpZ0rJg7Yc6cLmHv4", e: "AQAB" }] });

const publicKey = (body: string): string => `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----\n`;

const KEY_A =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDGYu1nKdHUdBv/ApzXe1t/czGJ\ny5cTPjHLs5SHO1dOA2AzrbqHH9Aqm7S6Po0G7iomdnMP/i6fxDuCX8dxjuTbanui\nstXzv+HjmouNRjtDzLfMzFApzyE9nW31eUxKTf/adneAT8UTbXdrqnHifBAh9AuC\n8XL5E3KmfVCbuhiEaQIDAQAB";
const KEY_B =
  "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDFYC6omq9XWah2O/jzwkTWMAUk\nLi5+IWNGqTMmPdR7S3WQpWx8dRi8YoiNCt5Xar0Ts2hpGUh9uAHuf7BmD43ULus+\nAe1dU0oisJ3RWoqkrGECPWKpkgUiEWTVxax0vGTefNVQlQ99bTFHDJfPGmip840u\n3un6xV/Qof2Dy8P0pQIDAQAB";

const certificate = (body: string): string =>
  `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;

export const PUBLIC_KEY = publicKey(KEY_A);
export const CERTIFICATE = certificate("QUFB");

/** A day well inside the 365 that a key may live. */
export const inDays = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;

/** The digest of an image, of four digits repeated. */
const digest = (digits: string): string => `sha256:${digits.repeat(16)}`;

/** A tag's name is the only one of its repository, and so is a readme. */
const repository: Declaration = { kind: "Repo", args: { parentUid: "${org}", name: "own" } };

/** An identity provider has one token, and no two mappings that are equal. */
const withLogin: Declaration = {
  kind: "IdentityProvider",
  args: {
    parentUid: "${org}",
    name: "with login",
    defaultRole: "${reader}",
    oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
  },
};

const named = { parentUid: "${org}", description: "before" };

export const samples: readonly Sample[] = [
  {
    label: "team",
    kind: "Group",
    args: { parentUid: "${org}", name: "team", description: "before" },
    fields: [
      { path: "name", to: "team two" },
      { path: "description", to: "after", empty: "" },
    ],
  },
  {
    label: "root",
    kind: "Group",
    args: { name: "root", kind: "ORG_KIND_CUSTOMER" },
    fields: [
      { path: "kind", to: "ORG_KIND_DEV", empty: "ORG_KIND_UNSPECIFIED" },
      { path: "verified", unseen: true, to: true, empty: false },
    ],
  },
  {
    label: "claims",
    kind: "Identity",
    args: {
      ...named,
      name: "claims",
      company: "acme",
      claimMatch: {
        issuer: "https://issuer.example.com",
        subject: "repo:acme/pay",
        audience: "api",
        claims: { repository_owner: "acme" },
        claimPatterns: { ref: "^refs/heads/.+$" },
      },
    },
    fields: [
      { path: "name", to: "claims-two" },
      { path: "description", to: "after", empty: "" },
      { path: "company", to: "acme two", empty: "" },
      { path: "claimMatch.issuer", direction: "widened", to: "https://other.example.com" },
      { path: "claimMatch.subject", direction: "widened", to: "repo:acme/other" },
      { path: "claimMatch.audience", direction: "widened", to: "other", empty: "" },
      {
        path: "claimMatch.claims",
        direction: "narrowed",
        to: { repository_owner: "acme", event: "push" },
        empty: {},
      },
      { path: "claimMatch.claimPatterns", direction: "widened", to: { ref: "^refs/tags/v.+$" }, empty: {} },
      {
        path: "claimMatch.issuerPattern",
        to: "^https://issuer\\.example\\.com$",
        without: "claimMatch.issuer",
      },
      {
        path: "claimMatch.subjectPattern",
        direction: "widened",
        to: "^repo:acme/.+$",
        without: "claimMatch.subject",
      },
      { path: "claimMatch.audiencePattern", to: "^api$", empty: "", without: "claimMatch.audience" },
    ],
    replacements: [{ property: "servicePrincipal", to: "SERVICE_PRINCIPAL_SKILLS", without: "claimMatch" }],
  },
  {
    label: "keys",
    kind: "Identity",
    args: {
      ...named,
      name: "keys",
      staticKeys: {
        issuer: "https://kubernetes.default.svc",
        subject: "system:serviceaccount:ci:deployer",
        issuerKeys: jwks("one"),
        expirationTime: inDays(100),
        audiences: ["api"],
      },
    },
    fields: [
      { path: "staticKeys.issuer", direction: "widened", to: "https://kubernetes.other.svc" },
      { path: "staticKeys.subject", direction: "widened", to: "system:serviceaccount:ci:other" },
      { path: "staticKeys.issuerKeys", direction: "widened", to: jwks("two") },
      { path: "staticKeys.expirationTime", direction: "narrowed", to: inDays(50), empty: null },
      { path: "staticKeys.audiences", direction: "widened", to: ["other"], empty: [] },
    ],
    replacements: [
      {
        property: "awsIdentity",
        to: {
          awsAccount: "123456789012",
          arnPattern: "^arn:aws:iam::123456789012:role/a$",
          userIdPattern: "^AROA[A-Z0-9]+$",
        },
        without: "staticKeys",
      },
    ],
  },
  {
    label: "aws",
    kind: "Identity",
    args: {
      ...named,
      name: "aws",
      awsIdentity: {
        awsAccount: "123456789012",
        arn: "arn:aws:sts::123456789012:assumed-role/deploy/session",
        userIdPattern: "^AROA[A-Z0-9]+:.+$",
      },
    },
    fields: [
      { path: "awsIdentity.awsAccount", direction: "widened", to: "210987654321" },
      {
        path: "awsIdentity.arn",
        direction: "widened",
        to: "arn:aws:sts::123456789012:assumed-role/other/session",
      },
      { path: "awsIdentity.userIdPattern", direction: "widened", to: "^AIDA[A-Z0-9]+$" },
      {
        path: "awsIdentity.arnPattern",
        direction: "widened",
        to: "^arn:aws:sts::123456789012:assumed-role/deploy/.+$",
        without: "awsIdentity.arn",
      },
      {
        path: "awsIdentity.userId",
        direction: "narrowed",
        to: "AROAEXAMPLE:session",
        without: "awsIdentity.userIdPattern",
      },
    ],
    replacements: [
      {
        property: "claimMatch",
        to: { issuer: "https://issuer.example.com", subject: "s" },
        without: "awsIdentity",
      },
    ],
  },
  {
    label: "service",
    kind: "Identity",
    args: { ...named, name: "service", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
    fields: [{ path: "servicePrincipal", direction: "widened", to: "SERVICE_PRINCIPAL_COSIGNED" }],
    replacements: [
      {
        property: "staticKeys",
        to: {
          issuer: "https://kubernetes.default.svc",
          subject: "system:serviceaccount:ci:deployer",
          issuerKeys: jwks("one"),
        },
        without: "servicePrincipal",
      },
    ],
  },
  {
    label: "role",
    kind: "Role",
    args: { ...named, name: "role", capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] },
    fields: [
      { path: "name", to: "role two" },
      { path: "description", to: "after", empty: "" },
      { path: "capabilities", direction: "widened", to: ["CAP_REPO_LIST", "CAP_REPO_UPDATE"] },
    ],
  },
  {
    label: "binding",
    kind: "RoleBinding",
    args: { parentUid: "${org}", identityUid: "${someone}", roleUid: "${reader}" },
    fields: [
      { path: "identityUid", direction: "widened", to: "${other}" },
      { path: "roleUid", direction: "widened", to: "${writer}" },
    ],
  },
  {
    label: "access",
    kind: "GroupAccess",
    own: { kind: "Group", args: { parentUid: "${org}", name: "with access" } },
    args: {
      parentUid: "${own}",
      bindings: {
        "someone reads": { identityUid: "${someone}", roleUid: "${reader}" },
        "other writes": { identityUid: "${other}", roleUid: "${writer}" },
      },
      ignore: { namePatterns: ["break-glass as .+"] },
    },
    permanent: true,
    fields: [],
    updates: [
      { bindings: {}, ignore: undefined },
      { allowSelfRemoval: true, ignore: { identityUids: ["${other}"], roleUids: ["${writer}"] } },
    ],
  },
  {
    label: "repo",
    kind: "Repo",
    args: {
      ...named,
      name: "repo",
      catalogTier: "CATALOG_TIER_BASE",
      bundles: ["base"],
      aliases: ["acme/repo:latest"],
      activeTags: ["latest"],
      customOverlay: {
        contents: {
          packages: ["curl"],
          runtimeRepositories: ["https://packages.example.com/one"],
          runtimeKeyring: [{ name: "one.rsa.pub", content: PUBLIC_KEY }],
        },
        environment: { A: "1" },
        annotations: { "com.example.a": "1" },
        accounts: {
          runAs: "65532",
          users: [
            { username: "app", uid: 65532, gid: 65532, groupName: "app", shell: "/bin/sh", homeDir: "/app" },
          ],
          groups: [{ groupname: "app", gid: 65532, members: ["app"] }],
        },
        certificates: {
          additional: [{ name: "one", content: CERTIFICATE }],
          providers: ["corporate"],
        },
      },
    },
    fields: [
      { path: "name", to: "repo two" },
      { path: "description", to: "after", empty: "" },
      { path: "catalogTier", to: "CATALOG_TIER_AI", empty: "CATALOG_TIER_UNSPECIFIED" },
      { path: "bundles", to: ["base", "fips"], empty: [] },
      { path: "aliases", to: ["acme/repo:stable"], empty: [] },
      { path: "activeTags", to: ["latest", "stable"], empty: [] },
      { path: "customOverlay.contents.packages", to: ["curl", "jq"], empty: [] },
      {
        path: "customOverlay.contents.runtimeRepositories",
        direction: "widened",
        to: ["https://packages.example.com/two"],
        empty: [],
      },
      {
        path: "customOverlay.contents.runtimeKeyring",
        direction: "widened",
        to: [{ name: "two.rsa.pub", content: publicKey(KEY_B) }],
        empty: [],
      },
      { path: "customOverlay.environment", to: { A: "1", B: "2" }, empty: {} },
      { path: "customOverlay.annotations", to: { "com.example.a": "2" }, empty: {} },
      { path: "customOverlay.accounts.runAs", to: "0", empty: "" },
      { path: "customOverlay.accounts.users", to: [{ username: "two", uid: 2 }], empty: [] },
      {
        path: "customOverlay.accounts.groups",
        to: [{ groupname: "two", gid: 2, members: ["app", "two"] }],
        empty: [],
      },
      {
        path: "customOverlay.certificates.additional",
        direction: "widened",
        to: [{ name: "two", content: certificate("QkJC") }],
        empty: [],
      },
      {
        path: "customOverlay.certificates.providers",
        direction: "widened",
        to: ["corporate", "partner"],
        empty: [],
      },
      // A whole object goes as one path.
      { path: "customOverlay.accounts", to: { runAs: "7" }, empty: null, whole: true },
      {
        path: "customOverlay.contents",
        direction: "narrowed",
        to: { packages: ["jq"] },
        empty: null,
        whole: true,
      },
      {
        path: "customOverlay.certificates",
        direction: "widened",
        to: { providers: ["partner"] },
        empty: null,
        whole: true,
      },
      {
        path: "customOverlay",
        direction: "narrowed",
        to: { environment: { ONLY: "1" } },
        empty: null,
        whole: true,
      },
    ],
  },
  {
    label: "synced",
    kind: "Repo",
    args: {
      parentUid: "${org}",
      name: "synced",
      syncConfig: { source: "nginx", google: "g", amazon: "a", azure: "z" },
    },
    fields: [
      { path: "sync_config.source", direction: "widened", property: "syncConfig.source", to: "redis" },
      {
        path: "sync_config.google",
        direction: "widened",
        property: "syncConfig.google",
        to: "g2",
        empty: "",
      },
      {
        path: "sync_config.amazon",
        direction: "widened",
        property: "syncConfig.amazon",
        to: "a2",
        empty: "",
      },
      { path: "sync_config.azure", direction: "widened", property: "syncConfig.azure", to: "z2", empty: "" },
      {
        path: "sync_config",
        direction: "widened",
        property: "syncConfig",
        to: { source: "redis" },
        empty: null,
        whole: true,
      },
    ],
  },
  {
    label: "tag",
    kind: "Tag",
    own: repository,
    args: {
      parentUid: "${own}",
      name: "1.27",
      digest: digest("6b3f"),
      bundles: ["base", "fips"],
    },
    writing: {
      update: {
        method: "POST",
        address: "/registry/v2/tags/${own}",
        body: { name: "1.27", digest: digest("6b3f"), deprecated: false, bundles: ["base", "fips"] },
      },
    },
    fields: [
      { path: "digest", to: digest("0a1b") },
      { path: "deprecated", to: true, empty: false },
      { path: "bundles", to: ["ai"], empty: [] },
    ],
    replacements: [{ property: "name", to: "1.28" }],
  },
  {
    label: "readme",
    kind: "RepoReadme",
    own: repository,
    args: { parentUid: "${own}", content: "# One\n\n- [x] <b>done</b>\n" },
    writing: {
      create: "PATCH",
      update: { method: "PATCH", address: "/registry/v2/repos/${own}/readme" },
      delete: { method: "PATCH", address: "/registry/v2/repos/${own}/readme", body: { content: "" } },
    },
    fields: [{ path: "content", to: "# Two\n" }],
  },
  {
    label: "subscription",
    kind: "Subscription",
    args: { parentUid: "${org}", sink: "https://sink.example.com/one" },
    fields: [],
    replacements: [{ property: "sink", to: "https://sink.example.com/two" }],
  },
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
      { path: "amazon.account", direction: "widened", to: "210987654321" },
      { path: "google.projectId", direction: "widened", to: "acme-staging" },
      { path: "google.projectNumber", direction: "widened", to: "123" },
      { path: "azure.tenantId", direction: "widened", to: "7b1e9a4c-0000-4000-8000-000000000002" },
      { path: "azure.clientIds", direction: "widened", to: { pull: "client-1", push: "client-2" } },
      {
        path: "chainguard.serviceBindings",
        direction: "widened",
        to: { SKILLS: `${"cd".repeat(20)}/0123456789abcdef` },
      },
      {
        path: "github.appInstallations",
        direction: "widened",
        to: { "678": { installations: [{ installationId: "3", name: "other" }] } },
      },
      { path: "amazon", direction: "widened", to: { account: "3" }, empty: null, whole: true },
      {
        path: "google",
        direction: "widened",
        to: { projectId: "other", projectNumber: "4" },
        empty: null,
        whole: true,
      },
      {
        path: "azure",
        direction: "widened",
        to: { tenantId: "t", clientIds: { a: "b" } },
        empty: null,
        whole: true,
      },
      {
        path: "chainguard",
        direction: "widened",
        to: { serviceBindings: { SKILLS: "ef".repeat(20) } },
        empty: null,
        whole: true,
      },
      {
        path: "github",
        direction: "widened",
        to: { appInstallations: { "9": { installations: [{ installationId: "9" }] } } },
        empty: null,
        whole: true,
      },
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
      { path: "defaultRole", direction: "widened", to: "${writer}" },
      { path: "oidc.issuer", direction: "widened", to: "https://other.example.com" },
      { path: "oidc.clientId", direction: "widened", to: "other" },
      { path: "oidc.clientSecret", unseen: true, to: "after", empty: "" },
      { path: "oidc.additionalScopes", direction: "narrowed", to: ["email"], empty: [] },
      { path: "oidc.groupsClaim", direction: "widened", to: "teams", empty: "" },
      { path: "oidc.pkceEnabled", direction: "widened", to: false },
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

/** What samples refer to. */
export const surroundings: Record<string, Declaration> = {
  org: { kind: "Group", args: { name: "org" } },
  reader: {
    kind: "Role",
    args: { parentUid: "${org}", name: "reader", capabilities: ["CAP_REPO_LIST"] },
  },
  abroad: { kind: "Group", args: { name: "abroad" } },
  abroadLogin: {
    kind: "IdentityProvider",
    args: {
      parentUid: "${abroad}",
      name: "login",
      defaultRole: "${reader}",
      oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
    },
  },
  writer: {
    kind: "Role",
    args: { parentUid: "${org}", name: "writer", capabilities: ["CAP_REPO_UPDATE"] },
  },
  someone: {
    kind: "Identity",
    args: {
      parentUid: "${org}",
      name: "someone",
      claimMatch: { issuer: "https://issuer.example.com", subject: "someone" },
    },
  },
  other: {
    kind: "Identity",
    args: {
      parentUid: "${org}",
      name: "other",
      claimMatch: { issuer: "https://issuer.example.com", subject: "other" },
    },
  },
};

/** The name of what a copy of a sample has for itself alone. */
export const ownOf = (name: string): string => `${name}-own`;

/** A copy of a sample, with what it has for itself alone. */
export function declared(
  name: string,
  { kind, own }: Sample,
  args: Record<string, unknown>,
  ownName = ownOf(name),
): Declarations {
  const text = JSON.stringify(args).replaceAll("${own}", `\${${ownName}}`);
  return {
    ...(own ? { [ownName]: own } : {}),
    [name]: { kind, args: JSON.parse(text) as Record<string, unknown> },
  };
}

/** A path as in `claimMatch.issuer`, or its steps where a label may hold a point. */
type Path = string | readonly string[];

const stepsOf = (path: Path): string[] => (typeof path === "string" ? path.split(".") : [...path]);

/** A copy of `args` with the member at a path set, or taken out. */
export function withMember(
  args: Record<string, unknown>,
  path: Path,
  value: unknown,
): Record<string, unknown> {
  const copy = structuredClone(args);
  const steps = stepsOf(path);
  const last = steps.pop() ?? "";
  let target = copy;
  for (const step of steps) target = (target[step] ??= {}) as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(target, last);
  else target[last] = value;
  return copy;
}

/** The property that a case changes. */
export const propertyPathOf = ({ path, property = path }: FieldCase): string => property;

/** A copy of `args` with a field changed as a sample says. */
export function changeField(args: Record<string, unknown>, field: FieldCase): Record<string, unknown> {
  const changed = withMember(args, propertyPathOf(field), field.to);
  return field.without === undefined ? changed : withMember(changed, field.without, undefined);
}

/** The member at a path. */
export function memberAt(value: unknown, path: Path): unknown {
  return stepsOf(path).reduce<unknown>(
    (inner, step) =>
      inner !== null && typeof inner === "object" ? (inner as Record<string, unknown>)[step] : undefined,
    value,
  );
}

/** `{a: {b: value}}` for `a.b`. */
export function nested(path: string, value: unknown): unknown {
  return path
    .split(".")
    .reverse()
    .reduce<unknown>((inner, step) => ({ [step]: inner }), value);
}
