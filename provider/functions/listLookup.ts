import type { JsonObject, Query } from "../api/client";
import type { Lookup } from "./invoke";
import { hasEmptyFilter, queryOf, querySize, splitByUrlLength, validate } from "./validators";
import type { Validators } from "./validators";

/** What every list takes. */
export interface LimitArgs {
  /** At most this many: a whole number of at least 1. Without it all, page by page. */
  limit?: number;
}

/** What the lists of resources take. */
export interface ListArgs extends LimitArgs {
  /** Only what stands above the object with this uid. */
  ancestorsOf?: string;
  /** Only what stands below the group with this uid, at any depth; the group itself is not among them. */
  descendantsOf?: string;
  /** Only what stands directly below the object with this uid. */
  childrenOf?: string;
  /** True: only what stands at the root. */
  inRoot?: boolean;
  /**
   * Only the objects with these uids; an empty list finds nothing. Many are asked for in several requests, but not
   * beside an `orderBy` of another column than `uid`: that takes about a hundred.
   */
  uids?: string[];
  /**
   * A column of the server and perhaps `asc` or `desc`, as in `name` or `created_at desc`. Without it by
   * uid, or as the lookup says.
   */
  orderBy?: string;
}

export const limitValidators: Validators<LimitArgs> = { limit: validate.limit };

/** The order of the uids, in which requests for a part of them each may follow one another. */
const BY_UID = /^uid(?: (asc|desc))?$/;

export const listValidators: Validators<ListArgs> = {
  ancestorsOf: validate.sentAs("uidp.ancestors_of", validate.uid),
  descendantsOf: validate.sentAs("uidp.descendants_of", validate.uid),
  childrenOf: validate.sentAs("uidp.children_of", validate.uid),
  inRoot: validate.sentAs("uidp.in_root", validate.flag),
  uids: {
    ...validate.sentAs("uidp.ids", validate.listOf(validate.uid)),
    canSplit: ({ orderBy }) => orderBy === undefined || (typeof orderBy === "string" && BY_UID.test(orderBy)),
  },
  orderBy: validate.sentAs("order_by", validate.orderBy),
  ...limitValidators,
};

/** A list, and what is odd about it. */
export interface ListLookup<A extends LimitArgs, R> {
  readonly call: string;
  readonly collection: string | ((args: A) => string);
  readonly validators: Validators<A>;
  readonly read: (object: unknown) => R;
  readonly problem?: (args: A) => string | undefined;
  /** Selects the items that the server cannot filter; undefined if no such condition is set. */
  readonly keep?: (args: A) => ((object: R) => boolean) | undefined;
  /** The member of the response that contains the list; by default the last word of the collection. */
  readonly member?: string;
  /** Identifies an object; by default its uid. */
  readonly key?: (object: JsonObject) => unknown;
}

const MAX_PAGE = 200;

/**
 * One query, or several in the order of the uids if they are too many for one. `querySizeProblem` reports the remaining
 * cases.
 */
function queriesOf(query: Query): Query[] {
  const { "uidp.ids": uids, ...others } = query;
  if (!Array.isArray(uids)) return [query];
  const once = [...new Set(uids as string[])];
  const used = querySize(others);
  const inOrder = [...once].sort();
  if (BY_UID.exec(String(query["order_by"]))?.[1] === "desc") inOrder.reverse();
  const parts = splitByUrlLength("uidp.ids", inOrder, Infinity, used);
  if (parts.length <= 1) return [{ ...query, "uidp.ids": once }];
  return parts.map((part) => ({ ...query, "uidp.ids": part }));
}

/** A lookup of all objects that match, over all pages. */
export function lookupList<A extends LimitArgs, R>(list: ListLookup<A, R>): Lookup<A, R[]> {
  const { call, validators, problem, read, keep, member, key } = list;
  return {
    call,
    validators,
    problem,
    run: async (client, args) => {
      const objects: R[] = [];
      if (hasEmptyFilter(validators, args)) return objects;
      const path = typeof list.collection === "string" ? list.collection : list.collection(args);
      const { limit = Infinity } = args;
      const isWanted = keep?.(args);
      const pageSize = isWanted ? MAX_PAGE : Math.min(limit, MAX_PAGE);
      for (const query of queriesOf(queryOf(validators, args))) {
        for await (const item of client.list(path, query, { member, pageSize, key })) {
          const object = read(item);
          if (isWanted?.(object) === false) continue;
          if (objects.push(object) >= limit) return objects;
        }
      }
      return objects;
    },
  };
}
