import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { decodeMessage } from "./gateway/request";
import { renderMessage } from "./gateway/response";
import type { Json } from "./gateway/json";
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

/**
 * Refuses a link: in a folder that others can write to, it could point to any file of this user. Opening does not block,
 * because a pipe would wait for its writer.
 */
function readRegularFile(path: string): string {
  if (lstatSync(path).isSymbolicLink()) {
    throw new Error("it is a symbolic link: name the file that it points to");
  }
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is not a regular file");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
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
  const root = JSON.parse(text) as { version?: unknown } | null;
  if (root?.version !== version) throw new Error(`"version" must be ${version}`);
  for (const stored of readList(root, "resources")) {
    const kind = read(stored, "kind", "string");
    const table = tables.find((candidate) => candidate.kind === kind);
    if (!table) throw new Error(`unknown kind "${kind}"`);
    const value = decodeMessage(read(stored, "value", "object"), table.message);
    const [createdAt, updatedAt] = [read(stored, "createdAt", "number"), read(stored, "updatedAt", "number")];
    store.restore(table, read(stored, "uid", "string"), { value, createdAt, updatedAt });
  }
  for (const person of readList(root, "people")) {
    store.ensurePerson(read(person, "issuer", "string"), read(person, "subject", "string"));
  }
}

interface Types {
  string: string;
  number: number;
  object: Json;
}

function read<T extends keyof Types>(from: unknown, key: string, type: T): Types[T] {
  const member = (from as Record<string, unknown> | null)?.[key];
  if (typeof member !== type) throw new Error(`"${key}" is missing, or no ${type}`);
  return member as Types[T];
}

function readList(from: unknown, key: string): readonly unknown[] {
  const list: unknown = read(from, key, "object");
  if (!Array.isArray(list)) throw new Error(`"${key}" must be a list`);
  return list;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\s+/g, " ") : String(error);
}

const saveDelayMs = 250;

/** Saves changes within a short time together. */
export class AutoSave {
  private timer: NodeJS.Timeout | undefined;

  /** @param save writes the file. @throws Error */
  constructor(private readonly save: () => void) {}

  schedule(): void {
    this.timer ??= setTimeout(() => {
      try {
        this.saveNow();
      } catch {
        // The save at the end reports the error; a request must not fail because of it.
      }
    }, saveDelayMs).unref();
  }

  /** @throws Error */
  saveNow(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.save();
  }
}
