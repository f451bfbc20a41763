import { CodedError } from "../errors/codedError";
import { isObject } from "../fields/values";
import { resourceReader } from "../fields/wire";
import { Group } from "../kinds/group";
import type { GetGroupResult } from "../kinds/group";
import { functionsOf } from "./invoke";
import { orNotFound } from "./lookup";

/** What `checkEligibility` returns. */
export interface CheckEligibilityResult {
  /** Whether the holder of the token may have an organisation, by the domain of its e-mail address. */
  eligible: boolean;
}

const GROUPS = Group.spec.collection;
const readGroup = resourceReader(Group.spec) as (response: unknown) => GetGroupResult;

const ownGroup = functionsOf<object, GetGroupResult>({
  call: "lookupGroup",
  takes: {},
  run: async (client) => {
    const none = "there is no group for the e-mail domain of this token";
    const { group } = await orNotFound(client.getAllowingEmpty(`${GROUPS}:lookupGroup`), none);
    if (!isObject(group)) throw new CodedError("PP1203", none);
    return readGroup(group);
  },
});

const eligibility = functionsOf<object, CheckEligibilityResult>({
  call: "checkEligibility",
  takes: {},
  run: async (client) => {
    const { eligible } = await client.getAllowingEmpty(`${GROUPS}:checkEligibility`);
    return { eligible: eligible === true };
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
