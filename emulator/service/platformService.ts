import type { Message, MessageType, Value } from "../gateway/descriptor";
import { messageType, newMessage, text } from "../gateway/descriptor";
import type { Call, Reply, Service } from "../gateway/gateway";
import { renderMessage } from "../gateway/render";
import { formatTimestamp } from "../gateway/scalars";
import {
  Code,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  StatusError,
} from "../gateway/status";
import type { Violation } from "../gateway/status";
import type { EmulatorSettings } from "../settings";
import type { AnswerForm, EventAction, KindTable, ServedCall, World, Write } from "../tables/kindTable";
import { bodyField, pluralKind } from "../tables/methods";
import type { Caller } from "./caller";
import { nobody } from "./caller";
import { Deliveries } from "./deliveries";
import type { PlatformEvent } from "./events";
import { Events } from "./events";
import type { Issuer } from "./issuer";
import { listPage } from "./list";
import type { Entry } from "./store";
import { Store } from "./store";
import { Tokens } from "./tokens";
import type { FieldPath } from "./updateMask";
import { applyMask, isCamelCase, nameOf, replaceAll, resolveMask, selectPaths } from "./updateMask";
import { violationsOf, withoutOutputs } from "./validate";

export interface ServiceOptions {
  readonly tables: readonly KindTable[];
  readonly token: string;
  readonly recorded: boolean;
  readonly settings: EmulatorSettings;
  readonly issuer: Issuer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly changed?: () => void;
}

type Handler = (call: ServedCall) => Reply;

/** The services behind the gateway: what contract, sections 4 to 9 and 14 let them decide. */
export class PlatformService implements Service, World {
  readonly store: Store;
  readonly settings: Readonly<EmulatorSettings>;
  readonly deliveries: Deliveries;
  private readonly events: Events;
  private readonly tokens: Tokens;
  private readonly tableOf = new Map<string, KindTable>();
  private readonly handlers = new Map<string, Handler>();
  private writes = 0;

  constructor(private readonly options: ServiceOptions) {
    const { settings, tables, issuer, now, recorded, token } = options;
    this.settings = settings;
    this.store = new Store(tables, options.changed);
    this.deliveries = new Deliveries(settings);
    const { store, deliveries } = this;
    const url = (): string => this.url();
    this.events = new Events({ store, deliveries, issuer, url, now, milliseconds: !recorded });
    this.tokens = new Tokens({ store, issuer, settings, now, token });
    for (const table of tables) this.register(table);
    const others: Record<string, (call: Call) => Message> = {
      "ping.v2.PingService/Ping": () => ({ response: "pong" }),
      "oidc.SecurityTokenService/Exchange": (call) => this.tokens.exchange(call),
      "oidc.SecurityTokenService/ExchangeRefreshToken": (call) => this.tokens.refresh(call),
    };
    for (const [rpc, run] of Object.entries(others)) {
      this.handlers.set(rpc, (call) => ({ message: run(call) }));
    }
  }

  call(call: Call): Reply {
    const { rpc, open } = call.method;
    const caller = open ? nobody : this.tokens.caller(call.authorization);
    const handler = this.handlers.get(rpc);
    if (!handler) throw new StatusError(Code.unimplemented, `method ${rpc} is not emulated`);
    return handler({ ...call, caller });
  }

  /** Forgets everything but what is built in. */
  clear(): void {
    this.store.clear();
    this.tokens.clear();
    this.deliveries.clear();
  }

  now(): number {
    return this.options.now();
  }

  url(): string {
    return this.options.issuer.name;
  }

  answer(entry: Entry, form: AnswerForm = "get"): Message {
    return this.tableOf.get(entry.kind)?.rules?.answer?.(entry, this, form) ?? entry.value;
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
    const { message } = this.table(kind);
    const now = this.now();
    const known = this.store.find(kind, uid);
    if (known) {
      this.store.update(known, this.stamp({ ...value, uid }, message, now, ["updateTime"]), now);
      return known;
    }
    const stamped = this.stamp({ ...value, uid }, message, now, ["createTime", "updateTime"]);
    const entry = { kind, uid, parent, createdAt: now, updatedAt: now, builtIn: false, value: stamped };
    this.store.add(entry);
    return entry;
  }

