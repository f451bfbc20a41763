import { CodedError } from "../errors/codedError";
import { Group } from "../kinds/group";
import type { GetGroupResult } from "../kinds/group";
import { decode, isRecord, resourceDecoder } from "../fields/responseDecoders";
import {
  invoke,
  invokeWithOptionalArgs,
  invokeWithOptionalArgsOutput,
  invokeWithoutArgs,
  invokeWithoutArgsOutput,
  invokeOutput,
} from "./invoke";
import type { Lookup } from "./invoke";
import { orNotFound, defineLookups } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one group: by `uid`, or by `name`. */
export interface GetGroupArgs extends ByNameArgs {}

/** Which groups to list. All by default. */
export interface GetGroupsArgs extends NamedListArgs {}

/** What `checkEligibility` returns. */
export interface CheckEligibilityResult {
  /** Whether the holder of the token may have an organisation, by the domain of its e-mail address. */
  eligible: boolean;
}

const COLLECTION = Group.spec.collection;
const decodeGroup = resourceDecoder(Group.spec) as (response: unknown) => GetGroupResult;

const { one, list } = defineLookups<GetGroupArgs, GetGroupsArgs, GetGroupResult>(Group, {
  calls: ["getGroup", "getGroups"],
});

/** Finds exactly one group. Throws where there is none, and where there are several, with their uids and parents. */
export const getGroup = invoke(one);

/** Returns what `getGroup` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupOutput = invokeOutput(one);

/** Lists the groups that match and that the token may see. */
export const getGroups = invokeWithOptionalArgs(list);

/** Returns what `getGroups` returns, as an output. Its arguments can be outputs of other resources. */
export const getGroupsOutput = invokeWithOptionalArgsOutput(list);

const ownGroup: Lookup<object, GetGroupResult> = {
  call: "lookupGroup",
  validators: {},
  run: async (client) => {
    const none = "there is no group for the e-mail domain of this token";
    const { group } = await orNotFound(client.getAllowingEmpty(`${COLLECTION}:lookupGroup`), none);
    if (!isRecord(group)) throw new CodedError("PP1203", none);
    return decodeGroup(group);
  },
};

const eligibility: Lookup<object, CheckEligibilityResult> = {
  call: "checkEligibility",
  validators: {},
  run: async (client) => {
    const { eligible } = await client.getAllowingEmpty(`${COLLECTION}:checkEligibility`);
    return { eligible: decode.boolean(eligible) };
  },
};

/** The organisation of the domain of the e-mail address in the token. Throws where there is none. */
export const lookupGroup = invokeWithoutArgs(ownGroup);

/** Returns what `lookupGroup` returns, as an output. */
export const lookupGroupOutput = invokeWithoutArgsOutput(ownGroup);

/** Whether the domain of the e-mail address in the token is eligible for an organisation. */
export const checkEligibility = invokeWithoutArgs(eligibility);

/** Returns what `checkEligibility` returns, as an output. */
export const checkEligibilityOutput = invokeWithoutArgsOutput(eligibility);
