import { kinds } from "../../../provider/resources";
import type { FieldSpec, Json, Props, ResourceSpec } from "../../../provider/engine/spec";
import { memberAt, withMember } from "../../support/samples";

export const ROOT_UID = "19d3a64f20c64ba3ccf1bc86ce59d03e705959ad";
export const GROUP_UID = `${ROOT_UID}/efb53f2857d567f2`;
export const CHILD_UID = `${GROUP_UID}/0d1e2f3a4b5c6d7e`;
export const IDENTITY_UID = `${GROUP_UID}/1111111111111111`;
export const REPO_UID = `${GROUP_UID}/3333333333333333`;
export const DIGEST = `sha256:${"6b3f".repeat(16)}`;
export const OTHER_IDENTITY_UID = `${GROUP_UID}/2222222222222222`;
export const ROLE_UID = "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3";
export const PROVIDER_UID = `${ROOT_UID}/3333333333333333`;

export const specs: readonly ResourceSpec[] = kinds.map(({ spec }) => spec);

export function specOf(kind: string): ResourceSpec {
  const spec = specs.find((one) => one.kind === kind);
  if (!spec) throw new Error(`no kind ${kind}`);
  return spec;
}

export const JWKS = '{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}';
export const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
export const PUBLIC_KEY = [
  "-----BEGIN PUBLIC KEY-----",
  "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBANTA15rSukTzz/8sMlEA2rcZWbjZXk6Z",
  "P4a6K2YFQAlteNf5vj4zOs2K2imFmsSUCGGqOKpayzkX/hg5P1/lHwUCAwEAAQ==",
  "-----END PUBLIC KEY-----",
  "",
].join("\n");

