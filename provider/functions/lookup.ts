import * as pulumi from "@pulumi/pulumi";
import type { Client, JsonObject } from "../api/client";
import { isNotFound, printable } from "../api/errors";
import { isUid, parentOf } from "../api/uid";

/** What a lookup that selects by name may narrow by. */
export interface NameQuery {
  name: string;
  parentUid?: string;
  /** True: only objects without a parent; false: only those with one. */
  root?: boolean;
}

/**
 * A lookup that found none, or more than one, or was asked wrongly. The message says what to do; the
 * engine prints it without a stack.
 */
export class LookupError extends pulumi.RunError {
  override readonly name = "LookupError";
  readonly code = "LOOKUP";

  constructor(message: string) {
    super(message);
    // A rejected promise that nobody awaits is printed by its stack.
    this.stack = message;
  }
}

/** Runs a lookup. Whatever goes wrong names the call and prints without a stack. */
export async function lookup<T>(call: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new LookupError(`${call}: ${error instanceof Error ? error.message : "failed"}`);
  }
}

/** Exactly one of `uid` and `name` must select; nothing else may be given beside `uid`. */
export function checkSelection(args: Record<string, unknown>, allowed: readonly string[]): void {
  const given = Object.keys(args).filter((key) => args[key] !== undefined && args[key] !== null);
  const strange = given.filter((key) => !allowed.includes(key));
  if (strange.length > 0) {
    throw new Error(`${strange.join(", ")} is not an argument; it takes ${allowed.join(", ")}`);
  }
  const { uid, name, parentUid } = args;
  if ((uid === undefined) === (name === undefined)) {
    throw new Error(`give either uid or name`);
  }
  if (uid !== undefined && given.length > 1) {
    throw new Error(`a uid selects by itself: remove ${given.filter((key) => key !== "uid").join(", ")}`);
  }
  for (const [key, value] of Object.entries({ uid, parentUid })) {
    if (value !== undefined && !isUid(value)) {
      throw new Error(
        `${key} must be a uid: 40 hex digits, then 16 more after each slash, not ${JSON.stringify(value)}`,
      );
    }
  }
  if (name !== undefined && (typeof name !== "string" || name === "")) {
    throw new Error(`name must be a text that is not empty`);
  }
}

/** The object with a uid, or an error that says what is missing. */
export async function one(client: Client, collection: string, uid: string): Promise<JsonObject> {
  let object: JsonObject;
  try {
    object = await client.getResource(collection, uid);
  } catch (error) {
    if (isNotFound(error)) throw new Error(`there is none with the uid ${uid}`, { cause: error });
    throw error;
  }
  if (object["uid"] !== uid) {
    throw new Error(`the answer is not about ${uid}; is platform:baseUrl right?`);
  }
  return object;
}

/** The only object with a name; none and several are errors, the latter with every candidate. */
export async function only(client: Client, collection: string, query: NameQuery): Promise<JsonObject> {
  const found: JsonObject[] = [];
  const filter = {
    name: query.name,
    ...(query.parentUid === undefined ? {} : { "uidp.children_of": query.parentUid }),
  };
  for await (const item of client.list(collection, filter)) {
    const uid = item["uid"];
    if (typeof uid !== "string" || item["name"] !== query.name) continue;
    if (query.parentUid !== undefined && parentOf(uid) !== query.parentUid) continue;
    if (query.root !== undefined && (parentOf(uid) === undefined) !== query.root) continue;
    found.push(item);
  }
  const [first, ...others] = found;
  if (first === undefined) {
    const where = query.parentUid === undefined ? "" : ` below ${query.parentUid}`;
    throw new Error(
      `there is none with the name ${JSON.stringify(query.name)}${where} that this token may see`,
    );
  }
  if (others.length > 0) {
    const candidates = found.slice(0, 20).map((item) => {
      const uid = String(item["uid"]);
      const text = typeof item["description"] === "string" ? printable(item["description"], 80) : "";
      return `  ${uid} (parent: ${parentOf(uid) ?? "none"})${text === "" ? "" : ` ${text}`}`;
    });
    throw new Error(
      [
        `${found.length} have the name ${JSON.stringify(query.name)}; narrow by parentUid, or give the uid of one:`,
        ...candidates,
        ...(found.length > candidates.length ? ["  …"] : []),
      ].join("\n"),
    );
  }
  return first;
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
