import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, limitRules, listing } from "./lookup";
import type { LimitArgs, Lookup } from "./lookup";

/** Which libraries to list. */
export interface GetArtifactsArgs extends LimitArgs {
  /** At least one of `ECOSYSTEM_JAVA`, `ECOSYSTEM_PYTHON`. */
  ecosystems: string[];
  /** Words to look for. */
  query?: string;
  /** Only libraries for this version of CUDA, as in `12.8`. */
  cudaVersion?: string;
  /** True: only libraries that were rebuilt without known vulnerabilities. */
  remediated?: boolean;
  /** A column of the server and perhaps `asc` or `desc`; `name asc` by default. */
  orderBy?: string;
}

/** A library. Contract, section 7. */
export interface GetArtifactResult {
  /** The uid; it looks different from others and has no parent. */
  uid: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem?: string;
  /** The newest version; empty where there is none. */
  latestVersion: string;
  /** How many versions there are. */
  versionCount: number;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Selects the library whose versions to list. */
export interface GetArtifactVersionsArgs extends LimitArgs {
  /** The uid of the library, as `getArtifacts` answers it. */
  artifactUid: string;
  /** A column of the server and perhaps `asc` or `desc`; `version desc` by default. */
  orderBy?: string;
}

/** A version of a library. Contract, section 7. */
export interface GetArtifactVersionResult {
  /** The uid. */
  uid: string;
  /** The name. */
  name: string;
  /** The version. */
  version: string;
  /** The description; empty where there is none. */
  description: string;
  /** The size in bytes: an exact whole number, in decimal digits. */
  sizeBytes: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** What to count. */
export interface GetArtifactCountArgs {
  /** At least one of `ECOSYSTEM_JAVA`, `ECOSYSTEM_PYTHON`. */
  ecosystems: string[];
}

/** How many libraries an ecosystem has. */
export interface ArtifactCount {
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem?: string;
  /** The number: exact, in decimal digits. */
  totalCount: string;
}

/** What `getArtifactCount` answers. */
export interface GetArtifactCountResult {
  /** One count for each ecosystem. */
  counts: ArtifactCount[];
}

const COLLECTION = "/libraries/v2/artifacts";

const ecosystems = take.sentAs(
  "ecosystems",
  take.required(take.someOf(take.enumName("ECOSYSTEM_", "JAVA PYTHON"))),
);
const orderBy = take.sentAs("order_by", take.orderBy);

const artifacts = listing<GetArtifactsArgs, GetArtifactResult>({
  call: "getArtifacts",
  collection: COLLECTION,
  rules: {
    ecosystems,
    query: take.sentAs("query", take.text),
    cudaVersion: take.sentAs("cudaVersion", take.text),
    remediated: take.sentAs("remediated", take.flag),
    orderBy,
    ...limitRules,
  },
  read: read.object<GetArtifactResult>({
    uid: read.text,
    name: read.text,
    description: read.text,
    ecosystem: read.enumName,
    latestVersion: read.text,
    versionCount: read.count,
    createTime: read.time,
    updateTime: read.time,
  }),
});

const versions = listing<GetArtifactVersionsArgs, GetArtifactVersionResult>({
  call: "getArtifactVersions",
  collection: ({ artifactUid }) => `${COLLECTION}/${encodeURIComponent(artifactUid)}/versions`,
  member: "artifactVersions",
  rules: { artifactUid: take.required(take.segment), orderBy, ...limitRules },
  read: read.object<GetArtifactVersionResult>({
    uid: read.text,
    name: read.text,
    version: read.text,
    description: read.text,
    sizeBytes: read.decimal,
    createTime: read.time,
    updateTime: read.time,
  }),
});

const readCounts = read.objects(
  read.object<ArtifactCount>({ ecosystem: read.enumName, totalCount: read.decimal }),
);

const count: Lookup<GetArtifactCountArgs, GetArtifactCountResult> = {
  call: "getArtifactCount",
  rules: { ecosystems },
  run: async (client, args) => {
    const path = `${COLLECTION}/count`;
    const answer = await client.get(path, { ecosystems: args.ecosystems });
    return { counts: readCounts(await client.listIn(path, answer, "counts")) };
  },
};

/** Lists the libraries that match. */
export function getArtifacts(args: GetArtifactsArgs): Promise<GetArtifactResult[]> {
  return ask(artifacts, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getArtifactsOutput(args: LookupInputs<GetArtifactsArgs>): pulumi.Output<GetArtifactResult[]> {
  return askLater(artifacts, args);
}

/** Lists the versions of a library. */
export function getArtifactVersions(args: GetArtifactVersionsArgs): Promise<GetArtifactVersionResult[]> {
  return ask(versions, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getArtifactVersionsOutput(
  args: LookupInputs<GetArtifactVersionsArgs>,
): pulumi.Output<GetArtifactVersionResult[]> {
  return askLater(versions, args);
}

/** How many libraries ecosystems have. */
export function getArtifactCount(args: GetArtifactCountArgs): Promise<GetArtifactCountResult> {
  return ask(count, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getArtifactCountOutput(
  args: LookupInputs<GetArtifactCountArgs>,
): pulumi.Output<GetArtifactCountResult> {
  return askLater(count, args);
}
