import { CodedError } from "../errors/codedError";
import * as pulumi from "../program/sdk";
import { encodeQuery, LONGEST_QUERY } from "../http/query";
import type { Query } from "../http/query";
import { printable } from "../text/printable";
import { isUid } from "../text/uid";
import { timestampNanos } from "../fields/formats";

/** The arguments of a lookup with inputs in their places: also single items of lists. */
export type LookupInputs<A> = {
  [K in keyof A]: NonNullable<A[K]> extends (infer Item)[]
    ? pulumi.Input<pulumi.Input<Item>[]> | Extract<A[K], undefined>
    : pulumi.Input<A[K]>;
};

/** An argument of a lookup: which values it may have, and how it is sent. */
export interface LookupArgument<T> {
  readonly is: (value: unknown) => value is T;
  /** Goes on after "must be". */
  readonly must: string;
  /** Whether messages leave out its value. */
  readonly hidesValue?: boolean;
  readonly required?: boolean;
  /** Of each item of a list. */
  readonly items?: LookupArgument<unknown>;
  /** The query parameter, where it has another name than the argument; null where it is none. */
  readonly sentAs?: string | null;
  /** The server cannot filter by it: this package takes the objects whose member of the same name equals it. */
  readonly picks?: boolean;
  /** Of a list: whether it may be sent in several requests, beside these arguments. */
  readonly canSplit?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Of a list: it takes out what it names, so an empty one takes out nothing. */
  readonly excludes?: boolean;
}

/** The arguments of a lookup, by their names: a forgotten one does not compile. */
export type ArgumentTable<A> = { readonly [K in keyof A]-?: LookupArgument<NonNullable<A[K]>> };

/** An argument that must be given. */
export interface RequiredArgument<T> extends LookupArgument<T> {
  readonly required: true;
}

type Value<T> = T extends LookupArgument<infer V> ? V : never;

/** What a program gives for the arguments of a table, whose comments editors show. */
export type ArgumentsOf<T> = {
  -readonly [K in keyof T as T[K] extends RequiredArgument<unknown> ? K : never]: Value<T[K]>;
} & { -readonly [K in keyof T as T[K] extends RequiredArgument<unknown> ? never : K]?: Value<T[K]> };

export const text: LookupArgument<string> = {
  // Half a surrogate pair cannot be sent.
  is: (value): value is string => typeof value === "string" && value !== "" && !/\p{Cs}/u.test(value),
  must: "a string that is not empty",
  hidesValue: true,
};

export const uid: LookupArgument<string> = {
  is: isUid,
  must: "a uid: 40 hex digits, then 16 more after each slash",
};

/** A uid of unknown form: any string that a path may contain. */
export const anyUid: LookupArgument<string> = {
  is: (value): value is string =>
    text.is(value) && value.split("/").every((segment) => !["", ".", ".."].includes(segment)),
  must: "a uid as the API gave it",
};

export const segment: LookupArgument<string> = {
  is: (value): value is string => anyUid.is(value) && !value.includes("/"),
  must: "one that the API gave, without a slash",
};

export const digest: LookupArgument<string> = {
  is: (value): value is string =>
    typeof value === "string" && /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}$/.test(value),
  must: 'a digest: "sha256:" and 64 hex digits in lower case',
};

export const flag: LookupArgument<boolean> = {
  is: (value): value is boolean => typeof value === "boolean",
  must: "true or false",
};

export const time: LookupArgument<string> = {
  is: (value): value is string => typeof value === "string" && timestampNanos(value) !== undefined,
  must: 'a time in RFC 3339 with its zone, as in "2026-01-28T12:00:00Z"',
};

/** The server decides which columns exist, so only the form is checked. */
export const order: LookupArgument<string> = {
  is: (value): value is string =>
    typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_.]*(?: (?:asc|desc))?$/.test(value),
  must: 'a column and perhaps a direction, as in "name" or "created_at desc"',
  sentAs: "order_by",
};

export const count: LookupArgument<number> = {
  is: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 1,
  must: "a whole number of at least 1",
};

/** A full name. The server may add names, so the prefix is checked and the known names are suggested. */
export function enumName(prefix: string, known: string): LookupArgument<string> {
  const names = known.split(" ").map((name) => `${prefix}${name}`);
  return {
    is: (value): value is string =>
      typeof value === "string" && value.startsWith(prefix) && /^[A-Z][A-Z0-9_]*$/.test(value),
    must: `a full name: ${names.join(", ")}`,
  };
}

/** One of the names that there are: where a server drops unknown ones silently. */
export function oneName(names: readonly string[]): LookupArgument<string> {
  return {
    is: (value): value is string => typeof value === "string" && names.includes(value),
    must: `one of ${names.join(", ")}`,
  };
}

export function listOf<T>(items: LookupArgument<T>): LookupArgument<T[]> {
  return {
    is: (value): value is T[] => Array.isArray(value) && value.every((item) => items.is(item)),
    must: "a list",
    items,
  };
}

