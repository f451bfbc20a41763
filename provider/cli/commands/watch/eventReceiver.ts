import { errorCodeOf, withCode } from "../../../errors/codedError";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { ChangedResources } from "../../../access/drift/stateComparison";
import type { ChangeEvent } from "../../../access/drift/stateComparison";
import { printable } from "../../../text/printable";
import { isObject } from "../../../fields/values";
import { createEventHandler } from "../../../events";
import type { EventHandlerOptions } from "../../../events";
import { ownCommand } from "../../input/packageManager";

/** Events that wait for a run at most: of more, the oldest are dropped. */
const MAX_WAITING = 10_000;
const MAX_DELAY_FACTOR = 10;

/** Drops the body of an event, which no run needs. */
function withoutBody({ name, subject, time, actor }: ChangeEvent): ChangeEvent {
  const actorSubject = isObject(actor) && typeof actor["subject"] === "string" ? actor["subject"] : undefined;
  return { name, subject, time, ...(actorSubject === undefined ? {} : { actor: { subject: actorSubject } }) };
}

/** How a receiver of events verifies and handles them. */
interface EventReceiverOptions {
  readonly verify: Omit<EventHandlerOptions, "onEvent" | "log">;
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
  private waiting: ChangeEvent[] = [];
  private timer: NodeJS.Timeout | undefined;
  private firstAt = 0;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: EventReceiverOptions) {
    const { verify, log } = options;
    this.server = createServer(
      createEventHandler({ ...verify, onEvent: (event) => this.accept(event), log }),
    );
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

  private accept(event: ChangeEvent): void {
    if (!new ChangedResources().add(event)) return;
    const dropped = this.enqueue([...this.waiting, withoutBody(event)]);
    if (dropped > 0) this.options.log(`${dropped} events were dropped: run ${ownCommand()} drift`);
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
      const loss = dropped === 0 ? "" : `; ${dropped} older events were dropped: run ${ownCommand()} drift`;
      const reason = error instanceof Error ? printable(error.message) : "unknown error";
      const next = `the next run checks its ${events.length} events again${loss}`;
      this.options.log(withCode(`a run failed: ${reason}; ${next}`, errorCodeOf(error)));
    }
  }
}
