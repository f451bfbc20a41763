import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Fault, Faults } from "./faults";
import { errorResponse } from "./gateway/response";
import type { Gateway, GatewayRequest, GatewayResponse, Trace } from "./gateway/gateway";
import { slowDown } from "./gateway/status";
import type { LoggedRequest, RequestLog } from "./requestLog";
import { parseLoggedBody } from "./requestLog";
import type { Issuer } from "./service/jwt";
import type { EmulatorSettings } from "./settings";

export interface RequestHandlerOptions {
  readonly gateway: Gateway;
  readonly issuer: Issuer;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly rateLimiter: RateLimiter;
  readonly settings: Readonly<EmulatorSettings>;
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
}

/** Logs the requests of the API, injects the faults, and lets the gateway handle the rest. */
export class RequestHandler {
  constructor(private readonly options: RequestHandlerOptions) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { log, faults, now } = this.options;
    const { method = "GET", url: target = "/", headers } = request;
    const { entry, done } = log.start(method, target, now());
    response.once("close", done);
    const body = await readBody(request);
    entry.body = parseLoggedBody(body);
    const drawn = faults.draw(method, entry.path);
    entry.fault = drawn?.id;
    const fault = drawn?.fault ?? {};
    const result = await this.respond({ method, target, headers, body }, entry, fault);
    if (result) entry.status = result.status;
    // Before the response is sent: a client that has it must not find its request still running.
    done();
    if (result) sendResponse(response, result, fault.truncate);
    else response.destroy();
  }

  /** Undefined where the fault closes the connection. */
  private async respond(
    request: GatewayRequest,
    entry: LoggedRequest,
    fault: Fault,
  ): Promise<GatewayResponse | undefined> {
    const latencyMs = this.options.settings.latencyMs + (fault.latencyMs ?? 0);
    if (latencyMs > 0) await wait(latencyMs, undefined, { ref: false });
    if (fault.close === "before") return undefined;
    const perform = () => this.perform(request, entry, fault);
    const isReplaced = fault.status !== undefined || fault.body !== undefined;
    let response: GatewayResponse | undefined;
    if (fault.effectAfterMs !== undefined && (fault.applied || fault.close === "after")) {
      void wait(fault.effectAfterMs, undefined, { ref: false }).then(perform);
    } else if (!isReplaced || fault.applied) {
      response = await perform();
    }
    if (fault.close === "after") return undefined;
    if (isReplaced || !response) return replacementFor(fault);
    return { ...response, headers: { ...response.headers, ...fault.headers } };
  }

  private async perform(
    request: GatewayRequest,
    entry: LoggedRequest,
    { ignoreMask }: Fault,
  ): Promise<GatewayResponse> {
    const { settings, rateLimiter, monotonicNow, gateway } = this.options;
    const trace: Trace = { ignoreMask };
    const waitMs = rateLimiter.acquire(settings.requestsPerSecond, monotonicNow());
    const response =
      waitMs > 0
        ? errorResponse(slowDown(waitMs), request.method, settings)
        : (this.serveDiscovery(request.method, entry.path) ?? (await gateway.handle(request, trace)));
    entry.rpc = trace.rpc;
    entry.updateMask = trace.updateMask;
    return response;
  }

  /** Serves the documents of OpenID Connect discovery, which are not part of the API. */
  private serveDiscovery(method: string, path: string): GatewayResponse | undefined {
    const document = method === "GET" ? this.options.issuer.discoveryDocument(path) : undefined;
    return document === undefined ? undefined : jsonResponse(200, document);
  }
}

function replacementFor({ status = 200, headers, body }: Fault): GatewayResponse {
  const isText = typeof body === "string";
  return {
    status,
    headers: { "Content-Type": isText ? "text/html" : "application/json", ...headers },
    body: isText ? body : body === undefined ? "" : JSON.stringify(body),
  };
}

export function jsonResponse(status: number, body: unknown): GatewayResponse {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** @param truncate bytes to send before the connection is destroyed; all by default. */
export function sendResponse(
  response: ServerResponse,
  { status, headers, body }: GatewayResponse,
  truncate?: number,
): void {
  const bytes = Buffer.from(body, "utf8");
  response.writeHead(status, { ...headers, "Content-Length": bytes.length });
  if (truncate === undefined || truncate >= bytes.length) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, truncate), () => response.destroy());
}

// Far above the API's own limit, so that clients get the gateway's response to a large message.
const maxBodyBytes = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error("body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A bucket that holds one second's worth of requests and drains steadily. */
export class RateLimiter {
  private level = 0;
  private at = 0;

  /** Returns 0 for a request within the limit, else the milliseconds to wait. `now` must be monotonic. */
  acquire(perSecond: number, now: number): number {
    if (perSecond <= 0) return 0;
    this.level = Math.max(0, this.level - ((now - this.at) * perSecond) / 1000);
    this.at = now;
    const over = this.level + 1 - Math.max(1, perSecond);
    if (over > 0) return Math.ceil((over * 1000) / perSecond);
    this.level += 1;
    return 0;
  }
}