  list(kind: string, request: Message, shown?: (entry: Entry) => boolean): Message {
    return listPage(this.table(kind), this, request, this.options.recorded, shown);
  }

  existing(kind: string, uid: Value | undefined): Entry {
    // An empty uid is a mistake of the client; 404 would tell it that a resource is gone.
    if (typeof uid !== "string") throw invalidArgument([{ field: "uid", description: "uid is required" }]);
    const entry = this.store.find(kind, uid);
    if (entry) return entry;
    const { rules } = this.table(kind);
    if (!rules?.implied) throw notFound(kind, uid);
    const parent = this.existing(rules.parent, uid);
    const { createdAt, updatedAt } = parent;
    const value = { ...rules.implied(parent), uid };
    return { kind, uid, parent: uid, createdAt, updatedAt, builtIn: false, value };
  }

  /** All resources but the built-in ones, by collection, as a get would answer them. */
  state(): Record<string, Record<string, unknown>[]> {
    const state: Record<string, Record<string, unknown>[]> = {};
    for (const table of this.options.tables) {
      if (!table.rules) continue;
      state[table.collection] = [...this.store.all(table.kind)]
        .filter((entry) => !entry.builtIn)
        .map((entry) =>
          renderMessage(this.answer(entry), table.message, { milliseconds: !this.options.recorded }),
        );
    }
    return state;
  }

  prepareCreate(kind: string, parent: string, sent: Message, fieldPrefix = ""): () => Entry {
    const table = this.table(kind);
    const { rules } = table;
    if (!rules) throw new StatusError(Code.unimplemented, `${kind} is not emulated`);
    this.checkParent(table, parent);
    const now = this.now();
    const violations: Violation[] = [];
    const write: Write = {
      value: withoutOutputs(sent, table.message),
      sent,
      parent,
      createdAt: now,
      now,
      replaces: false,
      names: () => true,
      namesExactly: () => false,
      refuse: (field, description) => violations.push({ field: `${fieldPrefix}${field}`, description }),
    };
    violations.push(...violationsOf(write.value, table.message, fieldPrefix));
    rules.check?.(write, this);
    if (violations.length > 0) throw invalidArgument(violations);
    const over = rules.overwrites?.(write, this);
    rules.complete?.(write, this);
    return () => {
      const uid = over?.uid ?? (rules.uidOfParent ? parent : this.store.newUid(parent));
      return this.put(kind, uid, parent, write.value);
    };
  }

  private register(table: KindTable): void {
    const { rules, service, kind } = table;
    this.tableOf.set(kind, table);
    if (!rules) return;
    const standard: Record<string, Handler> = {
      [`List${pluralKind(table)}`]: ({ request }) => ({ message: this.list(kind, request) }),
      [`Get${kind}`]: (call) => ({ message: this.answer(this.existing(kind, call.request.uid)) }),
      [`Create${kind}`]: (call) => this.create(table, call),
      [`Update${kind}`]: (call) => this.update(table, call),
      [`Delete${kind}`]: (call) => this.delete(table, call),
    };
    for (const [name, handler] of Object.entries(standard)) this.handlers.set(`${service}/${name}`, handler);
    for (const [name, run] of Object.entries(rules.custom ?? {})) {
      // A kind may answer a method of another service, as repos do for images.
      const rpc = table.custom?.find((method) => method.rpc.endsWith(`/${name}`))?.rpc;
      this.handlers.set(rpc ?? `${service}/${name}`, (call) => ({ message: run(call, this) }));
    }
  }

  private create(table: KindTable, { request, caller }: ServedCall): Reply {
    const parent = (request.parent ?? "") as string;
    const sent = (request[bodyField(table)] ?? newMessage()) as Message;
    const entry = this.prepareCreate(table.kind, parent, sent)();
    this.tell(entry, "created", caller);
    return { message: this.answer(entry, "create") };
  }

