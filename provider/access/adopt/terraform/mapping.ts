import { isObject, addTo } from "../../../fields/values";
import type { Json, Props } from "../../../fields/values";
import { capabilityNames } from "../../../kinds/capabilities";

/*
 * What the platform's Terraform provider manages, and what that is here. `docs/from-terraform.md` shows these tables.
 */

/** How a value of Terraform, as a list, becomes one of ours. */
type Conversion = (items: readonly (Json | undefined)[]) => Json;

/** The argument `to`, of another resource with the same uid if `kind` names one. */
export interface LeafMapping {
  readonly to: string;
  readonly kind?: string;
  readonly convert?: Conversion;
}

/** A block, which is the argument `to`. */
interface BlockMapping {
  readonly to: string;
  readonly members: AttributeMappings;
}

/**
 * Maps an attribute of Terraform to an argument here. One without a counterpart has a reason, and a computed one is never
 * declared.
 */
export type AttributeMapping =
  LeafMapping | BlockMapping | { readonly reason: string } | { readonly isComputed: true };

export type AttributeMappings = Readonly<Record<string, AttributeMapping>>;

/** A resource type of the provider, without its prefix, and the kind that it becomes. */
export interface AdoptableType {
  readonly type: string;
  readonly kind: string;
  readonly attributes: AttributeMappings;
}

type TypeMapping = AdoptableType | { readonly type: string; readonly reason: string };

/** The name of the provider: the last part of its source address, and the prefix of its types. */
const PROVIDER_NAME = "chainguard";

/** `issuer_pattern` as `issuerPattern`. */
export const snakeToCamelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `role_bindings.list`, `CAP_IAM_ROLE_BINDINGS_LIST` and `events.subscription.list` in one spelling. */
const canonicalCapability = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(".", "_")
    .replace(/^CAP_/, "")
    .replace(/^(IAM|TENANT)_/, "")
    .replace(/^EVENTS_SUBSCRIPTION_/, "SUBSCRIPTIONS_");

const byCanonical: ReadonlyMap<string, string> = new Map(
  capabilityNames.map((name) => [canonicalCapability(name), `CAP_${name}`]),
);

/** Terraform writes `groups.list` for `CAP_IAM_GROUPS_LIST`. A name that is not known stays as it is. */
function capabilityName(name: Json | undefined): Json {
  return typeof name === "string" ? (byCanonical.get(canonicalCapability(name)) ?? name) : (name ?? null);
}

function withOurNames(item: Json | undefined): Json {
  if (!isObject(item)) return item ?? null;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [snakeToCamelCase(key), value ?? null]),
  );
}

