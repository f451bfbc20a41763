import type { Message } from "../gateway/fields";
import { bool, clearField, copyValue, enumeration, list, messageType, object, text } from "../gateway/fields";
import { descriptionFlags, nameFlags, times, uid } from "./common";
import type { KindTable, Write } from "./kindTable";
import { currentScim, newScim, scimMessage, scimMethods } from "./scim";

export const identityProviders: KindTable = {
  kind: "IdentityProvider",
  prefix: "/iam/v2",
  collection: "identityProviders",
  service: "iam.v2.IdentityProvidersService",
  message: messageType(
    {
      uid,
      name: text(nameFlags),
      description: text(descriptionFlags),
      defaultRole: text({ required: true }),
      oidc: object(
        {
          issuer: text({ required: true }),
          clientId: text({ required: true }),
          clientSecret: text(),
          additionalScopes: list(text()),
          groupsClaim: text(),
          correlationRule: enumeration("CORRELATION_RULE", "SUB_EQUALS_EXTERNAL_ID OID_EQUALS_EXTERNAL_ID"),
          pkceEnabled: bool(),
        },
        { oneof: "configuration" },
      ),
      scim: object(scimMessage, { outputOnly: true }),
      ...times,
    },
    ["configuration"],
  ),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_IDENTITY_PROVIDERS",
  furtherCapabilities: { create: ["IAM_ROLE_BINDINGS_CREATE"], update: ["IAM_ROLE_BINDINGS_CREATE"] },
  hasNameFilter: true,
  custom: scimMethods,
  parent: "Group",
  references: [{ field: "defaultRole", kind: "Role", onDelete: "refuse" }],
  check(write) {
    if (write.parent.includes("/")) {
      write.addViolation("parent", "an identity provider belongs to a root group");
    }
    const oidc = write.value.oidc as Message | undefined;
    if (oidc) checkOidc(oidc, write);
  },
  complete({ value }) {
    (value.oidc as Message).correlationRule ??= defaultRule;
    value.scim ??= newScim();
  },
  toResponse(entry, platform, form) {
    const response = copyValue(entry.value);
    clearField(response.oidc as Message, "clientSecret");
    if (form === "list") delete response.scim;
    else response.scim = currentScim(entry, platform);
    return response;
  },
  events: { name: "iam.identity_providers" },
};

const defaultRule = "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID";

function checkOidc(oidc: Message, write: Write): void {
  const before = write.before?.oidc as Message | undefined;
  if (before) {
    // Only a mask that names the secret itself clears it, because responses never contain it.
    if (before.clientSecret !== undefined && !write.namesExactly("oidc.clientSecret")) {
      oidc.clientSecret ??= before.clientSecret;
    }
    if ((oidc.correlationRule ?? defaultRule) !== before.correlationRule) {
      write.addViolation("oidc.correlationRule", "correlationRule cannot change");
    }
  }
  if (oidc.clientSecret === undefined && !oidc.pkceEnabled) {
    write.addViolation("oidc.clientSecret", "clientSecret, pkceEnabled or both are required");
  }
}
