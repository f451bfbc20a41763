import { checkEligibilityOutput, getGroupOutput, getGroupsOutput, lookupGroupOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const below = getGroupsOutput({ descendantsOf: acme.uid });

export const groupNames = below.apply((groups) => groups.map(({ name }) => name));
// The organisation of the e-mail domain in the token, and whether that domain may have one.
export const own = lookupGroupOutput().name;
export const mayHaveOne = checkEligibilityOutput().eligible;
