import { splitTarget } from "./gateway/request";

/** A request and its result. Headers are not logged, so that no bearer token is. */
export interface LoggedRequest {
  /** Counts up from 1. */
  readonly seq: number;
  /** Emulator's time of arrival, RFC 3339. */
  readonly time: string;
  readonly method: string;
  /** Raw, still percent-encoded. */
  readonly path: string;
  /** Raw, without the question mark. */
  readonly query: string;
  /** Paths of the explicit or inferred field mask of the call. */
  updateMask?: readonly string[];
  /** Parsed JSON, else the text; undefined without a body. */
  body?: unknown;
  /** Method of the service; undefined without a match. */
  rpc?: string;
  /** Undefined while the request runs, and when the connection was destroyed without a response. */
  status?: number;
  durationMs?: number;
  /** Number of running requests when this one arrived, itself included. */
  readonly inFlight: number;
  /** Id of the fault that hit it. */
  fault?: number;
}

const maxEntries = 100_000;

export class RequestLog {
  private entries: LoggedRequest[] = [];
  private lastSeq = 0;
  private running = 0;
  private highestInFlight = 0;

  /** @param onEnd called when a request ends. */
  constructor(private readonly onEnd: (entry: LoggedRequest) => void = () => undefined) {}

  get requests(): readonly LoggedRequest[] {
    return this.entries;
  }

  /** Most requests that ran at once since the log was cleared. */
  get maxInFlight(): number {
    return this.highestInFlight;
  }

  /** Adds an entry; `done` marks the end of the request and may be called again. */
  start(method: string, target: string, time: number): { entry: LoggedRequest; done: () => void } {
    const [path, query] = splitTarget(target);
    const started = performance.now();
    this.running += 1;
    this.highestInFlight = Math.max(this.highestInFlight, this.running);
    this.lastSeq += 1;
    const entry: LoggedRequest = {
      seq: this.lastSeq,
      time: new Date(time).toISOString(),
      method,
      path,
      query,
      inFlight: this.running,
    };
    if (this.entries.length >= maxEntries) this.entries.shift();
    this.entries.push(entry);
    return {
      entry,
      done: () => {
        if (entry.durationMs !== undefined) return;
        this.running -= 1;
        entry.durationMs = Math.round((performance.now() - started) * 1000) / 1000;
        this.onEnd(entry);
      },
    };
  }

  clear(): void {
    this.entries = [];
    this.highestInFlight = this.running;
  }
}

/** Names of fields and parameters that hold a credential; a page token is none. */
const secretName = /secret|password|^code$|(?<!page_?)token$/i;
const masked = "[masked]";

/** A copy without the values of credentials, for people and files to look at. */
export function maskSecrets(entry: LoggedRequest): LoggedRequest {
  const query = entry.query.replace(/(^|&)([^=&]*)=([^&]*)/g, (whole, start: string, name: string) =>
    secretName.test(name) ? `${start}${name}=${masked}` : whole,
  );
  return { ...entry, query, body: maskBody(entry.body) };
}

function maskBody(body: unknown): unknown {
  // Text that is no JSON may hold a credential at any place.
  if (typeof body === "string") return masked;
  if (body === undefined) return undefined;
  return JSON.parse(JSON.stringify(body), (name, value: unknown) =>
    secretName.test(name) ? masked : value,
  ) as unknown;
}

/** One line: time, method, address, status, duration, and what was injected. */
export function formatRequest(request: LoggedRequest): string {
  const { time, method, path, query, status, durationMs = 0, updateMask = [], fault } = maskSecrets(request);
  return [
    time,
    method,
    // A client may send control characters, which a terminal would obey.
    JSON.stringify(query === "" ? path : `${path}?${query}`).slice(1, -1),
    status ?? "closed",
    `${durationMs.toFixed(0)} ms`,
    ...(updateMask.length === 0 ? [] : [`mask ${updateMask.join(",")}`]),
    ...(fault === undefined ? [] : [`fault ${fault}`]),
  ].join(" ");
}

/** The body as JSON, else as text. */
export function parseLoggedBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.slice(0, 10_000);
  }
}
