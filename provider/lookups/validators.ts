import { CodedError } from "../errors/codedError";
import * as pulumi from "../program/sdk";
import type { Query } from "../http/client";
import { printable } from "../http/errors";
import { isUid } from "../text/uid";
import { timestampNanos } from "../fields/values";

/** The arguments of a lookup with inputs in their places: also single items of lists. */
export type LookupInputs<A> = {
  [K in keyof A]: NonNullable<A[K]> extends (infer Item)[]
    ? pulumi.Input<pulumi.Input<Item>[]> | Extract<A[K], undefined>
    : pulumi.Input<A[K]>;
};

/** Which values an argument may have, and how it is sent. */
export interface Validator<T> {
  readonly is: (value: unknown) => value is T;
  /** Goes on after "must be". */
  readonly must: string;
  /** Whether messages leave out its value. */
  readonly hidesValue?: boolean;
  readonly required?: boolean;
  /** Of each item of a list. */
  readonly items?: Validator<unknown>;
  /** The query parameter; none where the lookup does something else with it. */
  readonly parameter?: string;
  /** Of a list: whether it may be sent in several requests, beside these arguments. */
  readonly canSplit?: (args: Readonly<Record<string, unknown>>) => boolean;
  /** Of a list: it takes out what it names, so an empty one takes out nothing. */
  readonly excludes?: boolean;
}

/** A validator for every argument, so that a forgotten one does not compile. */
export type Validators<A> = { readonly [K in keyof A]-?: Validator<NonNullable<A[K]>> };

const text: Validator<string> = {
  // Half a surrogate pair cannot be sent.
  is: (value): value is string => typeof value === "string" && value !== "" && !/\p{Cs}/u.test(value),
  must: "a string that is not empty",
  hidesValue: true,
};

const uid: Validator<string> = {
  is: isUid,
  must: "a uid: 40 hex digits, then 16 more after each slash",
};

/** A uid of unknown form: any string that a path may contain. */
const anyUid: Validator<string> = {
  is: (value): value is string =>
    text.is(value) && value.split("/").every((segment) => !["", ".", ".."].includes(segment)),
  must: "a uid as the API gave it",
};

const segment: Validator<string> = {
  is: (value): value is string => anyUid.is(value) && !value.includes("/"),
  must: "one that the API gave, without a slash",
};

const digest: Validator<string> = {
  is: (value): value is string =>
    typeof value === "string" && /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}$/.test(value),
  must: 'a digest: "sha256:" and 64 hex digits in lower case',
};

const flag: Validator<boolean> = {
  is: (value): value is boolean => typeof value === "boolean",
  must: "true or false",
};

const time: Validator<string> = {
  is: (value): value is string => typeof value === "string" && timestampNanos(value) !== undefined,
  must: 'a time in RFC 3339 with its zone, as in "2026-01-28T12:00:00Z"',
};

/** The server decides which columns exist, so only the form is checked. */
const orderBy: Validator<string> = {
  is: (value): value is string =>
    typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_.]*(?: (?:asc|desc))?$/.test(value),
  must: 'a column and perhaps a direction, as in "name" or "created_at desc"',
};

const limit: Validator<number> = {
  is: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 1,
  must: "a whole number of at least 1",
};

/** A full name. The server may add names, so the prefix is checked and the known names are suggested. */
function enumName(prefix: string, known: string): Validator<string> {
  const names = known.split(" ").map((name) => `${prefix}${name}`);
  return {
    is: (value): value is string =>
      typeof value === "string" && value.startsWith(prefix) && /^[A-Z][A-Z0-9_]*$/.test(value),
    must: `a full name: ${names.join(", ")}`,
  };
}

/** One of the names that there are: where a server drops unknown ones silently. */
function oneName(names: readonly string[]): Validator<string> {
  return {
    is: (value): value is string => typeof value === "string" && names.includes(value),
    must: `one of ${names.join(", ")}`,
  };
}

function listOf<T>(items: Validator<T>): Validator<T[]> {
  return {
    is: (value): value is T[] => Array.isArray(value) && value.every((item) => items.is(item)),
    must: "a list",
    items,
  };
}

/** A list that must name something. */
function nonEmptyListOf<T>(items: Validator<T>): Validator<T[]> {
  const validator = listOf(items);
  return {
    ...validator,
    is: (value): value is T[] => validator.is(value) && value.length > 0,
    must: `a list with at least one item, each ${items.must}`,
  };
}

function required<T>(validator: Validator<T>): Validator<T> {
  return { ...validator, required: true };
}

/** Sent as a query parameter of this name. */
function sentAs<T>(parameter: string, validator: Validator<T>): Validator<T> {
  return { ...validator, parameter };
}

