import { enumOf, enumType, int64, list, map, messageType, object, text } from "../gateway/descriptor";
import { times, uid } from "./common";
import { descriptionFlags, nameFlags } from "./formats";
import type { KindTable } from "./kindTable";

const name = (suffix: string): string => `chainguard.platform.iam.v2.${suffix}`;

const installation = messageType(name("AccountAssociation.GitHub.Installation"), {
  installationId: int64(),
  name: text(),
});

export const accountAssociation: KindTable = {
  kind: "AccountAssociation",
  prefix: "/iam/v2",
  collection: "accountAssociations",
  service: "iam.v2.AccountAssociationsService",
  message: messageType(name("AccountAssociation"), {
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    amazon: object(messageType(name("AccountAssociation.Amazon"), { account: text({ required: true }) })),
    google: object(
      messageType(name("AccountAssociation.Google"), {
        projectId: text({ required: true }),
        projectNumber: text({ required: true }),
      }),
    ),
    azure: object(
      messageType(name("AccountAssociation.Azure"), {
        tenantId: text({ required: true }),
        clientIds: map(text(), { required: true }),
      }),
    ),
    chainguard: object(
      messageType(name("AccountAssociation.Chainguard"), {
        serviceBindings: map(text(), { required: true }),
      }),
    ),
    github: object(
      messageType(name("AccountAssociation.GitHub"), {
        appInstallations: map(
          object(
            messageType(name("AccountAssociation.GitHub.Installations"), {
              installations: list(object(installation)),
            }),
          ),
          {},
          "int64",
        ),
      }),
    ),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  nameFilter: true,
  custom: [
    {
      rpc: "iam.v2.AccountAssociationsService/CheckAccountAssociation",
      verb: "POST",
      pattern: "/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation",
      body: "*",
      request: messageType(name("CheckAccountAssociationRequest"), {
        uid: text(),
        providerType: enumOf(enumType("ACCOUNT_PROVIDER_TYPE", "GOOGLE AMAZON AZURE")),
      }),
      response: messageType(name("CheckAccountAssociationResponse"), {
        status: enumOf(enumType("CHECK_STATUS", "READY NOT_READY")),
        reason: text(),
        message: text(),
      }),
    },
  ],
};
