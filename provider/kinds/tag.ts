import { resource } from "../program/resource";
import type { Api } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import {
  boolean,
  kind,
  list,
  string,
  time,
  type ArgsOf,
  type OfKind,
  type Resolved,
  type ResultOf,
} from "../fields/builders";
import { bundle, forPeople, parentRepo, tagName } from "./common";

const COLLECTION = "/registry/v2/tags";

/** A tag has no PATCH: a POST of its name writes all of it, whether it is new or not. */
function writeTag(api: Api, inputs: Props): Promise<Record<string, unknown>> {
  const whole = {
    name: inputs["name"],
    digest: inputs["digest"],
    deprecated: inputs["deprecated"] ?? false,
    bundles: inputs["bundles"] ?? [],
  };
  const repo = inputs["parentUid"] as string;
  return api.post(api.resourcePath(COLLECTION, repo), whole, { isIdempotent: true });
}

/** Lists leave out tags with names of some forms unless asked for them. */
const query = { includeReferrers: "true", includeDates: "true", includeEpochs: "true" };

const tag = kind({
  kind: "Tag",
  collection: COLLECTION,
  capabilities: {
    read: ["CAP_TAG_LIST"],
    create: ["CAP_TAG_CREATE"],
    // A tag moves by a create of the same name, and what the program does not change is read first.
    update: ["CAP_TAG_LIST", "CAP_TAG_CREATE"],
    delete: ["CAP_TAG_DELETE"],
  },
  eventPrefix: "platform.registry.tag",
  listsByName: true,
  usedBy: "imageName",
  identifiedBy: ["parentUid", "name"],
  listing: { onDemand: true, query, contents: "complete" },
  fields: {
    /** The uid of the repository that the tag belongs to. Changing it replaces the tag. */
    parentUid: parentRepo,
    /** The tag, as in `latest` or `1.2.3`: at most 128 characters. Changing it replaces the tag. */
    name: string({ required: true, immutable: true, pattern: tagName, security: false, access: "other" }),
    /** The image that it points to: `sha256:` and 64 hex digits. Changing it moves the tag, which keeps its uid. */
    digest: string({
      required: true,
      access: "images.image",
      pattern: {
        regex: /^sha256:[0-9a-f]{64}$/,
        must: 'the digest of an image: "sha256:" and 64 hex digits in lower case',
      },
    }),
    // A create sets all of it: what was added by hand is shown before it is taken away.
    /** Whether the tag is at the end of its life. */
    deprecated: boolean({ security: true, ...forPeople }),
    /** Bundles that it belongs to, as in `base` or `fips`. Order means nothing. */
    bundles: list(bundle, { unordered: true, security: true, harmless: "where the catalogue lists it" }),
  },
  reads: {
    /** When it last changed: RFC 3339, as the API wrote it. */
    updateTime: time,
  },
  operations: {
    takesOver: true,
    create: writeTag,
    writeWhole: writeTag,
  },
});

/** The arguments of a Tag. */
export interface TagArgs extends ArgsOf<typeof tag>, OfKind {}
/** A tag of a repository. Its uid, and that of its repository, are empty where the response does not hold them. */
export interface GetTagResult extends ResultOf<typeof tag> {}
/**
 * A tag of a repository.
 *
 * A repository has one tag of each name, and making a tag that is there already takes it over: it then
 * points to the digest given here, and what is not given here is emptied. To see first what a tag holds,
 * read it with `Tag.get`. Of a synced repository the tags come from the source: do not declare them.
 */
export class Tag extends resource<TagArgs>(tag) {}
export interface Tag extends Resolved<TagArgs> {}