/** Legal inputs with every field set that can stand beside the others, by kind and a word for the choice made. */
export const samples: readonly { readonly kind: string; readonly choice: string; readonly inputs: Props }[] =
  [
    {
      kind: "Group",
      choice: "a root",
      inputs: { name: "acme", description: "An organisation", kind: "ORG_KIND_CUSTOMER", verified: true },
    },
    {
      kind: "Group",
      choice: "a child",
      inputs: { parentUid: ROOT_UID, name: "team", description: "A team" },
    },
    {
      kind: "Identity",
      choice: "exact claims",
      inputs: {
        parentUid: GROUP_UID,
        name: "ci",
        description: "Continuous integration",
        company: "Acme",
        claimMatch: {
          issuer: "https://token.example.com",
          subject: "repo:acme/app:ref:refs/heads/main",
          audience: "acme",
          claims: { repository_owner: "acme" },
          claimPatterns: { ref: "^refs/heads/.*$" },
        },
      },
    },
    {
      kind: "Identity",
      choice: "patterns of claims",
      inputs: {
        parentUid: GROUP_UID,
        name: "ci",
        claimMatch: {
          issuerPattern: "^https://[a-z]+\\.example\\.com$",
          subjectPattern: "^repo:acme/.*$",
          audiencePattern: "^acme$",
        },
      },
    },
    {
      kind: "Identity",
      choice: "static keys",
      inputs: {
        parentUid: GROUP_UID,
        name: "cluster",
        description: "A cluster without a public issuer",
        staticKeys: {
          issuer: "https://kubernetes.default.svc",
          subject: "system:serviceaccount:default:app",
          issuerKeys: JWKS,
          expirationTime: "2027-01-01T00:00:00Z",
          audiences: ["acme"],
        },
      },
    },
    {
      kind: "Identity",
      choice: "an AWS principal",
      inputs: {
        parentUid: GROUP_UID,
        name: "lambda",
        awsIdentity: {
          awsAccount: "123456789012",
          arn: "arn:aws:sts::123456789012:assumed-role/app",
          userId: "AROAEXAMPLE:app",
        },
      },
    },
    {
      kind: "Identity",
      choice: "patterns of an AWS principal",
      inputs: {
        parentUid: GROUP_UID,
        name: "lambda",
        awsIdentity: { awsAccount: "123456789012", arnPattern: "^arn:.*$", userIdPattern: "^AROA.*$" },
      },
    },
    {
      kind: "Identity",
      choice: "a service",
      inputs: { parentUid: GROUP_UID, name: "ingester", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
    },
    {
      kind: "Role",
      choice: "a role",
      inputs: {
        parentUid: GROUP_UID,
        name: "puller",
        description: "May pull",
        capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"],
      },
    },
    {
      kind: "RoleBinding",
      choice: "a binding",
      inputs: { parentUid: GROUP_UID, identityUid: IDENTITY_UID, roleUid: ROLE_UID },
    },
    {
      kind: "GroupAccess",
      choice: "the access of a group",
      inputs: {
        parentUid: GROUP_UID,
        bindings: {
          "ci deploys": { identityUid: IDENTITY_UID, roleUid: ROLE_UID },
          other: { identityUid: OTHER_IDENTITY_UID, roleUid: ROLE_UID },
        },
        ignore: {
          identityUids: [IDENTITY_UID],
          roleUids: [ROLE_UID],
          namePatterns: ["break-glass as .+"],
        },
        allowSelfRemoval: true,
      },
    },
    {
      kind: "Repo",
      choice: "a repository of its own",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        description: "A web server",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base", "fips"],
        aliases: ["web:latest", "web/nginx:1"],
        activeTags: ["latest", "1.27"],
        customOverlay: {
          contents: {
            packages: ["curl", "bash"],
            runtimeRepositories: ["https://packages.example.com"],
            runtimeKeyring: [{ name: "acme.rsa.pub", content: PUBLIC_KEY }],
          },
          environment: { LANG: "C.UTF-8" },
          annotations: { "com.example.team": "web" },
          accounts: {
            runAs: "web",
            users: [
              {
                username: "web",
                uid: 1000,
                gid: 1000,
                groupName: "web",
                shell: "/bin/sh",
                homeDir: "/home/web",
              },
            ],
            groups: [{ groupname: "web", gid: 1000, members: ["web"] }],
          },
          certificates: {
            additional: [{ name: "acme", content: CERTIFICATE }],
            providers: ["mozilla"],
          },
        },
      },
    },
    {
      kind: "Repo",
      choice: "a synced repository",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        description: "A web server",
        syncConfig: {
          source: "nginx",
          google: "gcr.example.com",
          amazon: "ecr.example.com",
          azure: "acr.example.com",
        },
      },
    },
    {
      kind: "RepoReadme",
      choice: "a readme",
      inputs: { parentUid: REPO_UID, content: "# nginx\n\nA web server.\n" },
    },
    {
      kind: "Tag",
      choice: "a tag",
      inputs: {
        parentUid: REPO_UID,
        name: "1.27",
        digest: DIGEST,
        deprecated: true,
        bundles: ["base", "fips"],
      },
    },
    {
      kind: "Subscription",
      choice: "a subscription",
      inputs: { parentUid: GROUP_UID, sink: "https://events.example.com/hook" },
    },
    {
      kind: "IdentityProvider",
      choice: "a provider with everything",
      inputs: {
        parentUid: ROOT_UID,
        name: "directory",
        description: "Where people sign in",
        defaultRole: ROLE_UID,
        oidc: {
          issuer: "https://login.example.com",
          clientId: "platform",
          clientSecret: "not so secret",
          additionalScopes: ["email", "groups"],
          groupsClaim: "groups",
          correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
          pkceEnabled: true,
        },
        scimEnabled: true,
      },
    },
    {
      kind: "IdentityProvider",
      choice: "a provider with PKCE alone",
      inputs: {
        parentUid: ROOT_UID,
        name: "directory",
        defaultRole: ROLE_UID,
        oidc: { issuer: "https://login.example.com", clientId: "platform", pkceEnabled: true },
      },
    },
    {
      kind: "ScimToken",
      choice: "a token with an end",
      inputs: {
        parentUid: GROUP_UID,
        expireTime: "2027-01-01T00:00:00Z",
        overlap: "30m",
        rotate: "first",
      },
    },
    {
      kind: "ScimToken",
      choice: "a token without an end",
      inputs: { parentUid: GROUP_UID, neverExpires: true },
    },
    {
      kind: "TermsAcceptance",
      choice: "two documents",
      inputs: { parentUid: GROUP_UID, documentIds: ["guardener-tos.v1", "privacy.v2"] },
    },
    {
      kind: "AccountAssociation",
      choice: "accounts everywhere",
      inputs: {
        parentUid: GROUP_UID,
        name: "accounts",
        description: "What belongs to the team",
        amazon: { account: "123456789012" },
        google: { projectId: "acme-production", projectNumber: "987654321098" },
        azure: { tenantId: "7b1e9a4c-0000-4000-8000-000000000001", clientIds: { pull: "client-1" } },
        chainguard: { serviceBindings: { INGESTER: IDENTITY_UID } },
        github: {
          appInstallations: {
            "12345": {
              installations: [{ installationId: "9007199254740993", name: "acme" }, { installationId: "2" }],
            },
          },
        },
      },
    },
    {
      kind: "GroupInvite",
      choice: "an invite for one",
      inputs: {
        parentUid: GROUP_UID,
        roleUid: ROLE_UID,
        ttl: "86400s",
        email: "ada@example.com",
        singleUse: true,
      },
    },
    {
      kind: "GroupInvite",
      choice: "an invite for all",
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl: "5400s" },
    },
    {
      kind: "ExternalGroupRoleMapping",
      choice: "a mapping",
      inputs: { parentUid: PROVIDER_UID, externalGroupId: "engineers", roleUid: ROLE_UID, scope: ROOT_UID },
    },
  ];

export function sample(kind: string, choice?: string): Props {
  const found = samples.find((one) => one.kind === kind && (choice === undefined || one.choice === choice));
  if (!found) throw new Error(`no sample of ${kind}`);
  return structuredClone(found.inputs);
}

/** A field that no object holds further fields of, with the way to it. */
export interface Leaf {
  readonly path: readonly string[];
  readonly field: FieldSpec;
}

/** Every leaf: lists and maps are one. */
export function leavesOf(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[] = []): Leaf[] {
  return Object.entries(fields).flatMap(([key, field]) =>
    field.type === "object" ? leavesOf(field.fields, [...path, key]) : [{ path: [...path, key], field }],
  );
}

export const valueAt = (props: Props, path: readonly string[]): Json | undefined =>
  memberAt(props, path) as Json | undefined;

/** A copy with one value changed; undefined takes it out. */
export const withValue = (props: Props, path: readonly string[], value: Json | undefined): Props =>
  withMember(props, path, value) as Props;
