import type { IncomingMessage, ServerResponse } from "node:http";
import { logLine } from "../text/printable";
import { CodedError, errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import { EventError, readVerifyOptions, verifyHeaders, wrongArgument } from "./verifyEvent";
import type { PlatformEvent, VerifyEventOptions } from "./verifyEvent";

const MAX_BYTES = 5 * 1024 * 1024;
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
const unacceptable = (status: number, message: string): EventError =>
  new EventError("malformed", message, status);

const tooLarge = (): EventError => unacceptable(413, `its body is larger than ${MAX_BYTES} bytes`);

/** The whole body; a body that is too large or too slow is not read to its end. */
async function readEvent(request: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  // What has ended or closed sends no further event.
  if (request.readableEnded)
    throw new CodedError("PP8004", "its body was read before: handle events before any parser of bodies");
  if (request.destroyed) throw unacceptable(400, "its client disconnected");
  if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () => reject(unacceptable(408, `its body took longer than ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      request.on("error", () => reject(unacceptable(400, "its client disconnected")));
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

/** Ends a request; the rest of a body that is not read closes the connection. */
function respond(response: ServerResponse, status: number): void {
  if (status === 405) response.setHeader("Allow", "POST");
  if (status !== 204) response.setHeader("Connection", "close");
  response.writeHead(status).end();
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  options: Required<EventHandlerOptions>,
): Promise<void> {
  try {
    if (request.method !== "POST") throw unacceptable(405, "its method is not POST");
    // An unsigned request is refused before its body is read.
    const verifyBody = await verifyHeaders(request.headersDistinct, options);
    const event = verifyBody(await readEvent(request, options.timeoutSeconds * 1000));
    try {
      await options.onEvent(event);
    } catch (error) {
      throw new CodedError("PP8005", error instanceof Error ? error.message : "onEvent failed");
    }
    respond(response, 204);
  } catch (error) {
    // Another error is one of this receiver: the event is delivered again.
    const status = error instanceof EventError ? error.status : 503;
    respond(response, status);
    const message = logLine(errorMessage(error)).slice(0, MAX_MESSAGE);
    options.log(`an event was not taken (${status}): ${withCode(message, errorCodeOf(error))}`);
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
  const checked = { issuer, group, onEvent, log, clockToleranceSeconds, timeoutSeconds };
  return (request, response) => {
    receive(request, response, checked).catch(() => response.destroy());
  };
}
