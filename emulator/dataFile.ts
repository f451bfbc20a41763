import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { Message } from "./gateway/descriptor";
import { decodeMessage } from "./gateway/decode";
import { renderMessage } from "./gateway/render";
import type { JsonNode } from "./gateway/strictJson";
import { readJson } from "./gateway/strictJson";
import type { Store } from "./service/store";
import type { KindTable } from "./tables/kindTable";

const version = 1;

/** Reads a data file into an empty store. @returns false when there is no file. @throws Error in one line. */
export function loadDataFile(path: string, store: Store, tables: readonly KindTable[]): boolean {
  let text: string;
  try {
    text = readRegularFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw new Error(`cannot read data file ${path}: ${describeError(error)}`, { cause: error });
  }
  try {
    load(text, store, tables);
  } catch (error) {
    throw new Error(`data file ${path} is broken, and left as it is: ${describeError(error)}`, {
      cause: error,
    });
  }
  return true;
}

/** Refuses a link: in a folder that others can write to, it could point to any file of this user. */
function readRegularFile(path: string): string {
  const file = openNoFollow(path);
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Opens a file that is not a symbolic link. It does not block, because a pipe would wait for its writer. */
function openNoFollow(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const isLink = ["ELOOP", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "");
    throw isLink ? new Error("it is a symbolic link: name the file that it points to") : error;
  }
}

/**
 * Writes the whole store; a reader sees the old file or the new one, never a part. The temporary file has a random name,
 * and the rename replaces a link instead of following it.
 *
 * @throws Error
 */
export function saveDataFile(path: string, store: Store, tables: readonly KindTable[]): void {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, serialise(store, tables), { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new Error(`cannot write data file ${path}: ${describeError(error)}`, { cause: error });
  }
}

function serialise(store: Store, tables: readonly KindTable[]): string {
  const lines: string[] = [];
  for (const { kind, message, behaviour } of tables) {
    if (!behaviour) continue;
    for (const { uid, createdAt, updatedAt, value, builtIn } of store.all(kind)) {
      if (builtIn) continue;
      const rendered = renderMessage(value, message, { milliseconds: false });
      lines.push(JSON.stringify({ kind, uid, createdAt, updatedAt, value: rendered }));
    }
  }
  const people = store.listPeople().map((person) => JSON.stringify(person));
  return `{"version":${version},"resources":[\n${lines.join(",\n")}\n],"people":[\n${people.join(",\n")}\n]}\n`;
}

function load(text: string, store: Store, tables: readonly KindTable[]): void {
  const root = readJson(text);
  if (!root || readNumber(requireMember(root, "version")) !== version)
    throw new Error(`"version" must be ${version}`);
  if (!/\}\s*$/.test(text)) throw new Error("text after the end");
  for (const node of readItems(requireMember(root, "resources"))) {
    const kind = readString(requireMember(node, "kind"));
    const table = tables.find((candidate) => candidate.kind === kind && candidate.behaviour);
    if (!table) throw new Error(`unknown kind "${kind}"`);
    const uid = readString(requireMember(node, "uid"));
    const value: Message = decodeMessage(requireMember(node, "value"), table.message, text);
    store.add({
      kind,
      uid,
      parent: storedParentUid(uid, table),
      createdAt: readNumber(requireMember(node, "createdAt")),
      updatedAt: readNumber(requireMember(node, "updatedAt")),
      value,
      builtIn: false,
    });
  }
  for (const node of readItems(requireMember(root, "people"))) {
    store.ensurePerson(readString(requireMember(node, "issuer")), readString(requireMember(node, "subject")));
  }
}

/** Derives the uid of a stored resource's parent from its own. */
export function storedParentUid(uid: string, { behaviour }: KindTable): string {
  if (behaviour?.hasUidOfParent) return uid;
  return uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : "";
}

function requireMember(node: JsonNode, key: string): JsonNode {
  const found = node.kind === "object" ? node.members.find((each) => each.key === key) : undefined;
  if (!found) throw new Error(`"${key}" is missing`);
  return found.value;
}

function readItems(node: JsonNode): readonly JsonNode[] {
  if (node.kind !== "list") throw new Error("must be a list");
  return node.items;
}

function readString(node: JsonNode): string {
  if (node.kind !== "string") throw new Error("must be a string");
  return node.text;
}

function readNumber(node: JsonNode): number {
  if (node.kind !== "number") throw new Error("must be a number");
  return Number(node.raw);
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
}
