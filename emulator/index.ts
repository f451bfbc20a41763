import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { controlPrefix, handleControlRequest } from "./control";
import { AutoSave, loadDataFile, saveDataFile } from "./dataFile";
import type { Fault, FaultHandle } from "./faults";
import { Faults } from "./faults";
import type { GatewayRequest, GatewayResponse, Trace } from "./gateway/gateway";
import { Gateway } from "./gateway/gateway";
import { errorResponse, jsonResponse } from "./gateway/response";
import { slowDown } from "./gateway/status";
import type { Seed, SeedName } from "./organisations";
import { addSeed, resolveSeed } from "./organisations";
import type { LoggedRequest } from "./requestLog";
import { parseLoggedBody, RequestLog } from "./requestLog";
import type { Delivery } from "./service/events";
import { Issuer } from "./service/jwt";
import { PlatformService } from "./service/platformService";
import type { EmulatorSettings } from "./settings";
import { defaultSettings, parseSettings } from "./settings";
import { allMethods, kindTables } from "./tables";

export type { Fault, FaultHandle } from "./faults";
export type { LoggedRequest } from "./requestLog";
export type { Seed, SeedName } from "./organisations";
export type { Delivery } from "./service/events";
export type { EmulatorSettings } from "./settings";
export type { Emulator };

export interface EmulatorOptions extends Partial<EmulatorSettings> {
  /** Port to listen on; default 0, any free one. */
  port?: number;
  /** Address to listen on; default 127.0.0.1. The token is all that protects another one. */
  host?: string;
  /** Loads the state from this file, and writes it after changes and at the end. */
  dataFile?: string;
  /** The bearer token that requests must carry; default a random one. */
  token?: string;
  /** Respond as the recorded gateway where it differs from the API's specification. */
  recorded?: boolean;
  /** Initial resources, besides those of the data file, or the name of an organisation; a reset restores them. */
  seed?: Seed | SeedName;
  /** Called when a request ends. */
  onRequest?: (request: LoggedRequest) => void;
  /** Milliseconds since 1970; default the machine's clock. */
  now?: () => number;
}

