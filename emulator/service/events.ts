import { createHash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Message, MessageType } from "../gateway/fields";
import { renderMessage } from "../gateway/response";
import { msToTimestamp } from "../gateway/time";
import type { EmulatorSettings } from "../settings";
import type { Issuer } from "./jwt";
import type { Store } from "./store";
import type { Caller } from "./tokens";

/** An event of the API. */
export interface PlatformEvent {
  /** Between `dev.chainguard.api.` and `.v1`, for example `iam.group.created`. */
  readonly name: string;
  /** Uid of the resource. */
  readonly subject: string;
  /** Uid of the group that it belongs to; "" for none. */
  readonly group: string;
  readonly body?: {
    readonly message: Message;
    readonly type: MessageType;
    /** Full name of the type. */
    readonly typeName: string;
    /** Top-level fields of the message; all by default. */
    readonly onlyFields?: ReadonlySet<string>;
  };
  /** Further attributes, by lower-case name. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Not sent to customers. */
  readonly internal?: boolean;
}

export interface EventsOptions {
  readonly store: Store;
  readonly deliveries: Deliveries;
  readonly issuer: Issuer;
  readonly url: () => string;
  readonly now: () => number;
  readonly milliseconds: boolean;
}

/** Full name of a message in the package of a service or method, such as `iam.v2.GroupsService`. */
export function fullNameOf(service: string, message: string): string {
  return `chainguard.platform.${service.slice(0, service.lastIndexOf("."))}.${message}`;
}

const customer = "customer";
const tokenLifeSeconds = 3600;

/** Sends events to subscribers, as CloudEvents in binary mode. */
export class EventPublisher {
  constructor(private readonly options: EventsOptions) {}

  publish(event: PlatformEvent, caller: Caller): void {
    const { store } = this.options;
    if (event.internal || event.group === "" || !store.hasAny("Subscription")) return;
    const subscriptions = [...store.all("Subscription")].filter(
      ({ parent }) => event.group === parent || event.group.startsWith(`${parent}/`),
    );
    if (subscriptions.length === 0) return;
    const id = randomUUID();
    const type = `dev.chainguard.api.${event.name}.v1`;
    const headers = this.headersOf(event, id, type);
    const data = this.dataOf(event, caller);
    for (const { uid, parent, value } of subscriptions) {
      this.options.deliveries.add({
        eventId: id,
        type,
        subject: event.subject,
        group: event.group,
        subscription: uid,
        sink: value.sink as string,
        headers,
        data,
        authorization: () => `Bearer ${this.tokenFor(parent, data)}`,
      });
    }
  }

  private headersOf(event: PlatformEvent, id: string, type: string): Record<string, string> {
    const { now, url } = this.options;
    const extensions = Object.entries(event.extensions ?? {}).map(([name, value]) => [
      `Ce-${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      value,
    ]);
    return {
      "Content-Type": "application/json",
      "Ce-Specversion": "1.0",
      "Ce-Id": id,
      "Ce-Source": url(),
      "Ce-Type": type,
      "Ce-Subject": event.subject,
      "Ce-Time": msToTimestamp(now()),
      "Ce-Group": event.group,
      "Ce-Audience": customer,
      ...(event.body ? { "Ce-Bodytype": event.body.typeName } : {}),
      ...(Object.fromEntries(extensions) as Record<string, string>),
    };
  }

  private dataOf({ body }: PlatformEvent, caller: Caller): string {
    const { milliseconds } = this.options;
    return JSON.stringify({
      actor: { subject: caller.uid, act: caller.act },
      ...(body
        ? { body: renderMessage(body.message, body.type, { milliseconds, onlyFields: body.onlyFields }) }
        : {}),
    });
  }

  private tokenFor(group: string, data: string): string {
    const seconds = Math.floor(this.options.now() / 1000);
    return this.options.issuer.sign({
      aud: customer,
      sub: `webhook:${group}`,
      iat: seconds,
      exp: seconds + tokenLifeSeconds,
      webhook: { digest: `sha256:${createHash("sha256").update(data).digest("hex")}` },
    });
  }
}

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
