import { CodedError, hasCode } from "../errors/codedError";
import { resource } from "../program/resource";
import type { Api, Failure } from "../fields/resourceSpec";
import { isObject } from "../fields/values";
import type { Props } from "../fields/values";
import {
  boolean,
  enumOf,
  kind,
  list,
  objectWithSecret,
  resultObject,
  secret,
  shape,
  string,
  time,
  times,
} from "../fields/builders";
import type { ArgsOf, OfKind, Returned, Resolved, ResultOf } from "../fields/builders";
import { adviseOnName, description, nameOnly, parentGroup } from "./common";

const COLLECTION = "/iam/v2/identityProviders";

const oidc = shape({
  fields: {
    /** The issuer's address. */
    issuer: string({ format: "url", required: true, access: "signIn.issuer" }),
    /** The client id that the issuer gave. */
    clientId: string({ required: true, access: "signIn.client" }),
    /**
     * The client secret that the issuer gave: always a secret in state. Needed unless `pkceEnabled`. Another value
     * rotates it; taking the argument away wipes it at the server. A change by hand cannot be seen: the API never returns it.
     */
    clientSecret: secret({ inputOnly: true, harmless: "the issuer lets nobody in by another one" }),
    /** Scopes to ask for besides `openid`. Order means nothing. */
    additionalScopes: list(string(), { unordered: true, access: "signIn.scopes" }),
    /** The claim that holds the names of a person's groups; none: no group mapping. */
    groupsClaim: string({ access: "signIn.groups" }),
    /**
     * `CORRELATION_RULE_…`: which claim is the external id; `CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID` if not given.
     * Changing it replaces the identity provider.
     */
    correlationRule: enumOf("CORRELATION_RULE_", "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID", {
      default: "SUB_EQUALS_EXTERNAL_ID",
      immutable: true,
      access: "signIn.person",
    }),
    /** Whether PKCE is used: instead of a client secret, or beside it. */
    pkceEnabled: boolean({ access: "signIn.proof" }),
  },
});

const scim = {
  /** Whether it is on. */
  enabled: boolean(),
  /** The address for the provisioning side; empty where there is none. */
  endpointUrl: string(),
  /** When the token ends: RFC 3339, as the API wrote it. Left out where there is no token, or it never ends. */
  tokenExpireTime: time,
  /** When the token before it ends: RFC 3339, as the API wrote it. */
  previousTokenExpireTime: time,
  /** `CREDENTIAL_STATE_…`; left out where it is not set. */
  credentialState: enumOf("CREDENTIAL_STATE_", []),
  /** The version that changes of SCIM must name; empty where there is none. */
  etag: string(),
};

/** How people sign in: an OpenID Connect provider. */
export interface OidcArgs extends ArgsOf<typeof oidc> {}

/** How people sign in. The client's secret is never returned. */
export interface IdentityProviderOidc extends ResultOf<typeof oidc> {}

/** How far people are provisioned by SCIM. */
export interface IdentityProviderScim extends Returned<typeof scim> {}

/** Reported beside the secret, not at `oidc`: the engine prints the value of a property that it finds. */
function checkCredential(inputs: Props): Failure[] {
  const given = inputs["oidc"];
  if (!isObject(given) || given["clientSecret"] || given["pkceEnabled"]) return [];
  return [
    {
      property: "oidc.clientSecret",
      reason: "is missing: give clientSecret, pkceEnabled or both",
      code: "PP1001",
    },
  ];
}

/** Errors after which the provider, read anew, tells whether there is anything left to do. */
const READ_ANEW_AFTER = ["ABORTED", "CONNECTION", "UNAVAILABLE"];

async function setScimEnabled(api: Api, uid: string, olds: Props, news: Props): Promise<void> {
  const wanted = news["scimEnabled"] === true;
  if ((olds["scimEnabled"] === true) === wanted) return;
  for (let sends = 0; ; sends += 1) {
    const { scim } = (await api.get(api.resourcePath(COLLECTION, uid))) as Props;
    const { enabled, etag } = isObject(scim) ? scim : {};
    if ((enabled === true) === wanted) return;
    if (sends === 2) throw new CodedError("PP4004", "the server ignored it");
    try {
      const path = api.resourcePath(COLLECTION, uid, ":setScimEnabled");
      await api.post(path, { enabled: wanted, etag }, { isIdempotent: false });
    } catch (error) {
      if (sends > 0 || !READ_ANEW_AFTER.some((code) => hasCode(error, code))) throw error;
    }
  }
}

const identityProvider = kind({
  kind: "IdentityProvider",
  collection: COLLECTION,
  capabilities: "IAM_IDENTITY_PROVIDERS",
  eventPrefix: "iam.identity_providers",
  listsByName: true,
  listing: { contents: "partial" },
  grantsAccess: "always",
  preconditionHint:
    "scimEnabled takes two bindings of the role owner at parentUid, made by hand or by a program: if this program makes them, add them to dependsOn of this resource, else leave scimEnabled out",
  usedBy: "uid",
  deletion: {
    dependents: [
      {
        collection: "/iam/v2/externalGroupRoleMappings",
        noun: "its group mappings",
        parameter: "identityProviderUid",
      },
    ],
  },
  fields: {
    /** The uid of the root group whose people sign in here. Changing it replaces the identity provider. */
    parentUid: parentGroup,
    /** The name. */
    name: string({ required: true, ...nameOnly }),
    /** One line, at most 512 characters. */
    description,
    /** The uid of the role that everybody gets who signs in: a Role's id, or what `getRole` finds. */
    defaultRole: string({ format: "uid", required: true, access: "role" }),
    /** How people sign in. */
    oidc: objectWithSecret<OidcArgs, IdentityProviderOidc>(oidc, { required: true, security: true }),
    /**
     * Whether people are provisioned by SCIM, with the token of a `ScimToken`. Switching it on takes at least two
     * bindings of the role `owner` at the root group, made by hand or by a program. If this program makes them, add them to
     * `dependsOn`.
     */
    scimEnabled: boolean({
      capabilities: ["CAP_IAM_SCIM_MANAGE", "CAP_IAM_IDENTITY_PROVIDERS_LIST"],
      subresource: true,
      access: "signIn.provisioning",
      unsetMeans: "nobody is deprovisioned any more, and who can sign in then is not known",
    }),
  },
  reads: {
    /** How far SCIM is set up. Lists leave it out: read the provider by its uid or name. */
    scim: resultObject<IdentityProviderScim>(scim),
    ...times,
  },
  operations: {
    afterWrite: setScimEnabled,
    normalizeResponse: (body) => ({
      ...body,
      scimEnabled: isObject(body["scim"]) ? body["scim"]["enabled"] : undefined,
    }),
  },
  validate: checkCredential,
  inputWarnings: {
    name: adviseOnName,
    parentUid: (value) =>
      typeof value === "string" && value.includes("/")
        ? ["an identity provider belongs to a root group; the server may refuse this one"]
        : [],
  },
});

/** The arguments of an IdentityProvider. */
export interface IdentityProviderArgs extends ArgsOf<typeof identityProvider>, OfKind {}
/** An identity provider. */
export interface GetIdentityProviderResult extends ResultOf<typeof identityProvider> {}
/** Signs the people of an organisation in. */
export class IdentityProvider extends resource<IdentityProviderArgs>(identityProvider) {}
export interface IdentityProvider extends Resolved<IdentityProviderArgs> {}