/** The validators, by the names that lookups use. */
export const validate = {
  text,
  uid,
  anyUid,
  segment,
  digest,
  flag,
  time,
  orderBy,
  limit,
  enumName,
  oneName,
  listOf,
  nonEmptyListOf,
  required,
  sentAs,
};

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

function checkValue(call: string, key: string, validator: Validator<unknown>, value: unknown): void {
  if (isLater(value))
    throw new CodedError("PP1202", `${key} is known only later: call ${call}Output instead`);
  if (validator.items && Array.isArray(value)) {
    for (const [i, item] of (value as unknown[]).entries()) {
      checkValue(call, `${key}[${i}]`, validator.items, item);
    }
  }
  const isRight: boolean = validator.is(value);
  if (isRight) return;
  const instead = validator.hidesValue || value === undefined ? "" : `, not ${describeValue(value)}`;
  throw new CodedError("PP1201", `${key} must be ${validator.must}${instead}`);
}

/** Returns the given arguments in the order of their validators. @throws CodedError that names the first wrong one */
export function checkArguments<A extends object>(call: string, validators: Validators<A>, args: A): A {
  if (isLater(args))
    throw new CodedError("PP1202", `the arguments are known only later: call ${call}Output instead`);
  const given: unknown = args;
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new CodedError("PP1201", `the arguments must be an object, not ${describeValue(given)}`);
  }
  const values = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined));
  const known = Object.entries<Validator<unknown>>(validators);
  const names = known.map(([key]) => key);
  const strange = [...values.keys()].filter((key) => !names.includes(key));
  if (strange.length > 0) {
    const takes = names.length > 0 ? names.join(", ") : "none";
    throw new CodedError(
      "PP1201",
      `${strange.map((key) => printable(key, 100)).join(", ")} is not an argument; it takes ${takes}`,
    );
  }
  for (const [key, validator] of known) {
    if (values.has(key) || validator.required) checkValue(call, key, validator, values.get(key));
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
export function queryOf<A extends object>(validators: Validators<A>, args: A): Query {
  const query: Record<string, Query[string]> = {};
  for (const [key, { parameter }] of Object.entries<Validator<unknown>>(validators)) {
    const value = (args as Record<string, unknown>)[key];
    if (parameter !== undefined && value !== undefined) query[parameter] = value as Query[string];
  }
  return query;
}

/** How many characters a query takes in an address. */
export function querySize(query: Query): number {
  return Object.entries(query).reduce(
    (size, [parameter, value]) => (value === undefined ? size : size + encodedSize(parameter, value)),
    0,
  );
}

/** Whether a list of values to look for is empty: the server would treat it as no filter and return everything. */
export function hasEmptyFilter<A extends object>(validators: Validators<A>, args: A): boolean {
  return Object.entries<Validator<unknown>>(validators).some(([key, { items, excludes }]) => {
    const value = (args as Record<string, unknown>)[key];
    return items !== undefined && !excludes && Array.isArray(value) && value.length === 0;
  });
}

/** Proxies commonly take addresses of up to 8 KiB. */
const MAX_ENCODED = 7000;

/** How many characters a parameter takes in an address. */
function encodedSize(parameter: string, value: unknown): number {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.reduce<number>(
    (size, one) => size + parameter.length + encodeURIComponent(String(one)).length + 2,
    0,
  );
}

/** Reports arguments that are too long for one address; a list that can be divided is never too long. */
export function querySizeProblem<A extends object>(validators: Validators<A>, args: A): string | undefined {
  const given = args as Readonly<Record<string, unknown>>;
  const sizes = Object.entries<Validator<unknown>>(validators).flatMap(([key, { parameter, canSplit }]) => {
    const value = given[key];
    return parameter === undefined || value === undefined || canSplit?.(given)
      ? []
      : [{ key, divides: canSplit !== undefined, size: encodedSize(parameter, value) }];
  });
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const [largest] = sizes.sort((one, other) => other.size - one.size);
  if (largest === undefined || total <= MAX_ENCODED) return undefined;
  const instead = largest.divides
    ? "remove orderBy, which orders the objects of one request only, and sort the result, or give fewer"
    : "give fewer, and call this several times";
  return `${largest.key} is too long for one request: it takes ${largest.size} characters of an address of at most ${MAX_ENCODED}; ${instead}`;
}

/** Divides the values of a repeated parameter into parts that are short enough for one address with `used` characters. */
export function splitByUrlLength(
  parameter: string,
  values: readonly string[],
  maxValues = Infinity,
  used = 0,
): string[][] {
  const parts: string[][] = [];
  let size = Infinity;
  for (const value of new Set(values)) {
    const cost = encodedSize(parameter, value);
    const part = parts.at(-1);
    if (part === undefined || size + cost > MAX_ENCODED - used || part.length >= maxValues) {
      parts.push([value]);
      size = cost;
    } else {
      part.push(value);
      size += cost;
    }
  }
  return parts;
}