  private update(table: KindTable, call: ServedCall): Reply {
    const sent = (call.request[bodyField(table)] ?? newMessage()) as Message;
    const entry = this.existing(table.kind, sent.uid);
    if (entry.builtIn) throw permissionDenied(`${entry.kind} "${entry.uid}" is built in and never changes`);
    const mask = this.readMask(table, call);
    if (!mask) return { message: this.answer(entry) };
    const { paths, replaces } = mask;

    const violations: Violation[] = [];
    const named = new Set(paths.map(nameOf));
    const write: Write = {
      value: replaces
        ? replaceAll(entry.value, sent, table.message)
        : applyMask(entry.value, sent, paths, table.message),
      before: entry.value,
      sent,
      parent: entry.parent,
      createdAt: entry.createdAt,
      now: this.now(),
      replaces,
      names: (path) =>
        replaces ||
        [...named].some(
          (name) => name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`),
        ),
      namesExactly: (path) => named.has(path),
      refuse: (field, description) => violations.push({ field, description }),
    };
    violations.push(
      ...violationsOf(write.value, table.message),
      ...immutableViolations(write, table.message),
    );
    table.rules?.check?.(write, this);
    if (violations.length > 0) throw invalidArgument(violations);
    table.rules?.complete?.(write, this);
    this.put(entry.kind, entry.uid, entry.parent, write.value);
    this.tell(entry, "updated", call.caller);
    const message = this.answer(this.existing(table.kind, entry.uid));
    const { patchAnswer } = this.settings;
    if (patchAnswer === "full" || replaces) return { message };
    if (patchAnswer === "sparse") return { message: selectPaths(message, paths) };
    return { message, only: new Set(["uid", ...paths.map((path) => path[0]?.name ?? "")]) };
  }

  /** Undefined when nothing is to change. */
  private readMask(
    table: KindTable,
    { updateMask = [], maskSource }: Call,
  ): { paths: FieldPath[]; replaces: boolean } | undefined {
    const explicit = maskSource === "query";
    if (updateMask.length === 0) return undefined;
    // An empty body names nothing; an explicit mask with an empty name is a mistake.
    if (!explicit && updateMask.length === 1 && updateMask[0] === "") return undefined;
    if (updateMask.length === 1 && updateMask[0] === "*") return { paths: [], replaces: true };
    const snakeOnly = explicit && this.settings.maskSpelling === "snake";
    const paths = resolveMask(updateMask, table.message, snakeOnly);
    if (explicit && this.settings.maskSilent && updateMask.some(isCamelCase)) return undefined;
    return { paths, replaces: false };
  }

  private delete(table: KindTable, { request, caller }: ServedCall): Reply {
    const { rules } = table;
    const message = newMessage();
    if (rules?.deleteIsIdempotent && request.uid !== undefined) {
      if (!this.store.find(table.kind, request.uid as string)) return { message };
    }
    const entry = this.existing(table.kind, request.uid);
    if (entry.builtIn) throw permissionDenied(`${entry.kind} "${entry.uid}" is built in and never changes`);
    const children = this.store
      .childrenOf(entry)
      .filter((child) => !this.tableOf.get(child.kind)?.rules?.goesWithParent);
    if (rules?.refusesDeleteWithChildren && children.length > 0) {
      throw failedPrecondition(
        "RESOURCE_NOT_EMPTY",
        entry.uid,
        `${entry.kind} "${entry.uid}" still holds ${this.describe(children)}`,
      );
    }
    for (const { referrers, onDelete } of this.referrersOf(entry)) {
      if (onDelete === "refuse" && referrers.length > 0) {
        throw failedPrecondition(
          "RESOURCE_IN_USE",
          entry.uid,
          `${entry.kind} "${entry.uid}" is used by ${this.describe(referrers)}`,
        );
      }
    }
    this.remove(entry);
    this.tell(entry, "deleted", caller);
    return { message };
  }

  remove(entry: Entry): void {
    for (const child of this.store.childrenOf(entry)) this.remove(child);
    for (const { referrers } of this.referrersOf(entry)) for (const each of referrers) this.remove(each);
    this.store.remove(entry);
  }

  private referrersOf(entry: Entry): { referrers: readonly Entry[]; onDelete: "cascade" | "refuse" }[] {
    return this.options.tables.flatMap((table) =>
      (table.rules?.references ?? [])
        .filter((reference) => reference.kind === entry.kind)
        .map(({ field, onDelete }) => ({
          referrers: this.store.referrersOf(table.kind, field, entry.uid),
          onDelete,
        })),
    );
  }

  /** `2 repos (nginx, redis), 1 identity (…)`, at most ten names each. */
  private describe(entries: readonly Entry[]): string {
    const byKind = new Map<string, string[]>();
    for (const { kind, uid, value } of entries) {
      const collection = this.tableOf.get(kind)?.collection ?? kind;
      byKind.set(collection, [...(byKind.get(collection) ?? []), (value.name ?? uid) as string]);
    }
    return [...byKind]
      .map(([collection, names]) => {
        const shown = names.slice(0, 10).join(", ");
        return `${names.length} ${collection} (${shown}${names.length > 10 ? ", …" : ""})`;
      })
      .join(", ");
  }

  /** Emits the event of a write, for kinds that have one. */
  private tell(entry: Entry, action: EventAction, caller: Caller): void {
    const rules = this.tableOf.get(entry.kind)?.rules?.events;
    if (!rules?.actions.includes(action)) return;
    const about = rules.about?.(entry, this);
    if (about) {
      this.tell(about, action, caller);
      return;
    }
    const { message: type } = this.table(entry.kind);
    const told =
      action === "deleted"
        ? { message: { uid: entry.uid }, type: deleteRequestOf(type) }
        : { message: this.answer(entry), type, only: rules.bodyFields && new Set(rules.bodyFields) };
    this.emit(
      {
        name: `${rules.name}.${action}`,
        subject: entry.uid,
        group: rules.group?.(entry, action) ?? entry.parent,
        body: action === "deleted" && rules.deletedWithoutBody ? undefined : told,
        extensions: rules.extensions?.(entry),
      },
      caller,
    );
  }

  private table(kind: string): KindTable {
    const table = this.tableOf.get(kind);
    if (!table) throw new Error(`no table for ${kind}`);
    return table;
  }

  private checkParent(table: KindTable, parent: string): void {
    const { rules } = table;
    if (!rules || (parent === "" && rules.roots)) return;
    if (parent === "") throw invalidArgument([{ field: "parent", description: "parent is required" }]);
    const entry = this.store.find(rules.parent, parent);
    if (!entry) throw notFound(rules.parent, parent);
    for (const { rules: others } of this.options.tables) others?.guard?.(parent, this);
    const wait = this.settings.newGroupRefusalMs;
    for (
      let above: Entry | undefined = entry;
      above && wait > 0;
      above = this.store.find("Group", above.parent)
    ) {
      if (above.kind === "Group" && this.now() - above.createdAt < wait) {
        throw permissionDenied(`no access to group "${above.uid}" yet`);
      }
    }
  }

  private stamp(value: Message, type: MessageType, at: number, fields: readonly string[]): Message {
    // The services keep microseconds; the specification's answers show three digits of them.
    this.writes += 1;
    const nanos = (((at % 1000) + 1000) % 1000) * 1_000_000 + ((this.writes * 7) % 1000) * 1000;
    const time = formatTimestamp({ epochMs: Math.floor(at / 1000) * 1000, nanos });
    for (const field of fields) if (type.byName.has(field)) value[field] = time;
    return value;
  }
}

function deleteRequestOf({ fullName }: MessageType): MessageType {
  const cut = fullName.lastIndexOf(".") + 1;
  return messageType(`${fullName.slice(0, cut)}Delete${fullName.slice(cut)}Request`, { uid: text() });
}

function immutableViolations(write: Write, type: MessageType): Violation[] {
  return type.fields
    .filter(({ immutable, name }) => immutable && write.value[name] !== write.before?.[name])
    .map(({ name }) => ({ field: name, description: `${name} cannot change` }));
}
