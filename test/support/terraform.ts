import type { Emulator } from "../../emulator";
import { makeObject, withUids } from "./byHand";
import { CERTIFICATE, inDays, jwks, samples, withMember } from "./samples";
import { create } from "./wire";

/**
 * What the platform's Terraform provider manages, an object of each type or more: as it stands in a state, and as a
 * program would declare it. What a program declares is a sample where one fits; `${name}` stands for the uid of the object of that name.
 */
export interface TerraformObject {
  /** Without its prefix. */
  readonly type: string;
  /** `module.teams["payments"]` */
  readonly module?: string;
  readonly name: string;
  readonly key?: string | number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The attributes of Terraform whose values nobody may see. */
  readonly sensitive?: readonly string[];
  readonly kind: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The readme of a repository. */
  readonly readme?: string;
}

export const PROVIDER = "registry.terraform.io/chainguard-dev/chainguard";
export const CLIENT_SECRET = "hush-hush-client-secret";
export const INVITE_CODE = "hush-hush-invite-code";

const expires = inDays(100);
const team = { module: 'module.teams["payments"]' } as const;

/** The arguments of a sample. */
const argsOf = (label: string) => samples.find((sample) => sample.label === label)?.args ?? {};
const { amazon, google, azure } = argsOf("accounts");
const { customOverlay, ...repo } = argsOf("repo");
const withoutKeyring = withMember({ customOverlay }, "customOverlay.contents.runtimeKeyring", undefined);

const nulls = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]));
const claimMatch = nulls(
  "issuer issuer_pattern subject subject_pattern audience audience_pattern claims claim_patterns",
);
const identity = {
  ...nulls("claim_match static aws_identity service_principal"),
  created_at: "2025-01-01T00:00:00Z",
  updated_at: "2025-01-01T00:00:00Z",
  last_seen: "",
};
const ofCluster = { issuer: "https://kubernetes.default.svc", subject: "system:serviceaccount:ci:deployer" };
const ofCi = { issuer: "https://issuer.example.com", claims: { repository_owner: "acme" } };
const association = nulls("amazon google azure chainguard github");

