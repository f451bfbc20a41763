import { Tag } from "../kinds/tag";
import type { GetTagResult } from "../kinds/tag";
import { validate } from "./validators";
import { invoke, invokeWithOptionalArgs, invokeWithOptionalArgsOutput, invokeOutput } from "./invoke";
import { defineLookups } from "./lookup";
import type { ByNameArgs, NamedListArgs } from "./lookup";

/** Selects one tag: by `uid`, or by `name` and the repository. */
export interface GetTagArgs extends ByNameArgs {}

/** Which tags to list: those of one repository by `childrenOf`. */
export interface GetTagsArgs extends NamedListArgs {
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

const { one, list } = defineLookups<GetTagArgs, GetTagsArgs, GetTagResult>(Tag, {
  calls: ["getTag", "getTags"],
  filters: {
    digest: validate.sentAs("digest", validate.digest),
    updatedSince: validate.sentAs("updatedSince", validate.time),
    includeReferrers: validate.sentAs("includeReferrers", validate.flag),
    includeDates: validate.sentAs("includeDates", validate.flag),
    includeEpochs: validate.sentAs("includeEpochs", validate.flag),
    deprecated: validate.flag,
  },
  keep: ({ deprecated }) => (deprecated === undefined ? undefined : (tag) => tag.deprecated === deprecated),
});

/** Finds exactly one tag. Throws where there is none, and where there are several, with their uids and repositories. */
export const getTag = invoke(one);

/** Returns what `getTag` returns, as an output. Its arguments can be outputs of other resources. */
export const getTagOutput = invokeOutput(one);

/** Lists the tags that match and that the token may see. */
export const getTags = invokeWithOptionalArgs(list);

/** Returns what `getTags` returns, as an output. Its arguments can be outputs of other resources. */
export const getTagsOutput = invokeWithOptionalArgsOutput(list);
