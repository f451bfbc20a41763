import { createHash } from "node:crypto";

/** A failure to inject. Without `method` and `path` it hits every request. */
export interface Fault {
  /** HTTP method. */
  readonly method?: string;
  /** Start of the raw path, or a regular expression (or its source) found in the raw path. */
  readonly path?: string | RegExp;
  /** How many requests it hits; all by default. */
  readonly count?: number;
  /** Matching requests that pass before the first hit. */
  readonly after?: number;
  /** Chance from 0 to 1 that a matching request is hit, drawn from `seed` so that every run is the same. */
  readonly probability?: number;
  readonly seed?: number;
  /** Wait, in milliseconds of real time, before the request is handled. */
  readonly latencyMs?: number;
  /** Respond with this status (200 if only `body` is given); the request has no effect unless `applied`. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** With `status` or `body`: the request takes effect, then its response is replaced. */
  readonly applied?: boolean;
  /** Destroy the connection before the request takes effect, or after it did. */
  readonly close?: "before" | "after";
  /** With `applied`, or `close` "after": it takes effect this many milliseconds after the client got its response. */
  readonly effectAfterMs?: number;
  /** Send this many bytes of the response's body, then destroy the connection. */
  readonly truncate?: number;
  /** Treat a PATCH as if it had come without a field mask. */
  readonly ignoreMask?: boolean;
}

export interface FaultHandle {
  readonly id: number;
  /** Requests hit so far. */
  readonly hits: number;
  remove(): void;
}

interface ArmedFault {
  readonly id: number;
  readonly fault: Fault;
  readonly matches: (method: string, path: string) => boolean;
  readonly random: () => number;
  matchCount: number;
  hitCount: number;
}

/** The active faults in the order they were added; a request gets the first one that hits it. */
export class Faults {
  private armed: ArmedFault[] = [];
  private lastId = 0;

  /** @throws Error naming what is wrong with the fault. */
  add(fault: Fault): FaultHandle {
    checkFault(fault);
    this.lastId += 1;
    const armed: ArmedFault = {
      id: this.lastId,
      fault,
      matches: createMatcher(fault),
      random: createRandom(fault.seed ?? 1),
      matchCount: 0,
      hitCount: 0,
    };
    this.armed.push(armed);
    return {
      id: armed.id,
      get hits() {
        return armed.hitCount;
      },
      remove: () => void this.remove(armed.id),
    };
  }

  remove(id: number): boolean {
    const before = this.armed.length;
    this.armed = this.armed.filter((armed) => armed.id !== id);
    return this.armed.length < before;
  }

  clear(): void {
    this.armed = [];
  }

  list(): { id: number; hits: number; fault: Fault }[] {
    return this.armed.map(({ id, hitCount: hits, fault }) => ({
      id,
      hits,
      fault: { ...fault, path: fault.path instanceof RegExp ? fault.path.source : fault.path },
    }));
  }

  /** The fault of a request, if one hits it. */
  draw(method: string, path: string): { id: number; fault: Fault } | undefined {
    for (const armed of this.armed) {
      const { fault } = armed;
      if (armed.hitCount >= (fault.count ?? Infinity) || !armed.matches(method, path)) continue;
      armed.matchCount += 1;
      if (armed.matchCount <= (fault.after ?? 0)) continue;
      if (fault.probability !== undefined && armed.random() >= fault.probability) continue;
      armed.hitCount += 1;
      return { id: armed.id, fault };
    }
    return undefined;
  }
}

const checks: { readonly [K in keyof Required<Fault>]: (value: NonNullable<Fault[K]>) => boolean } = {
  method: (value) => typeof value === "string",
  path: (value) => value instanceof RegExp || typeof value === "string",
  count: isCount,
  after: isCount,
  probability: (value) => typeof value === "number" && value >= 0 && value <= 1,
  seed: (value) => Number.isInteger(value),
  latencyMs: (value) => typeof value === "number" && value >= 0,
  status: (value) => Number.isInteger(value) && value >= 200 && value <= 599,
  headers: (value) =>
    typeof value === "object" && Object.values(value).every((header) => typeof header === "string"),
  body: () => true,
  applied: (value) => typeof value === "boolean",
  close: (value) => ["before", "after"].includes(value),
  effectAfterMs: (value) => typeof value === "number" && value >= 0,
  truncate: isCount,
  ignoreMask: (value) => typeof value === "boolean",
};

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function checkFault(fault: unknown): void {
  if (typeof fault !== "object" || fault === null || Array.isArray(fault)) {
    throw new Error("a fault must be an object");
  }
  for (const [name, value] of Object.entries(fault)) {
    if (!Object.hasOwn(checks, name)) throw new Error(`unknown member "${name}" of a fault`);
    const check = checks[name as keyof Fault] as (value: unknown) => boolean;
    if (value !== undefined && (value === null ? name !== "body" : !check(value))) {
      throw new Error(`member "${name}" of a fault has a wrong value`);
    }
  }
}

/** Whether a fault is for requests of this method and raw path. */
function createMatcher({ method, path }: Fault): ArmedFault["matches"] {
  const wanted = method?.toUpperCase();
  let expression: RegExp | undefined;
  try {
    expression = path === undefined ? /^/ : new RegExp(path);
  } catch {
    // A start of a path need not be an expression.
  }
  return (actual, rawPath) =>
    (wanted === undefined || wanted === actual) &&
    ((typeof path === "string" && rawPath.startsWith(path)) ||
      // `search` begins at the start, also with the flags g and y.
      (expression !== undefined && rawPath.search(expression) >= 0));
}

/** The same numbers from 0 to 1 for the same seed, on every machine. */
function createRandom(seed: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    return createHash("sha256").update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
}