const described: readonly TerraformObject[] = [
  {
    type: "group",
    ...team,
    name: "this",
    attributes: {
      verified: false,
      verified_protection: true,
    },
    kind: "Group",
    args: { parentUid: "${org}", name: "payments", description: "Payments" },
  },
  {
    type: "identity",
    name: "deployer",
    attributes: {
      ...identity,
      claim_match: {
        ...claimMatch,
        ...ofCi,
        subject_pattern: "^repo:acme/.+$",
        claim_patterns: {},
      },
    },
    kind: "Identity",
    args: {
      parentUid: "${this}",
      name: "ci-deployer",
      claimMatch: { ...ofCi, subjectPattern: "^repo:acme/.+$" },
    },
  },
  {
    type: "identity",
    name: "cluster",
    attributes: {
      ...identity,
      static: {
        ...ofCluster,
        issuer_keys: jwks("one"),
        expiration: expires,
      },
    },
    kind: "Identity",
    args: {
      parentUid: "${this}",
      name: "cluster",
      description: "Signs with keys of its own",
      staticKeys: {
        ...ofCluster,
        issuerKeys: jwks("one"),
        expirationTime: expires,
      },
    },
  },
  {
    type: "identity",
    name: "aws",
    key: 0,
    attributes: {
      ...identity,
      aws_identity: {
        aws_account: "123456789012",
        aws_arn: "arn:aws:sts::123456789012:assumed-role/deploy/session",
        aws_arn_pattern: null,
        aws_user_id: null,
        aws_user_id_pattern: "^AROA[A-Z0-9]+:.+$",
      },
    },
    kind: "Identity",
    args: { parentUid: "${this}", name: "aws", awsIdentity: argsOf("aws")["awsIdentity"] },
  },
  {
    type: "identity",
    name: "ingester",
    attributes: { ...identity, service_principal: "INGESTER" },
    kind: "Identity",
    args: { parentUid: "${this}", name: "ingester", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
  },
  {
    type: "role",
    name: "reader",
    attributes: {
      description: "",
      capabilities: [
        "groups.list",
        "manifest.metadata.list",
        "repo.list",
        "sboms.list",
        "subscriptions.list",
      ],
    },
    kind: "Role",
    args: {
      parentUid: "${org}",
      name: "reader",
      capabilities: [
        "CAP_REPO_LIST",
        "CAP_IAM_GROUPS_LIST",
        "CAP_EVENTS_SUBSCRIPTION_LIST",
        "CAP_MANIFEST_METADATA_LIST",
        "CAP_TENANT_SBOMS_LIST",
      ],
    },
  },
  {
    type: "rolebinding",
    name: "access",
    key: "deployer reads",
    attributes: { group: "${this}", identity: "${deployer}", role: "${reader}" },
    kind: "RoleBinding",
    args: { parentUid: "${this}", identityUid: "${deployer}", roleUid: "${reader}" },
  },
  {
    type: "identity_provider",
    name: "login",
    attributes: {
      default_role: "${reader}",
      oidc: {
        issuer: "https://login.example.com",
        client_id: "platform",
        client_secret: CLIENT_SECRET,
        additional_scopes: ["profile", "email"],
      },
    },
    sensitive: ["oidc"],
    kind: "IdentityProvider",
    args: {
      parentUid: "${org}",
      name: "login",
      description: "Our people",
      defaultRole: "${reader}",
      oidc: {
        issuer: "https://login.example.com",
        clientId: "platform",
        clientSecret: CLIENT_SECRET,
        additionalScopes: ["email", "profile"],
      },
    },
  },
  {
    type: "account_associations",
    name: "clouds",
    attributes: {
      ...association,
      group: "${this}",
      description: "",
      amazon: { account: "123456789012" },
      google: { project_id: "acme-production", project_number: "987654321098" },
      azure: { tenant_id: "7b1e9a4c-0000-4000-8000-000000000001", client_ids: { pull: "client-1" } },
      chainguard: { service_bindings: { INGESTER: "${ingester}" } },
      github: { app_id: 12345, host: "", installation_id: 77, name: "acme" },
    },
    kind: "AccountAssociation",
    args: {
      parentUid: "${this}",
      name: "clouds",
      ...{ amazon, google, azure },
      chainguard: { serviceBindings: { INGESTER: "${ingester}" } },
      github: { appInstallations: { "12345": { installations: [{ installationId: "77", name: "acme" }] } } },
    },
  },
  {
    type: "account_associations",
    name: "github",
    attributes: {
      ...association,
      group: "${org}",
      description: "",
      github_installation: [
        { app_id: 1, installation_id: 2, name: "acme" },
        { app_id: 1, installation_id: 3, name: "other" },
      ],
    },
    kind: "AccountAssociation",
    args: {
      parentUid: "${org}",
      name: "github",
      github: {
        appInstallations: { "1": { installations: [{ installationId: "2" }, { installationId: "3" }] } },
      },
    },
  },
  {
    type: "group_invite",
    name: "ada",
    attributes: {
      group: "${this}",
      role: "${reader}",
      email: "ada@acme.example",
      expiration: expires,
      code: INVITE_CODE,
    },
    sensitive: ["code"],
    kind: "GroupInvite",
    args: { parentUid: "${this}", roleUid: "${reader}", email: "ada@acme.example", ttl: "3600s" },
  },
  {
    type: "image_repo",
    name: "api",
    attributes: {
      bundles: ["base"],
      aliases: ["acme/api:latest"],
      active_tags: ["latest"],
      tier: "BASE",
      readme: "# API\n",
      sync_config: null,
      custom_overlay: {
        contents: { packages: ["curl"], runtime_repositories: ["https://packages.example.com/one"] },
        environment: { A: "1" },
        annotations: { "com.example.a": "1" },
        accounts: {
          run_as: "65532",
          user: [
            {
              ...{ username: "app", uid: 65532, gid: 65532, group_name: "app" },
              ...{ shell: "/bin/sh", home_dir: "/app" },
            },
          ],
          group: [{ groupname: "app", gid: 65532, members: ["app"] }],
        },
        certificates: { providers: ["corporate"], additional: [{ name: "one", content: CERTIFICATE }] },
      },
    },
    kind: "Repo",
    args: {
      ...repo,
      parentUid: "${this}",
      name: "api",
      description: "The payment service",
      aliases: ["acme/api:latest"],
      ...withoutKeyring,
    },
    readme: "# API\n",
  },
  {
    type: "image_repo",
    name: "synced",
    attributes: {
      ...nulls("bundles aliases active_tags tier readme"),
      sync_config: {
        source: "nginx",
        google: "g",
        amazon: "a",
        azure: "z",
        unique_tags: true,
        expiration: expires,
        grace_period: true,
        apko_overlay: "contents: {}",
        sync_apks: true,
      },
      custom_overlay: null,
    },
    kind: "Repo",
    args: { parentUid: "${this}", name: "nginx", syncConfig: argsOf("synced")["syncConfig"] },
  },
  {
    type: "image_tag",
    name: "stable",
    attributes: { repo_id: "${api}", bundles: ["fips"] },
    kind: "Tag",
    args: { parentUid: "${api}", name: "1.27", digest: `sha256:${"6b3f".repeat(16)}`, bundles: ["fips"] },
  },
  {
    type: "subscription",
    name: "audit",
    attributes: { sink: "https://sink.example.com/one" },
    kind: "Subscription",
    args: { parentUid: "${org}", sink: "https://sink.example.com/one" },
  },
];

/** A name, a description and a parent are the same in both, but that some attributes call the parent by its kind. */
export const terraformObjects = described.map((one): TerraformObject => {
  const { name, description, parentUid } = one.args;
  const isNamed = !("group" in one.attributes || "repo_id" in one.attributes);
  const common = { name, description, parent_id: isNamed ? parentUid : undefined };
  const given = Object.entries(common).filter(([, value]) => value !== undefined);
  return { ...one, attributes: { ...Object.fromEntries(given), ...one.attributes } };
});

/** Makes an organisation and all objects in it, past the package; returns the uids by name. */
export async function makeTerraformObjects(emulator: Emulator): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  ids["org"] = await create(emulator, "/iam/v2/groups", { name: "acme" });
  for (const { name, kind, args, readme } of terraformObjects) {
    ids[name] = await makeObject(emulator, kind, withUids(args, ids) as Record<string, unknown>);
    if (readme !== undefined)
      await makeObject(emulator, "RepoReadme", { parentUid: ids[name], content: readme });
  }
  return ids;
}

