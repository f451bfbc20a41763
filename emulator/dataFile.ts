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
import { decodeMessage } from "./gateway/request";
import { renderMessage } from "./gateway/response";
import type { Json } from "./gateway/json";
import { isJsonObject } from "./gateway/json";
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
  for (const { kind, message } of tables) {
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
  const root = JSON.parse(text) as Json;
  if (memberOf(root, "version") !== version) throw new Error(`"version" must be ${version}`);
  for (const stored of readItems(root, "resources")) {
    const kind = readText(stored, "kind");
    const table = tables.find((candidate) => candidate.kind === kind);
    if (!table) throw new Error(`unknown kind "${kind}"`);
    const uid = readText(stored, "uid");
    store.add({
      kind,
      uid,
      parent: storedParentUid(uid, table),
      createdAt: readNumber(stored, "createdAt"),
      updatedAt: readNumber(stored, "updatedAt"),
      value: decodeMessage(memberOf(stored, "value"), table.message),
      builtIn: false,
    });
  }
  for (const person of readItems(root, "people")) {
    store.ensurePerson(readText(person, "issuer"), readText(person, "subject"));
  }
}

/** Derives the uid of a stored resource's parent from its own. */
export function storedParentUid(uid: string, { hasUidOfParent }: KindTable): string {
  if (hasUidOfParent) return uid;
  return uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : "";
}

function memberOf(json: Json, key: string): Json {
  const member = isJsonObject(json) ? json[key] : undefined;
  if (member === undefined) throw new Error(`"${key}" is missing`);
  return member;
}

function readItems(json: Json, key: string): readonly Json[] {
  const items = memberOf(json, key);
  if (!Array.isArray(items)) throw new Error(`"${key}" must be a list`);
  return items;
}

function readText(json: Json, key: string): string {
  const text = memberOf(json, key);
  if (typeof text !== "string") throw new Error(`"${key}" must be a string`);
  return text;
}

function readNumber(json: Json, key: string): number {
  const number = memberOf(json, key);
  if (typeof number !== "number") throw new Error(`"${key}" must be a number`);
  return number;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
}

/** Saves after changes: changes within a short time are saved together, and a large file less often. */
export class AutoSave {
  private timer: NodeJS.Timeout | undefined;
  private lastSaveMs = 0;

  /** @param save writes the file. @throws Error */
  constructor(private readonly save: () => void) {}

  schedule(): void {
    if (this.timer) return;
    this.timer = setTimeout(
      () => {
        try {
          this.saveNow();
        } catch {
          // The save at the end reports the error; a request must not fail because of it.
        }
      },
      10 + 4 * this.lastSaveMs,
    );
    this.timer.unref();
  }

  /** @throws Error */
  saveNow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const started = performance.now();
    this.save();
    this.lastSaveMs = performance.now() - started;
  }
}
