import { CodedError } from "../errors/codedError";
import type { ResourceSpec } from "../fields/description";
import { decode, resourceDecoder } from "../fields/responseDecoders";
import type { Client, JsonObject, Query } from "../http/client";
import { isNotFound, printable } from "../http/errors";
import { parentOf } from "../text/uid";
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

/** Returns a response about something that may be missing, or throws an error that names what is. */
export async function orNotFound(response: Promise<JsonObject>, otherwise: string): Promise<JsonObject> {
  try {
    return await response;
  } catch (error) {
    if (isNotFound(error)) throw new CodedError("PP1203", otherwise, { cause: error });
    throw error;
  }
}

export function notFoundMessage(uid: string): string {
  return `there is no object with the uid ${uid}`;
}

/** The object with a uid. */
async function getOne(client: Client, collection: string, uid: string): Promise<JsonObject> {
  const object = await orNotFound(client.getResource(collection, uid), notFoundMessage(uid));
  if (object["uid"] !== uid) {
    throw new CodedError("PP4008", `the response is not about ${uid}; check platform:baseUrl`);
  }
  return object;
}

/** What a lookup that selects by name may narrow by. */
interface NameQuery {
  readonly name: string;
  readonly parentUid?: string;
  /** True: only objects without a parent; false: only those with one. */
  readonly root?: boolean;
}

/** What there is to know of a kind that is selected by name. */
export interface ByName<A> {
  /** Further parameters of the list, which include what it otherwise omits. */
  readonly query?: Query;
  readonly root?: (args: A) => boolean | undefined;
  /** Whether the list omits members, so that the object is read again by its uid. */
  readonly isPartialInLists?: boolean;
}

/** Whether an object is one that the query means, whatever the server's filter does. */
function isMatch(item: JsonObject, { name, parentUid, root }: NameQuery): boolean {
  const uid = item["uid"];
  if (typeof uid !== "string" || item["name"] !== name) return false;
  if (parentUid !== undefined && parentOf(uid) !== parentUid) return false;
  return root === undefined || (parentOf(uid) === undefined) === root;
}

function noneError({ name, parentUid }: NameQuery): CodedError {
  const where = parentUid === undefined ? "" : ` below ${parentUid}`;
  return new CodedError(
    "PP1203",
    `there is no object with the name ${JSON.stringify(name)}${where} that this token may see`,
  );
}

/** The error of an ambiguous name, with the candidates. */
function ambiguousError({ name }: NameQuery, matching: readonly JsonObject[], narrows: boolean): CodedError {
  const candidates = matching.slice(0, 20).map((item) => {
    const uid = String(item["uid"]);
    const description = printable(decode.string(item["description"]), 80);
    return `  ${uid} (parent: ${parentOf(uid) ?? "none"})${description === "" ? "" : ` ${description}`}`;
  });
  const advice = narrows ? "narrow by parentUid, or give the uid of one:" : "give the uid of one:";
  return new CodedError(
    "PP1204",
    [
      `${matching.length} objects have the name ${JSON.stringify(name)}; ${advice}`,
      ...candidates,
      ...(matching.length > candidates.length ? ["  …"] : []),
    ].join("\n"),
  );
}

/** The only object with a name; none and several are errors. @param narrows Whether parentUid can narrow the search. */
async function findByName(
  client: Client,
  collection: string,
  query: NameQuery,
  further: Query,
  narrows: boolean,
): Promise<JsonObject> {
  const matching: JsonObject[] = [];
  const filter = {
    name: query.name,
    ...(query.parentUid === undefined ? {} : { "uidp.children_of": query.parentUid }),
    ...further,
  };
  for await (const item of client.list(collection, filter)) {
    if (isMatch(item, query)) matching.push(item);
  }
  const [first, second] = matching;
  if (first === undefined) throw noneError(query);
  if (second !== undefined) throw ambiguousError(query, matching, narrows);
  return first;
}

/** Selects by `uid`, or by `name` and what narrows it. */
interface Selection {
  uid?: string;
  name?: string;
  parentUid?: string;
}

