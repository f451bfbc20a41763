import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, listing, listRules, selecting } from "./lookup";
import type { ListArgs } from "./lookup";

/** Selects one tag: by `uid`, or by `name` and the repository. */
export interface GetTagArgs {
  /** The uid, as the `id` of a Tag. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only a tag of the repository with this uid. */
  parentUid?: string;
}

/** A tag of a repository. Contract, section 5. */
export interface GetTagResult {
  /** The uid; empty where the answer does not hold it. */
  uid: string;
  /** The uid of its repository; empty where the answer does not hold the uid. */
  parentUid: string;
  /** The name. */
  name: string;
  /** The digest that it points to: `sha256:` and hex digits. */
  digest: string;
  /** Whether it has reached the end of its life. */
  deprecated: boolean;
  /** Bundles that it belongs to; their order means nothing. */
  bundles: string[];
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which tags to list: those of one repository by `childrenOf`. */
export interface GetTagsArgs extends ListArgs {
  /** The exact name. */
  name?: string;
  /** Only tags that point to this digest: `sha256:` and 64 hex digits. */
  digest?: string;
  /** Only tags that changed since: RFC 3339 with its zone. */
  updatedSince?: string;
  /** True: also tags that refer to another image, as in `sha256-…`. */
  includeReferrers?: boolean;
  /** True: also tags that end in a date, as in `…-20260128`. */
  includeDates?: boolean;
  /** True: also tags that end in the number of a build, as in `…-r3`. */
  includeEpochs?: boolean;
  /**
   * True: only tags at the end of their life. False: only those that are not. Picked out of the list by
   * this package: the server cannot.
   */
  deprecated?: boolean;
}

const COLLECTION = "/registry/v2/tags";

const readTag = read.object<GetTagResult>({
  uid: read.text,
  parentUid: read.certainParent,
  name: read.text,
  digest: read.text,
  deprecated: read.flag,
  bundles: read.texts,
  updateTime: read.time,
});

const rules: Rules<GetTagArgs> = { uid: take.uid, name: take.text, parentUid: take.uid };
const oneTag = selecting("getTag", COLLECTION, rules, readTag, {
  query: { includeReferrers: true, includeDates: true, includeEpochs: true },
});

const tags = listing<GetTagsArgs, GetTagResult>({
  call: "getTags",
  collection: COLLECTION,
  rules: {
    ...listRules,
    name: take.sentAs("name", take.text),
    digest: take.sentAs("digest", take.digest),
    updatedSince: take.sentAs("updatedSince", take.time),
    includeReferrers: take.sentAs("includeReferrers", take.flag),
    includeDates: take.sentAs("includeDates", take.flag),
    includeEpochs: take.sentAs("includeEpochs", take.flag),
    deprecated: take.flag,
  },
  read: readTag,
  keep: ({ deprecated }) => (deprecated === undefined ? undefined : (tag) => tag.deprecated === deprecated),
});

/** Finds exactly one tag. Throws where there is none, and where there are several, with their uids and repositories. */
export function getTag(args: GetTagArgs): Promise<GetTagResult> {
  return ask(oneTag, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getTagOutput(args: LookupInputs<GetTagArgs>): pulumi.Output<GetTagResult> {
  return askLater(oneTag, args);
}

/** Lists the tags that match and that the token may see. */
export function getTags(args: GetTagsArgs = {}): Promise<GetTagResult[]> {
  return ask(tags, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getTagsOutput(args: LookupInputs<GetTagsArgs> = {}): pulumi.Output<GetTagResult[]> {
  return askLater(tags, args);
}
