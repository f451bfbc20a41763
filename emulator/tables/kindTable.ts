import type { FieldMaker, Message, MessageType, Value } from "../gateway/descriptor";
import type { Call } from "../gateway/gateway";
import type { Method } from "../gateway/routes";
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
  /** Further parameters of the list. */
  readonly filters?: Readonly<Record<string, FieldMaker>>;
  readonly custom?: readonly Method[];
  /** Without rules the gateway knows the kind, and the service answers 501. */
  readonly rules?: KindRules;
}

export interface KindRules {
  /** Kind of the parent. */
  readonly parent: string;
  /** A create without parent makes a root. */
  readonly roots?: boolean;
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
  /** The resource as answered; `entry.value` with whatever is looked up. */
  answer?(entry: Entry, world: World): Message;
  /** Whether an entry matches a list parameter of `filters`. */
  readonly matches?: Readonly<Record<string, (entry: Entry, wanted: Value) => boolean>>;
  /** Custom methods by the name after the slash. */
  readonly custom?: Readonly<Record<string, (call: Call, world: World) => Message>>;
  /** Resources that are always there and never change. */
  builtIn?(): readonly { readonly uid: string; readonly value: Message }[];
}

export interface Reference {
  readonly field: string;
  readonly kind: string;
  readonly onDelete: "cascade" | "refuse";
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
  /** Checks a create; the answer stores it. @throws StatusError */
  prepareCreate(kind: string, parent: string, sent: Message, fieldPrefix?: string): () => Entry;
  answer(entry: Entry): Message;
}