function selectionProblem(args: Selection): string | undefined {
  if ((args.uid === undefined) === (args.name === undefined)) return "set either uid or name";
  const conflicting = Object.keys(args).filter((key) => key !== "uid");
  return args.uid !== undefined && conflicting.length > 0
    ? `uid conflicts with the other arguments: remove ${conflicting.join(", ")}`
    : undefined;
}

/** A lookup of exactly one object of a kind whose lists know names. */
export function lookupOne<A extends Selection, R>(
  call: string,
  collection: string,
  validators: Validators<A>,
  read: (object: unknown) => R,
  { query = {}, root, isPartialInLists = false }: ByName<A> = {},
): Lookup<A, R> {
  return {
    call,
    validators,
    problem: selectionProblem,
    run: async (client, args) => {
      const { uid, name = "", parentUid } = args;
      if (uid !== undefined) return read(await getOne(client, collection, uid));
      const wanted = { name, parentUid, root: root?.(args) };
      const listed = await findByName(client, collection, wanted, query, "parentUid" in validators);
      return read(isPartialInLists ? await getOne(client, collection, decode.string(listed["uid"])) : listed);
    },
  };
}

/** The exact name. */
export interface NameArgs {
  /** The exact name. */
  name?: string;
}

/** Selects one object: by `uid`, or by `name`. */
export interface ByNameArgs extends NameArgs {
  /** The uid, as the `id` of a resource or the `uid` of a lookup. */
  uid?: string;
  /** Only one directly below the object with this uid. */
  parentUid?: string;
}

/** Selects one object. */
export interface ByUidArgs {
  /** The uid, as the `id` of a resource or the `uid` of a lookup. */
  uid: string;
}

/** A lookup of exactly one object of a kind whose lists know no names. */
export function lookupByUid<R>(
  call: string,
  collection: string,
  read: (object: unknown) => R,
  validator = validate.uid,
): Lookup<ByUidArgs, R> {
  return {
    call,
    validators: { uid: validate.required(validator) },
    run: async (client, { uid }) => read(await getOne(client, collection, uid)),
  };
}

/** What the lists of kinds with names take. */
export interface NamedListArgs extends ListArgs, NameArgs {}

type CommonKeys<Args> = Args extends { name?: string } ? keyof NamedListArgs : keyof ListArgs;

/** What a list of a kind takes beyond what all take, and what is odd about its lookups. */
interface KindLookups<One extends object, List extends LimitArgs, Result> {
  /** The calls: `getGroup`, `getGroups`. */
  readonly calls: readonly [one: string, list: string];
  readonly selects?: Validators<Omit<One, keyof ByNameArgs>>;
  readonly filters?: Validators<Omit<List, CommonKeys<List>>>;
  readonly byName?: ByName<One>;
  readonly keep?: ListLookup<List, Result>["keep"];
}

/** The lookups of a kind, from its description: one object, and all that match. */
export function defineLookups<One extends object, List extends LimitArgs, Result>(
  { spec }: { readonly spec: ResourceSpec },
  { calls: [one, list], selects, filters, byName, keep }: KindLookups<One, List, Result>,
): { readonly one: Lookup<One, Result>; readonly list: Lookup<List, Result[]> } {
  const { collection, listsByName, sharesParentUid } = spec;
  const read = resourceDecoder(spec) as (response: unknown) => Result;
  const parent = sharesParentUid ? {} : { parentUid: validate.uid };
  const selected = { uid: validate.uid, name: validate.text, ...parent, ...selects };
  const validators = {
    ...listValidators,
    ...(listsByName ? { name: validate.sentAs("name", validate.text) } : {}),
    ...filters,
  };
  return {
    one: listsByName
      ? lookupOne(one, collection, selected as unknown as Validators<One>, read, {
          query: spec.listing?.query,
          isPartialInLists: spec.listing?.contents === "partial",
          ...byName,
        })
      : (lookupByUid(one, collection, read) as unknown as Lookup<One, Result>),
    list: lookupList({
      call: list,
      collection,
      validators: validators as unknown as Validators<List>,
      read,
      keep,
    }),
  };
}
