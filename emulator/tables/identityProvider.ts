import type { Message } from "../gateway/descriptor";
import {
  bool,
  clearField,
  copyValue,
  enumOf,
  enumType,
  list,
  messageType,
  object,
  text,
} from "../gateway/descriptor";
import { times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable, Write } from "./kindTable";
import { currentScim, newScim, scimHandlers, scimMessage, scimMethods } from "./scim";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;
export const identityProviders: KindTable = {
  kind: "IdentityProvider",
  prefix: "/iam/v2",
  collection: "identityProviders",
  service: "iam.v2.IdentityProvidersService",
  message: messageType(
    name("IdentityProvider"),
    {
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
          ),
          pkceEnabled: bool(),
        }),
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
  behaviour: {
    parent: "Group",
    references: [{ field: "defaultRole", kind: "Role", onDelete: "refuse" }],
    check(write, context) {
      if (write.parent.includes("/")) {
        write.addViolation("parent", "an identity provider belongs to a root group");
      }
      const role = write.value.defaultRole as string | undefined;
      if (role !== undefined && !context.store.find("Role", role)) {
        write.addViolation("defaultRole", `role "${role}" does not exist`);
      }
      const oidc = write.value.oidc as Message | undefined;
      if (oidc) checkOidc(oidc, write);
    },
    complete({ value }) {
      (value.oidc as Message).correlationRule ??= defaultRule;
      value.scim ??= newScim();
    },
    toResponse(entry, context, form) {
      const response = copyValue(entry.value);
      clearField(response.oidc as Message, "clientSecret");
      if (form === "list") delete response.scim;
      else response.scim = currentScim(entry, context);
      return response;
    },
    custom: scimHandlers,
    events: { name: "iam.identity_providers", actions: ["created", "updated", "deleted"] },
  },
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
