import type { Message, MessageType } from "../gateway/descriptor";
import { newMessage } from "../gateway/descriptor";
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
import type { KindTable, World, Write } from "../tables/kindTable";
import { bodyField, pluralKind } from "../tables/methods";
import { listPage } from "./list";
import type { Entry } from "./store";
import { Store } from "./store";
import type { FieldPath } from "./updateMask";
import { applyMask, isCamelCase, nameOf, replaceAll, resolveMask } from "./updateMask";
import { violationsOf, withoutOutputs } from "./validate";

export interface ServiceOptions {
  readonly tables: readonly KindTable[];
  readonly token: string;
  readonly recorded: boolean;
  readonly settings: Readonly<EmulatorSettings>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly changed?: () => void;
}

type Handler = (call: Call) => Reply;

/** The services behind the gateway: what contract, sections 4 to 9 and 14 let them decide. */
export class PlatformService implements Service, World {
  readonly store: Store;
  readonly settings: Readonly<EmulatorSettings>;
  private readonly tableOf = new Map<string, KindTable>();
  private readonly handlers = new Map<string, Handler>();
  private writes = 0;

  constructor(private readonly options: ServiceOptions) {
    this.settings = options.settings;
    this.store = new Store(options.tables, options.changed);
    for (const table of options.tables) this.register(table);
    this.handlers.set("ping.v2.PingService/Ping", () => {
      const message = newMessage();
      message.response = "pong";
      return { message };
    });
  }

  call(call: Call): Reply {
    const { rpc, open } = call.method;
    if (!open && call.authorization !== `Bearer ${this.options.token}`) {
      throw new StatusError(Code.unauthenticated, "Unauthenticated: a valid bearer token is required");
    }
    const handler = this.handlers.get(rpc);
    if (!handler) throw new StatusError(Code.unimplemented, `method ${rpc} is not emulated`);
    return handler(call);
  }

  now(): number {
    return this.options.now();
  }

  answer(entry: Entry): Message {
    return this.tableOf.get(entry.kind)?.rules?.answer?.(entry, this) ?? entry.value;
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
    const table = this.tableOf.get(kind);
    const rules = table?.rules;
    if (!table || !rules) throw new StatusError(Code.unimplemented, `${kind} is not emulated`);
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
    rules.complete?.(write, this);
    return () => {
      const uid = this.store.newUid(parent);
      const entry: Entry = {
        kind,
        uid,
        parent,
        createdAt: now,
        updatedAt: now,
        builtIn: false,
        value: this.stamp({ ...write.value, uid }, table.message, now, ["createTime", "updateTime"]),
      };
      this.store.add(entry);
      return entry;
    };
  }

  private register(table: KindTable): void {
    const { rules, service, kind } = table;
    this.tableOf.set(kind, table);
    if (!rules) return;
    const standard: Record<string, Handler> = {
      [`List${pluralKind(table)}`]: (call) => this.list(table, call),
      [`Get${kind}`]: (call) => ({ message: this.answer(this.existing(table, call.request.uid)) }),
      [`Create${kind}`]: (call) => this.create(table, call),
      [`Update${kind}`]: (call) => this.update(table, call),
      [`Delete${kind}`]: (call) => this.delete(table, call),
    };
    for (const [name, handler] of Object.entries(standard)) this.handlers.set(`${service}/${name}`, handler);
    for (const [name, run] of Object.entries(rules.custom ?? {})) {
      this.handlers.set(`${service}/${name}`, (call) => ({ message: run(call, this) }));
    }
  }

  private list(table: KindTable, { request }: Call): Reply {
    const answer = (entry: Entry): Message => this.answer(entry);
    const { recorded } = this.options;
    return { message: listPage(table, this.store, request, this.now(), recorded, answer) };
  }

  private create(table: KindTable, { request }: Call): Reply {
    const parent = (request.parent ?? "") as string;
    const sent = (request[bodyField(table)] ?? newMessage()) as Message;
    return { message: this.answer(this.prepareCreate(table.kind, parent, sent)()) };
  }

  private update(table: KindTable, call: Call): Reply {
    const sent = (call.request[bodyField(table)] ?? newMessage()) as Message;
    const entry = this.existing(table, sent.uid);
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
    this.store.update(entry, this.stamp(write.value, table.message, write.now, ["updateTime"]), write.now);
    const message = this.answer(entry);
    if (this.settings.patchAnswer === "full" || replaces) return { message };
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

  private delete(table: KindTable, { request }: Call): Reply {
    const { rules } = table;
    const message = newMessage();
    if (rules?.deleteIsIdempotent && request.uid !== undefined) {
      if (!this.store.find(table.kind, request.uid as string)) return { message };
    }
    const entry = this.existing(table, request.uid);
    if (entry.builtIn) throw permissionDenied(`${entry.kind} "${entry.uid}" is built in and never changes`);
    const children = this.store.childrenOf(entry.uid);
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
    return { message };
  }

  private remove(entry: Entry): void {
    for (const child of this.store.childrenOf(entry.uid)) this.remove(child);
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

  private existing(table: KindTable, uid: Message[string]): Entry {
    // An empty uid is a mistake of the client; 404 would tell it that a resource is gone.
    if (typeof uid !== "string") throw invalidArgument([{ field: "uid", description: "uid is required" }]);
    const entry = this.store.find(table.kind, uid);
    if (!entry) throw notFound(table.kind, uid);
    return entry;
  }

  private checkParent(table: KindTable, parent: string): void {
    const { rules } = table;
    if (!rules || (parent === "" && rules.roots)) return;
    if (parent === "") throw invalidArgument([{ field: "parent", description: "parent is required" }]);
    const entry = this.store.find(rules.parent, parent);
    if (!entry) throw notFound(rules.parent, parent);
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

function immutableViolations(write: Write, type: MessageType): Violation[] {
  return type.fields
    .filter(({ immutable, name }) => immutable && write.value[name] !== write.before?.[name])
    .map(({ name }) => ({ field: name, description: `${name} cannot change` }));
}
