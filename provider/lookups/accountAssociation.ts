import { enumOf, string } from "../fields/builders";
import type { ArgumentsOf, Returned } from "../fields/builders";
import { resultReader } from "../fields/wire";
import type { JsonObject } from "../http/client";
import { AccountAssociation } from "../kinds/accountAssociation";
import { requiredUid } from "./arguments";
import { functionsOf } from "./invoke";
import { notFoundMessage, orNotFound } from "./lookup";

const takes = {
  /** The uid: that of its group. */
  uid: requiredUid,
  /** `ACCOUNT_PROVIDER_TYPE_GOOGLE`, `ACCOUNT_PROVIDER_TYPE_AMAZON` or `ACCOUNT_PROVIDER_TYPE_AZURE`. */
  provider: string({
    required: true,
    // The server drops other names without an error.
    pattern: {
      regex: /^ACCOUNT_PROVIDER_TYPE_(GOOGLE|AMAZON|AZURE)$/,
      must: "ACCOUNT_PROVIDER_TYPE_GOOGLE, ACCOUNT_PROVIDER_TYPE_AMAZON or ACCOUNT_PROVIDER_TYPE_AZURE",
    },
  }),
};

/** Selects an account association and the side of it to check. */
export interface CheckAccountAssociationArgs extends ArgumentsOf<typeof takes> {}

const checked = {
  /** Whether the platform can use the account. */
  ready: (_value: unknown, body: JsonObject) => body["status"] === "CHECK_STATUS_READY",
  /** `CHECK_STATUS_…`; left out where the response does not say. */
  status: enumOf("CHECK_STATUS_", []),
  /** Why, in a word for programs; empty where there is nothing to say. */
  reason: string(),
  /** Why, for people; empty where there is nothing to say. */
  message: string(),
};

/** What `checkAccountAssociation` returns. */
export interface CheckAccountAssociationResult extends Returned<typeof checked> {}

const readCheck = resultReader<CheckAccountAssociationResult>(checked);

const check = functionsOf<CheckAccountAssociationArgs, CheckAccountAssociationResult>({
  call: "checkAccountAssociation",
  takes,
  run: async (client, { uid, provider }) => {
    const path = client.resourcePath(AccountAssociation.spec.collection, uid, ":checkAccountAssociation");
    const response = client.post(path, { providerType: provider }, { isIdempotent: true });
    return readCheck(await orNotFound(response, notFoundMessage(uid)));
  },
});

/**
 * Whether the platform can use the account of one provider; it changes nothing.
 *
 * @capability CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST
 */
export const checkAccountAssociation = check.call;

/** Returns what `checkAccountAssociation` returns, as an output. Its arguments can be outputs of other resources. */
export const checkAccountAssociationOutput = check.output;
