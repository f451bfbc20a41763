import { createHash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Message, MessageType } from "../gateway/fields";
import { renderMessage } from "../gateway/response";
import { msToTimestamp } from "../gateway/time";
import type { Issuer } from "./jwt";
import type { PlatformService } from "./platformService";
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

/** Full name of a message in the package of a service or method, such as `iam.v2.GroupsService`. */
export function fullNameOf(service: string, message: string): string {
  return `chainguard.platform.${service.slice(0, service.lastIndexOf("."))}.${message}`;
}

/** The delivery of one event to one subscription. */
export interface Delivery {
  /** Counts up from 1. */
  readonly seq: number;
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  readonly group: string;
  /** Uid of the subscription, and its URL for events. */
  readonly subscription: string;
  readonly sink: string;
  /** Without the bearer token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** `kept`: not sent, because `deliverTo` is empty. */
  state: "kept" | "pending" | "delivered" | "failed";
  attempts: number;
  /** Status and error of the last attempt. */
  status?: number;
  error?: string;
}

const customer = "customer";
const tokenLifeSeconds = 3600;
const maxDeliveries = 10_000;
const maxConcurrent = 8;
const retryDelaysMs = [0, 50, 200];
const timeoutMs = 5000;

/** Sends events to subscribers as CloudEvents in binary mode, in the background and with three attempts each. */
export class Events {
  private deliveries: Delivery[] = [];
  private waiting: (() => Promise<void>)[] = [];
  private readonly running = new Set<Promise<void>>();
  private lastSeq = 0;
  private abort = new AbortController();

  constructor(
    private readonly platform: PlatformService,
    private readonly issuer: Issuer,
    private readonly milliseconds: boolean,
  ) {}

  get list(): readonly Delivery[] {
    return this.deliveries;
  }

  publish(event: PlatformEvent, caller: Caller): void {
    const { store } = this.platform;
    const { subject, group } = event;
    if (event.internal || group === "" || !store.hasAny("Subscription")) return;
    const subscriptions = [...store.all("Subscription")].filter(
      ({ parent }) => group === parent || group.startsWith(`${parent}/`),
    );
    if (subscriptions.length === 0) return;
    const eventId = randomUUID();
    const type = `dev.chainguard.api.${event.name}.v1`;
    const headers = this.headersOf(event, eventId, type);
    const data = this.dataOf(event, caller);
    for (const { uid: subscription, parent, value } of subscriptions) {
      const sink = value.sink as string;
      this.add({ eventId, type, subject, group, subscription, sink, headers }, parent, data);
    }
  }

  private headersOf(event: PlatformEvent, id: string, type: string): Record<string, string> {
    const extensions = Object.entries(event.extensions ?? {}).map(([name, value]) => [
      `Ce-${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      value,
    ]);
    return {
      "Content-Type": "application/json",
      "Ce-Specversion": "1.0",
      "Ce-Id": id,
      "Ce-Source": this.platform.url(),
      "Ce-Type": type,
      "Ce-Subject": event.subject,
      "Ce-Time": msToTimestamp(this.platform.now()),
      "Ce-Group": event.group,
      "Ce-Audience": customer,
      ...(event.body ? { "Ce-Bodytype": event.body.typeName } : {}),
      ...(Object.fromEntries(extensions) as Record<string, string>),
    };
  }

  /** The raw body. */
  private dataOf({ body }: PlatformEvent, caller: Caller): string {
    const { milliseconds } = this;
    return JSON.stringify({
      actor: { subject: caller.uid, act: caller.act },
      ...(body
        ? { body: renderMessage(body.message, body.type, { milliseconds, onlyFields: body.onlyFields }) }
        : {}),
    });
  }

  private add(
    envelope: Omit<Delivery, "seq" | "body" | "state" | "attempts">,
    subscriber: string,
    data: string,
  ): void {
    const { deliverTo } = this.platform.settings;
    this.lastSeq += 1;
    const delivery: Delivery = {
      seq: this.lastSeq,
      ...envelope,
      body: JSON.parse(data) as unknown,
      state: deliverTo === "" ? "kept" : "pending",
      attempts: 0,
    };
    if (this.deliveries.length >= maxDeliveries) this.deliveries.splice(0, maxDeliveries / 10);
    this.deliveries.push(delivery);
    if (deliverTo === "") return;
    const targetUrl = deliverTo === "sinks" ? envelope.sink : deliverTo;
    const { signal } = this.abort;
    this.waiting.push(() => deliver(delivery, data, this.tokenFor(subscriber, data), targetUrl, signal));
    // Later, so that the request that caused the event gets its response first.
    setImmediate(() => this.startNext());
  }

  private tokenFor(group: string, data: string): string {
    const seconds = Math.floor(this.platform.now() / 1000);
    return this.issuer.sign({
      aud: customer,
      sub: `webhook:${group}`,
      iat: seconds,
      exp: seconds + tokenLifeSeconds,
      webhook: { digest: `sha256:${createHash("sha256").update(data).digest("hex")}` },
    });
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
    this.deliveries = [];
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
  data: string,
  token: string,
  targetUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const { headers, sink } = delivery;
  const sent = { ...headers, "X-Emulator-Sink": sink, Authorization: `Bearer ${token}` };
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
