import { setTimeout as wait } from "node:timers/promises";
import type { EmulatorSettings } from "../settings";

/** The attributes of an event, and the subscription that it is for. */
interface EventEnvelope {
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  readonly group: string;
  /** Uid of the subscription, and its URL for events. */
  readonly subscription: string;
  readonly sink: string;
  /** Without the bearer token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The delivery of one event to one subscription. */
export interface Delivery extends EventEnvelope {
  /** Counts up from 1. */
  readonly seq: number;
  readonly body: unknown;
  /** `kept`: not sent, because `deliverTo` is empty. */
  state: "kept" | "pending" | "delivered" | "failed";
  attempts: number;
  /** Status and error of the last attempt. */
  status?: number;
  error?: string;
}

export interface OutgoingEvent extends EventEnvelope {
  /** The raw body. */
  readonly data: string;
  readonly authorization: () => string;
}

const maxEntries = 10_000;
const retryDelaysMs = [0, 50, 200];
const timeoutMs = 5000;
const maxConcurrent = 8;

/** Sends events in the background, with three attempts each. */
export class Deliveries {
  private entries: Delivery[] = [];
  private waiting: (() => Promise<void>)[] = [];
  private readonly running = new Set<Promise<void>>();
  private lastSeq = 0;
  private abort = new AbortController();

  constructor(private readonly settings: Readonly<EmulatorSettings>) {}

  get list(): readonly Delivery[] {
    return this.entries;
  }

  add(outgoing: OutgoingEvent): void {
    const { eventId, type, subject, group, subscription, sink, headers, data } = outgoing;
    const { deliverTo } = this.settings;
    this.lastSeq += 1;
    const delivery: Delivery = {
      seq: this.lastSeq,
      eventId,
      type,
      subject,
      group,
      subscription,
      sink,
      headers,
      body: JSON.parse(data) as unknown,
      state: deliverTo === "" ? "kept" : "pending",
      attempts: 0,
    };
    if (this.entries.length >= maxEntries) this.entries.splice(0, maxEntries / 10);
    this.entries.push(delivery);
    if (deliverTo === "") return;
    const targetUrl = deliverTo === "sinks" ? sink : deliverTo;
    const { signal } = this.abort;
    this.waiting.push(() => deliver(delivery, outgoing, targetUrl, signal));
    // Later, so that the request that caused the event gets its response first.
    setImmediate(() => this.startNext());
  }

  /** Resolves when every event is delivered or has failed. */
  async waitUntilIdle(): Promise<void> {
    while (this.waiting.length > 0 || this.running.size > 0) {
      this.startNext();
      await Promise.race(this.running);
    }
  }

  /** Aborts running deliveries and drops waiting ones. */
  stop(): void {
    this.abort.abort();
    this.abort = new AbortController();
    this.waiting = [];
  }

  /** Aborts and removes all deliveries. */
  clear(): void {
    this.stop();
    this.entries = [];
  }

  private startNext(): void {
    while (this.running.size < maxConcurrent) {
      const next = this.waiting.shift();
      if (!next) return;
      const run = next().finally(() => {
        this.running.delete(run);
        this.startNext();
      });
      this.running.add(run);
    }
  }
}

/** Never rejects; the error is in the delivery. */
async function deliver(
  delivery: Delivery,
  { headers, sink, data, authorization }: OutgoingEvent,
  targetUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const sent = { ...headers, "X-Emulator-Sink": sink, Authorization: authorization() };
  for (const delay of retryDelaysMs) {
    try {
      if (delay > 0) await wait(delay, undefined, { signal, ref: false });
      delivery.attempts += 1;
      const response = await fetch(targetUrl, {
        method: "POST",
        headers: sent,
        body: data,
        // A redirect must not get the bearer token.
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      delivery.status = response.status;
      delivery.error = undefined;
      if (response.ok) {
        delivery.state = "delivered";
        return;
      }
    } catch (error) {
      delivery.status = undefined;
      delivery.error = describeError(error);
      if (signal.aborted) break;
    }
  }
  delivery.state = "failed";
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
