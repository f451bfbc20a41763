import { string, time } from "../fields/builders";
import type { Returned } from "../fields/builders";
import { resultReader } from "../fields/wire";
import { encodeUid } from "../text/uid";
import * as take from "./arguments";
import type { ArgumentsOf } from "./arguments";
import { functionsOf } from "./invoke";
import { limitArgument, lookupList } from "./lookup";

const takes = {
  /** The uid of the group. */
  groupUid: take.required(take.sentAs(null, take.uid)),
  ...limitArgument,
};

/** Selects the group whose accepted terms to list. */
export interface GetTermsAcceptancesArgs extends ArgumentsOf<typeof takes> {}

const acceptance = {
  /** The id of the document. */
  docId: string(),
  /** Who accepted it. */
  acceptedBy: string(),
  /** The uid of the group that it was accepted for. */
  orgUid: string(),
  /** When: RFC 3339, as the API wrote it. */
  createTime: time,
};

/** An acceptance of a document, for a group or one above it. */
export interface AcceptedTerms extends Returned<typeof acceptance> {}

const acceptances = functionsOf(
  lookupList<GetTermsAcceptancesArgs, AcceptedTerms>({
    call: "getTermsAcceptances",
    takes,
    collection: ({ groupUid }) => `/iam/v2/terms/${encodeUid(groupUid)}`,
    member: "termsAcceptances",
    read: resultReader<AcceptedTerms>(acceptance),
  }),
);

/**
 * Lists the accepted terms of a group and of those above it.
 *
 * @capability CAP_TERMS_LIST
 */
export const getTermsAcceptances = acceptances.call;

/** Returns what `getTermsAcceptances` returns, as an output. Its arguments can be outputs of other resources. */
export const getTermsAcceptancesOutput = acceptances.output;
