import { getGroupOutput, getRepoOutput, getTagOutput, getTagsOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const api = getRepoOutput({ name: "api", parentUid: acme.uid });
const latest = getTagOutput({ name: "latest", parentUid: api.uid });
const tags = getTagsOutput({ childrenOf: api.uid });

export const digest = latest.digest;
export const tagNames = tags.apply((all) => all.map(({ name }) => name));
