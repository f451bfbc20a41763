import type { Host, ResourceSpec } from "../fields/resourceSpec";
import type { Client } from "../http/client";
import { explain } from "./messages";
import { ProgramRecord } from "./programRecord";
import { createReader } from "./read";
import type { KindReader } from "./read";

/** Has actions with the same key take turns, in the order in which they came. */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  async runExclusive<T>(key: string, action: () => Promise<T>): Promise<T> {
    const turn = (this.last.get(key) ?? Promise.resolve()).then(action);
    const settled = turn.catch(() => undefined);
    this.last.set(key, settled);
    try {
      return await turn;
    } finally {
      if (this.last.get(key) === settled) this.last.delete(key);
    }
  }
}

/** What the handlers of every kind share in one process. */
export interface HandlerContext {
  readonly client: () => Client;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Writes to one resource run one at a time, by its uid, whatever its kinds; so do creates of equal resources. */
  readonly mutex: KeyedMutex;
  /** What the program of this run declares, creates and keeps. */
  readonly record: ProgramRecord;
  /** Prints one line. */
  readonly warn: (line: string) => void;
}

/** The context of a process that the engine runs. */
export function createHandlerContext(client: () => Client, warn: (line: string) => void): HandlerContext {
  return {
    client,
    mutex: new KeyedMutex(),
    record: new ProgramRecord(),
    now: Date.now,
    warn,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** What the operations of one kind share. */
export interface KindContext {
  readonly spec: ResourceSpec;
  readonly client: () => Client;
  readonly host: Host;
  readonly reader: KindReader;
  readonly mutex: KeyedMutex;
  readonly record: ProgramRecord;
}

export function createKindContext(spec: ResourceSpec, context: HandlerContext): KindContext {
  const { record, mutex } = context;
  const host: Host = {
    sleep: context.sleep,
    warn: (line) => context.warn(line),
    isOwned: (kind, uid) => record.isOwned(kind, uid),
    isDeclared: (key) => record.isDeclared(key),
    explain: (what, error) => explain(spec, what, error, []),
  };
  return {
    spec,
    client: context.client,
    host,
    reader: createReader(spec, context.client),
    mutex,
    record,
  };
}
