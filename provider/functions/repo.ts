import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, found, listing, listRules, noneWith, selecting } from "./lookup";
import type { ListArgs, Lookup } from "./lookup";

/** Selects one repository: by `uid`, or by `name`. */
export interface GetRepoArgs {
  /** The uid, as the `id` of a Repo. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a repository of this group. */
  parentUid?: string;
}

/** What a repository is kept in step with. */
export interface RepoSyncConfig {
  /** The uid of the source, whatever the program called it. */
  source: string;
  /** The Google registry that is copied to; empty where there is none. */
  google: string;
  /** The Amazon registry that is copied to; empty where there is none. */
  amazon: string;
  /** The Azure registry that is copied to; empty where there is none. */
  azure: string;
  /** Whether only tags are copied that no later build moves. Decided by the service. */
  uniqueTags: boolean;
  /** When copying ends: RFC 3339, as the API wrote it. Decided by the service. */
  expirationTime?: string;
  /** What is put into the images on the way; empty where there is nothing. Decided by the service. */
  apkoOverlay: string;
  /** Whether the time of grace after the end has begun. Decided by the service. */
  gracePeriod: boolean;
}

/** A key that signs packages. */
export interface RepoOverlayKey {
  /** The name of its file. */
  name: string;
  /** An RSA public key in PEM. */
  content: string;
}

/** What is put into an image. */
export interface RepoOverlayContents {
  /** Packages that are added; their order means nothing. */
  packages: string[];
  /** Package repositories that replace the default ones. */
  runtimeRepositories: string[];
  /** Keys that packages may be signed with. */
  runtimeKeyring: RepoOverlayKey[];
}

/** A user of an image. */
export interface RepoOverlayUser {
  /** The name. */
  username: string;
  /** The numeric user id; 0 where none is set. */
  uid: number;
  /** The numeric id of the main group; 0 where none is set. */
  gid: number;
  /** The name of the main group; empty where none is set. */
  groupName: string;
  /** The path of the log-in shell; empty where none is set. */
  shell: string;
  /** The path of the home directory; empty where none is set. */
  homeDir: string;
}

/** A group of users of an image. */
export interface RepoOverlayGroup {
  /** The name. */
  groupname: string;
  /** The numeric group id; 0 where none is set. */
  gid: number;
  /** The names of its users. */
  members: string[];
}

/** The users and groups of an image. */
export interface RepoOverlayAccounts {
  /** The user that the image runs as: a name or a number; empty where none is set. */
  runAs: string;
  /** Users that are added. */
  users: RepoOverlayUser[];
  /** Groups that are added. */
  groups: RepoOverlayGroup[];
}

/** A certificate that is trusted. */
export interface RepoOverlayCertificate {
  /** What it is called. */
  name: string;
  /** The certificate in PEM. */
  content: string;
}

/** The certificates that an image trusts. */
export interface RepoOverlayCertificates {
  /** Certificates that are trusted besides the usual ones. */
  additional: RepoOverlayCertificate[];
  /** Names of providers whose certificates are trusted. */
  providers: string[];
}

/** How the images of a repository differ from their base. */
export interface RepoCustomOverlay {
  /** What is put into the image; left out where there is nothing. */
  contents?: RepoOverlayContents;
  /** Environment variables. */
  environment: Record<string, string>;
  /** Annotations. */
  annotations: Record<string, string>;
  /** Users and groups; left out where there are none. */
  accounts?: RepoOverlayAccounts;
  /** Certificates; left out where there are none. */
  certificates?: RepoOverlayCertificates;
}

