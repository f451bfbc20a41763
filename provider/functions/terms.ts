import type * as pulumi from "@pulumi/pulumi";
import { encodeUid } from "../api/uid";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, limitRules, listing } from "./lookup";
import type { LimitArgs } from "./lookup";

/** Selects the group whose accepted terms to list. */
export interface GetTermsAcceptancesArgs extends LimitArgs {
  /** The uid of the group. */
  groupUid: string;
}

/** An acceptance of a document, for a group or one above it. Contract, section 6. */
export interface AcceptedTerms {
  /** The id of the document. */
  docId: string;
  /** Who accepted it. */
  acceptedBy: string;
  /** The uid of the group that it was accepted for. */
  orgUid: string;
  /** When: RFC 3339, as the API wrote it. */
  createTime?: string;
}

const acceptances = listing<GetTermsAcceptancesArgs, AcceptedTerms>({
  call: "getTermsAcceptances",
  collection: ({ groupUid }) => `/iam/v2/terms/${encodeUid(groupUid)}`,
  member: "termsAcceptances",
  rules: { groupUid: take.required(take.uid), ...limitRules },
  read: read.object<AcceptedTerms>({
    docId: read.text,
    acceptedBy: read.text,
    orgUid: read.text,
    createTime: read.time,
  }),
  // They have no uid.
  key: ({ docId, acceptedBy, orgUid, createTime }) => JSON.stringify([docId, acceptedBy, orgUid, createTime]),
});

/** Lists the accepted terms of a group and of those above it. */
export function getTermsAcceptances(args: GetTermsAcceptancesArgs): Promise<AcceptedTerms[]> {
  return ask(acceptances, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getTermsAcceptancesOutput(
  args: LookupInputs<GetTermsAcceptancesArgs>,
): pulumi.Output<AcceptedTerms[]> {
  return askLater(acceptances, args);
}
