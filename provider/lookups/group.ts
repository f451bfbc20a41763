import { CodedError } from "../errors/codedError";
import { Group } from "../kinds/group";
import type { GetGroupResult } from "../kinds/group";
import { decode, isRecord, resourceDecoder } from "../fields/responseDecoders";
import { functionsOf } from "./invoke";
import { orNotFound } from "./lookup";

/** What `checkEligibility` returns. */
export interface CheckEligibilityResult {
  /** Whether the holder of the token may have an organisation, by the domain of its e-mail address. */
  eligible: boolean;
}

const COLLECTION = Group.spec.collection;
const decodeGroup = resourceDecoder(Group.spec) as (response: unknown) => GetGroupResult;

const ownGroup = functionsOf<object, GetGroupResult>({
  call: "lookupGroup",
  takes: {},
  run: async (client) => {
    const none = "there is no group for the e-mail domain of this token";
    const { group } = await orNotFound(client.getAllowingEmpty(`${COLLECTION}:lookupGroup`), none);
    if (!isRecord(group)) throw new CodedError("PP1203", none);
    return decodeGroup(group);
  },
});

const eligibility = functionsOf<object, CheckEligibilityResult>({
  call: "checkEligibility",
  takes: {},
  run: async (client) => {
    const { eligible } = await client.getAllowingEmpty(`${COLLECTION}:checkEligibility`);
    return { eligible: decode.boolean(eligible) };
  },
});

/** The organisation of the domain of the e-mail address in the token. Throws where there is none. */
export const lookupGroup = ownGroup.call;

/** Returns what `lookupGroup` returns, as an output. */
export const lookupGroupOutput = ownGroup.output;

/** Whether the domain of the e-mail address in the token is eligible for an organisation. */
export const checkEligibility = eligibility.call;

/** Returns what `checkEligibility` returns, as an output. */
export const checkEligibilityOutput = eligibility.output;
