import { getGroupOutput, getRepoOutput, getRepoReadmeOutput, getReposOutput } from "pulumi-platform";

const acme = getGroupOutput({ name: "acme" });
const api = getRepoOutput({ name: "api", parentUid: acme.uid });
const repos = getReposOutput({ descendantsOf: acme.uid });

export const readme = getRepoReadmeOutput({ repoUid: api.uid }).content;
export const repoNames = repos.apply((all) => all.map(({ name }) => name));
