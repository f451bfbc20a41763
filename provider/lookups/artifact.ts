import { boolean, enumOf, integer, list, string, times } from "../fields/builders";
import type { ArgumentsOf, Returned } from "../fields/builders";
import { resultReader } from "../fields/wire";
import { orderArgument } from "./arguments";
import { functionsOf } from "./invoke";
import { limitArgument, lookupList } from "./lookup";
import type { LimitArgs } from "./lookup";

const ecosystemArgument = {
  /** `ECOSYSTEM_JAVA`, `ECOSYSTEM_PYTHON`; an empty list finds nothing. */
  ecosystems: list(enumOf("ECOSYSTEM_", "JAVA PYTHON"), { required: true }),
};

const artifactArguments = {
  ...ecosystemArgument,
  /** Words to look for. */
  query: string(),
  /** Only libraries for this version of CUDA, as in `12.8`. */
  cudaVersion: string(),
  /** True: only libraries that were rebuilt without known vulnerabilities. */
  remediated: boolean(),
  /** A column of the server and perhaps `asc` or `desc`; `name asc` by default. */
  orderBy: orderArgument,
};

/** Which libraries to list. */
export interface GetArtifactsArgs extends ArgumentsOf<typeof artifactArguments>, LimitArgs {}

const artifact = {
  /** The uid; it looks different from others and has no parent. */
  uid: string(),
  /** The name. */
  name: string(),
  /** The description; empty where there is none. */
  description: string(),
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem: enumOf("ECOSYSTEM_", []),
  /** The newest version; empty where there is none. */
  latestVersion: string(),
  /** How many versions there are. */
  versionCount: integer(),
  ...times,
};

/** A library. */
export interface GetArtifactResult extends Returned<typeof artifact> {}

const versionArguments = {
  /** The uid of the library, as `getArtifacts` returns it. */
  artifactUid: string({
    required: true,
    path: true,
    pattern: { regex: /^(?!\.\.?$)[^/]+$/, must: "one that the API gave, without a slash" },
  }),
  /** A column of the server and perhaps `asc` or `desc`; `version desc` by default. */
  orderBy: orderArgument,
};

/** Selects the library whose versions to list. */
export interface GetArtifactVersionsArgs extends ArgumentsOf<typeof versionArguments>, LimitArgs {}

const version = {
  /** The uid. */
  uid: string(),
  /** The name. */
  name: string(),
  /** The version. */
  version: string(),
  /** The description; empty where there is none. */
  description: string(),
  /** The size in bytes: an exact whole number, in decimal digits. */
  sizeBytes: string({ format: "int64" }),
  ...times,
};

/** A version of a library. */
export interface GetArtifactVersionResult extends Returned<typeof version> {}

/** What to count. */
export interface GetArtifactCountArgs extends ArgumentsOf<typeof ecosystemArgument> {}

const ecosystemCount = {
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem: enumOf("ECOSYSTEM_", []),
  /** The number: exact, in decimal digits. */
  totalCount: string({ format: "int64" }),
};

/** How many libraries an ecosystem has. */
export interface ArtifactCount extends Returned<typeof ecosystemCount> {}

/** What `getArtifactCount` returns. */
export interface GetArtifactCountResult {
  /** One count for each ecosystem. */
  counts: ArtifactCount[];
}

const COLLECTION = "/libraries/v2/artifacts";

const artifacts = functionsOf(
  lookupList<GetArtifactsArgs, GetArtifactResult>({
    call: "getArtifacts",
    takes: { ...artifactArguments, ...limitArgument },
    collection: COLLECTION,
    read: resultReader<GetArtifactResult>(artifact),
  }),
);

const versions = functionsOf(
  lookupList<GetArtifactVersionsArgs, GetArtifactVersionResult>({
    call: "getArtifactVersions",
    takes: { ...versionArguments, ...limitArgument },
    collection: ({ artifactUid }) => `${COLLECTION}/${encodeURIComponent(artifactUid)}/versions`,
    member: "artifactVersions",
    read: resultReader<GetArtifactVersionResult>(version),
  }),
);

const readCount = resultReader<ArtifactCount>(ecosystemCount);

const artifactCount = functionsOf<GetArtifactCountArgs, GetArtifactCountResult>({
  call: "getArtifactCount",
  takes: ecosystemArgument,
  run: async (client, { ecosystems }) => {
    if (ecosystems.length === 0) return { counts: [] };
    const path = `${COLLECTION}/count`;
    const response = await client.get(path, { ecosystems });
    return { counts: (await client.extractList(path, response, "counts")).map(readCount) };
  },
});

/**
 * Lists the libraries that match.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifacts = artifacts.call;

/** Returns what `getArtifacts` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactsOutput = artifacts.output;

/**
 * Lists the versions of a library.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifactVersions = versions.call;

/** Returns what `getArtifactVersions` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactVersionsOutput = versions.output;

/**
 * How many libraries ecosystems have.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifactCount = artifactCount.call;

/** Returns what `getArtifactCount` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactCountOutput = artifactCount.output;
