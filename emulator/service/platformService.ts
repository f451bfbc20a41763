import type { Message, MessageType, Value } from "../gateway/fields";
import type { Call, Service, ServiceResponse } from "../gateway/gateway";
import { renderMessage } from "../gateway/response";
import { invalidField, notFound, permissionDenied } from "../gateway/status";
import { msToTimestamp } from "../gateway/time";
import type { EmulatorSettings } from "../settings";
import type { AuthenticatedCall, KindTable, ResponseForm } from "../tables/kindTable";
import { Events } from "./events";
import { listPage } from "./list";
import type { Issuer } from "./jwt";
import type { Entry } from "./store";
import { personUid, Store } from "./store";
import type { Caller } from "./tokens";
import { anonymous, operator, TokenService } from "./tokens";

export interface ServiceOptions {
  readonly tables: readonly KindTable[];
  readonly token: string;
  /** Responds as the recorded gateway where it differs from the API's specification. */
  readonly matchesRecording: boolean;
  readonly settings: EmulatorSettings;
  readonly issuer: Issuer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onChange: () => void;
}

/** The services behind the gateway: what each method of a kind uses to read and write the store. */
export class PlatformService implements Service {
  readonly store: Store;
  readonly settings: Readonly<EmulatorSettings>;
  readonly events: Events;
  readonly tokens: TokenService;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  private writes = 0;

  constructor(private readonly options: ServiceOptions) {
    const { settings, tables, issuer, now, matchesRecording, token } = options;
    this.settings = settings;
    this.now = now;
    this.store = new Store(tables, options.onChange);
    this.events = new Events(this, issuer, !matchesRecording);
    this.tokens = new TokenService(this, issuer, token);
  }

  call(call: Call): ServiceResponse {
    const { method, authorization } = call;
    const caller = method.isPublic ? anonymous : this.tokens.authenticate(authorization);
    if (this.settings.enforceCapabilities && !method.isPublic) {
      requireCapabilities(call, caller, this.store);
    }
    return method.run({ ...call, caller }, this);
  }

  /** Removes everything except the built-in resources. */
  clear(): void {
    this.store.clear();
    this.tokens.clear();
    this.events.clear();
  }

  /** Address of the emulator, without a slash at the end. */
  url(): string {
    return this.options.issuer.name;
  }

  /** A page of the kind's resources by the parameters of a list. @throws StatusError */
  list(kind: string, request: Message, isShown?: (entry: Entry) => boolean): Message {
    return listPage(this.store.tableOf(kind), this, request, this.options.matchesRecording, isShown);
  }

  /** What a list shows to its caller; everything where it is undefined. */
  visibleTo(call: AuthenticatedCall): ((entry: Entry) => boolean) | undefined {
    if (!this.settings.enforceCapabilities) return undefined;
    return (entry) => isVisible(entry, call, this.store);
  }

  /** The resource with this uid. @throws StatusError code 3 without a uid, code 5 when it is missing. */
  requireEntry(kind: string, uid: Value | undefined): Entry {
    // An empty uid is an error of the client; with 404 it would conclude that the resource is deleted.
    if (typeof uid !== "string") throw invalidField("uid", "uid is required");
    const entry = this.store.find(kind, uid);
    if (entry) return entry;
    const table = this.store.tableOf(kind);
    if (!table.impliedValue) throw notFound(kind, uid);
    const parent = this.requireEntry(table.parent, uid);
    const { createdAt, updatedAt } = parent;
    const value = { ...table.impliedValue(parent), uid };
    return { kind, uid, parent: uid, createdAt, updatedAt, builtIn: false, value };
  }

  toResponse(entry: Entry, form: ResponseForm = "get"): Message {
    return this.store.tableOf(entry.kind).toResponse?.(entry, this, form) ?? entry.value;
  }

  /** Stores a value of the service itself without checks, with the times of its kind. */
  put(kind: string, uid: string, parent: string, value: Message): Entry {
    const { message } = this.store.tableOf(kind);
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

  /** Decrements a setting that counts calls; false when it is zero. */
  countDown(setting: "checksNotReady"): boolean {
    const { settings } = this.options;
    if (settings[setting] < 1) return false;
    settings[setting] -= 1;
    return true;
  }

  /** All resources by collection as a get returns them, without the built-in ones. */
  listState(): Record<string, Record<string, unknown>[]> {
    const options = { milliseconds: !this.options.matchesRecording };
    return Object.fromEntries(
      this.store.tables.map(({ kind, collection, message }) => {
        const entries = [...this.store.all(kind)].filter((entry) => !entry.builtIn);
        return [collection, entries.map((entry) => renderMessage(this.toResponse(entry), message, options))];
      }),
    );
  }

  private withTimes(value: Message, type: MessageType, at: number, fields: readonly string[]): Message {
    // The services store microseconds; responses by the specification show three digits.
    this.writes += 1;
    const time = msToTimestamp(at, (this.writes * 7) % 1000);
    for (const field of fields) if (type.byName.has(field)) value[field] = time;
    return value;
  }
}

// Capabilities: what a caller may do by the roles that bindings grant to it, on a group and on everything below it.

/** The caller with the emulator's own token may do everything. */
const operatorUid = personUid(operator.issuer, operator.subject);

/** @throws StatusError code 7 that names the first capability the caller lacks. */
function requireCapabilities({ method, request }: Call, caller: Caller, store: Store): void {
  const scope = findScope(method.pattern, request);
  for (const capability of method.capabilities ?? []) {
    if (isGranted(caller, capability, scope, store)) continue;
    throw permissionDenied(`CAP_${capability} is needed${scope === undefined ? "" : ` at "${scope}"`}`);
  }
}

/** Whether a list shows an entry to its caller; what belongs to no group is shown to everybody who may list. */
function isVisible({ uid, builtIn }: Entry, { method, caller }: AuthenticatedCall, store: Store): boolean {
  if (builtIn) return true;
  return (method.capabilities ?? []).every((capability) => isGranted(caller, capability, uid, store));
}

/** Built-in roles, advisories and the like have no group, so a grant anywhere is enough for them. */
function isGranted(caller: Caller, capability: string, uid: string | undefined, store: Store): boolean {
  if (caller.uid === operatorUid) return true;
  const [root = ""] = uid?.split("/") ?? [];
  const isAnywhere = uid === undefined || (uid !== "" && store.find("Group", root) === undefined);
  return store.referrersOf("RoleBinding", "identityUid", caller.uid).some(({ parent, value }) => {
    if (!isAnywhere && uid !== parent && !uid.startsWith(`${parent}/`)) return false;
    const role = store.find("Role", value.roleUid as string);
    return ((role?.value.capabilities ?? []) as string[]).includes(`CAP_${capability}`);
  });
}

/** The uid that a request is about: the one in its path, or the parent of a batch. Lists have none. */
function findScope(pattern: string, request: Message): string | undefined {
  const field = /\{([A-Za-z.]+)=\*\*\}/.exec(pattern)?.[1] ?? (request.parent === undefined ? "" : "parent");
  if (field === "") return undefined;
  const value = field
    .split(".")
    .reduce<Value | undefined>((holder, key) => (holder as Message | undefined)?.[key], request);
  return (value ?? "") as string;
}
