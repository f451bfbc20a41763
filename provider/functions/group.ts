import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, found, listing, listRules, selecting } from "./lookup";
import type { ListArgs, Lookup } from "./lookup";

/** Selects one group: by `uid`, or by `name`. */
export interface GetGroupArgs {
  /** The uid, as the `id` of a Group. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a group directly below this one. */
  parentUid?: string;
}

/** A group. Contract, section 5. */
export interface GetGroupResult {
  /** The uid. */
  uid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** `ORG_KIND_…`; inherited from the root. Left out where it is not set. */
  kind?: string;
  /** Whether the platform's staff has verified the organisation. */
  verified: boolean;
  /** The uid of its parent; left out on a root group. */
  parentUid?: string;
  /** How many of each type of resource there may be; left out where nothing is limited. */
  resourceLimits?: Record<string, number>;
  /** `ORG_STATUS_…`; inherited from the root. Left out where it is not set. */
  status?: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which groups to list. All by default. */
export interface GetGroupsArgs extends ListArgs {
  /** The exact name. */
  name?: string;
}

/** What `checkEligibility` answers. */
export interface CheckEligibilityResult {
  /** Whether the holder of the token may have an organisation, by the domain of its e-mail address. */
  eligible: boolean;
}

const COLLECTION = "/iam/v2/groups";

const readGroup = read.object<GetGroupResult>({
  uid: read.text,
  name: read.text,
  description: read.text,
  kind: read.enumName,
  verified: read.flag,
  parentUid: read.parent,
  resourceLimits: read.countMap,
  status: read.enumName,
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetGroupArgs> = { uid: take.uid, name: take.text, parentUid: take.uid };
const oneGroup = selecting("getGroup", COLLECTION, rules, readGroup);

const groups = listing<GetGroupsArgs, GetGroupResult>({
  call: "getGroups",
  collection: COLLECTION,
  rules: { ...listRules, name: take.sentAs("name", take.text) },
  read: readGroup,
});

const ownGroup: Lookup<object, GetGroupResult> = {
  call: "lookupGroup",
  rules: {},
  run: async (client) => {
    const none = "there is none for the e-mail domain of this token";
    const { group } = await found(client.getPerhapsEmpty(`${COLLECTION}:lookupGroup`), none);
    if (!read.isRecord(group)) throw new Error(none);
    return readGroup(group);
  },
};

const eligibility: Lookup<object, CheckEligibilityResult> = {
  call: "checkEligibility",
  rules: {},
  run: async (client) => {
    const { eligible } = await client.getPerhapsEmpty(`${COLLECTION}:checkEligibility`);
    return { eligible: read.flag(eligible) };
  },
};

/** Finds exactly one group. Throws where there is none, and where there are several, with their uids and parents. */
export function getGroup(args: GetGroupArgs): Promise<GetGroupResult> {
  return ask(oneGroup, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getGroupOutput(args: LookupInputs<GetGroupArgs>): pulumi.Output<GetGroupResult> {
  return askLater(oneGroup, args);
}

/** Lists the groups that match and that the token may see. */
export function getGroups(args: GetGroupsArgs = {}): Promise<GetGroupResult[]> {
  return ask(groups, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getGroupsOutput(args: LookupInputs<GetGroupsArgs> = {}): pulumi.Output<GetGroupResult[]> {
  return askLater(groups, args);
}

/**
 * The organisation of the domain of the e-mail address in the token (contract, section 6). Throws where
 * there is none.
 */
export function lookupGroup(): Promise<GetGroupResult> {
  return ask(ownGroup, {});
}

/** The same as an output. */
export function lookupGroupOutput(): pulumi.Output<GetGroupResult> {
  return askLater(ownGroup, {});
}

/** Whether the domain of the e-mail address in the token is eligible for an organisation (contract, section 6). */
export function checkEligibility(): Promise<CheckEligibilityResult> {
  return ask(eligibility, {});
}

/** The same as an output. */
export function checkEligibilityOutput(): pulumi.Output<CheckEligibilityResult> {
  return askLater(eligibility, {});
}
