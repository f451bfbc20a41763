import { CodedError } from "../errorCodes/codedError";
import type { Client, JsonObject, Query } from "../api/client";
import { isNotFound, printable } from "../api/errors";
import { parentOf } from "../api/uid";
import type { ResourceSpec } from "../engine/description";
import { decode, resourceDecoder } from "../schema/decoders";
import type { Lookup } from "./invoke";
import { listValidators, lookupList } from "./listLookup";
import type { LimitArgs, ListArgs, ListLookup } from "./listLookup";
import { validate } from "./validators";
import type { Validators } from "./validators";

export type { LimitArgs, ListArgs } from "./listLookup";

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
