import { string } from "../fields/builders";
import type { ArgumentsOf, Returned } from "../fields/builders";
import { resultReader } from "../fields/wire";
import type { Client, JsonObject } from "../http/client";
import type { Query } from "../http/query";
import { Repo } from "../kinds/repo";
import { digestPattern, requiredUid } from "./arguments";
import { functionsOf } from "./invoke";
import { orNotFound } from "./lookup";

const imageArguments = {
  /** The uid of the repository. */
  repoUid: requiredUid,
  /** The digest: `sha256:` and 64 hex digits, as the `digest` of a tag. */
  digest: string({ required: true, pattern: digestPattern }),
};

const sizeArguments = {
  ...imageArguments,
  /** The architecture, as in `arm64`; `amd64` by default. */
  architecture: string(),
};

/** Selects one image. */
export interface GetImageArchitecturesArgs extends ArgumentsOf<typeof imageArguments> {}

/** Selects one image for one architecture. */
export interface GetImageSizeArgs extends ArgumentsOf<typeof sizeArguments> {}

/** What `getImageArchitectures` returns. */
export interface GetImageArchitecturesResult {
  /** The architectures of the image, as in `amd64`. */
  architectures: string[];
}

const imageSize = {
  /** The size in bytes: an exact whole number, in decimal digits. `BigInt(bytes)` calculates with it. */
  bytes: string({ format: "int64", wire: "size" }),
  /** The architecture that it is the size for. */
  architecture: string(),
};

/** What `getImageSize` returns. */
export interface GetImageSizeResult extends Returned<typeof imageSize> {}

const readSize = resultReader<GetImageSizeResult>(imageSize);

function digestAddress(client: Client, { repoUid, digest }: GetImageArchitecturesArgs, what: string): string {
  return client.resourcePath(Repo.spec.collection, repoUid, `/digests/${digest}/${what}`);
}

function getImage(
  client: Client,
  path: string,
  { repoUid, digest, architecture }: GetImageSizeArgs,
  query?: Query,
): Promise<JsonObject> {
  const image = architecture === undefined ? digest : `${digest} for ${architecture}`;
  return orNotFound(client.getAllowingEmpty(path, query), `the repository ${repoUid} has no image ${image}`);
}

const architectures = functionsOf<GetImageArchitecturesArgs, GetImageArchitecturesResult>({
  call: "getImageArchitectures",
  takes: imageArguments,
  run: async (client, args) => {
    const path = digestAddress(client, args, "architectures");
    const response = await getImage(client, path, args);
    const names = await client.extractList(path, response, "architectures");
    return { architectures: names.filter((name) => typeof name === "string") };
  },
});

const size = functionsOf<GetImageSizeArgs, GetImageSizeResult>({
  call: "getImageSize",
  takes: sizeArguments,
  run: async (client, args) => {
    const { architecture = "amd64" } = args;
    const query = { architecture: args.architecture };
    const size = readSize(await getImage(client, digestAddress(client, args, "size"), args, query));
    return size.architecture === "" ? { ...size, architecture } : size;
  },
});

/**
 * Reads the architectures of an image.
 *
 * @capability CAP_REPO_LIST
 * @capability CAP_MANIFEST_METADATA_LIST
 */
export const getImageArchitectures = architectures.call;

/** Returns what `getImageArchitectures` returns, as an output. Its arguments can be outputs of other resources. */
export const getImageArchitecturesOutput = architectures.output;

/**
 * The size of an image for one architecture.
 *
 * @capability CAP_REPO_LIST
 * @capability CAP_MANIFEST_METADATA_LIST
 */
export const getImageSize = size.call;

/** Returns what `getImageSize` returns, as an output. Its arguments can be outputs of other resources. */
export const getImageSizeOutput = size.output;