/** A repository. Contract, section 5. Its readme is read by `getRepoReadme`. */
export interface GetRepoResult {
  /** The uid. */
  uid: string;
  /** The uid of its group. */
  parentUid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** `CATALOG_TIER_…`; left out where it is not set. */
  catalogTier?: string;
  /** Bundles that it belongs to; their order means nothing. */
  bundles: string[];
  /** Other names, as in `nginx:latest`; their order means nothing. */
  aliases: string[];
  /** Tags that are kept up to date; their order means nothing. */
  activeTags: string[];
  /** What it is kept in step with; left out where it is not. The API writes `sync_config`. */
  syncConfig?: RepoSyncConfig;
  /** How its images differ from their base; left out where they do not. */
  customOverlay?: RepoCustomOverlay;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which repositories to list. All by default. */
export interface GetReposArgs extends ListArgs {
  /** The exact name. */
  name?: string;
}

/** Selects a readme. */
export interface GetRepoReadmeArgs {
  /** The uid of the repository. */
  repoUid: string;
}

/** The readme of a repository. Contract, section 5. */
export interface GetRepoReadmeResult {
  /** The uid of the repository. */
  uid: string;
  /** The text in Markdown; empty where there is none. */
  content: string;
}

const COLLECTION = "/registry/v2/repos";

const readOverlay = read.optional<RepoCustomOverlay>({
  contents: read.optional<RepoOverlayContents>({
    packages: read.texts,
    runtimeRepositories: read.texts,
    runtimeKeyring: read.objects(read.object<RepoOverlayKey>({ name: read.text, content: read.text })),
  }),
  environment: read.textMap,
  annotations: read.textMap,
  accounts: read.optional<RepoOverlayAccounts>({
    runAs: read.text,
    users: read.objects(
      read.object<RepoOverlayUser>({
        username: read.text,
        uid: read.count,
        gid: read.count,
        groupName: read.text,
        shell: read.text,
        homeDir: read.text,
      }),
    ),
    groups: read.objects(
      read.object<RepoOverlayGroup>({ groupname: read.text, gid: read.count, members: read.texts }),
    ),
  }),
  certificates: read.optional<RepoOverlayCertificates>({
    additional: read.objects(read.object<RepoOverlayCertificate>({ name: read.text, content: read.text })),
    providers: read.texts,
  }),
});

const readSyncConfig = read.optional<RepoSyncConfig>({
  source: read.text,
  google: read.text,
  amazon: read.text,
  azure: read.text,
  uniqueTags: read.flag,
  expirationTime: read.time,
  apkoOverlay: read.text,
  gracePeriod: read.flag,
});

const readRepo = read.object<GetRepoResult>({
  uid: read.text,
  parentUid: read.certainParent,
  name: read.text,
  description: read.text,
  catalogTier: read.enumName,
  bundles: read.texts,
  aliases: read.texts,
  activeTags: read.texts,
  syncConfig: (_value, whole) => readSyncConfig(whole["sync_config"]),
  customOverlay: readOverlay,
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetRepoArgs> = { uid: take.uid, name: take.text, parentUid: take.uid };
const oneRepo = selecting("getRepo", COLLECTION, rules, readRepo);

const repos = listing<GetReposArgs, GetRepoResult>({
  call: "getRepos",
  collection: COLLECTION,
  rules: { ...listRules, name: take.sentAs("name", take.text) },
  read: readRepo,
});

const readme: Lookup<GetRepoReadmeArgs, GetRepoReadmeResult> = {
  call: "getRepoReadme",
  rules: { repoUid: take.required(take.uid) },
  run: async (client, { repoUid }) => {
    const path = client.address(COLLECTION, repoUid, "/readme");
    const answer = await found(client.getPerhapsEmpty(path), noneWith(repoUid));
    return { uid: repoUid, content: read.text(answer["content"]) };
  },
};

/** Finds exactly one repository. Throws where there is none, and where there are several, with their uids and parents. */
export function getRepo(args: GetRepoArgs): Promise<GetRepoResult> {
  return ask(oneRepo, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRepoOutput(args: LookupInputs<GetRepoArgs>): pulumi.Output<GetRepoResult> {
  return askLater(oneRepo, args);
}

/** Lists the repositories that match and that the token may see. */
export function getRepos(args: GetReposArgs = {}): Promise<GetRepoResult[]> {
  return ask(repos, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getReposOutput(args: LookupInputs<GetReposArgs> = {}): pulumi.Output<GetRepoResult[]> {
  return askLater(repos, args);
}

/** Reads the readme of a repository. Throws where there is no such repository. */
export function getRepoReadme(args: GetRepoReadmeArgs): Promise<GetRepoReadmeResult> {
  return ask(readme, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getRepoReadmeOutput(
  args: LookupInputs<GetRepoReadmeArgs>,
): pulumi.Output<GetRepoReadmeResult> {
  return askLater(readme, args);
}
