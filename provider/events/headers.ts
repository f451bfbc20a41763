import { withCode } from "../errorCodes/codedError";
import { EventError } from "./eventError";

/**
 * Headers of a request, by name in any case: `headers` or `headersDistinct` of Node's `http`, `Headers` of `fetch`,
 * `headers` or `multiValueHeaders` of AWS Lambda, a `Map`, or a plain object.
 */
export type EventHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [string, string | readonly string[]]>;

/** CloudEvents attributes by lower-case name. */
export type Attributes = Readonly<Record<string, string>>;

const HEADERS_TYPE =
  "headers must be an object of header names and values, Headers of fetch, or pairs of a name and a value; not rawHeaders";

/** `Headers` and Node join repeated values by ", ", which neither a token nor an encoded attribute contains. */
function splitValues(name: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.flatMap((text) => {
    if (typeof text !== "string") {
      throw new EventError("malformed", `the header ${name} must be a string or an array of strings`);
    }
    return text.split(/,[ \t]+/);
  });
}

const isRelevant = (name: string): boolean => name === "authorization" || name.startsWith("ce-");

/** The headers that decide an event. Equal values of one header are one value; different ones are refused. */
export function readHeaders(headers: EventHeaders): ReadonlyMap<string, string> {
  const input: unknown = headers;
  if (input === null || typeof input !== "object") throw new TypeError(withCode(HEADERS_TYPE, "PP8004"));
  const entries: Iterable<readonly [string, unknown]> =
    Symbol.iterator in headers ? headers : Object.entries(headers);
  const values = new Map<string, string>();
  for (const entry of entries) {
    if (!Array.isArray(entry) || typeof entry[0] !== "string")
      throw new TypeError(withCode(HEADERS_TYPE, "PP8004"));
    const [key, value] = entry as [string, unknown];
    const name = key.toLowerCase();
    if (value === undefined || value === null || !isRelevant(name)) continue;
    for (const text of splitValues(name, value)) {
      if ((values.get(name) ?? text) !== text) {
        throw new EventError(
          "malformed",
          `the header ${name} has several different values: an event has one`,
        );
      }
      values.set(name, text);
    }
  }
  return values;
}

/** The bearer token of a request. @throws EventError where there is none. */
export function readBearerToken(headers: ReadonlyMap<string, string>): string {
  const token = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (token === undefined) throw new EventError("refused", "it carries no bearer token");
  return token;
}

/** Attributes are percent-encoded in headers (CloudEvents, HTTP binding, 3.1.3.2). */
function decodeAttribute(value: string, name: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new EventError("malformed", `the header ce-${name} is not percent-encoded UTF-8`);
  }
}

export function readAttributes(headers: ReadonlyMap<string, string>): Attributes {
  const attributes = [...headers]
    .filter(([name]) => name.startsWith("ce-"))
    .map(([name, value]): [string, string] => [name.slice(3), decodeAttribute(value, name.slice(3))]);
  return Object.fromEntries(attributes);
}

export function requireAttribute(attributes: Attributes, name: string): string {
  const value = attributes[name];
  if (value === undefined || value === "") {
    throw new EventError(
      "malformed",
      `the header ce-${name} is missing: this is not an event in binary mode`,
    );
  }
  return value;
}
