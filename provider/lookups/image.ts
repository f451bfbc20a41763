import type { Client, JsonObject, Query } from "../http/client";
import { decode } from "../fields/responseDecoders";
import { validate } from "./validators";
import { invoke, invokeOutput } from "./invoke";
import type { Lookup } from "./invoke";
import { orNotFound } from "./lookup";

/** Selects one image. */
export interface GetImageArchitecturesArgs {
  /** The uid of the repository. */
  repoUid: string;
  /** The digest: `sha256:` and 64 hex digits, as the `digest` of a tag. */
  digest: string;
}

/** What `getImageArchitectures` returns. */
export interface GetImageArchitecturesResult {
  /** The architectures of the image, as in `amd64`. */
  architectures: string[];
}

/** Selects one image for one architecture. */
export interface GetImageSizeArgs {
  /** The uid of the repository. */
  repoUid: string;
  /** The digest: `sha256:` and 64 hex digits, as the `digest` of a tag. */
  digest: string;
  /** The architecture, as in `arm64`; `amd64` by default. */
  architecture?: string;
}

/** What `getImageSize` returns. */
export interface GetImageSizeResult {
  /** The size in bytes: an exact whole number, in decimal digits. `BigInt(bytes)` calculates with it. */
  bytes: string;
  /** The architecture that it is the size for. */
  architecture: string;
}

function digestAddress(client: Client, { repoUid, digest }: GetImageArchitecturesArgs, what: string): string {
  return client.address("/registry/v2/repos", repoUid, `/digests/${digest}/${what}`);
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

const architectures: Lookup<GetImageArchitecturesArgs, GetImageArchitecturesResult> = {
  call: "getImageArchitectures",
  validators: { repoUid: validate.required(validate.uid), digest: validate.required(validate.digest) },
  run: async (client, args) => {
    const path = digestAddress(client, args, "architectures");
    const response = await getImage(client, path, args);
    return { architectures: decode.strings(await client.extractList(path, response, "architectures")) };
  },
};

const size: Lookup<GetImageSizeArgs, GetImageSizeResult> = {
  call: "getImageSize",
  validators: {
    repoUid: validate.required(validate.uid),
    digest: validate.required(validate.digest),
    architecture: validate.text,
  },
  run: async (client, args) => {
    const { architecture } = args;
    const response = await getImage(client, digestAddress(client, args, "size"), args, { architecture });
    return {
      bytes: decode.int64(response["size"]),
      architecture: decode.optionalString(response["architecture"]) ?? architecture ?? "amd64",
    };
  },
};

/**
 * Reads the architectures of an image.
 *
 * @capability CAP_REPO_LIST
 * @capability CAP_MANIFEST_METADATA_LIST
 */
export const getImageArchitectures = invoke(architectures);

/** Returns what `getImageArchitectures` returns, as an output. Its arguments can be outputs of other resources. */
export const getImageArchitecturesOutput = invokeOutput(architectures);

/**
 * The size of an image for one architecture.
 *
 * @capability CAP_REPO_LIST
 * @capability CAP_MANIFEST_METADATA_LIST
 */
export const getImageSize = invoke(size);

/** Returns what `getImageSize` returns, as an output. Its arguments can be outputs of other resources. */
export const getImageSizeOutput = invokeOutput(size);
