import type { FieldMaker, Message, MessageType, Value } from "../gateway/descriptor";
import type { Call } from "../gateway/gateway";
import type { Method } from "../gateway/routes";
import type { Caller } from "../service/caller";
import type { PlatformEvent } from "../service/events";
import type { Entry, Store } from "../service/store";
import type { EmulatorSettings } from "../settings";

export type StandardMethod = "list" | "get" | "create" | "update" | "delete";

/** One kind of resource in wire terms: its addresses, its fields, and the rules of the service behind it. */
export interface KindTable {
  /** Name of the kind, of its message, and in the names of its methods. */
  readonly kind: string;
  readonly prefix: string;
  /** Last part of the address, and the key of the list in answers. */
  readonly collection: string;
  /** Package and name of the service. */
  readonly service: string;
  readonly message: MessageType;
  readonly methods: readonly StandardMethod[];
  /** The list takes `name` (exact). */
  readonly nameFilter?: boolean;
  /** The list does not take `uidp`: contract, section 4. */
  readonly unscoped?: boolean;
  /** The list answers its total even when recorded: contract, section 4. */
  readonly alwaysCounted?: boolean;
  /** Further parameters of the list. */
  readonly filters?: Readonly<Record<string, FieldMaker>>;
  /** Column and direction of lists that name none; default `uid asc`. */
  readonly defaultOrder?: string;
  /** Columns to order by beyond those of every list, and the text fields they stand for. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly custom?: readonly Method[];
  /** Without rules the gateway knows the kind, and the service answers 501. */
  readonly rules?: KindRules;
}

/** What an answer is for: some fields are told once, some are left out of lists. */
export type AnswerForm = "create" | "get" | "list";

export interface KindRules {
  /** Kind of the parent; "" for none. */
  readonly parent: string;
  /** A create without parent makes a root. */
  readonly roots?: boolean;
  /** The resource has its parent's uid, so there is one at most: contract, section 1. */
  readonly uidOfParent?: boolean;
  /** There is always one, with this content until it is changed. For kinds that have their parent's uid. */
  implied?(parent: Entry): Message;
  /** Nobody can delete it, so it is never in the way of deleting its parent. */
  readonly goesWithParent?: boolean;
  /** Deleting what is not there succeeds: contract, section 5. */
  readonly deleteIsIdempotent?: boolean;
  /** Nothing may be left below a deleted resource: it is refused with RESOURCE_NOT_EMPTY. */
  readonly refusesDeleteWithChildren?: boolean;
  /** Fields that hold the uid of another resource, and what its deletion does. */
  readonly references?: readonly Reference[];
  /** Reports what is wrong with a write beyond what the fields tell. */
  check?(write: Write, world: World): void;
  /** Fills what the service decides. Runs on a valid write. */
  complete?(write: Write, world: World): void;
  /** The resource that a create writes over instead of making a new one. */
  overwrites?(write: Write, world: World): Entry | undefined;
  /** The resource as answered; `entry.value` with whatever is looked up. */
  answer?(entry: Entry, world: World, form: AnswerForm): Message;
  /** Whether a list shows an entry, whatever its parameters; all by default. */
  listed?(entry: Entry, request: Message): boolean;
  /** Whether an entry matches a list parameter of `filters`. */
  readonly matches?: Readonly<
    Record<string, (entry: Entry, wanted: Value, world: World, request: Message) => boolean>
  >;
  /** Custom methods by the name after the slash. */
  readonly custom?: Readonly<Record<string, (call: ServedCall, world: World) => Message>>;
  /** Resources that are always there and never change. */
  builtIn?(): readonly BuiltIn[];
  /** Speaks up before anything at all is created below this uid. @throws StatusError */
  guard?(parent: string, world: World): void;
  /** What subscribers are told of its writes; nothing without it. */
  readonly events?: EventRules;
}

export interface BuiltIn {
  readonly uid: string;
  readonly parent?: string;
  readonly value: Message;
}

export interface Reference {
  readonly field: string;
  readonly kind: string;
  readonly onDelete: "cascade" | "refuse";
}

export type EventAction = "created" | "updated" | "deleted";

/** The events of a kind: contract, section 11. */
export interface EventRules {
  /** Between `dev.chainguard.api.` and the action. */
  readonly name: string;
  readonly actions: readonly EventAction[];
  /** Uid of the group that the event belongs to; default the parent. */
  group?(entry: Entry, action: EventAction): string;
  /** What is told of a created or updated resource; default all that a get answers. */
  readonly bodyFields?: readonly string[];
  readonly deletedWithoutBody?: boolean;
  /** Further attributes of the event, by lower-case name. */
  extensions?(entry: Entry): Readonly<Record<string, string>>;
  /** The resource that the event is about when it is another one. */
  about?(entry: Entry, world: World): Entry | undefined;
}

/** A call and who makes it. */
export interface ServedCall extends Call {
  readonly caller: Caller;
}

/** A create or update on its way into the store. */
export interface Write {
  /** What will be stored. */
  readonly value: Message;
  /** What is stored; undefined for a create. */
  readonly before?: Message;
  /** What the client sent. */
  readonly sent: Message;
  /** Uid of the parent, "" for a root. */
  readonly parent: string;
  /** Milliseconds since 1970 of the resource's creation, and of this write. */
  readonly createdAt: number;
  readonly now: number;
  /** The update names `*`. */
  readonly replaces: boolean;
  /** Whether the mask names this path (answer names, dots), part of it or something around it; true for creates. */
  names(path: string): boolean;
  /** Whether the mask names exactly this path; false for creates. */
  namesExactly(path: string): boolean;
  refuse(field: string, description: string): void;
}

/** What the rules of a kind may use. */
export interface World {
  readonly store: Store;
  readonly settings: Readonly<EmulatorSettings>;
  now(): number;
  /** Address of the emulator, without a slash at the end. */
  url(): string;
  /** Checks a create; the answer stores it. @throws StatusError */
  prepareCreate(kind: string, parent: string, sent: Message, fieldPrefix?: string): () => Entry;
  /** The resource with this uid. @throws StatusError code 3 without a uid, code 5 when it is missing. */
  existing(kind: string, uid: Value | undefined): Entry;
  /** Stores a value that the service made itself, beyond all rules but with the times that the kind has. */
  put(kind: string, uid: string, parent: string, value: Message): Entry;
  remove(entry: Entry): void;
  answer(entry: Entry, form?: AnswerForm): Message;
  /** A page of the kind's resources by the parameters of a list. @throws StatusError */
  list(kind: string, request: Message, shown?: (entry: Entry) => boolean): Message;
  emit(event: PlatformEvent, caller: Caller): void;
  /** Takes one off a setting that counts calls; false when none is left. */
  countDown(setting: "checksNotReady"): boolean;
}