export const texts = listOf(text);

/** A list that must name something. */
export function nonEmptyListOf<T>(items: LookupArgument<T>): LookupArgument<T[]> {
  const list = listOf(items);
  return {
    ...list,
    is: (value): value is T[] => list.is(value) && value.length > 0,
    must: `a list with at least one item, each ${items.must}`,
  };
}

/** Sent as a query parameter of this name; with null not in the query. */
export function sentAs<T>(parameter: string | null, argument: LookupArgument<T>): LookupArgument<T> {
  return { ...argument, sentAs: parameter };
}

/** See `picks`. */
export function picked<T>(argument: LookupArgument<T>): LookupArgument<T> {
  return { ...argument, picks: true };
}

export function required<T>(argument: LookupArgument<T>): RequiredArgument<T> {
  return { ...argument, required: true };
}

function describeValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  try {
    const json = JSON.stringify(value) as string | undefined;
    return printable(json ?? `a ${typeof value}`, 100);
  } catch {
    return "a circular object";
  }
}

function isLater(value: unknown): boolean {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

function checkValue(call: string, key: string, argument: LookupArgument<unknown>, value: unknown): void {
  if (isLater(value))
    throw new CodedError("PP1202", `${key} is known only later: call ${call}Output instead`);
  if (argument.items && Array.isArray(value)) {
    for (const [i, item] of (value as unknown[]).entries()) {
      checkValue(call, `${key}[${i}]`, argument.items, item);
    }
  }
  const isRight: boolean = argument.is(value);
  if (isRight) return;
  const instead = argument.hidesValue || value === undefined ? "" : `, not ${describeValue(value)}`;
  throw new CodedError("PP1201", `${key} must be ${argument.must}${instead}`);
}

/** Returns the given arguments in the order of their table. @throws CodedError that names the first wrong one */
export function checkArguments<A extends object>(call: string, table: ArgumentTable<A>, args: A): A {
  if (isLater(args))
    throw new CodedError("PP1202", `the arguments are known only later: call ${call}Output instead`);
  const given: unknown = args;
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new CodedError("PP1201", `the arguments must be an object, not ${describeValue(given)}`);
  }
  const values = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined));
  const known = Object.entries<LookupArgument<unknown>>(table);
  const names = known.map(([key]) => key);
  const strange = [...values.keys()].filter((key) => !names.includes(key));
  if (strange.length > 0) {
    const takes = names.length > 0 ? names.join(", ") : "none";
    throw new CodedError(
      "PP1201",
      `${strange.map((key) => printable(key, 100)).join(", ")} is not an argument; it takes ${takes}`,
    );
  }
  for (const [key, argument] of known) {
    if (values.has(key) || argument.required) checkValue(call, key, argument, values.get(key));
  }
  return Object.fromEntries(
    names
      .filter((key) => values.has(key))
      .map((key) => {
        const value = values.get(key);
        return [key, Array.isArray(value) ? [...(value as unknown[])] : value];
      }),
  ) as A;
}

/** The query that the arguments say. */
export function queryOf<A extends object>(table: ArgumentTable<A>, args: A): Query {
  const query: Record<string, Query[string]> = {};
  for (const [key, { sentAs = key, picks }] of Object.entries<LookupArgument<unknown>>(table)) {
    const value = (args as Record<string, unknown>)[key];
    if (sentAs !== null && !picks && value !== undefined) query[sentAs] = value as Query[string];
  }
  return query;
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
  return Object.entries<LookupArgument<unknown>>(table).some(([key, { items, excludes }]) => {
    const value = (args as Record<string, unknown>)[key];
    return items !== undefined && !excludes && Array.isArray(value) && value.length === 0;
  });
}

/** Reports arguments that are too long for one address; a list that can be divided is never too long. */
export function querySizeProblem<A extends object>(table: ArgumentTable<A>, args: A): string | undefined {
  const given = args as Readonly<Record<string, unknown>>;
  const sizes = Object.entries<LookupArgument<unknown>>(table).flatMap(
    ([key, { sentAs = key, picks, canSplit }]) => {
      const value = given[key];
      return sentAs === null || picks || value === undefined || canSplit?.(given)
        ? []
        : [
            {
              key,
              divides: canSplit !== undefined,
              size: encodeQuery({ [sentAs]: value as Query[string] }).length,
            },
          ];
    },
  );
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const [largest] = sizes.sort((one, other) => other.size - one.size);
  if (largest === undefined || total <= LONGEST_QUERY) return undefined;
  const instead = largest.divides
    ? "remove orderBy, which orders the objects of one request only, and sort the result, or give fewer"
    : "give fewer, and call this several times";
  return `${largest.key} is too long for one request: it takes ${largest.size} characters of an address of at most ${LONGEST_QUERY}; ${instead}`;
}
