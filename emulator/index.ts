import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { controlPrefix, handleControlRequest } from "./control";
import { AutoSave, loadDataFile, saveDataFile } from "./dataFile";
import type { Fault, FaultHandle } from "./faults";
import { Faults } from "./faults";
import { Gateway } from "./gateway/gateway";
import type { Seed, SeedName } from "./organisations";
import { addSeed, resolveSeed } from "./organisations";
import { jsonResponse, RateLimiter, readBody, RequestHandler, sendResponse } from "./requestHandler";
import type { LoggedRequest } from "./requestLog";
import { RequestLog } from "./requestLog";
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

export interface Emulator {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly token: string;
  /** The uid of the first root group. @throws Error if there is none. */
  readonly rootUid: string;
  /** All requests in the order of arrival, running ones included. */
  readonly requests: readonly LoggedRequest[];
  /** Largest number of concurrent requests since the log was cleared. */
  readonly maxInFlight: number;
  clearRequests(): void;
  /** A delivery for each event and subscription, in the order of the events. */
  readonly events: readonly Delivery[];
  clearEvents(): void;
  /** Resolves when all events so far are delivered or have failed. */
  waitForDeliveries(): Promise<void>;
  /** The client secret of an identity provider, which no response contains. */
  clientSecret(identityProviderUid: string): string | undefined;
  /** @throws Error for an invalid fault. */
  addFault(fault: Fault): FaultHandle;
  clearFaults(): void;
  settings(changes: Partial<EmulatorSettings>): void;
  /** Moves the emulator's clock ahead. */
  advanceClock(ms: number): void;
  /** All resources by collection, as a get returns them, without the built-in ones. */
  state(): Record<string, Record<string, unknown>[]>;
  /** Restores the initial state: resources, faults, requests, events, settings and clock. */
  reset(): void;
  /** Closes all connections and writes the data file. @throws Error if the file cannot be written. */
  close(): Promise<void>;
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
  const server = new EmulatorServer(options);
  await server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  return server;
}

// What the gateway's own server accepts; lists by many uids have long addresses.
const maxHeaderBytes = 1024 * 1024;

class EmulatorServer implements Emulator {
  readonly token: string;
  private readonly initialSettings: EmulatorSettings;
  private readonly currentSettings: EmulatorSettings;
  private readonly faults = new Faults();
  private readonly log: RequestLog;
  private readonly service: PlatformService;
  private readonly handler: RequestHandler;
  private readonly server: Server;
  private readonly autoSave: AutoSave | undefined;
  private readonly clock: () => number;
  private clockOffset = 0;

  constructor(private readonly options: EmulatorOptions) {
    const { recorded = false, dataFile } = options;
    this.token = options.token ?? randomBytes(24).toString("base64url");
    this.log = new RequestLog(options.onRequest);
    this.initialSettings = { ...defaultSettings, ...settingsOf(options) };
    this.currentSettings = { ...this.initialSettings };
    this.clock = options.now ?? Date.now;
    const issuer = new Issuer(() => this.url);
    this.service = new PlatformService({
      tables: kindTables,
      token: this.token,
      matchesRecording: recorded,
      settings: this.currentSettings,
      issuer,
      now: () => this.now(),
      onChange: () => this.autoSave?.schedule(),
    });
    this.handler = this.createHandler(issuer, recorded);
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

  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => {
        this.server.removeListener("error", reject);
        resolve();
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo | null)?.port ?? 0}`;
  }

  get rootUid(): string {
    for (const { uid, parent } of this.service.store.all("Group")) if (parent === "") return uid;
    throw new Error('the emulator has no root group; start it with seed: "acme", or create one');
  }

  get requests(): readonly LoggedRequest[] {
    return this.log.requests;
  }

  get maxInFlight(): number {
    return this.log.maxInFlight;
  }

  clearRequests(): void {
    this.log.clear();
  }

  get events(): readonly Delivery[] {
    return this.service.events.list;
  }

  clearEvents(): void {
    this.service.events.clear();
  }

  waitForDeliveries(): Promise<void> {
    return this.service.events.waitUntilIdle();
  }

  clientSecret(identityProviderUid: string): string | undefined {
    const oidc = this.service.store.find("IdentityProvider", identityProviderUid)?.value.oidc;
    return (oidc as { clientSecret?: string } | undefined)?.clientSecret;
  }

  addFault(fault: Fault): FaultHandle {
    return this.faults.add(fault);
  }

  clearFaults(): void {
    this.faults.clear();
  }

  settings(changes: Partial<EmulatorSettings>): void {
    Object.assign(this.currentSettings, parseSettings(changes));
  }

  advanceClock(ms: number): void {
    this.clockOffset += ms;
  }

  state(): Record<string, Record<string, unknown>[]> {
    return this.service.listState();
  }

  reset(): void {
    this.service.clear();
    this.faults.clear();
    this.log.clear();
    Object.assign(this.currentSettings, this.initialSettings);
    this.clockOffset = 0;
    this.applySeed();
  }

  async close(): Promise<void> {
    this.service.events.stop();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    this.autoSave?.saveNow();
  }

  private createHandler(issuer: Issuer, matchesRecording: boolean): RequestHandler {
    const settings = this.currentSettings;
    // A calendar clock may be set back, so durations need another one.
    const monotonic = this.options.now ?? (() => performance.now());
    return new RequestHandler({
      gateway: new Gateway(allMethods, this.service, { matchesRecording, settings }),
      issuer,
      faults: this.faults,
      log: this.log,
      rateLimiter: new RateLimiter(),
      settings,
      now: () => this.now(),
      monotonicNow: () => monotonic() + this.clockOffset,
    });
  }

  private applySeed(): void {
    addSeed(resolveSeed(this.options.seed), this.service.store, kindTables, this.now());
  }

  private now(): number {
    return this.clock() + this.clockOffset;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith(controlPrefix)) await this.serveControl(request, response);
    else await this.handler.handle(request, response);
  }

  private async serveControl(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "", headers } = request;
    const requestBody = await readBody(request);
    const { status, body } =
      headers.authorization === `Bearer ${this.token}`
        ? handleControlRequest(method, url.split("?")[0] ?? "", requestBody, this, this.faults)
        : { status: 401, body: { error: "a valid bearer token is required" } };
    sendResponse(response, jsonResponse(status, body));
  }
}

function settingsOf(options: EmulatorOptions): Partial<EmulatorSettings> {
  const names = Object.keys(defaultSettings) as (keyof EmulatorSettings)[];
  return parseSettings(
    Object.fromEntries(
      names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
    ),
  );
}
