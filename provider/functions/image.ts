import type * as pulumi from "@pulumi/pulumi";
import type { Client, JsonObject, Query } from "../api/client";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs } from "./arguments";
import { ask, askLater, found } from "./lookup";
import type { Lookup } from "./lookup";

/** Selects one image. */
export interface GetImageArchitecturesArgs {
  /** The uid of the repository. */
  repoUid: string;
  /** The digest: `sha256:` and 64 hex digits, as the `digest` of a tag. */
  digest: string;
}

/** What `getImageArchitectures` answers. */
export interface GetImageArchitecturesResult {
  /** The architectures that the image is there for, as in `amd64`. */
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

/** What `getImageSize` answers. */
export interface GetImageSizeResult {
  /** The size in bytes: an exact whole number, in decimal digits. `BigInt(bytes)` calculates with it. */
  bytes: string;
  /** The architecture that it is the size for. */
  architecture: string;
}

function pathOf(client: Client, { repoUid, digest }: GetImageArchitecturesArgs, what: string): string {
  return client.address("/registry/v2/repos", repoUid, `/digests/${digest}/${what}`);
}

function askImage(
  client: Client,
  path: string,
  { repoUid, digest, architecture }: GetImageSizeArgs,
  query?: Query,
): Promise<JsonObject> {
  const image = architecture === undefined ? digest : `${digest} for ${architecture}`;
  return found(client.getPerhapsEmpty(path, query), `the repository ${repoUid} has no image ${image}`);
}

const architectures: Lookup<GetImageArchitecturesArgs, GetImageArchitecturesResult> = {
  call: "getImageArchitectures",
  rules: { repoUid: take.required(take.uid), digest: take.required(take.digest) },
  run: async (client, args) => {
    const path = pathOf(client, args, "architectures");
    const answer = await askImage(client, path, args);
    return { architectures: read.texts(await client.listIn(path, answer, "architectures")) };
  },
};

const size: Lookup<GetImageSizeArgs, GetImageSizeResult> = {
  call: "getImageSize",
  rules: {
    repoUid: take.required(take.uid),
    digest: take.required(take.digest),
    architecture: take.text,
  },
  run: async (client, args) => {
    const { architecture } = args;
    const answer = await askImage(client, pathOf(client, args, "size"), args, { architecture });
    return {
      bytes: read.decimal(answer["size"]),
      architecture: read.optionalText(answer["architecture"]) ?? architecture ?? "amd64",
    };
  },
};

/** The architectures that an image is there for (contract, section 7). */
export function getImageArchitectures(args: GetImageArchitecturesArgs): Promise<GetImageArchitecturesResult> {
  return ask(architectures, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getImageArchitecturesOutput(
  args: LookupInputs<GetImageArchitecturesArgs>,
): pulumi.Output<GetImageArchitecturesResult> {
  return askLater(architectures, args);
}

/** The size of an image for one architecture (contract, section 7). */
export function getImageSize(args: GetImageSizeArgs): Promise<GetImageSizeResult> {
  return ask(size, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getImageSizeOutput(args: LookupInputs<GetImageSizeArgs>): pulumi.Output<GetImageSizeResult> {
  return askLater(size, args);
}
