import { createHash, randomUUID } from "node:crypto";
import { setImmediate, setTimeout as wait } from "node:timers/promises";
import type { Message, MessageType } from "../gateway/fields";
import { renderMessage } from "../gateway/response";
import { msToTimestamp } from "../gateway/time";
import type { AuthenticatedCall, CallEvent } from "../tables/kindTable";
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
    /** Without the package of all types, for example `iam.v2.Group`. */
    readonly typeName: string;
    /** Top-level fields of the message; all by default. */
    readonly onlyFields?: ReadonlySet<string>;
  };
  /** Uid of the provider that mappings belong to. */
  readonly identityProvider?: string;
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
const retryDelaysMs = [0, 50, 200];
const timeoutMs = 5000;

/** Sends events to subscribers as CloudEvents in binary mode, in the background and with three attempts each. */
export class Events {
  private deliveries: Delivery[] = [];
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
    const { subject, group, body } = event;
    const subscriptions = [...this.platform.store.all("Subscription")].filter(
      ({ parent }) => group === parent || group.startsWith(`${parent}/`),
    );
    if (subscriptions.length === 0) return;
    const eventId = randomUUID();
    const type = `dev.chainguard.api.${event.name}.v1`;
    const headers = this.headersOf(event, eventId, type);
    const { milliseconds } = this;
    const data = JSON.stringify({
      actor: { subject: caller.uid, act: caller.act },
      body: body && renderMessage(body.message, body.type, { milliseconds, onlyFields: body.onlyFields }),
    });
    for (const { uid: subscription, parent, value } of subscriptions) {
      const sink = value.sink as string;
      this.add({ eventId, type, subject, group, subscription, sink, headers }, parent, data);
    }
  }

  /** Publishes the event of a call that is no write of one resource. */
  publishCall(event: CallEvent, { method, request, caller }: AuthenticatedCall, response: Message): void {
    const subject = request[event.subject] as string;
    const [root = ""] = subject.split("/");
    const [domain = "", version = ""] = method.rpc.split(".");
    const typeName = `${domain}.${version}.${method.rpc.slice(method.rpc.indexOf("/") + 1)}`;
    const isOfMappings = event.about === "mappings";
    this.publish(
      {
        name: event.name,
        subject,
        group: event.about === undefined ? subject : root,
        identityProvider: isOfMappings ? subject : undefined,
        body: isOfMappings
          ? { message: request, type: method.request, typeName: `${typeName}Request` }
          : {
              // Only the caller gets a new token itself.
              message: { ...response, token: undefined },
              type: method.response,
              typeName: `${typeName}Response`,
            },
      },
      caller,
    );
  }

  private headersOf(event: PlatformEvent, id: string, type: string): Record<string, string> {
    const { subject, group, body, identityProvider } = event;
    return {
      "Content-Type": "application/json",
      "Ce-Specversion": "1.0",
      "Ce-Id": id,
      "Ce-Source": this.platform.url(),
      "Ce-Type": type,
      "Ce-Subject": subject,
      "Ce-Time": msToTimestamp(this.platform.now()),
      "Ce-Group": group,
      "Ce-Audience": customer,
      ...(body && { "Ce-Bodytype": `chainguard.platform.${body.typeName}` }),
      ...(identityProvider !== undefined && { "Ce-Identityprovider": identityProvider }),
    };
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
    if (this.deliveries.length >= maxDeliveries) this.deliveries.shift();
    this.deliveries.push(delivery);
    if (deliverTo === "") return;
    const targetUrl = deliverTo === "sinks" ? envelope.sink : deliverTo;
    const { signal } = this.abort;
    // Later, so that the request that caused the event gets its response first.
    const run = setImmediate()
      .then(() => deliver(delivery, data, this.tokenFor(subscriber, data), targetUrl, signal))
      .finally(() => this.running.delete(run));
    this.running.add(run);
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
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Aborts the deliveries that are under way. */
  stop(): void {
    this.abort.abort();
    this.abort = new AbortController();
  }

  /** Aborts and removes all deliveries. */
  clear(): void {
    this.stop();
    this.deliveries = [];
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
