import { errorCodeOf, withCode } from "../../../errorCodes/codedError";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { ChangedResources } from "../../../access/drift/changedResources";
import type { ChangeEvent } from "../../../access/drift/changedResources";
import { printable, printableMessage } from "../../../api/errors";
import { compareTexts, isObject } from "../../../engine/values/values";
import { EventError } from "../../../events";
import type { VerifyEventOptions } from "../../../events";
import { verifyHeaders } from "../../../events/verifyEvent";
import type { SignedDelivery } from "../../../events/verifyEvent";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REMEMBERED = 10_000;
/** Events that wait for a run at most: of more, the oldest are dropped. */
const MAX_WAITING = 10_000;
const MAX_DELAY_FACTOR = 10;
const REQUEST_TIMEOUT_MS = 30_000;

/** The body of a request; undefined where it is larger than an event. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Remembers the values of the newest keys. */
class RecentMap {
  private readonly values = new Map<string, string>();

  /** The value of a key; a new key gets this one. */
  getOrSet(key: string, value: string): { readonly value: string; readonly isNew: boolean } {
    const existing = this.values.get(key);
    if (existing !== undefined) return { value: existing, isNew: false };
    this.values.set(key, value);
    const [oldest] = this.values.keys();
    if (this.values.size > MAX_REMEMBERED && oldest !== undefined) this.values.delete(oldest);
    return { value, isNew: true };
  }
}

const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Drops the body of an event, which no run needs. */
function withoutBody({ name, subject, time, actor }: ChangeEvent): ChangeEvent {
  const actorSubject = isObject(actor) && typeof actor["subject"] === "string" ? actor["subject"] : undefined;
  return { name, subject, time, ...(actorSubject === undefined ? {} : { actor: { subject: actorSubject } }) };
}

/** How a receiver of events verifies and handles them. */
export interface EventReceiverOptions {
  readonly verify: VerifyEventOptions;
  /** How long no event may come before a run, in milliseconds. */
  readonly settleMs: number;
  /** Compares the resources that a burst of events names. */
  readonly run: (changed: ChangedResources) => Promise<void>;
  /** Logs a line about an event that was refused, or a run that failed. */
  readonly log: (line: string) => void;
}

/** Receives events and handles each burst of them by one run, one run at a time. */
export class EventReceiver {
  readonly server: Server;
  /** The digest of the headers of each delivery, by the signed part of its bearer token. */
  private readonly deliveries = new RecentMap();
  /** Accepted events by their ids and bodies: one may be delivered again with another bearer token. */
  private readonly events = new RecentMap();
  private waiting: ChangeEvent[] = [];
  private timer: NodeJS.Timeout | undefined;
  private firstAt = 0;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: EventReceiverOptions) {
    this.server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      this.receive(request, response).catch(() => response.destroy());
    });
  }

  /** Resolves when all events so far are handled. */
  async waitUntilIdle(): Promise<void> {
    if (this.timer) this.start();
    await this.running;
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await new Promise<void>((done) => {
      this.server.close(() => done());
      this.server.closeAllConnections();
    });
    await this.running;
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") {
      response.writeHead(405, { Allow: "POST" }).end();
      return;
    }
    try {
      const delivery = await verifyHeaders(request.headers, this.options.verify);
      const body = await readBody(request);
      if (body === undefined) {
        response.writeHead(413, { Connection: "close" }).end();
        return;
      }
      const event = delivery.verifyBody(body);
      this.checkReplay(delivery);
      response.writeHead(204).end();
      if (this.events.getOrSet(JSON.stringify([event.id, sha256(body)]), "").isNew) this.accept(event);
    } catch (error) {
      const status = error instanceof EventError ? error.status : 400;
      // The rest of the body is not read.
      response.writeHead(status, { Connection: "close" }).end();
      this.options.log(`an event was not taken (${status}): ${printableMessage(error, 300)}`);
    }
  }

  /** Headers are not signed: a copy of a delivery with other headers would name other objects. */
  private checkReplay({ signedPart, attributes }: SignedDelivery): void {
    const headers = sha256(JSON.stringify(Object.entries(attributes).sort(([a], [b]) => compareTexts(a, b))));
    const first = this.deliveries.getOrSet(sha256(signedPart), headers);
    if (first.value !== headers) {
      throw new EventError("refused", "its token was delivered before with other headers: it is a replay");
    }
  }

  private accept(event: ChangeEvent): void {
    if (!new ChangedResources().add(event)) return;
    const dropped = this.enqueue([...this.waiting, withoutBody(event)]);
    if (dropped > 0) this.options.log(`${dropped} events were dropped: run pulumi-platform drift`);
    this.schedule();
  }

  /** Keeps the newest events for the next run; returns how many were dropped. */
  private enqueue(events: readonly ChangeEvent[]): number {
    this.waiting = events.slice(-MAX_WAITING);
    return events.length - this.waiting.length;
  }

  private schedule(): void {
    const { settleMs } = this.options;
    const now = performance.now();
    if (this.timer === undefined) this.firstAt = now;
    else clearTimeout(this.timer);
    const remaining = this.firstAt + MAX_DELAY_FACTOR * settleMs - now;
    this.timer = setTimeout(() => this.start(), Math.max(0, Math.min(settleMs, remaining)));
  }

  private start(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running = this.running.then(() => this.run());
  }

  private async run(): Promise<void> {
    const events = this.waiting;
    this.waiting = [];
    const changed = new ChangedResources();
    for (const event of events) changed.add(event);
    if (changed.isEmpty) return;
    try {
      await this.options.run(changed);
    } catch (error) {
      const dropped = this.enqueue([...events, ...this.waiting]);
      const loss = dropped === 0 ? "" : `; ${dropped} older events were dropped: run pulumi-platform drift`;
      const reason = error instanceof Error ? printable(error.message) : "unknown error";
      const next = `the next run checks its ${events.length} events again${loss}`;
      this.options.log(withCode(`a run failed: ${reason}; ${next}`, errorCodeOf(error)));
    }
  }
}
