import { CodedError } from "../errors/codedError";
import { boolean, integer, list, string } from "../fields/builders";
import type { ArgumentsOf } from "../fields/builders";
import { isReadAs } from "../fields/resourceSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import { capitalize, stringOrEmpty } from "../fields/values";
import { resourceReader } from "../fields/wire";
import type { Client, JsonObject } from "../http/client";
import type { Query } from "../http/query";
import { isNotFound } from "../http/errors";
import { lastWord } from "../text/address";
import { printable } from "../text/printable";
import { LIST_PAGE_SIZE, splitByUrlLength } from "../http/query";
import { didYouMean } from "../text/suggestions";
import { parentOf } from "../text/uid";
import {
  hasEmptyFilter,
  orderArgument,
  pickerOf,
  queryOf,
  requiredUid,
  uidArgument,
  withOptions,
} from "./arguments";
import type { ArgumentTable, LookupArgument, LookupInputs } from "./arguments";
import { functionsOf, tryInPreview } from "./invoke";
import type { Lookup } from "./invoke";
import { setPreviewReads } from "../program/uidSources";
import type { Output } from "../program/sdk";

export const limitArgument = {
  /** At most this many: a whole number of at least 1. Without it all, page by page. */
  limit: integer({ path: true }),
};

export const listArguments = {
  /** Only what stands above the object with this uid. */
  ancestorsOf: string({ format: "uid", wire: "uidp.ancestors_of" }),
  /** Only what stands below the group with this uid, at any depth; the group itself is not among them. */
  descendantsOf: string({ format: "uid", wire: "uidp.descendants_of" }),
  /** Only what stands directly below the object with this uid. */
  childrenOf: string({ format: "uid", wire: "uidp.children_of" }),
  /** True: only what stands at the root. */
  inRoot: boolean({ wire: "uidp.in_root" }),
  /**
   * Only the objects with these uids; an empty list finds nothing. Many are asked for in several requests, but not
   * beside `orderBy`: that takes about a hundred.
   */
  uids: withOptions(list(uidArgument, { wire: "uidp.ids" }), {
    canSplit: ({ orderBy }) => orderBy === undefined,
  }),
  /**
   * A column of the server and perhaps `asc` or `desc`, as in `name` or `created_at desc`. Without it by
   * uid, or as the lookup says.
   */
  orderBy: orderArgument,
  ...limitArgument,
};

const nameArgument = {
  /** The exact name. */
  name: string(),
};

const selection = {
  /** The uid, as the `id` of a resource or the `uid` of a lookup. */
  uid: uidArgument,
  ...nameArgument,
  /** Only one directly below the object with this uid. */
  parentUid: uidArgument,
};

/** What every list takes. */
export interface LimitArgs extends ArgumentsOf<typeof limitArgument> {}

/** What the lists of resources take. */
export interface ListArgs extends ArgumentsOf<typeof listArguments> {}

/** What the lists of kinds with names take. */
export interface NamedListArgs extends ListArgs, ArgumentsOf<typeof nameArgument> {}

/** Selects one object: by `uid`, or by `name`. */
export interface ByNameArgs extends ArgumentsOf<typeof selection> {}

/** Selects one object. */
export interface ByUidArgs {
  /** The uid, as the `id` of a resource or the `uid` of a lookup. */
  uid: string;
}

/** A list, and what is odd about it. */
interface ListLookup<A extends LimitArgs, R> extends Omit<Lookup<A, R[]>, "run"> {
  readonly collection: string | ((args: A) => string);
  readonly read: (object: unknown) => R;
  /** The member of the response that contains the list; by default the last word of the collection. */
  readonly member?: string;
}

/**
 * One query, or several in the order of the uids if they are too many for one. `querySizeProblem` reports the remaining
 * cases.
 */
function queriesOf(query: Query): Query[] {
  const { "uidp.ids": uids, ...others } = query;
  if (!Array.isArray(uids)) return [query];
  const once = [...new Set(uids as string[])];
  const parts = splitByUrlLength("uidp.ids", [...once].sort(), { others });
  if (parts.length <= 1) return [{ ...query, "uidp.ids": once }];
  return parts.map((part) => ({ ...query, "uidp.ids": part }));
}