/**
 * Serves the Platform API v2 on this machine.
 *
 * @example
 * const emulator = await startEmulator({ seed: "acme" });
 * process.env.PLATFORM_BASE_URL = emulator.url;
 * process.env.PLATFORM_TOKEN = emulator.token;
 * // … run what is tested …
 * await emulator.close();
 *
 * @throws Error if the port is in use, a setting is invalid, or the data file is invalid or cannot be written.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = new Emulator(options);
  await emulator.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  return emulator;
}

// What the gateway's own server accepts; lists by many uids have long addresses.
const maxHeaderBytes = 1024 * 1024;

class Emulator {
  readonly token: string;
  private readonly initialSettings: EmulatorSettings;
  private readonly currentSettings: EmulatorSettings;
  private readonly faults = new Faults();
  private readonly log: RequestLog;
  private readonly issuer = new Issuer(() => this.url);
  private readonly service: PlatformService;
  private readonly gateway: Gateway;
  private readonly rateLimiter = new RateLimiter();
  private readonly server: Server;
  private readonly autoSave: AutoSave | undefined;
  private clockOffset = 0;

  /** @internal */
  constructor(private readonly options: EmulatorOptions) {
    const { recorded: matchesRecording = false, dataFile } = options;
    this.token = options.token ?? randomBytes(24).toString("base64url");
    this.log = new RequestLog(options.onRequest);
    this.initialSettings = { ...defaultSettings, ...settingsOf(options) };
    this.currentSettings = { ...this.initialSettings };
    const settings = this.currentSettings;
    this.service = new PlatformService({
      tables: kindTables,
      token: this.token,
      matchesRecording,
      settings,
      issuer: this.issuer,
      now: () => this.now(),
      onChange: () => this.autoSave?.schedule(),
    });
    this.gateway = new Gateway(allMethods, this.service, { matchesRecording, settings });
    const { store } = this.service;
    if (dataFile !== undefined) loadDataFile(dataFile, store, kindTables);
    this.applySeed();
    if (dataFile !== undefined) {
      this.autoSave = new AutoSave(() => saveDataFile(dataFile, store, kindTables));
      this.autoSave.saveNow();
    }
    this.server = createServer(
      { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 60_000 },
      (request, response) => {
        this.serve(request, response).catch(() => response.destroy());
      },
    );
  }

  /** @internal */
  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => {
        this.server.removeListener("error", reject);
        resolve();
      });
    });
  }

  /** `http://127.0.0.1:<port>` */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo | null)?.port ?? 0}`;
  }

  /** The uid of the first root group. @throws Error if there is none. */
  get rootUid(): string {
    for (const { uid, parent } of this.service.store.all("Group")) if (parent === "") return uid;
    throw new Error('the emulator has no root group; start it with seed: "acme", or create one');
  }

  /** All requests in the order of arrival, running ones included. */
  get requests(): readonly LoggedRequest[] {
    return this.log.requests;
  }

  /** Largest number of concurrent requests since the log was cleared. */
  get maxInFlight(): number {
    return this.log.maxInFlight;
  }

  clearRequests(): void {
    this.log.clear();
  }

  /** A delivery for each event and subscription, in the order of the events. */
  get events(): readonly Delivery[] {
    return this.service.events.list;
  }

  clearEvents(): void {
    this.service.events.clear();
  }

  /** Resolves when all events so far are delivered or have failed. */
  waitForDeliveries(): Promise<void> {
    return this.service.events.waitUntilIdle();
  }

  /** The client secret of an identity provider, which no response contains. */
  clientSecret(identityProviderUid: string): string | undefined {
    const oidc = this.service.store.find("IdentityProvider", identityProviderUid)?.value.oidc;
    return (oidc as { clientSecret?: string } | undefined)?.clientSecret;
  }

  /** @throws Error for an invalid fault. */
  addFault(fault: Fault): FaultHandle {
    return this.faults.add(fault);
  }

  clearFaults(): void {
    this.faults.clear();
  }

  settings(changes: Partial<EmulatorSettings>): void {
    Object.assign(this.currentSettings, parseSettings(changes));
  }

  /** Moves the emulator's clock ahead. */
  advanceClock(ms: number): void {
    this.clockOffset += ms;
  }

  /** All resources by collection, as a get returns them, without the built-in ones. */
  state(): Record<string, Record<string, unknown>[]> {
    return this.service.listState();
  }

  /** Restores the initial state: resources, faults, requests, events, settings and clock. */
  reset(): void {
    this.service.clear();
    this.faults.clear();
    this.log.clear();
    Object.assign(this.currentSettings, this.initialSettings);
    this.clockOffset = 0;
    this.applySeed();
  }

  /** Closes all connections and writes the data file. @throws Error if the file cannot be written. */
  async close(): Promise<void> {
    this.service.events.stop();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    this.autoSave?.saveNow();
  }

  private applySeed(): void {
    addSeed(resolveSeed(this.options.seed), this.service.store, kindTables, this.now());
  }

  private now(): number {
    return (this.options.now ?? Date.now)() + this.clockOffset;
  }

  // A request: logged, hit by a fault or not, and handled by the gateway. Control requests are none of these.

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: target = "/", headers } = request;
    if (target.startsWith(controlPrefix)) {
      const body = await readRequestBody(request);
      const isAllowed = headers.authorization === `Bearer ${this.token}`;
      const result = isAllowed
        ? handleControlRequest(method, target, body, this, this.faults)
        : jsonResponse(401, { error: "a valid bearer token is required" });
      sendResponse(response, result);
      return;
    }
    const { entry, done } = this.log.start(method, target, this.now());
    response.once("close", done);
    const body = await readRequestBody(request);
    entry.body = parseLoggedBody(body);
    const drawn = this.faults.draw(method, entry.path);
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
    const latencyMs = this.currentSettings.latencyMs + (fault.latencyMs ?? 0);
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
    const settings = this.currentSettings;
    const waitMs = this.rateLimiter.acquire(settings.requestsPerSecond, this.now());
    if (waitMs > 0) return errorResponse(slowDown(waitMs), request.method, settings);
    // The documents of OpenID Connect discovery are not part of the API.
    const document = request.method === "GET" ? this.issuer.discoveryDocument(entry.path) : undefined;
    if (document !== undefined) return jsonResponse(200, document);
    const trace: Trace = { ignoreMask };
    const response = await this.gateway.handle(request, trace);
    entry.rpc = trace.rpc;
    entry.updateMask = trace.updateMask;
    return response;
  }
}

function settingsOf(options: EmulatorOptions): Partial<EmulatorSettings> {
  const given = Object.entries(options).filter(
    ([name, value]) => Object.hasOwn(defaultSettings, name) && value !== undefined,
  );
  return parseSettings(Object.fromEntries(given));
}

function replacementFor({ status = 200, headers, body }: Fault): GatewayResponse {
  const isText = typeof body === "string";
  return {
    status,
    headers: { "Content-Type": isText ? "text/html" : "application/json", ...headers },
    body: isText ? body : body === undefined ? "" : JSON.stringify(body),
  };
}

/** @param truncate bytes to send before the connection is destroyed; all by default. */
function sendResponse(
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

async function readRequestBody(request: IncomingMessage): Promise<Buffer> {
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
class RateLimiter {
  private level = 0;
  private at = 0;

  /** Returns 0 for a request within the limit, else the milliseconds to wait. */
  acquire(perSecond: number, now: number): number {
    if (perSecond <= 0) return 0;
    // A clock may be set back.
    const elapsedMs = Math.max(0, now - this.at);
    this.level = Math.max(0, this.level - (elapsedMs * perSecond) / 1000);
    this.at = now;
    const over = this.level + 1 - Math.max(1, perSecond);
    if (over > 0) return Math.ceil((over * 1000) / perSecond);
    this.level += 1;
    return 0;
  }
}
