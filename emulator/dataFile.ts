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
    throw new Error(`cannot read data file ${path}: ${reason(error)}`, { cause: error });
  }
  try {
    load(text, store, tables);
  } catch (error) {
    throw new Error(`data file ${path} is broken, and left as it is: ${reason(error)}`, { cause: error });
  }
  return true;
}

/** A link is refused: in a folder that others can write to, it could name any file of this user. */
function readRegularFile(path: string): string {
  const file = openNoFollow(path);
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** Not blocking: opening a pipe would wait for its writer. */
function openNoFollow(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const isLink = ["ELOOP", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "");
    throw isLink ? new Error("it is a symbolic link: name the file that it points to") : error;
  }
}

/**
 * Writes the whole store; a reader sees the old file or the new one, never half of one. The new file has a name that
 * nobody could have taken before, and the rename replaces a link instead of following it.
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
    throw new Error(`cannot write data file ${path}: ${reason(error)}`, { cause: error });
  }
}

function serialise(store: Store, tables: readonly KindTable[]): string {
  const lines: string[] = [];
  for (const { kind, message, rules } of tables) {
    if (!rules) continue;
    for (const { uid, createdAt, updatedAt, value, builtIn } of store.all(kind)) {
      if (builtIn) continue;
      const rendered = renderMessage(value, message, { milliseconds: false });
      lines.push(JSON.stringify({ kind, uid, createdAt, updatedAt, value: rendered }));
    }
  }
  const people = store.allPeople().map((person) => JSON.stringify(person));
  return `{"version":${version},"resources":[\n${lines.join(",\n")}\n],"people":[\n${people.join(",\n")}\n]}\n`;
}

function load(text: string, store: Store, tables: readonly KindTable[]): void {
  const root = readJson(text);
  if (!root || numberOf(member(root, "version")) !== version) throw new Error(`"version" must be ${version}`);
  if (!/\}\s*$/.test(text)) throw new Error("text after the end");
  for (const node of itemsOf(member(root, "resources"))) {
    const kind = textOf(member(node, "kind"));
    const table = tables.find((candidate) => candidate.kind === kind && candidate.rules);
    if (!table) throw new Error(`unknown kind "${kind}"`);
    const uid = textOf(member(node, "uid"));
    const value: Message = decodeMessage(member(node, "value"), table.message, text);
    store.add({
      kind,
      uid,
      parent: parentOf(uid, table),
      createdAt: numberOf(member(node, "createdAt")),
      updatedAt: numberOf(member(node, "updatedAt")),
      value,
      builtIn: false,
    });
  }
  for (const node of itemsOf(member(root, "people"))) {
    store.personUid(textOf(member(node, "issuer")), textOf(member(node, "subject")));
  }
}

/** Uid of the parent of a stored resource. */
export function parentOf(uid: string, { rules }: KindTable): string {
  if (rules?.uidOfParent) return uid;
  return uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : "";
}

function member(node: JsonNode, key: string): JsonNode {
  const found = node.kind === "object" ? node.members.find((each) => each.key === key) : undefined;
  if (!found) throw new Error(`"${key}" is missing`);
  return found.value;
}

function itemsOf(node: JsonNode): readonly JsonNode[] {
  if (node.kind !== "list") throw new Error("a list was expected");
  return node.items;
}

function textOf(node: JsonNode): string {
  if (node.kind !== "string") throw new Error("a text was expected");
  return node.text;
}

function numberOf(node: JsonNode): number {
  if (node.kind !== "number") throw new Error("a number was expected");
  return Number(node.raw);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
}
