import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { control, controlPrefix } from "./control";
import { loadDataFile, saveDataFile } from "./dataFile";
import type { Fault, FaultHandle } from "./faults";
import { Faults } from "./faults";
import type { GatewayAnswer, Trace } from "./gateway/gateway";
import { errorAnswer, Gateway } from "./gateway/gateway";
import { slowDown } from "./gateway/status";
import { RateLimit } from "./rateLimit";
import type { LoggedRequest } from "./requestLog";
import { loggedBody, RequestLog } from "./requestLog";
import type { Seed } from "./seed";
import { plant } from "./seed";
import type { Delivery } from "./service/deliveries";
import { Issuer } from "./service/issuer";
import { PlatformService } from "./service/platformService";
import type { EmulatorSettings } from "./settings";
import { defaultSettings, parseSettings } from "./settings";
import { allMethods, kindTables } from "./tables";

export type { Fault, FaultHandle } from "./faults";
export type { LoggedRequest } from "./requestLog";
export type { Seed } from "./seed";
export type { Delivery } from "./service/deliveries";
export type { EmulatorSettings } from "./settings";

export interface EmulatorOptions extends Partial<EmulatorSettings> {
  /** Port on 127.0.0.1; default 0, any free one. */
  port?: number;
  /** Keep the state in this file: loaded at start, written after changes and at the end. */
  dataFile?: string;
  /** The bearer token that requests must carry; default a random one. */
  token?: string;
  /** Answer as the recorded gateway does where it differs from the specification: contract, section 13. */
  recorded?: boolean;
  /** Resources to begin with, besides those of the data file; also what a reset goes back to. */
  seed?: Seed;
  /** Milliseconds since 1970; default the machine's clock. */
  now?: () => number;
}

export interface Emulator {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly token: string;
  /** Every request in the order of arrival, those still running too. */
  readonly requests: readonly LoggedRequest[];
  /** Most requests that ran at once since the log was cleared. */
  readonly maxInFlight: number;
  clearRequests(): void;
  /** Every event for every subscription that wants it, in the order they came about. */
  readonly events: readonly Delivery[];
  clearEvents(): void;
  /** Resolves when all events so far are delivered or given up. */
  settled(): Promise<void>;
  /** The client secret stored with an identity provider, which no answer shows. */
  clientSecret(identityProviderUid: string): string | undefined;
  /** @throws Error when the fault makes no sense. */
  addFault(fault: Fault): FaultHandle;
  clearFaults(): void;
  settings(changes: Partial<EmulatorSettings>): void;
  /** Moves the emulator's time ahead. */
  advanceClock(ms: number): void;
  /** All resources by collection, as a get answers them, without the built-in roles. */
  state(): Record<string, Record<string, unknown>[]>;
  /** Forgets all resources but the seed, faults, requests, events, and changes of settings and clock. */
  reset(): void;
  /** Ends all connections and writes the data file. @throws Error when the file cannot be written. */
  close(): Promise<void>;
}

