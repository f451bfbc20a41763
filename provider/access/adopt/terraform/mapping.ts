import { isObject, addTo } from "../../../fields/values";
import type { FieldSpec } from "../../../fields/fieldSpec";
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
  /** Those that are not the argument of the same name. */
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

function computed(...names: readonly string[]): AttributeMappings {
  return Object.fromEntries(["id", ...names].map((name) => [name, { isComputed: true }]));
}

const block = (to: string, members: AttributeMappings): AttributeMapping => ({ to, members });

const parent = { parent_id: { to: "parentUid" } } as const;

const decidedByService: AttributeMapping = { reason: "the service decides it; no argument sets it" };

const objects = (to: string): AttributeMapping => ({ to, convert: (items) => items.map(withOurNames) });

const adoptable: readonly AdoptableType[] = [
  {
    type: "group",
    kind: "Group",
    attributes: {
      ...computed(),
      ...parent,
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
      ...parent,
      static: block("staticKeys", { expiration: { to: "expirationTime" } }),
      aws_identity: block("awsIdentity", {
        aws_arn: { to: "arn" },
        aws_arn_pattern: { to: "arnPattern" },
        aws_user_id: { to: "userId" },
        aws_user_id_pattern: { to: "userIdPattern" },
      }),
    },
  },
  {
    type: "role",
    kind: "Role",
    attributes: {
      ...computed(),
      ...parent,
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
    attributes: { ...computed(), ...parent },
  },
  {
    type: "account_associations",
    kind: "AccountAssociation",
    attributes: {
      ...computed(),
      group: { to: "parentUid" },
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
      expiration: { reason: "an invite lives for a ttl from its creation" },
      code: { reason: "the API returns it only at creation" },
    },
  },
  {
    type: "image_repo",
    kind: "Repo",
    attributes: {
      ...computed(),
      ...parent,
      tier: { to: "catalogTier" },
      readme: { to: "content", kind: "RepoReadme" },
      sync_config: block("syncConfig", {
        unique_tags: decidedByService,
        expiration: decidedByService,
        grace_period: decidedByService,
        apko_overlay: decidedByService,
        sync_apks: decidedByService,
      }),
      custom_overlay: block("customOverlay", {
        accounts: block("accounts", { user: objects("users"), group: objects("groups") }),
      }),
    },
  },
  {
    type: "image_tag",
    kind: "Tag",
    attributes: { ...computed(), repo_id: { to: "parentUid" } },
  },
  {
    type: "subscription",
    kind: "Subscription",
    attributes: { ...computed(), ...parent },
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

/** What becomes of an attribute: what the table says of it, or else the argument of the same name. */
export function mappingOfAttribute(
  name: string,
  known: AttributeMappings,
  fields: Readonly<Record<string, FieldSpec>>,
): AttributeMapping {
  const mapping = Object.hasOwn(known, name) ? known[name] : undefined;
  if (mapping !== undefined) return mapping;
  const to = snakeToCamelCase(name);
  const field = Object.hasOwn(fields, to) ? fields[to] : undefined;
  if (field === undefined) return { reason: "this version of the package does not know it" };
  if (field.type === "object") return block(to, {});
  return field.type === "list" && field.items.type === "object" ? objects(to) : { to };
}

/** Whether a provider is the platform's, wherever it is published: a mirror has another host or namespace. */
export function isPlatformProvider(source: string): boolean {
  return source.slice(source.lastIndexOf("/") + 1) === PROVIDER_NAME;
}
