/*
 * What the platform's Terraform provider manages, and what that is here. `docs/from-terraform.md` shows these tables.
 */

/** A resource type of the provider, without its prefix, and the kind that it becomes. */
export interface AdoptableType {
  readonly type: string;
  readonly kind: string;
  /** The attributes that are a resource of their own here, with the same uid, by their kinds. */
  readonly attributeKinds?: Readonly<Record<string, string>>;
}

type TypeMapping = AdoptableType | { readonly type: string; readonly reason: string };

/** The name of the provider: the last part of its source address, and the prefix of its types. */
const PROVIDER_NAME = "chainguard";

const NOT_IN_API = "it is not part of the Platform API v2";
const OVERLAY_OF_REPO = `${NOT_IN_API}; customOverlay of a Repo is the overlay of one repository`;

/** All resource types of the provider that this version knows. */
export const typeMappings: readonly TypeMapping[] = [
  { type: "group", kind: "Group" },
  { type: "identity", kind: "Identity" },
  { type: "role", kind: "Role" },
  { type: "rolebinding", kind: "RoleBinding" },
  { type: "identity_provider", kind: "IdentityProvider" },
  { type: "account_associations", kind: "AccountAssociation" },
  { type: "group_invite", kind: "GroupInvite" },
  { type: "image_repo", kind: "Repo", attributeKinds: { readme: "RepoReadme" } },
  { type: "image_tag", kind: "Tag" },
  { type: "subscription", kind: "Subscription" },
  { type: "policy", reason: NOT_IN_API },
  { type: "sigstore", reason: NOT_IN_API },
  { type: "cluster", reason: NOT_IN_API },
  { type: "apko_build", reason: "it is a build, which has run, and nothing that is managed" },
  { type: "deployment", reason: NOT_IN_API },
  { type: "image_repo_deployment", reason: NOT_IN_API },
  { type: "image_overlay", reason: OVERLAY_OF_REPO },
  { type: "image_overlay_binding", reason: OVERLAY_OF_REPO },
];

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