/**
 * Serves the Platform API v2 on 127.0.0.1.
 *
 * @throws Error when the port is taken, a setting is wrong, or the data file is broken or cannot be written.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const server = new EmulatorServer(options);
  await server.listen(options.port ?? 0);
  return server;
}

// Far above the API's own limit, so that the gateway's answer to a large message can be seen.
const maxBodyBytes = 64 * 1024 * 1024;
// What the gateway's own server takes; lists by many uids have long addresses.
const maxHeaderBytes = 1024 * 1024;

class EmulatorServer implements Emulator {
  readonly token: string;
  private readonly initial: EmulatorSettings;
  private readonly current: EmulatorSettings;
  private readonly faults = new Faults();
  private readonly log = new RequestLog();
  private readonly rate = new RateLimit();
  private readonly issuer = new Issuer(() => this.url);
  private readonly service: PlatformService;
  private readonly gateway: Gateway;
  private readonly server: Server;
  private readonly clock: () => number;
  /** For durations: a calendar clock may be set back. */
  private readonly elapsed: () => number;
  private clockOffset = 0;
  private loaded = false;
  private saveTimer: NodeJS.Timeout | undefined;
  private saveTook = 0;

  constructor(private readonly options: EmulatorOptions) {
    const { token, recorded = false, dataFile } = options;
    this.token = token ?? randomBytes(24).toString("base64url");
    this.initial = { ...defaultSettings, ...settingsOf(options) };
    this.current = { ...this.initial };
    this.clock = options.now ?? Date.now;
    this.elapsed = options.now ?? (() => performance.now());
    this.service = new PlatformService({
      tables: kindTables,
      token: this.token,
      recorded,
      settings: this.current,
      issuer: this.issuer,
      now: () => this.now(),
      changed: () => this.saveSoon(),
    });
    this.gateway = new Gateway(allMethods, this.service, { recorded, settings: this.current });
    if (dataFile !== undefined) {
      loadDataFile(dataFile, this.service.store, kindTables);
    }
    this.plantSeed();
    if (dataFile !== undefined) {
      this.loaded = true;
      this.save(dataFile);
    }
    this.server = createServer(
      { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 60_000 },
      (request, response) => {
        this.serve(request, response).catch(() => response.destroy());
      },
    );
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, "127.0.0.1", () => {
        this.server.removeListener("error", reject);
        resolve();
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo | null)?.port ?? 0}`;
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
    return this.service.deliveries.list;
  }

  clearEvents(): void {
    this.service.deliveries.clear();
  }

  settled(): Promise<void> {
    return this.service.deliveries.settled();
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
    Object.assign(this.current, parseSettings(changes));
  }

  advanceClock(ms: number): void {
    this.clockOffset += ms;
  }

  state(): Record<string, Record<string, unknown>[]> {
    return this.service.state();
  }

  reset(): void {
    this.service.clear();
    this.faults.clear();
    this.log.clear();
    Object.assign(this.current, this.initial);
    this.clockOffset = 0;
    this.plantSeed();
  }

  async close(): Promise<void> {
    this.service.deliveries.stop();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
    const { dataFile } = this.options;
    if (dataFile !== undefined) this.save(dataFile);
  }

  private plantSeed(): void {
    plant(this.options.seed ?? {}, this.service.store, kindTables, this.now());
  }

  private now(): number {
    return this.clock() + this.clockOffset;
  }

  /** Changes that come together are written together; a big file is written more seldom. */
  private saveSoon(): void {
    const { dataFile } = this.options;
    if (dataFile === undefined || !this.loaded || this.saveTimer) return;
    const delay = 10 + 4 * this.saveTook;
    this.saveTimer = setTimeout(() => {
      try {
        this.save(dataFile);
      } catch {
        // Told by close(), which tries once more; a request must not fail for it.
      }
    }, delay);
    this.saveTimer.unref();
  }

  private save(dataFile: string): void {
    clearTimeout(this.saveTimer);
    this.saveTimer = undefined;
    const started = performance.now();
    saveDataFile(dataFile, this.service.store, kindTables);
    this.saveTook = performance.now() - started;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: target = "/" } = request;
    if (target.startsWith(controlPrefix)) {
      this.serveControl(method, target, await readBody(request), request, response);
      return;
    }
    const { entry, done } = this.log.start(method, target, this.now());
    response.once("close", done);
    const body = await readBody(request);
    entry.body = loggedBody(body);

    const drawn = this.faults.draw(method, entry.path);
    entry.fault = drawn?.id;
    const fault = drawn?.fault ?? {};
    const latency = this.current.latencyMs + (fault.latencyMs ?? 0);
    if (latency > 0) await wait(latency, undefined, { ref: false });
    if (fault.close === "before") {
      done();
      response.destroy();
      return;
    }

    const replaced = fault.status !== undefined || fault.body !== undefined;
    const perform = async (): Promise<GatewayAnswer> => {
      const trace: Trace = { ignoreMask: fault.ignoreMask };
      const waitMs = this.rate.take(this.current.requestsPerSecond, this.elapsed() + this.clockOffset);
      const performed =
        waitMs > 0
          ? errorAnswer(slowDown(waitMs), method, this.current)
          : (this.discovery(method, entry.path) ??
            (await this.gateway.handle({ method, target, headers: request.headers, body }, trace)));
      entry.rpc = trace.rpc;
      entry.updateMask = trace.updateMask;
      return performed;
    };
    let answer: GatewayAnswer | undefined;
    if (fault.effectAfterMs !== undefined && (fault.applied || fault.close === "after")) {
      void wait(fault.effectAfterMs, undefined, { ref: false }).then(perform);
    } else if (!replaced || fault.applied) {
      answer = await perform();
    }
    if (fault.close === "after") {
      done();
      response.destroy();
      return;
    }
    if (replaced || !answer) answer = replacement(fault);
    else if (fault.headers) answer = { ...answer, headers: { ...answer.headers, ...fault.headers } };
    entry.status = answer.status;
    // Before the answer leaves: a client that has it must not find its request still counted as running.
    done();
    send(response, answer, fault.truncate);
  }

  /** The two addresses that make an issuer, beside the API. */
  private discovery(method: string, path: string): GatewayAnswer | undefined {
    const document = method === "GET" ? this.issuer.document(path) : undefined;
    if (document === undefined) return undefined;
    const headers = { "Content-Type": "application/json" };
    return { status: 200, headers, body: JSON.stringify(document) };
  }

  private serveControl(
    method: string,
    target: string,
    body: Buffer,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const path = target.split("?")[0] ?? "";
    const { status, body: answer } =
      request.headers.authorization === `Bearer ${this.token}`
        ? control(method, path, body, this, this.faults)
        : { status: 401, body: { error: "a valid bearer token is required" } };
    send(response, { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(answer) });
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

function replacement(fault: Fault): GatewayAnswer {
  return {
    status: fault.status ?? 200,
    headers: {
      "Content-Type": typeof fault.body === "string" ? "text/html" : "application/json",
      ...fault.headers,
    },
    body:
      fault.body === undefined
        ? ""
        : typeof fault.body === "string"
          ? fault.body
          : JSON.stringify(fault.body),
  };
}

function send(response: ServerResponse, answer: GatewayAnswer, truncate?: number): void {
  const bytes = Buffer.from(answer.body, "utf8");
  response.writeHead(answer.status, { ...answer.headers, "Content-Length": bytes.length });
  if (truncate === undefined || truncate >= bytes.length) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, truncate), () => response.destroy());
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error("body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
