import { CodedError } from "../errors/codedError";
import { list, string } from "../fields/builders";
import type { Field, Trait } from "../fields/builders";
import { checkField, missingReason } from "../fields/check";
import type { PublicSpec } from "../fields/fieldSpec";
import type { Json } from "../fields/values";
import { encodeQuery, LONGEST_QUERY } from "../http/query";
import type { Query } from "../http/query";
import { isLater } from "../program/uidSources";
import type * as pulumi from "../program/sdk";
import { suggest } from "../text/suggestions";
import { printable } from "../text/printable";

/*
 * What lookups take. An argument is described like a field of a kind, in the same builders. `wire` is its query parameter, where
 * that has another name; with `path` it is none.
 */

/** The arguments of a lookup with inputs in their places: also single items of lists. */
export type LookupInputs<A> = {
  [K in keyof A]: NonNullable<A[K]> extends (infer Item)[]
    ? pulumi.Input<pulumi.Input<Item>[]> | Extract<A[K], undefined>
    : pulumi.Input<A[K]>;
};

/** What only lookups say of an argument. */
interface LookupOptions {
  /** The server cannot filter by it: this package takes the objects whose member of the same name equals it. */
  readonly picks?: true;
  /** Of a list: whether it may be sent in several requests, beside these arguments. */
  readonly canSplit?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Of a list: it takes out what it names, so an empty one takes out nothing. */
  readonly excludes?: true;
}

export type LookupArgument = PublicSpec & LookupOptions;

export function withOptions<A, R, T extends Trait>(
  argument: Field<A, R, T>,
  options: LookupOptions,
): Field<A, R, T> {
  return { ...argument, ...options };
}

/** The arguments of a lookup, by their names: a forgotten one does not compile. */
export type ArgumentTable<A> = { readonly [K in keyof A]-?: LookupArgument };

export const uidArgument = string({ format: "uid" });

export const requiredUid = string({ format: "uid", required: true });

export const textsArgument = list(string());

/** The server decides which columns exist, so only the form is checked. */
export const orderArgument = string({
  wire: "order_by",
  pattern: {
    regex: /^[A-Za-z_][A-Za-z0-9_.]*(?: (?:asc|desc))?$/,
    must: 'a column and perhaps a direction, as in "name" or "created_at desc"',
  },
});

export const digestPattern = {
  regex: /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}$/,
  must: 'a digest: "sha256:" and 64 hex digits in lower case',
};

function refuseLater(call: string, what: string, value: unknown): void {
  if (isLater(value)) throw new CodedError("PP1202", `${what} known only later: call ${call}Output instead`);
}

/** What is wrong with an argument; undefined if nothing is. An empty text would be no filter. */
function argumentProblem(key: string, argument: LookupArgument, value: unknown): string | undefined {
  if (value === "") return `${key} must not be empty`;
  const [failure] = checkField(argument, key, value as Json);
  if (failure) return `${failure.property} ${failure.reason}`;
  const isUnsendable = [value].flat().some((text) => typeof text === "string" && /\p{Cs}/u.test(text));
  return isUnsendable ? `${key} must not contain half a surrogate pair, which cannot be sent` : undefined;
}

/** Returns the given arguments in the order of their table. @throws CodedError that names the first wrong one */
export function checkArguments<A extends object>(call: string, table: ArgumentTable<A>, args: A): A {
  refuseLater(call, "the arguments are", args);
  const given: unknown = args;
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new CodedError("PP1201", "the arguments must be an object");
  }
  const values = new Map<string, unknown>(Object.entries(given));
  const known = Object.entries<LookupArgument>(table);
  const names = known.map(([key]) => key);
  const strange = [...values.keys()].filter((key) => !names.includes(key));
  if (strange.length > 0) {
    const takes = names.length > 0 ? names.join(", ") : "none";
    throw new CodedError(
      "PP1201",
      `${strange.map((key) => printable(key, 100)).join(", ")} is not an argument; it takes ${takes}${suggest(strange[0] ?? "", names)}`,
    );
  }
  const checked = known.flatMap(([key, argument]): [string, unknown][] => {
    const value = values.get(key);
    if (value === undefined && !argument.required) {
      // As an unset variable is: without the filter that it was to be, everything would match.
      if (values.has(key))
        throw new CodedError("PP1201", `${key} is undefined: give a value, or leave it out`);
      return [];
    }
    refuseLater(call, `${key} is`, value);
    if (Array.isArray(value)) value.forEach((item, i) => refuseLater(call, `${key}[${i}] is`, item));
    const problem =
      value === undefined ? `${key} ${missingReason(argument)}` : argumentProblem(key, argument, value);
    if (problem !== undefined) throw new CodedError("PP1201", problem);
    return [[key, Array.isArray(value) ? [...(value as unknown[])] : value]];
  });
  return Object.fromEntries(checked) as A;
}

/** The query that the arguments say, a parameter for each: with the name and the description of its argument. */
function parametersOf<A extends object>(
  table: ArgumentTable<A>,
  args: A,
): { key: string; argument: LookupArgument; name: string; value: Query[string] }[] {
  return Object.entries<LookupArgument>(table).flatMap(([key, argument]) => {
    const value = (args as Readonly<Record<string, Query[string]>>)[key];
    const isSent = value !== undefined && !argument.path && !argument.picks;
    return isSent ? [{ key, argument, name: argument.wire ?? key, value }] : [];
  });
}

/** The query that the arguments say. */
export function queryOf<A extends object>(table: ArgumentTable<A>, args: A): Query {
  return Object.fromEntries(parametersOf(table, args).map(({ name, value }) => [name, value]));
}

/** Whether an object is one that the arguments pick; undefined where they pick none. */
export function pickerOf<A extends object>(
  table: ArgumentTable<A>,
  args: A,
): ((object: object) => boolean) | undefined {
  const picked = Object.entries(args).filter(([key]) => table[key as keyof A].picks);
  if (picked.length === 0) return undefined;
  return (object) =>
    picked.every(([key, value]) => (object as Readonly<Record<string, unknown>>)[key] === value);
}

/** Whether a list of values to look for is empty: the server would treat it as no filter and return everything. */
export function hasEmptyFilter<A extends object>(table: ArgumentTable<A>, args: A): boolean {
  return parametersOf(table, args).some(
    ({ argument, value }) => !argument.excludes && Array.isArray(value) && value.length === 0,
  );
}

/** Reports arguments that are too long for one address; a list that can be divided is never too long. */
export function querySizeProblem<A extends object>(table: ArgumentTable<A>, args: A): string | undefined {
  const given = args as Readonly<Record<string, unknown>>;
  const sizes = parametersOf(table, args)
    .filter(({ argument }) => !argument.canSplit?.(given))
    .map(({ key, argument, name, value }) => ({
      key,
      divides: argument.canSplit !== undefined,
      size: encodeQuery({ [name]: value }).length,
    }));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const [largest] = sizes.sort((one, other) => other.size - one.size);
  if (largest === undefined || total <= LONGEST_QUERY) return undefined;
  const instead = largest.divides
    ? "remove orderBy, which orders the objects of one request only, and sort the result, or give fewer"
    : "give fewer, and call this several times";
  return `${largest.key} is too long for one request: it takes ${largest.size} characters of an address of at most ${LONGEST_QUERY}; ${instead}`;
}
