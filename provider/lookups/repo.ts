import { Repo } from "../kinds/repo";
import type { GetRepoResult } from "../kinds/repo";
import { decode } from "../fields/responseDecoders";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import type { Lookup } from "./invoke";
import { orNotFound, defineLookups, notFoundMessage } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one repository: by `uid`, or by `name`. */
export interface GetRepoArgs extends ByNameArgs {}

/** Which repositories to list. All by default. */
export interface GetReposArgs extends NamedListArgs {}

/** Selects a readme. */
export interface GetRepoReadmeArgs {
  /** The uid of the repository. */
  repoUid: string;
}

/** The readme of a repository. */
export interface GetRepoReadmeResult {
  /** The uid of the repository. */
  uid: string;
  /** The text in Markdown; empty where there is none. */
  content: string;
}

const { one, list } = defineLookups<GetRepoArgs, GetReposArgs, GetRepoResult>(Repo, {
  calls: ["getRepo", "getRepos"],
});

/** Finds exactly one repository. Throws where there is none, and where there are several, with their uids and parents. */
export const getRepo = invoke(one);

/** Returns what `getRepo` returns, as an output. Its arguments can be outputs of other resources. */
export const getRepoOutput = invokeOutput(one);

/** Lists the repositories that match and that the token may see. */
export const getRepos = invokeWithOptionalArgs(list);

/** Returns what `getRepos` returns, as an output. Its arguments can be outputs of other resources. */
export const getReposOutput = invokeWithOptionalArgsOutput(list);

const readme: Lookup<GetRepoReadmeArgs, GetRepoReadmeResult> = {
  call: "getRepoReadme",
  validators: { repoUid: validate.required(validate.uid) },
  run: async (client, { repoUid }) => {
    const path = client.address(Repo.spec.collection, repoUid, "/readme");
    const response = await orNotFound(client.getAllowingEmpty(path), notFoundMessage(repoUid));
    return { uid: repoUid, content: decode.string(response["content"]) };
  },
};

/** Reads the readme of a repository. Throws where there is no such repository. */
export const getRepoReadme = invoke(readme);

/** Returns what `getRepoReadme` returns, as an output. Its arguments can be outputs of other resources. */
export const getRepoReadmeOutput = invokeOutput(readme);