/** An instance of a state, in the terms of the state file. */
export interface StateRow {
  readonly mode?: string;
  readonly module?: unknown;
  readonly type: unknown;
  readonly name: unknown;
  readonly provider?: unknown;
  readonly key?: unknown;
  readonly attributes?: unknown;
  readonly sensitive?: readonly string[];
  readonly status?: "tainted";
  readonly deposed?: string;
}

/** The rows of all objects, with the uids of `ids`. */
export function terraformRows(ids: Readonly<Record<string, string>>): StateRow[] {
  return terraformObjects.map(({ type, attributes, ...row }) => ({
    ...row,
    type: `chainguard_${type}`,
    attributes: withUids({ id: ids[row.name], ...attributes }, ids),
  }));
}

/** What `terraform state pull` writes. */
export function pulledState(rows: readonly StateRow[]): Record<string, unknown> {
  return {
    version: 4,
    terraform_version: "1.11.4",
    serial: 7,
    lineage: "5f2c1d0e-0000-4000-8000-000000000001",
    outputs: {},
    resources: rows.map(
      ({ mode, module, type, name, provider, key, attributes, sensitive, status, deposed }) => ({
        ...(module === undefined ? {} : { module }),
        mode: mode ?? "managed",
        type,
        name,
        provider: provider ?? `provider["${PROVIDER}"]`,
        instances: [
          {
            ...(key === undefined ? {} : { index_key: key }),
            ...(status === undefined ? {} : { status }),
            ...(deposed === undefined ? {} : { deposed }),
            schema_version: 0,
            attributes,
            sensitive_attributes: (sensitive ?? []).map((value) => [{ type: "get_attr", value }]),
          },
        ],
      }),
    ),
    check_results: null,
  };
}
