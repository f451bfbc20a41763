import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, listing, listRules, selecting } from "./lookup";
import type { ListArgs } from "./lookup";

/** Selects one identity provider: by `uid`, or by `name`. */
export interface GetIdentityProviderArgs {
  /** The uid, as the `id` of an IdentityProvider. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a provider of this root group. */
  parentUid?: string;
}

/** How people sign in. The client's secret is never answered. */
export interface IdentityProviderOidc {
  /** The issuer's URL. */
  issuer: string;
  /** The id of the client at the issuer. */
  clientId: string;
  /** Scopes that are asked for besides `openid`. */
  additionalScopes: string[];
  /** The claim that names groups; empty where groups are not mapped. */
  groupsClaim: string;
  /** `CORRELATION_RULE_…`: how people of SCIM and of sign-ins are matched. Left out where it is not set. */
  correlationRule?: string;
  /** Whether sign-ins use PKCE. */
  pkceEnabled: boolean;
}

/** How far people are provisioned by SCIM. */
export interface IdentityProviderScim {
  /** Whether it is on. */
  enabled: boolean;
  /** The address for the provisioning side; empty where there is none. */
  endpointUrl: string;
  /** When the token ends: RFC 3339, as the API wrote it. Left out where there is no token, or it never ends. */
  tokenExpireTime?: string;
  /** When the token before it ends: RFC 3339, as the API wrote it. */
  previousTokenExpireTime?: string;
  /** `CREDENTIAL_STATE_…`; left out where it is not set. */
  credentialState?: string;
  /** The version that changes of SCIM must name; empty where there is none. */
  etag: string;
}

/** An identity provider. Contract, section 5. */
export interface GetIdentityProviderResult {
  /** The uid. */
  uid: string;
  /** The uid of its root group. */
  parentUid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** The uid of the role that people get at their first sign-in. */
  defaultRole: string;
  /** How people sign in. */
  oidc?: IdentityProviderOidc;
  /** How far SCIM is set up. Lists leave it out: read the provider by its uid or name. */
  scim?: IdentityProviderScim;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which identity providers to list. All by default. */
export interface GetIdentityProvidersArgs extends ListArgs {
  /** The exact name. */
  name?: string;
}

const COLLECTION = "/iam/v2/identityProviders";

const readProvider = read.object<GetIdentityProviderResult>({
  uid: read.text,
  parentUid: read.certainParent,
  name: read.text,
  description: read.text,
  defaultRole: read.text,
  oidc: read.optional<IdentityProviderOidc>({
    issuer: read.text,
    clientId: read.text,
    additionalScopes: read.texts,
    groupsClaim: read.text,
    correlationRule: read.enumName,
    pkceEnabled: read.flag,
  }),
  scim: read.optional<IdentityProviderScim>({
    enabled: read.flag,
    endpointUrl: read.text,
    tokenExpireTime: read.time,
    previousTokenExpireTime: read.time,
    credentialState: read.enumName,
    etag: read.text,
  }),
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetIdentityProviderArgs> = { uid: take.uid, name: take.text, parentUid: take.uid };
const oneProvider = selecting("getIdentityProvider", COLLECTION, rules, readProvider, { listsLess: true });

const providers = listing<GetIdentityProvidersArgs, GetIdentityProviderResult>({
  call: "getIdentityProviders",
  collection: COLLECTION,
  rules: { ...listRules, name: take.sentAs("name", take.text) },
  read: readProvider,
});

/**
 * Finds exactly one identity provider, with the state of SCIM. Throws where there is none, and where
 * there are several, with their uids and parents.
 */
export function getIdentityProvider(args: GetIdentityProviderArgs): Promise<GetIdentityProviderResult> {
  return ask(oneProvider, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getIdentityProviderOutput(
  args: LookupInputs<GetIdentityProviderArgs>,
): pulumi.Output<GetIdentityProviderResult> {
  return askLater(oneProvider, args);
}

/** Lists the identity providers that match and that the token may see. */
export function getIdentityProviders(
  args: GetIdentityProvidersArgs = {},
): Promise<GetIdentityProviderResult[]> {
  return ask(providers, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getIdentityProvidersOutput(
  args: LookupInputs<GetIdentityProvidersArgs> = {},
): pulumi.Output<GetIdentityProviderResult[]> {
  return askLater(providers, args);
}