/** A lookup of all objects that match, over all pages. */
export function lookupList<A extends LimitArgs, R extends object>(list: ListLookup<A, R>): Lookup<A, R[]> {
  const { takes, collection, read, member, problem } = list;
  return {
    ...list,
    problem: (args) =>
      args.limit !== undefined && args.limit < 1 ? "limit must be at least 1" : problem?.(args),
    run: async (client, args) => {
      const objects: R[] = [];
      if (hasEmptyFilter(takes, args)) return objects;
      const path = typeof collection === "string" ? collection : collection(args);
      const { limit = Infinity } = args;
      const isPicked = pickerOf(takes, args);
      const pageSize = isPicked ? LIST_PAGE_SIZE : Math.min(limit, LIST_PAGE_SIZE);
      for (const query of queriesOf(queryOf(takes, args))) {
        for await (const item of client.list(path, query, { member, pageSize })) {
          const object = read(item);
          if (isPicked?.(object) === false) continue;
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
    throw new CodedError("PP4008", `the response is not about ${uid}; ${client.addressAdvice}`);
  }
  return object;
}

const MAX_NAMES = 20;

/** What there is instead of a name that there is not, on the first page of the list: lines for an error. */
async function listNames(
  client: Client,
  spec: ResourceSpec,
  { name = "", ...others }: Partial<ByNameArgs>,
  query: Query,
): Promise<string[]> {
  const wanted = (others as { readonly builtIn?: boolean }).builtIn;
  const names: string[] = [];
  const byOrigin = new Map<string, string[]>();
  try {
    for await (const item of client.list(spec.collection, query)) {
      const isBuiltIn = parentOf(stringOrEmpty(item["uid"])) === undefined;
      if (wanted !== undefined && wanted !== isBuiltIn) continue;
      const origin = !isReadAs(spec, "builtIn") ? "there is" : isBuiltIn ? "built-in" : "custom";
      byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), stringOrEmpty(item["name"])]);
      if (names.push(stringOrEmpty(item["name"])) >= LIST_PAGE_SIZE) break;
    }
  } catch {
    // The search for the name succeeded, so the error is that it found nothing.
    return [];
  }
  const meant = didYouMean(name, names);
  const lists = [...byOrigin].map(([origin, all]) => {
    const shown = [...new Set(all)].sort().slice(0, MAX_NAMES);
    const quoted = shown.map((one) => JSON.stringify(printable(one, 80)));
    return `  ${origin}: ${quoted.join(", ")}${all.length > MAX_NAMES || names.length >= LIST_PAGE_SIZE ? ", …" : ""}`;
  });
  return meant === undefined ? lists : [`  did you mean ${JSON.stringify(printable(meant, 80))}?`];
}

/** An object as a line of an error. */
function describeCandidate(item: JsonObject): string {
  const description = printable(stringOrEmpty(item["description"]), 80);
  const parent = parentOf(String(item["uid"])) ?? "none";
  return `  ${String(item["uid"])} (parent: ${parent})${description === "" ? "" : ` ${description}`}`;
}

/** All objects with exactly a name, whatever the server's filter does. */
async function listNamed(
  client: Client,
  { collection }: ResourceSpec,
  name: string,
  query: Query,
): Promise<JsonObject[]> {
  const named: JsonObject[] = [];
  for await (const item of client.list(collection, { name, ...query })) {
    if (typeof item["uid"] === "string" && item["name"] === name) named.push(item);
  }
  return named;
}