const scalarText = (value: Json | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** Installations of Terraform, a row each, by the app that they belong to. */
function githubApps(rows: readonly (Json | undefined)[]): Json {
  const byApp = new Map<string, Json[]>();
  for (const row of rows.filter(isObject)) {
    const app = scalarText(row["app_id"]);
    const name = row["name"];
    const installation: Props = {
      installationId: scalarText(row["installation_id"]),
      ...(name ? { name } : {}),
    };
    addTo(byApp, app, installation);
  }
  if (byApp.size === 0) return null;
  const apps = [...byApp].map(([app, installations]): [string, Json] => [app, { installations }]);
  return { appInstallations: Object.fromEntries(apps) };
}

/** Attributes that have the same name here, in another spelling. */
function sameNames(...names: readonly string[]): AttributeMappings {
  return Object.fromEntries(names.map((name) => [name, { to: snakeToCamelCase(name) }]));
}

function computed(...names: readonly string[]): AttributeMappings {
  return Object.fromEntries(["id", ...names].map((name) => [name, { isComputed: true }]));
}

const block = (to: string, members: AttributeMappings): AttributeMapping => ({ to, members });

const parent = { parent_id: { to: "parentUid" } } as const;
const parentAndTexts = { ...parent, ...sameNames("name", "description") };

const decidedByService: AttributeMapping = { reason: "the service decides it; no argument sets it" };

const claimMatch = block(
  "claimMatch",
  sameNames(
    "issuer",
    "issuer_pattern",
    "subject",
    "subject_pattern",
    "audience",
    "audience_pattern",
    "claims",
    "claim_patterns",
  ),
);

const staticKeys = block("staticKeys", {
  ...sameNames("issuer", "subject", "issuer_keys"),
  expiration: { to: "expirationTime" },
});

const awsIdentity = block("awsIdentity", {
  aws_account: { to: "awsAccount" },
  aws_arn: { to: "arn" },
  aws_arn_pattern: { to: "arnPattern" },
  aws_user_id: { to: "userId" },
  aws_user_id_pattern: { to: "userIdPattern" },
});

const oidc = block("oidc", sameNames("issuer", "client_id", "client_secret", "additional_scopes"));

const syncConfig = block("syncConfig", {
  ...sameNames("source", "google", "amazon", "azure"),
  unique_tags: decidedByService,
  expiration: decidedByService,
  grace_period: decidedByService,
  apko_overlay: decidedByService,
  sync_apks: decidedByService,
});

const objects = (to: string): AttributeMapping => ({ to, convert: (items) => items.map(withOurNames) });

const customOverlay = block("customOverlay", {
  contents: block("contents", sameNames("packages", "runtime_repositories")),
  ...sameNames("environment", "annotations"),
  accounts: block("accounts", { ...sameNames("run_as"), user: objects("users"), group: objects("groups") }),
  certificates: block("certificates", { ...sameNames("providers"), additional: objects("additional") }),
});

const adoptable: readonly AdoptableType[] = [
  {
    type: "group",
    kind: "Group",
    attributes: {
      ...computed(),
      ...parentAndTexts,
      ...sameNames("verified"),
      verified_protection: {
        reason: "a guard of Terraform's; here the resource option protect guards a group",
      },
    },
  },
  {
    type: "identity",
    kind: "Identity",
    attributes: {
      ...computed("created_at", "updated_at", "last_seen"),
      ...parentAndTexts,
      claim_match: claimMatch,
      static: staticKeys,
      aws_identity: awsIdentity,
      ...sameNames("service_principal"),
    },
  },
  {
    type: "role",
    kind: "Role",
    attributes: {
      ...computed(),
      ...parentAndTexts,
      capabilities: { to: "capabilities", convert: (items) => items.map(capabilityName) },
    },
  },
  {
    type: "rolebinding",
    kind: "RoleBinding",
    attributes: {
      ...computed(),
      group: { to: "parentUid" },
      identity: { to: "identityUid" },
      role: { to: "roleUid" },
    },
  },
  {
    type: "identity_provider",
    kind: "IdentityProvider",
    attributes: { ...computed(), ...parentAndTexts, ...sameNames("default_role"), oidc },
  },
  {
    type: "account_associations",
    kind: "AccountAssociation",
    attributes: {
      ...computed(),
      group: { to: "parentUid" },
      ...sameNames("name", "description"),
      amazon: block("amazon", sameNames("account")),
      google: block("google", sameNames("project_id", "project_number")),
      azure: block("azure", sameNames("tenant_id", "client_ids")),
      chainguard: block("chainguard", sameNames("service_bindings")),
      github: { to: "github", convert: githubApps },
      github_installation: { to: "github", convert: githubApps },
    },
  },
  {
    type: "group_invite",
    kind: "GroupInvite",
    attributes: {
      ...computed(),
      group: { to: "parentUid" },
      role: { to: "roleUid" },
      ...sameNames("email"),
      expiration: { reason: "an invite lives for a ttl from its creation" },
      code: { reason: "the API returns it only at creation" },
    },
  },
  {
    type: "image_repo",
    kind: "Repo",
    attributes: {
      ...computed(),
      ...parentAndTexts,
      ...sameNames("bundles", "aliases", "active_tags"),
      tier: { to: "catalogTier" },
      readme: { to: "content", kind: "RepoReadme" },
      sync_config: syncConfig,
      custom_overlay: customOverlay,
    },
  },
  {
    type: "image_tag",
    kind: "Tag",
    attributes: { ...computed(), repo_id: { to: "parentUid" }, ...sameNames("name", "bundles") },
  },
  {
    type: "subscription",
    kind: "Subscription",
    attributes: { ...computed(), ...parent, ...sameNames("sink") },
  },
];

const NOT_IN_API = "it is not part of the Platform API v2";

const withoutKind: readonly TypeMapping[] = [
  { type: "policy", reason: NOT_IN_API },
  { type: "sigstore", reason: NOT_IN_API },
  { type: "cluster", reason: NOT_IN_API },
  { type: "apko_build", reason: "it is a build, which has run, and nothing that is managed" },
  { type: "deployment", reason: NOT_IN_API },
  { type: "image_repo_deployment", reason: NOT_IN_API },
  {
    type: "image_overlay",
    reason: "it is not part of the Platform API v2; customOverlay of a Repo is the overlay of one repository",
  },
  {
    type: "image_overlay_binding",
    reason: "it is not part of the Platform API v2; customOverlay of a Repo is the overlay of one repository",
  },
];

/** All resource types of the provider that this version knows. */
export const typeMappings: readonly TypeMapping[] = [...adoptable, ...withoutKind];

const byType: ReadonlyMap<string, TypeMapping> = new Map(typeMappings.map((one) => [one.type, one]));

/** The mapping of a resource type with its prefix; undefined of one that this version does not know. */
export function mappingOf(type: string): TypeMapping | undefined {
  const prefix = `${PROVIDER_NAME}_`;
  return type.startsWith(prefix) ? byType.get(type.slice(prefix.length)) : undefined;
}

/** Whether a provider is the platform's, wherever it is published: a mirror has another host or namespace. */
export function isPlatformProvider(source: string): boolean {
  return source.slice(source.lastIndexOf("/") + 1) === PROVIDER_NAME;
}
