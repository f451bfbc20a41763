import type { Message, MessageType, Value } from "../gateway/descriptor";
import { newMessage } from "../gateway/descriptor";
import type { Call, Service, ServiceResponse } from "../gateway/gateway";
import { renderMessage } from "../gateway/render";
import { formatTimestamp } from "../gateway/scalars";
import { Code, invalidField, notFound, permissionDenied, StatusError } from "../gateway/status";
import type { EmulatorSettings } from "../settings";
import type { AuthenticatedCall, KindTable, ResponseForm, ServiceContext } from "../tables/kindTable";
import { pluralKind } from "../tables/methods";
import type { Caller } from "./caller";
import { anonymous } from "./caller";
import { CapabilityCheck } from "./capabilityCheck";
import { prepareCreate } from "./create";
import { checkDelete, removeEntry } from "./delete";
import { Deliveries } from "./deliveries";
import type { PlatformEvent } from "./events";
import { EventPublisher } from "./events";
import type { Issuer } from "./issuer";
import { listPage } from "./list";
import type { Entry } from "./store";
import { Store } from "./store";
import { TableRegistry } from "./tableRegistry";
import { TokenService } from "./tokens";
import { sentResource, updateEntry } from "./update";
import { emitWriteEvent } from "./writeEvents";

export interface ServiceOptions {
  readonly tables: readonly KindTable[];
  readonly token: string;
  /** Responds as the recorded gateway where it differs from the API's specification. */
  readonly matchesRecording: boolean;
  readonly settings: EmulatorSettings;
  readonly issuer: Issuer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onChange?: () => void;
}

type Handler = (call: AuthenticatedCall) => ServiceResponse;

/** The services behind the gateway. */
export class PlatformService implements Service, ServiceContext {
  readonly store: Store;
  readonly settings: Readonly<EmulatorSettings>;
  readonly deliveries: Deliveries;
  readonly now: () => number;
  private readonly events: EventPublisher;
  private readonly tokens: TokenService;
  private readonly capabilities: CapabilityCheck;
  private readonly tables: TableRegistry;
  private readonly handlers = new Map<string, Handler>();
  private writes = 0;

  constructor(private readonly options: ServiceOptions) {
    const { settings, tables, issuer, now, matchesRecording, token } = options;
    this.settings = settings;
    this.now = now;
    this.tables = new TableRegistry(tables);
    this.store = new Store(tables, options.onChange);
    this.deliveries = new Deliveries(settings);
    const { store, deliveries } = this;
    const url = (): string => this.url();
    this.events = new EventPublisher({
      store,
      deliveries,
      issuer,
      url,
      now,
      milliseconds: !matchesRecording,
    });
    this.tokens = new TokenService({ store, issuer, settings, now, token });
    this.capabilities = new CapabilityCheck(store);
    for (const table of tables) this.register(table);
    this.registerMethodsWithoutKind();
  }

  call(call: Call): ServiceResponse {
    const { rpc, isPublic } = call.method;
    const caller = isPublic ? anonymous : this.tokens.authenticate(call.authorization);
    const handler = this.handlers.get(rpc);
    if (!handler) throw new StatusError(Code.unimplemented, `method ${rpc} is not emulated`);
    if (this.settings.enforceCapabilities && !isPublic) this.capabilities.requireCapabilities(call, caller);
    return handler({ ...call, caller });
  }

  /** Whether a call of the method gets anything else than 501. */
  isEmulated(rpc: string): boolean {
    return this.handlers.has(rpc);
  }

  /** Removes everything except the built-in resources. */
  clear(): void {
    this.store.clear();
    this.tokens.clear();
    this.deliveries.clear();
  }

  url(): string {
    return this.options.issuer.name;
  }

  toResponse(entry: Entry, form: ResponseForm = "get"): Message {
    return this.tables.find(entry.kind)?.behaviour?.toResponse?.(entry, this, form) ?? entry.value;
  }

  emit(event: PlatformEvent, caller: Caller): void {
    this.events.publish(event, caller);
  }

  countDown(setting: "checksNotReady"): boolean {
    const { settings } = this.options;
    if (settings[setting] < 1) return false;
    settings[setting] -= 1;
    return true;
  }

  put(kind: string, uid: string, parent: string, value: Message): Entry {
    const { message } = this.tables.require(kind);
    const now = this.now();
    const existing = this.store.find(kind, uid);
    if (existing) {
      this.store.update(existing, this.withTimes({ ...value, uid }, message, now, ["updateTime"]), now);
      return existing;
    }
    const created = this.withTimes({ ...value, uid }, message, now, ["createTime", "updateTime"]);
    const entry = { kind, uid, parent, createdAt: now, updatedAt: now, builtIn: false, value: created };
    this.store.add(entry);
    return entry;
  }

  list(kind: string, request: Message, isShown?: (entry: Entry) => boolean): Message {
    return listPage(this.tables.require(kind), this, request, this.options.matchesRecording, isShown);
  }

