import { enumeration, int64, list, map, messageType, object, text } from "../gateway/fields";
import type { Message } from "../gateway/fields";
import { alreadyExists, invalidField } from "../gateway/status";
import type { PlatformService } from "../service/platformService";
import { descriptionFlags, nameFlags, times, uid } from "./common";
import type { KindTable, AuthenticatedCall } from "./kindTable";

const installation = messageType({
  installationId: int64(),
  name: text(),
});

export const accountAssociation: KindTable = {
  kind: "AccountAssociation",
  prefix: "/iam/v2",
  collection: "accountAssociations",
  message: messageType({
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    amazon: object({ account: text({ required: true }) }),
    google: object({
      projectId: text({ required: true }),
      projectNumber: text({ required: true }),
    }),
    azure: object({
      tenantId: text({ required: true }),
      clientIds: map(text(), { required: true }),
    }),
    chainguard: object({
      serviceBindings: map(text(), { required: true }),
    }),
    github: object({
      appInstallations: map(
        object({
          installations: list(object(installation)),
        }),
        {},
        "int64",
      ),
    }),
    ...times,
  }),
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_ACCOUNT_ASSOCIATIONS",
  hasNameFilter: true,
  custom: [
    {
      rpc: "iam.v2.AccountAssociationsService/CheckAccountAssociation",
      capabilities: ["IAM_ACCOUNT_ASSOCIATIONS_LIST"],
      verb: "POST",
      pattern: "/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation",
      body: "*",
      request: messageType({
        uid: text(),
        providerType: enumeration("ACCOUNT_PROVIDER_TYPE", "GOOGLE AMAZON AZURE"),
      }),
      response: messageType({
        status: enumeration("CHECK_STATUS", "READY NOT_READY"),
        reason: text(),
        message: text(),
      }),
      run: check,
    },
  ],
  defaultOrder: "group asc",
  columns: { group: "uid" },
  parent: "Group",
  hasUidOfParent: true,
  hasIdempotentDelete: true,
  check({ before, parent }, platform) {
    if (before || !platform.store.find("AccountAssociation", parent)) return;
    const description = `group "${parent}" has an account association`;
    throw alreadyExists("AccountAssociation", parent, description);
  },
  events: {
    name: "iam.account_associations",
    deletedWithoutBody: true,
  },
};

const blocks: Readonly<Record<string, string>> = {
  ACCOUNT_PROVIDER_TYPE_GOOGLE: "google",
  ACCOUNT_PROVIDER_TYPE_AMAZON: "amazon",
  ACCOUNT_PROVIDER_TYPE_AZURE: "azure",
};

/** No request goes to the cloud provider: an association is ready when it has a block for it. */
function check({ request }: AuthenticatedCall, platform: PlatformService): Message {
  const entry = platform.requireEntry("AccountAssociation", request.uid);
  const block = blocks[(request.providerType ?? "") as string];
  if (block === undefined) {
    throw invalidField("providerType", "providerType is required");
  }
  const notReady = (reason: string, message: string): Message => ({
    status: "CHECK_STATUS_NOT_READY",
    reason,
    message,
  });
  if (entry.value[block] === undefined) {
    return notReady("NOT_CONFIGURED", `the association has no ${block} account`);
  }
  if (platform.countDown("checksNotReady")) {
    return notReady("PROPAGATING", `the ${block} account does not trust the association yet`);
  }
  return { status: "CHECK_STATUS_READY" };
}
