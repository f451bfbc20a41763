/** One request as it came and what became of it. Headers are not kept, so no bearer token is. */
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
  /** Paths of the field mask that reached the service, given or inferred. */
  updateMask?: readonly string[];
  /** Parsed JSON, or the text when it is none; undefined without a body. */
  body?: unknown;
  /** Method of the service; undefined when the address led to none. */
  rpc?: string;
  /** Undefined while the request runs, and when the connection was destroyed without an answer. */
  status?: number;
  durationMs?: number;
  /** Requests that ran when this one arrived, with itself. */
  readonly inFlight: number;
  /** Id of the fault that hit it. */
  fault?: number;
}

const kept = 100_000;

export class RequestLog {
  private entries: LoggedRequest[] = [];
  private lastSeq = 0;
  private running = 0;
  private most = 0;

  get requests(): readonly LoggedRequest[] {
    return this.entries;
  }

  /** Most requests that ran at once since the log was cleared. */
  get maxInFlight(): number {
    return this.most;
  }

  /** The entry of a request that arrives; `done` is called when it has ended, once or more. */
  start(method: string, target: string, time: number): { entry: LoggedRequest; done: () => void } {
    const cut = target.indexOf("?");
    const started = performance.now();
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    this.lastSeq += 1;
    const entry: LoggedRequest = {
      seq: this.lastSeq,
      time: new Date(time).toISOString(),
      method,
      path: cut < 0 ? target : target.slice(0, cut),
      query: cut < 0 ? "" : target.slice(cut + 1),
      inFlight: this.running,
    };
    if (this.entries.length >= kept) this.entries.splice(0, kept / 10);
    this.entries.push(entry);
    return {
      entry,
      done: () => {
        if (entry.durationMs !== undefined) return;
        this.running -= 1;
        entry.durationMs = Math.round((performance.now() - started) * 1000) / 1000;
      },
    };
  }

  clear(): void {
    this.entries = [];
    this.most = this.running;
  }
}

/** A body as the log shows it. */
export function loggedBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.slice(0, 10_000);
  }
}
