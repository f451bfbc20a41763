import { string, time } from "../fields/builders";
import type { ArgumentsOf, Returned } from "../fields/builders";
import { resultReader } from "../fields/wire";
import { encodeUid } from "../text/uid";
import { functionsOf } from "./invoke";
import { limitArgument, lookupList } from "./lookup";
import type { LimitArgs } from "./lookup";

const takes = {
  /** The uid of the group. */
  groupUid: string({ format: "uid", required: true, path: true }),
};

/** Selects the group whose accepted terms to list. */
export interface GetTermsAcceptancesArgs extends ArgumentsOf<typeof takes>, LimitArgs {}

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
    takes: { ...takes, ...limitArgument },
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
