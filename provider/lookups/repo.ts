import type { ArgumentsOf } from "../fields/builders";
import { stringOrEmpty } from "../fields/values";
import { Repo } from "../kinds/repo";
import { requiredUid } from "./arguments";
import { functionsOf } from "./invoke";
import { notFoundMessage, orNotFound } from "./lookup";

const takes = {
  /** The uid of the repository. */
  repoUid: requiredUid,
};

/** Selects a readme. */
export interface GetRepoReadmeArgs extends ArgumentsOf<typeof takes> {}

/** The readme of a repository. */
export interface GetRepoReadmeResult {
  /** The uid of the repository. */
  uid: string;
  /** The text in Markdown; empty where there is none. */
  content: string;
}

const readme = functionsOf<GetRepoReadmeArgs, GetRepoReadmeResult>({
  call: "getRepoReadme",
  takes,
  run: async (client, { repoUid }) => {
    const path = client.resourcePath(Repo.spec.collection, repoUid, "/readme");
    const response = await orNotFound(client.getAllowingEmpty(path), notFoundMessage(repoUid));
    return { uid: repoUid, content: stringOrEmpty(response["content"]) };
  },
});

/** Reads the readme of a repository. Throws where there is no such repository. */
export const getRepoReadme = readme.call;

/** Returns what `getRepoReadme` returns, as an output. Its arguments can be outputs of other resources. */
export const getRepoReadmeOutput = readme.output;
