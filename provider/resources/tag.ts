import type * as pulumi from "@pulumi/pulumi";
import { PlatformResource } from "../engine/resource";
import { defineResource } from "../engine/spec";
import type { Api, Props } from "../engine/spec";
import { bundles, parentRepo, tagName } from "./registry";

/** The arguments of a Tag. */
export interface TagArgs {
  /** The uid of the repository that the tag belongs to. Changing it replaces the tag. */
  parentUid: pulumi.Input<string>;
  /** The tag, as in `latest` or `1.2.3`: at most 128 characters. Changing it replaces the tag. */
  name: pulumi.Input<string>;
  /** The image that it points to: `sha256:` and 64 hex digits. Changing it moves the tag, which keeps its uid. */
  digest: pulumi.Input<string>;
  /** Whether the tag is at the end of its life. */
  deprecated?: pulumi.Input<boolean>;
  /** Bundles that it belongs to, as in `base` or `fips`. Order means nothing. */
  bundles?: pulumi.Input<pulumi.Input<string>[]>;
}

const collection = "/registry/v2/tags";

/** A tag has no PATCH: a POST of its name writes the whole tag, made or moved (contract, sections 1 and 5). */
function write(api: Api, inputs: Props): Promise<Record<string, unknown>> {
  const whole = {
    name: inputs["name"],
    digest: inputs["digest"],
    deprecated: inputs["deprecated"] ?? false,
    bundles: inputs["bundles"] ?? [],
  };
  const repo = inputs["parentUid"] as string;
  return api.post(api.address(collection, repo), whole, { repeatable: true });
}

/** A repository has one tag of each name. */
const tagKeys = ({ parentUid, name }: Props): string[] => [JSON.stringify(["tag", parentUid, name])];

/**
 * A tag of a repository. Contract, section 5.
 *
 * A repository has one tag of each name, and making a tag that is there already takes it over: it then
 * points to the digest given here, and what is not given here is emptied. To see first what a tag holds,
 * read it with `Tag.get`. Of a synced repository the tags come from the source: do not declare them.
 */
export class Tag extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<TagArgs>({
    kind: "Tag",
    noun: "tag",
    collection,
    events: "platform.registry.tag",
    listsByName: true,
    identifiedBy: ["parentUid", "name"],
    // Lists leave out tags with names of some forms unless asked for them (contract, section 4).
    readsByList: { query: { includeReferrers: "true", includeDates: "true", includeEpochs: "true" } },
    fields: {
      parentUid: parentRepo,
      name: { type: "string", required: true, immutable: true, pattern: tagName },
      digest: {
        type: "string",
        required: true,
        security: true,
        access: "none",
        pattern: {
          regex: /^sha256:[0-9a-f]{64}$/,
          must: 'the digest of an image: "sha256:" and 64 hex digits in lower case',
        },
      },
      // Every write sets all of it: what was added by hand is shown before it is taken away.
      deprecated: { type: "boolean", security: true, access: "none" },
      bundles: { ...bundles, security: true, access: "none" },
    },
    listing: {
      onDemand: true,
      query: { includeReferrers: "true", includeDates: "true", includeEpochs: "true" },
    },
    declares: tagKeys,
    keptBy: tagKeys,
    operations: {
      createsOver: true,
      create: (api, inputs) => write(api, inputs),
      update: (api, _uid, _olds, news) => write(api, news),
    },
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly digest: pulumi.Output<string>;
  declare readonly deprecated: pulumi.Output<boolean | undefined>;
  declare readonly bundles: pulumi.Output<string[] | undefined>;

  constructor(name: string, args: TagArgs, opts?: pulumi.CustomResourceOptions) {
    super(Tag.spec, name, args, opts);
  }

  /** Reads a tag that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Tag {
    return new Tag(name, undefined as unknown as TagArgs, { ...opts, id: uid });
  }
}
