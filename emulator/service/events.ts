import { createHash, randomUUID } from "node:crypto";
import type { Message, MessageType } from "../gateway/descriptor";
import { renderMessage } from "../gateway/render";
import { msToTimestamp } from "../gateway/scalars";
import type { Caller } from "./caller";
import type { Deliveries } from "./deliveries";
import type { Issuer } from "./issuer";
import type { Store } from "./store";

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
      ...(event.body ? { "Ce-Bodytype": event.body.type.fullName } : {}),
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
