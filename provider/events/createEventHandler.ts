import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { logLine } from "../text/printable";
import { CodedError, errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import { EventError, readVerifyOptions, verifyHeaders, wrongArgument } from "./verifyEvent";
import type { PlatformEvent, SignedDelivery, VerifyEventOptions } from "./verifyEvent";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REMEMBERED = 10_000;
const MAX_MESSAGE = 300;
/** No event takes an hour; a timer of more than 24 days would end at once. */
const MAX_TIMEOUT_SECONDS = 3600;

export interface EventHandlerOptions extends Omit<VerifyEventOptions, "now"> {
  /**
   * Takes a verified event. It must be able to run again for the same event: headers are not signed, so a copy with another
   * `id` is verified too, until its token ends. The response waits for it. If it throws, the response is 503, and the
   * platform delivers the event again.
   */
  readonly onEvent: (event: PlatformEvent) => void | Promise<void>;
  /** Logs a line for each request that was not taken; `console.error` by default. It contains nothing of a token. */
  readonly log?: (line: string) => void;
  /** How long the body of a request may take; 30 seconds by default. */
  readonly timeoutSeconds?: number;
}

/** A request that is refused for its form, with the status that says so. */
class UnacceptableRequest extends EventError {
  override readonly status: number;

  constructor(status: number, message: string) {
    super("malformed", message);
    this.status = status;
  }
}

const tooLarge = (): EventError => new UnacceptableRequest(413, `its body is larger than ${MAX_BYTES} bytes`);

/** The whole body; a body that is too large or too slow is not read to its end. */
async function readEvent(request: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  // What has ended or closed sends no further event.
  if (request.readableEnded)
    throw new CodedError("PP8004", "its body was read before: handle events before any parser of bodies");
  if (request.destroyed) throw new UnacceptableRequest(400, "its client disconnected");
  if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new UnacceptableRequest(408, `its body took longer than ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      request.on("error", () => reject(new UnacceptableRequest(400, "its client disconnected")));
      request.on("end", resolve);
      request.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) reject(tooLarge());
        else chunks.push(chunk);
      });
    });
  } finally {
    clearTimeout(timer);
    request.pause();
  }
  return Buffer.concat(chunks);
}

/** What an event is: each attribute of its headers, and its body. */
function keyOf({ attributes }: SignedDelivery, body: Uint8Array): string {
  const sorted = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`${JSON.stringify(sorted)}\n`)
    .update(body)
    .digest("hex");
}

/** Ends a request; the rest of a body that is not read closes the connection. */
function respond(response: ServerResponse, status: number): void {
  if (status === 405) response.setHeader("Allow", "POST");
  if (status !== 204) response.setHeader("Connection", "close");
  response.writeHead(status).end();
}

class EventHandler {
  /**
   * The newest events by their headers and bodies: one may be delivered again with another bearer token. Headers are not signed: a copy
   * with other ones is another event, so that whoever gets the same event first cannot keep this one away.
   */
  private readonly events = new Map<string, Promise<void>>();

  constructor(private readonly options: Required<EventHandlerOptions>) {}

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { log, timeoutSeconds } = this.options;
    try {
      if (request.method !== "POST") throw new UnacceptableRequest(405, "its method is not POST");
      // An unsigned request is refused before its body is read.
      const delivery = await verifyHeaders(request.headersDistinct, this.options);
      const body = await readEvent(request, timeoutSeconds * 1000);
      const event = delivery.verifyBody(body);
      await this.handleOnce(event, keyOf(delivery, body));
      respond(response, 204);
    } catch (error) {
      // Another error is one of this receiver: the event is delivered again.
      const status = error instanceof EventError ? error.status : 503;
      respond(response, status);
      const message = logLine(errorMessage(error)).slice(0, MAX_MESSAGE);
      const reason = withCode(message, errorCodeOf(error));
      log(`an event was not taken (${status}): ${reason}`);
    }
  }

  /** A delivery that comes while the first one is handled waits for it, and fails with it. */
  private async handleOnce(event: PlatformEvent, key: string): Promise<void> {
    const handled = this.events.get(key) ?? (async () => this.options.onEvent(event))();
    this.events.set(key, handled);
    const [oldest = key] = this.events.keys();
    if (this.events.size > MAX_REMEMBERED) this.events.delete(oldest);
    try {
      await handled;
    } catch (error) {
      this.events.delete(key);
      throw new CodedError("PP8005", error instanceof Error ? error.message : "onEvent failed");
    }
  }
}

/**
 * Creates a listener for `http.createServer` that takes the events of subscriptions. It verifies the bearer token before it
 * reads the body, and the body before `onEvent` gets the event. A request that is too large, too slow or cut off is refused,
 * and nothing that a client sends ends the process.
 *
 * @throws TypeError where an option is wrong.
 */
export function createEventHandler(
  options: EventHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { issuer, group, onEvent, clockToleranceSeconds = 60, timeoutSeconds = 30 } = options;
  // eslint-disable-next-line no-console -- a refused event must leave a trace, also where nobody has chosen a log
  const log = options.log ?? ((line: string) => console.error(line));
  readVerifyOptions({ issuer, group, clockToleranceSeconds });
  for (const [name, value] of Object.entries({ onEvent, log })) {
    if (typeof value !== "function") throw wrongArgument(`${name} must be a function`);
  }
  if (!Number.isFinite(timeoutSeconds) || timeoutSeconds <= 0 || timeoutSeconds > MAX_TIMEOUT_SECONDS) {
    const range = `a number of seconds above 0, and of at most ${MAX_TIMEOUT_SECONDS}`;
    throw wrongArgument(`timeoutSeconds must be ${range}`);
  }
  const handler = new EventHandler({ issuer, group, onEvent, log, clockToleranceSeconds, timeoutSeconds });
  return (request, response) => {
    handler.receive(request, response).catch(() => response.destroy());
  };
}