/** The only object with a name; none and several are errors. */
async function findByName<A extends Partial<ByNameArgs>>(
  client: Client,
  spec: ResourceSpec,
  takes: ArgumentTable<A>,
  args: A,
  read: (object: unknown) => object,
): Promise<JsonObject> {
  const { name = "", parentUid } = args;
  const own = spec.listing?.query;
  const query = { ...(parentUid === undefined ? {} : { "uidp.children_of": parentUid }), ...own };
  const named = (await listNamed(client, spec, name, query)).filter(
    ({ uid }) => parentUid === undefined || parentOf(String(uid)) === parentUid,
  );
  const isPicked = pickerOf(takes, args);
  const matching = named.filter((item) => isPicked?.(read(item)) !== false);
  const [first, second] = matching;
  if (first === undefined) throw await describeNoMatch(client, spec, args, read, named[0]);
  if (second === undefined) return first;
  const candidates = matching.slice(0, MAX_NAMES).map(describeCandidate);
  const parents = new Set(matching.map(({ uid }) => parentOf(String(uid))));
  const advice =
    "parentUid" in takes && parents.size === matching.length
      ? "narrow by parentUid, or give the uid of one:"
      : "give the uid of one:";
  throw new CodedError(
    "PP1204",
    [
      `${matching.length} objects have the name ${JSON.stringify(name)}; ${advice}`,
      ...candidates,
      ...(matching.length > candidates.length ? ["  …"] : []),
    ].join("\n"),
  );
}

/** Why no object has a name: what there is instead. @param named one with the name that has something else than the arguments say */
async function describeNoMatch(
  client: Client,
  spec: ResourceSpec,
  args: Partial<ByNameArgs>,
  read: (object: unknown) => object,
  named: JsonObject | undefined,
): Promise<CodedError> {
  const { name = "", parentUid } = args;
  const who = `${spec.noun} with the name ${JSON.stringify(name)}`;
  if (named !== undefined) {
    const has = read(named) as Readonly<Record<string, unknown>>;
    const other = Object.entries(args).filter(([key, value]) => has[key] !== value);
    const values = other.map(([key, value]) => `${key} ${String(has[key])}, not ${value}`);
    return new CodedError("PP1203", `the ${who} has ${values.join(" and ")}: change that, or leave it out`);
  }
  const where = parentUid === undefined ? "" : ` below ${parentUid}`;
  const own = spec.listing?.query ?? {};
  // The search for the name succeeded, so the error is that it found nothing.
  const elsewhere = parentUid === undefined ? [] : await listNamed(client, spec, name, own).catch(() => []);
  const instead =
    elsewhere.length > 0
      ? ["  elsewhere there is:", ...elsewhere.slice(0, MAX_NAMES).map(describeCandidate)]
      : await listNames(client, spec, args, {
          ...(parentUid === undefined ? {} : { "uidp.children_of": parentUid }),
          ...own,
        });
  return new CodedError(
    "PP1203",
    [`there is no ${who}${where} that this token may see`, ...instead].join("\n"),
  );
}

function selectionProblem(args: Partial<ByNameArgs>): string | undefined {
  if ((args.uid === undefined) === (args.name === undefined)) return "set either uid or name";
  const conflicting = Object.keys(args).filter((key) => key !== "uid");
  return args.uid !== undefined && conflicting.length > 0
    ? `uid conflicts with the other arguments: remove ${conflicting.join(", ")}`
    : undefined;
}

/** A lookup of exactly one object of a kind whose lists know names. */
function lookupByName<A extends Partial<ByNameArgs>, R extends object>(
  call: string,
  spec: ResourceSpec,
  takes: ArgumentTable<A>,
  read: (object: unknown) => R,
): Lookup<A, R> {
  const { collection, listing } = spec;
  return {
    call,
    takes,
    problem: selectionProblem,
    run: async (client, args) => {
      if (args.uid !== undefined) return read(await getOne(client, collection, args.uid));
      const listed = await findByName(client, spec, takes, args, read);
      const isPartial = listing?.contents === "partial";
      return read(isPartial ? await getOne(client, collection, stringOrEmpty(listed["uid"])) : listed);
    },
  };
}

/** A lookup of exactly one object of a kind whose lists know no names. */
export function lookupByUid<R>(
  call: string,
  collection: string,
  read: (object: unknown) => R,
  uid: LookupArgument = requiredUid,
): Lookup<ByUidArgs, R> {
  return {
    call,
    takes: { uid: uid },
    run: async (client, args) => read(await getOne(client, collection, args.uid)),
  };
}

/** Unlisted uids of a kind are read one by one, this many. */
const MAX_UNLISTED = 10;

