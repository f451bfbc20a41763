import { setTimeout as wait } from "node:timers/promises";
import type { EmulatorSettings } from "../settings";

/** What an event says of itself, and the subscription that it is for. */
interface Addressed {
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  readonly group: string;
  /** Uid of the subscription, and where it wants its events. */
  readonly subscription: string;
  readonly sink: string;
  /** Without the bearer token. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One event on its way to one subscription. */
export interface Delivery extends Addressed {
  /** Counts up from 1. */
  readonly seq: number;
  readonly body: unknown;
  /** `kept`: nothing was sent, because no deliveries are asked for. */
  state: "kept" | "pending" | "delivered" | "failed";
  attempts: number;
  /** Status and error of the last attempt. */
  status?: number;
  error?: string;
}

export interface Outgoing extends Addressed {
  /** The raw body. */
  readonly data: string;
  readonly authorization: () => string;
}

const kept = 10_000;
const waitsMs = [0, 50, 200];
const timeoutMs = 5000;
const atOnce = 8;

/** Sends events apart from the requests that caused them, each at least once if the sink takes it in three tries. */
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

  add(outgoing: Outgoing): void {
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
    if (this.entries.length >= kept) this.entries.splice(0, kept / 10);
    this.entries.push(delivery);
    if (deliverTo === "") return;
    const url = deliverTo === "sinks" ? sink : deliverTo;
    const { signal } = this.abort;
    this.waiting.push(() => deliver(delivery, outgoing, url, signal));
    // Not in this turn: the request that caused the event is answered first.
    setImmediate(() => this.work());
  }

  /** When everything that was added has been delivered, or given up. */
  async settled(): Promise<void> {
    while (this.waiting.length > 0 || this.running.size > 0) {
      this.work();
      await Promise.race(this.running);
    }
  }

  /** Breaks off what is under way. */
  stop(): void {
    this.abort.abort();
    this.abort = new AbortController();
    this.waiting = [];
  }

  /** Forgets all deliveries; those under way are broken off. */
  clear(): void {
    this.stop();
    this.entries = [];
  }

  private work(): void {
    while (this.running.size < atOnce) {
      const next = this.waiting.shift();
      if (!next) return;
      const run = next().finally(() => {
        this.running.delete(run);
        this.work();
      });
      this.running.add(run);
    }
  }
}

/** Never rejects; what went wrong is in the delivery. */
async function deliver(
  delivery: Delivery,
  { headers, sink, data, authorization }: Outgoing,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const sent = { ...headers, "X-Emulator-Sink": sink, Authorization: authorization() };
  for (const delay of waitsMs) {
    try {
      if (delay > 0) await wait(delay, undefined, { signal, ref: false });
      delivery.attempts += 1;
      const answer = await fetch(url, {
        method: "POST",
        headers: sent,
        body: data,
        // The bearer token is for the sink alone.
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      await answer.body?.cancel();
      delivery.status = answer.status;
      delivery.error = undefined;
      if (answer.ok) {
        delivery.state = "delivered";
        return;
      }
    } catch (error) {
      delivery.status = undefined;
      delivery.error = reason(error);
      if (signal.aborted) break;
    }
  }
  delivery.state = "failed";
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
