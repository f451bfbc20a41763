import { encodeUid } from "../text/uid";
import { decode } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";
import { validate } from "./validators";
import { invoke, invokeOutput } from "./invoke";
import { limitValidators, lookupList } from "./lookup";
import type { LimitArgs } from "./lookup";

/** Selects the group whose accepted terms to list. */
export interface GetTermsAcceptancesArgs extends LimitArgs {
  /** The uid of the group. */
  groupUid: string;
}

const acceptance = {
  /** The id of the document. */
  docId: decode.string,
  /** Who accepted it. */
  acceptedBy: decode.string,
  /** The uid of the group that it was accepted for. */
  orgUid: decode.string,
  /** When: RFC 3339, as the API wrote it. */
  createTime: decode.time,
};

/** An acceptance of a document, for a group or one above it. */
export interface AcceptedTerms extends Decoded<typeof acceptance> {}

const acceptances = lookupList<GetTermsAcceptancesArgs, AcceptedTerms>({
  call: "getTermsAcceptances",
  collection: ({ groupUid }) => `/iam/v2/terms/${encodeUid(groupUid)}`,
  member: "termsAcceptances",
  validators: { groupUid: validate.required(validate.uid), ...limitValidators },
  read: decode.object<AcceptedTerms>(acceptance),
  // They have no uid.
  key: ({ docId, acceptedBy, orgUid, createTime }) => JSON.stringify([docId, acceptedBy, orgUid, createTime]),
});

/**
 * Lists the accepted terms of a group and of those above it.
 *
 * @capability CAP_TERMS_LIST
 */
export const getTermsAcceptances = invoke(acceptances);

/** Returns what `getTermsAcceptances` returns, as an output. Its arguments can be outputs of other resources. */
export const getTermsAcceptancesOutput = invokeOutput(acceptances);