  requireEntry(kind: string, uid: Value | undefined): Entry {
    // An empty uid is an error of the client; with 404 it would conclude that the resource is deleted.
    if (typeof uid !== "string") throw invalidField("uid", "uid is required");
    const entry = this.store.find(kind, uid);
    if (entry) return entry;
    const { behaviour } = this.tables.require(kind);
    if (!behaviour?.impliedValue) throw notFound(kind, uid);
    const parent = this.requireEntry(behaviour.parent, uid);
    const { createdAt, updatedAt } = parent;
    const value = { ...behaviour.impliedValue(parent), uid };
    return { kind, uid, parent: uid, createdAt, updatedAt, builtIn: false, value };
  }

  /** All resources by collection as a get returns them, without the built-in ones. */
  listState(): Record<string, Record<string, unknown>[]> {
    const state: Record<string, Record<string, unknown>[]> = {};
    for (const { kind, collection, message, behaviour } of this.tables.all) {
      if (!behaviour) continue;
      state[collection] = [...this.store.all(kind)]
        .filter((entry) => !entry.builtIn)
        .map((entry) =>
          renderMessage(this.toResponse(entry), message, { milliseconds: !this.options.matchesRecording }),
        );
    }
    return state;
  }

  prepareCreate(kind: string, parent: string, sent: Message, fieldPrefix?: string): () => Entry {
    return prepareCreate(this, this.tables, { kind, parent, sent, fieldPrefix });
  }

  remove(entry: Entry): void {
    removeEntry(this.store, this.tables, entry);
  }

  private register(table: KindTable): void {
    const { behaviour, service, kind } = table;
    if (!behaviour) return;
    const standard: Record<string, Handler> = {
      [`List${pluralKind(table)}`]: (call) => ({
        message: this.list(kind, call.request, this.visibleTo(call)),
      }),
      [`Get${kind}`]: ({ request }) => ({ message: this.toResponse(this.requireEntry(kind, request.uid)) }),
      [`Create${kind}`]: (call) => this.create(table, call),
      [`Update${kind}`]: (call) => this.update(table, call),
      [`Delete${kind}`]: (call) => this.delete(table, call),
    };
    for (const [name, handler] of Object.entries(standard)) this.handlers.set(`${service}/${name}`, handler);
    for (const [name, run] of Object.entries(behaviour.custom ?? {})) {
      // A kind may implement a method of another service, as repos do for images.
      const rpc = table.custom?.find((method) => method.rpc.endsWith(`/${name}`))?.rpc;
      this.handlers.set(rpc ?? `${service}/${name}`, (call) => ({ message: run(call, this) }));
    }
  }

  private visibleTo(call: AuthenticatedCall): ((entry: Entry) => boolean) | undefined {
    if (!this.settings.enforceCapabilities) return undefined;
    return (entry) => this.capabilities.isVisible(entry, call, call.caller);
  }

  private registerMethodsWithoutKind(): void {
    const methods: Record<string, (call: Call) => Message> = {
      "ping.v2.PingService/Ping": () => ({ response: "pong" }),
      "oidc.SecurityTokenService/Exchange": (call) => this.tokens.exchange(call),
      "oidc.SecurityTokenService/ExchangeRefreshToken": (call) => this.tokens.refresh(call),
    };
    for (const [rpc, run] of Object.entries(methods)) {
      this.handlers.set(rpc, (call) => ({ message: run(call) }));
    }
  }

  private create(table: KindTable, call: AuthenticatedCall): ServiceResponse {
    const parent = (call.request.parent ?? "") as string;
    const entry = this.prepareCreate(table.kind, parent, sentResource(table, call))();
    emitWriteEvent(this, this.tables, entry, "created", call.caller);
    return { message: this.toResponse(entry, "create") };
  }

  private update(table: KindTable, call: AuthenticatedCall): ServiceResponse {
    const entry = this.requireMutable(table.kind, sentResource(table, call).uid);
    const { isWritten, response } = updateEntry(this, table, entry, call);
    if (isWritten) emitWriteEvent(this, this.tables, entry, "updated", call.caller);
    return response;
  }

  private delete({ kind, behaviour }: KindTable, { request, caller }: AuthenticatedCall): ServiceResponse {
    const message = newMessage();
    const { uid } = request;
    if (behaviour?.hasIdempotentDelete && uid !== undefined && !this.store.find(kind, uid as string)) {
      return { message };
    }
    const entry = this.requireMutable(kind, uid);
    checkDelete(this.store, this.tables, entry);
    this.remove(entry);
    emitWriteEvent(this, this.tables, entry, "deleted", caller);
    return { message };
  }

  private requireMutable(kind: string, uid: Value | undefined): Entry {
    const entry = this.requireEntry(kind, uid);
    if (entry.builtIn) throw permissionDenied(`${kind} "${entry.uid}" is built in and never changes`);
    return entry;
  }

  private withTimes(value: Message, type: MessageType, at: number, fields: readonly string[]): Message {
    // The services store microseconds; responses by the specification show three digits.
    this.writes += 1;
    const nanos = (((at % 1000) + 1000) % 1000) * 1_000_000 + ((this.writes * 7) % 1000) * 1000;
    const time = formatTimestamp({ epochMs: Math.floor(at / 1000) * 1000, nanos });
    for (const field of fields) if (type.byName.has(field)) value[field] = time;
    return value;
  }
}
