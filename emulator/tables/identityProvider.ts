import type { FieldMaker } from "../gateway/descriptor";
import {
  bool,
  duration,
  enumOf,
  enumType,
  list,
  messageType,
  object,
  text,
  timestamp,
} from "../gateway/descriptor";
import type { Method } from "../gateway/routes";
import { times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;
const service = "iam.v2.IdentityProvidersService";

function scimMethod(
  rpc: string,
  verb: string,
  request: Record<string, FieldMaker>,
  response: Record<string, FieldMaker>,
): Method {
  return {
    rpc: `${service}/${rpc}`,
    verb: "POST",
    pattern: `/iam/v2/identityProviders/{identityProviderUid=**}:${verb}`,
    body: "*",
    request: messageType(name(`${rpc}Request`), { identityProviderUid: text(), ...request }),
    response: messageType(name(`${rpc}Response`), { identityProviderUid: text(), etag: text(), ...response }),
  };
}

const token = { token: text(), endpointUrl: text(), expireTime: timestamp() };

export const identityProviders: KindTable = {
  kind: "IdentityProvider",
  prefix: "/iam/v2",
  collection: "identityProviders",
  service,
  message: messageType(name("IdentityProvider"), {
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    defaultRole: text({ required: true }),
    oidc: object(
      messageType(name("IdentityProvider.OIDC"), {
        issuer: text({ required: true }),
        clientId: text({ required: true }),
        clientSecret: text(),
        additionalScopes: list(text()),
        groupsClaim: text(),
        correlationRule: enumOf(
          enumType("CORRELATION_RULE", "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID"),
          {
            immutable: true,
          },
        ),
        pkceEnabled: bool(),
      }),
      { oneof: "configuration" },
    ),
    scim: object(
      messageType(name("IdentityProvider.SCIM"), {
        enabled: bool(),
        endpointUrl: text(),
        tokenExpireTime: timestamp(),
        previousTokenExpireTime: timestamp(),
        credentialState: enumOf(enumType("CREDENTIAL_STATE", "NOT_ISSUED LIVE EXPIRED REVOKED ROTATING")),
        etag: text(),
      }),
      { outputOnly: true },
    ),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  nameFilter: true,
  custom: [
    scimMethod(
      "GenerateScimToken",
      "generateScimToken",
      { expireTime: timestamp(), neverExpires: bool() },
      token,
    ),
    scimMethod(
      "RegenerateScimToken",
      "regenerateScimToken",
      { etag: text(), overlap: duration(), expireTime: timestamp(), neverExpires: bool() },
      { ...token, previousTokenExpireTime: timestamp(), requestedOverlap: duration() },
    ),
    scimMethod("RevokeScimToken", "revokeScimToken", {}, { enabled: bool(), revokeTime: timestamp() }),
    scimMethod("SetScimEnabled", "setScimEnabled", { enabled: bool(), etag: text() }, { enabled: bool() }),
  ],
};