/** Which of these uids the token may see nothing of: those that a list omits, and a read does not find either. */
export async function findAbsent(
  client: Client,
  spec: ResourceSpec,
  uids: readonly string[],
): Promise<string[]> {
  const { collection, listing } = spec;
  const parts = splitByUrlLength("uidp.ids", uids, { others: listing?.query, maxValues: LIST_PAGE_SIZE });
  const listed = new Set<unknown>();
  for (const part of parts) {
    const query = { ...listing?.query, "uidp.ids": part };
    for await (const { uid } of client.list(collection, query)) listed.add(uid);
  }
  const unlisted = uids.filter((uid) => !listed.has(uid)).slice(0, MAX_UNLISTED);
  const found = await Promise.all(
    unlisted.map((uid) => client.getResource(collection, uid).catch((error: unknown) => !isNotFound(error))),
  );
  return unlisted.filter((_, i) => found[i] === false);
}

/** A preview compares what is new with this many objects of a group. */
const MAX_COMPARED = 1000;

/** The objects of a kind directly below a group, or at the root. */
async function listBelow(
  client: Client,
  { collection, listing }: ResourceSpec,
  parentUid: string | undefined,
  read: (object: unknown) => object,
): Promise<object[]> {
  const below = parentUid === undefined ? { "uidp.in_root": true } : { "uidp.children_of": parentUid };
  const objects: object[] = [];
  const list = client.list(collection, { ...listing?.query, ...below });
  for await (const item of list) {
    // Whatever the server's filter does.
    if (parentOf(stringOrEmpty(item["uid"])) !== parentUid) continue;
    if (objects.push(read(item)) >= MAX_COMPARED) break;
  }
  return objects;
}

/** The lookups of a kind: exactly one object, and all that match. */
interface LookupsOfKind<One, List, Result> {
  readonly get: (args: One) => Promise<Result>;
  readonly getOutput: (args: LookupInputs<One>) => Output<Result>;
  readonly list: (args?: List) => Promise<Result[]>;
  readonly listOutput: (args?: LookupInputs<List>) => Output<Result[]>;
}

/**
 * The four lookups of a kind, from its description. They have its name, and that of its collection: `getGroup`, `getGroups`.
 * `selects` and `filters` are what the first and the second take beyond what those of every kind take.
 */
export function lookupsOf<One extends object, List extends ListArgs, Result extends object>(
  { spec }: { readonly spec: ResourceSpec },
  more: {
    readonly selects?: ArgumentTable<Omit<One, keyof ByNameArgs>>;
    readonly filters?: ArgumentTable<Omit<List, keyof NamedListArgs>>;
  } = {},
): LookupsOfKind<One, List, Result> {
  const { kind, collection, listsByName, sharesParentUid } = spec;
  const read = resourceReader(spec) as (response: unknown) => Result;
  setPreviewReads(kind, {
    findAbsent: (uids) =>
      tryInPreview(
        async (client) => ({ uids: await findAbsent(client, spec, uids), advice: client.addressAdvice }),
        { uids: [], advice: "" },
      ),
    listBelow: (parent) => tryInPreview((client) => listBelow(client, spec, parent, read), []),
  });
  // Of what shares the uid of its parent there is one below each.
  const { parentUid, ...byName } = selection;
  const selects = { ...byName, ...(sharesParentUid ? {} : { parentUid }), ...more.selects };
  const filters = { ...listArguments, ...(listsByName ? nameArgument : {}), ...more.filters };
  const one = functionsOf({
    ...(listsByName
      ? lookupByName(`get${kind}`, spec, selects as unknown as ArgumentTable<One>, read)
      : (lookupByUid(`get${kind}`, collection, read) as unknown as Lookup<One, Result>)),
    spec,
  });
  const list = functionsOf(
    lookupList({
      spec,
      call: `get${capitalize(lastWord(collection))}`,
      takes: filters as unknown as ArgumentTable<List>,
      collection,
      read,
    }),
  );
  return { get: one.call, getOutput: one.output, list: list.call, listOutput: list.output } as LookupsOfKind<
    One,
    List,
    Result
  >;
}
