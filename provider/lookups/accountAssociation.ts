import { AccountAssociation } from "../kinds/accountAssociation";
import type { GetAccountAssociationResult } from "../kinds/accountAssociation";
import { decode } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import type { Lookup } from "./invoke";
import { orNotFound, defineLookups, notFoundMessage } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one account association: by `uid`, which is that of its group, or by `name`. */
export interface GetAccountAssociationArgs extends Omit<ByNameArgs, "parentUid"> {}

/** Which account associations to list. All by default, ordered by their group. */
export interface GetAccountAssociationsArgs extends NamedListArgs {}

/** Selects an account association and the side of it to check. */
export interface CheckAccountAssociationArgs {
  /** The uid: that of its group. */
  uid: string;
  /** `ACCOUNT_PROVIDER_TYPE_GOOGLE`, `ACCOUNT_PROVIDER_TYPE_AMAZON` or `ACCOUNT_PROVIDER_TYPE_AZURE`. */
  provider: string;
}

const checked = {
  /** Whether the platform can use the account. */
  ready: (_value: unknown, body: Readonly<Record<string, unknown>>) =>
    body["status"] === "CHECK_STATUS_READY",
  /** `CHECK_STATUS_…`; left out where the response does not say. */
  status: decode.enumName,
  /** Why, in a word for programs; empty where there is nothing to say. */
  reason: decode.string,
  /** Why, for people; empty where there is nothing to say. */
  message: decode.string,
};

/** What `checkAccountAssociation` returns. */
export interface CheckAccountAssociationResult extends Decoded<typeof checked> {}

const { one, list } = defineLookups<
  GetAccountAssociationArgs,
  GetAccountAssociationsArgs,
  GetAccountAssociationResult
>(AccountAssociation, {
  calls: ["getAccountAssociation", "getAccountAssociations"],
});

/** Finds exactly one account association. Throws where there is none, and where there are several, with their uids. */
export const getAccountAssociation = invoke(one);

/** Returns what `getAccountAssociation` returns, as an output. Its arguments can be outputs of other resources. */
export const getAccountAssociationOutput = invokeOutput(one);

/** Lists the account associations that match and that the token may see. */
export const getAccountAssociations = invokeWithOptionalArgs(list);

/** Returns what `getAccountAssociations` returns, as an output. Its arguments can be outputs of other resources. */
export const getAccountAssociationsOutput = invokeWithOptionalArgsOutput(list);

const decodeCheck = decode.object<CheckAccountAssociationResult>(checked);

const check: Lookup<CheckAccountAssociationArgs, CheckAccountAssociationResult> = {
  call: "checkAccountAssociation",
  validators: {
    uid: validate.required(validate.uid),
    provider: validate.required(
      validate.oneName(["GOOGLE", "AMAZON", "AZURE"].map((name) => `ACCOUNT_PROVIDER_TYPE_${name}`)),
    ),
  },
  run: async (client, { uid, provider }) => {
    const path = client.address(AccountAssociation.spec.collection, uid, ":checkAccountAssociation");
    const response = client.post(path, { providerType: provider }, { isIdempotent: true });
    return decodeCheck(await orNotFound(response, notFoundMessage(uid)));
  },
};

/**
 * Whether the platform can use the account of one provider; it changes nothing.
 *
 * @capability CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST
 */
export const checkAccountAssociation = invoke(check);

/** Returns what `checkAccountAssociation` returns, as an output. Its arguments can be outputs of other resources. */
export const checkAccountAssociationOutput = invokeOutput(check);
