import type * as pulumi from "@pulumi/pulumi";
import { hasCode } from "../engine/messages";
import { PlatformResource } from "../engine/resource";
import type { Resolved } from "../engine/resource";
import { defineFieldsWithSecret, defineResource, description, parentGroup } from "../engine/spec";
import type { Api, Failure, SecretObjectSpec, Props } from "../engine/spec";
import { isObject } from "../engine/values";

/** How people sign in: an OpenID Connect provider. */
export interface OidcArgs {
  /** The issuer's address. */
  issuer: pulumi.Input<string>;
  /** The client id that the issuer gave. */
  clientId: pulumi.Input<string>;
  /**
   * The client secret that the issuer gave: always a secret in state. Needed unless `pkceEnabled`. Another value
   * rotates it; taking the argument away wipes it at the server. A change by hand cannot be seen: it is never answered.
   */
  clientSecret?: pulumi.Input<string>;
  /** Scopes to ask for besides `openid`. Order means nothing. */
  additionalScopes?: pulumi.Input<pulumi.Input<string>[]>;
  /** The claim that holds the names of a person's groups; none: no group mapping. */
  groupsClaim?: pulumi.Input<string>;
  /**
   * `CORRELATION_RULE_…`: which claim is the external id; `CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID` if not given.
   * Changing it replaces the identity provider.
   */
  correlationRule?: pulumi.Input<string>;
  /** Whether PKCE is used: instead of a client secret, or beside it. */
  pkceEnabled?: pulumi.Input<boolean>;
}

/** The arguments of an IdentityProvider. */
export interface IdentityProviderArgs {
  /** The uid of the root group whose people sign in here. Changing it replaces the identity provider. */
  parentUid: pulumi.Input<string>;
  /** The name. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. */
  description?: pulumi.Input<string>;
  /** The uid of the role that everybody gets who signs in: a Role's id, or what `getRole` finds. */
  defaultRole: pulumi.Input<string>;
  /** How people sign in. */
  oidc: pulumi.Input<OidcArgs>;
  /**
   * Whether people are provisioned by SCIM, with the token of a `ScimToken`. Switching it on takes at least two
   * bindings of the role `owner` that were made by hand or by a program.
   */
  scimEnabled?: pulumi.Input<boolean>;
}

const COLLECTION = "/iam/v2/identityProviders";

const oidc: SecretObjectSpec = {
  type: "object",
  required: true,
  security: true,
  fields: defineFieldsWithSecret<OidcArgs>({
    issuer: { type: "string", format: "url", required: true, security: true, access: "match" },
    clientId: { type: "string", required: true, security: true, access: "match" },
    clientSecret: { type: "string", secret: true, inputOnly: true },
    additionalScopes: {
      type: "list",
      unordered: true,
      security: true,
      access: "powers",
      items: { type: "string" },
    },
    groupsClaim: { type: "string", security: true, access: "powers" },
    correlationRule: {
      type: "enum",
      prefix: "CORRELATION_RULE_",
      known: ["SUB_EQUALS_EXTERNAL_ID", "OID_EQUALS_EXTERNAL_ID"],
      default: "SUB_EQUALS_EXTERNAL_ID",
      immutable: true,
      security: true,
      access: "match",
    },
    pkceEnabled: { type: "boolean", security: true, access: "limits" },
  }),
};

/** Reported beside the secret, not at `oidc`: the engine prints the value of a property that it finds. */
function checkCredential(inputs: Props): Failure[] {
  const given = inputs["oidc"];
  if (!isObject(given) || given["clientSecret"] || given["pkceEnabled"]) return [];
  return [{ property: "oidc.clientSecret", reason: "is missing: give clientSecret, pkceEnabled or both" }];
}

/** Errors after which the provider, read anew, tells whether there is anything left to do. */
const PASSING = ["ABORTED", "CONNECTION", "UNAVAILABLE"];

async function setScimEnabled(api: Api, uid: string, news: Props): Promise<void> {
  const wanted = news["scimEnabled"] === true;
  for (let isFirst = true; ; isFirst = false) {
    const { scim } = (await api.get(api.address(COLLECTION, uid))) as Props;
    const { enabled, etag } = isObject(scim) ? scim : {};
    if ((enabled === true) === wanted) return;
    try {
      const path = api.address(COLLECTION, uid, ":setScimEnabled");
      await api.post(path, { enabled: wanted, etag }, { repeatable: false });
      return;
    } catch (error) {
      if (!isFirst || !PASSING.some((code) => hasCode(error, code))) throw error;
    }
  }
}

/** Signs the people of an organisation in. Contract, sections 5 and 6. */
export class IdentityProvider extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<IdentityProviderArgs>({
    kind: "IdentityProvider",
    noun: "identity provider",
    collection: COLLECTION,
    events: "iam.identity_providers",
    listsByName: true,
    fields: {
      parentUid: parentGroup({ required: true }),
      name: { type: "string", required: true },
      description,
      defaultRole: { type: "string", format: "uid", required: true, security: true, access: "role" },
      oidc,
      scimEnabled: { type: "boolean", apart: true, security: true, access: "powers" },
    },
    listing: { listsLess: true },
    gives: "always",
    operations: { writeApart: (api, uid, _olds, news) => setScimEnabled(api, uid, news) },
    rules: checkCredential,
    // Lists leave scim out (contract, section 5).
    fromServer: (body) => ({
      ...body,
      scimEnabled: isObject(body["scim"]) ? body["scim"]["enabled"] : undefined,
    }),
    dependents: [
      {
        collection: "/iam/v2/externalGroupRoleMappings",
        noun: "its group mappings",
        by: "identityProviderUid",
      },
    ],
    advise: {
      parentUid: (value) =>
        typeof value === "string" && value.includes("/")
          ? ["an identity provider belongs to a root group; the server may refuse this one"]
          : [],
    },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly defaultRole: pulumi.Output<string>;
  declare readonly oidc: pulumi.Output<Resolved<OidcArgs>>;
  declare readonly scimEnabled: pulumi.Output<boolean | undefined>;

  constructor(name: string, args: IdentityProviderArgs, opts?: pulumi.CustomResourceOptions) {
    super(IdentityProvider.spec, name, args, opts);
  }

  /** Reads an identity provider that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): IdentityProvider {
    return new IdentityProvider(name, undefined as unknown as IdentityProviderArgs, { ...opts, id: uid });
  }
}
