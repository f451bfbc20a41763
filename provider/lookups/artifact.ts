import { decode } from "../fields/responseDecoders";
import type { Decoded } from "../fields/builders";
import { validate } from "./validators";
import { invoke, invokeOutput } from "./invoke";
import type { Lookup } from "./invoke";
import { limitValidators, lookupList } from "./lookup";
import type { LimitArgs } from "./lookup";

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

const artifact = {
  /** The uid; it looks different from others and has no parent. */
  uid: decode.string,
  /** The name. */
  name: decode.string,
  /** The description; empty where there is none. */
  description: decode.string,
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem: decode.enumName,
  /** The newest version; empty where there is none. */
  latestVersion: decode.string,
  /** How many versions there are. */
  versionCount: decode.int32,
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime: decode.time,
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime: decode.time,
};

/** A library. */
export interface GetArtifactResult extends Decoded<typeof artifact> {}

/** Selects the library whose versions to list. */
export interface GetArtifactVersionsArgs extends LimitArgs {
  /** The uid of the library, as `getArtifacts` returns it. */
  artifactUid: string;
  /** A column of the server and perhaps `asc` or `desc`; `version desc` by default. */
  orderBy?: string;
}

const version = {
  /** The uid. */
  uid: decode.string,
  /** The name. */
  name: decode.string,
  /** The version. */
  version: decode.string,
  /** The description; empty where there is none. */
  description: decode.string,
  /** The size in bytes: an exact whole number, in decimal digits. */
  sizeBytes: decode.int64,
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime: decode.time,
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime: decode.time,
};

/** A version of a library. */
export interface GetArtifactVersionResult extends Decoded<typeof version> {}

/** What to count. */
export interface GetArtifactCountArgs {
  /** At least one of `ECOSYSTEM_JAVA`, `ECOSYSTEM_PYTHON`. */
  ecosystems: string[];
}

const ecosystemCount = {
  /** `ECOSYSTEM_…`; left out where it is not set. */
  ecosystem: decode.enumName,
  /** The number: exact, in decimal digits. */
  totalCount: decode.int64,
};

/** How many libraries an ecosystem has. */
export interface ArtifactCount extends Decoded<typeof ecosystemCount> {}

/** What `getArtifactCount` returns. */
export interface GetArtifactCountResult {
  /** One count for each ecosystem. */
  counts: ArtifactCount[];
}

const COLLECTION = "/libraries/v2/artifacts";

const ecosystems = validate.sentAs(
  "ecosystems",
  validate.required(validate.nonEmptyListOf(validate.enumName("ECOSYSTEM_", "JAVA PYTHON"))),
);
const orderBy = validate.sentAs("order_by", validate.orderBy);

const artifacts = lookupList<GetArtifactsArgs, GetArtifactResult>({
  call: "getArtifacts",
  collection: COLLECTION,
  validators: {
    ecosystems,
    query: validate.sentAs("query", validate.text),
    cudaVersion: validate.sentAs("cudaVersion", validate.text),
    remediated: validate.sentAs("remediated", validate.flag),
    orderBy,
    ...limitValidators,
  },
  read: decode.object<GetArtifactResult>(artifact),
});

const versions = lookupList<GetArtifactVersionsArgs, GetArtifactVersionResult>({
  call: "getArtifactVersions",
  collection: ({ artifactUid }) => `${COLLECTION}/${encodeURIComponent(artifactUid)}/versions`,
  member: "artifactVersions",
  validators: { artifactUid: validate.required(validate.segment), orderBy, ...limitValidators },
  read: decode.object<GetArtifactVersionResult>(version),
});

const decodeCounts = decode.objects(decode.object<ArtifactCount>(ecosystemCount));

const count: Lookup<GetArtifactCountArgs, GetArtifactCountResult> = {
  call: "getArtifactCount",
  validators: { ecosystems },
  run: async (client, args) => {
    const path = `${COLLECTION}/count`;
    const response = await client.get(path, { ecosystems: args.ecosystems });
    return { counts: decodeCounts(await client.extractList(path, response, "counts")) };
  },
};

/**
 * Lists the libraries that match.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifacts = invoke(artifacts);

/** Returns what `getArtifacts` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactsOutput = invokeOutput(artifacts);

/**
 * Lists the versions of a library.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifactVersions = invoke(versions);

/** Returns what `getArtifactVersions` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactVersionsOutput = invokeOutput(versions);

/**
 * How many libraries ecosystems have.
 *
 * @capability CAP_LIBRARIES_ARTIFACTS_LIST
 */
export const getArtifactCount = invoke(count);

/** Returns what `getArtifactCount` returns, as an output. Its arguments can be outputs of other resources. */
export const getArtifactCountOutput = invokeOutput(count);
