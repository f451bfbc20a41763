import { isUtf8 } from "node:buffer";
import { badRequest, StatusError } from "./status";

/** Parsed JSON. A whole number that a number would round is a bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject | typeof repeated;

/** In place of the value of a key that comes twice: refused where the key has a meaning, else ignored. */
export const repeated = Symbol("repeated");

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/**
 * Reads the first JSON value of a body and ignores what follows it, as the gateway does. `JSON.parse` reads the texts,
 * numbers and words; of a whole body it would hide that a key comes twice, and refuse what follows.
 *
 * @returns undefined if there is only white space.
 * @throws StatusError code 3
 */
export function readBody(body: Buffer): Json | undefined {
  const text = body.toString("utf8");
  if (/^[ \t\r\n]*$/.test(text)) return undefined;
  try {
    const reader = new Reader(text);
    const value = reader.value(reader.next(), 0);
    if (!isUtf8(body) && text.slice(0, reader.at).includes("\ufffd"))
      throw badRequest("the body is not UTF-8");
    return value;
  } catch (error) {
    throw error instanceof StatusError ? error : badRequest(`the body is not JSON: ${String(error)}`);
  }
}

const numberSyntax = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A number as JSON writes it; undefined for any other text. */
export function parseNumber(text: string): number | bigint | undefined {
  if (!numberSyntax.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?[0-9]+$/.test(text) ? number : BigInt(text);
}

const maxDepth = 1000;
/** White space, then a bracket or mark, a text in quotation marks, or a number or word. */
const token = /[ \t\r\n]*([{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"|[-+.0-9A-Za-z]+)/sy;

class Reader {
  /** Where the next token begins. */
  at = 0;

  constructor(private readonly text: string) {}

  next(): string {
    token.lastIndex = this.at;
    const found = token.exec(this.text)?.[1];
    if (found === undefined) throw badRequest("the body is not JSON, or ends too early");
    this.at = token.lastIndex;
    return found;
  }

  /** The value that begins with this token. */
  value(first: string, depth: number): Json {
    if (depth > maxDepth) throw badRequest("exceeded max depth");
    if (first === "{") return this.object(depth);
    if (first === "[") return this.list(depth);
    const value = parseNumber(first) ?? (JSON.parse(first) as string | boolean | null);
    if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
      throw badRequest("a text of the body has half of a surrogate pair");
    }
    return value;
  }

  private object(depth: number): JsonObject {
    // Without prototype, so that a key such as `__proto__` is a key like any other.
    const members = Object.create(null) as Record<string, Json>;
    let mark = this.next();
    if (mark === "}") return members;
    for (;;) {
      const key = this.value(mark, depth);
      if (typeof key !== "string" || this.next() !== ":") throw badRequest("the body is not JSON at a key");
      const value = this.value(this.next(), depth + 1);
      members[key] = key in members ? repeated : value;
      if (this.isEnd("}")) return members;
      mark = this.next();
    }
  }

  private list(depth: number): Json[] {
    const items: Json[] = [];
    let mark = this.next();
    if (mark === "]") return items;
    for (;;) {
      items.push(this.value(mark, depth + 1));
      if (this.isEnd("]")) return items;
      mark = this.next();
    }
  }

  /** Takes the mark after a member or item. */
  private isEnd(bracket: "}" | "]"): boolean {
    const mark = this.next();
    if (mark !== "," && mark !== bracket)
      throw badRequest(`the body is not JSON: "," or "${bracket}" is missing`);
    return mark === bracket;
  }
}
