import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import type { Host, ResourceSpec } from "../fields/resourceSpec";
import { getOrCompute } from "../fields/values";
import type { Client } from "../http/client";
import { explain } from "./messages";
import { ProgramRecord } from "./programRecord";
import { createReader } from "./read";
import type { KindReader } from "./read";

/** Has actions with the same key take turns, in the order in which they came. */
export class KeyedMutex {
  private readonly limits = new Map<string, ReturnType<typeof pLimit>>();

  runExclusive<T>(key: string, action: () => Promise<T>): Promise<T> {
    return getOrCompute(this.limits, key, () => pLimit(1))(action);
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
    sleep: (ms) => setTimeout(ms),
  };
}

/** What the operations of one kind share. */
export interface KindContext extends HandlerContext {
  readonly spec: ResourceSpec;
  readonly host: Host;
  readonly reader: KindReader;
}

export function createKindContext(spec: ResourceSpec, context: HandlerContext): KindContext {
  const { record } = context;
  const host: Host = {
    sleep: context.sleep,
    warn: (line) => context.warn(line),
    isOwned: (kind, uid) => record.isOwned(kind, uid),
    isDeclared: (key) => record.isDeclared(key),
    explain: (what, error) => explain(spec, what, error, []),
  };
  return { ...context, spec, host, reader: createReader(spec, context.client) };
}
