import type { FieldSpec, Message, MessageType, Value } from "../gateway/fields";
import type { Call } from "../gateway/gateway";
import type { Method } from "../gateway/routes";
import type { Caller } from "../service/tokens";
import type { PlatformService } from "../service/platformService";
import type { Entry } from "../service/store";

export type StandardMethod = "list" | "get" | "create" | "update" | "delete";

/** One kind of resource in wire terms: its addresses, its fields, and the behaviour of the service behind it. */
export interface KindTable {
  /** Name of the kind, of its message, and in the names of its methods. */
  readonly kind: string;
  readonly prefix: string;
  /** Last part of the address, and the key of the list in responses. */
  readonly collection: string;
  /** The address of a part of another resource, which has the uid of that one: before and after the uid. */
  readonly partOf?: { readonly address: string; readonly suffix: string };
  readonly message: MessageType;
  readonly methods: readonly StandardMethod[];
  /** Methods besides the standard ones. */
  readonly custom?: readonly CustomMethod[];
  /** What the names of its capabilities begin with, without `CAP_`: `IAM_GROUPS`. */
  readonly capabilities?: string;
  /** Capabilities that a standard method needs besides its own, without `CAP_`. */
  readonly furtherCapabilities?: Partial<Readonly<Record<StandardMethod, readonly string[]>>>;

  /** Kind of the parent; "" for none. */
  readonly parent: string;
  /** A create without parent makes a root. */
  readonly mayBeRoot?: boolean;
  /** The resource has its parent's uid, so a parent has one at most. */
  readonly hasUidOfParent?: boolean;
  /** The content until the first write, of a kind that exists with its parent and has its uid. */
  impliedValue?(parent: Entry): Message;
  /** Resources that always exist and never change. */
  builtIn?(): readonly BuiltIn[];

  /** The list takes `name` (exact). */
  readonly hasNameFilter?: boolean;
  /** The list does not take `uidp`. */
  readonly isUnscoped?: boolean;
  /** The list has a total also with `matchesRecording`. */
  readonly isAlwaysCounted?: boolean;
  /** Further parameters of the list. */
  readonly filters?: Readonly<Record<string, Filter>>;
  /** Whether a list contains an entry; all by default. */
  isListed?(entry: Entry, request: Message): boolean;
  /** Column and direction of lists that name none; default `uid asc`. */
  readonly defaultOrder?: string;
  /** Columns to order by besides those of every list, each with its string field. */
  readonly columns?: Readonly<Record<string, string>>;

  /** Runs before any create below this uid. @throws StatusError */
  checkCreateBelow?(parent: string, platform: PlatformService): void;
  /** Reports violations of a write that the descriptions of fields cannot express. */
  check?(write: Write, platform: PlatformService): void;
  /** Fills the fields that the service computes. Runs on a valid write. */
  complete?(write: Write, platform: PlatformService): void;
  /** The existing resource that a create overwrites. */
  findOverwritten?(write: Write, platform: PlatformService): Entry | undefined;
  /** The resource in a response; by default `entry.value`. */
  toResponse?(entry: Entry, platform: PlatformService, form: ResponseForm): Message;

  /** Fields that hold the uid of another resource, which must exist, and what its deletion does. */
  readonly references?: readonly Reference[];
  /** It has no delete of its own and goes with its parent. */
  readonly isDeletedWithParent?: boolean;
  /** Deleting a missing resource succeeds. */
  readonly hasIdempotentDelete?: boolean;
  /** A delete with children fails with RESOURCE_NOT_EMPTY. */
  readonly refusesDeleteWithChildren?: boolean;
  /** The events of its writes; none by default. */
  readonly events?: EventRules;
}

/** A parameter of a list. */
export interface Filter extends FieldSpec {
  /** Whether a list with this value of the parameter has the entry; all have it by default. */
  matches?(entry: Entry, wanted: Value, request: Message, platform: PlatformService): boolean;
}

export interface CustomMethod extends Omit<Method, "run"> {
  /** Returns the message of the response. @throws StatusError */
  run(call: AuthenticatedCall, platform: PlatformService): Message;
  /** The event of a call that succeeds; none by default. */
  readonly event?: CallEvent;
}

/** The event of a call. Its body is the response without its token; where mappings are deleted, the request. */
export interface CallEvent {
  /** Between `dev.chainguard.api.` and `.v1`. */
  readonly name: string;
  /** The field of the request that holds the uid of its subject. */
  readonly subject: string;
  /** The subject is an identity provider, or the one whose mappings are deleted; by default it is a group. */
  readonly about?: "provider" | "mappings";
}

/** The request that a response belongs to: some fields are returned only at creation, some not in lists. */
export type ResponseForm = "create" | "get" | "list";

export interface BuiltIn {
  readonly uid: string;
  readonly parent?: string;
  readonly value: Message;
}

export interface Reference {
  readonly field: string;
  readonly kind: string;
  /** `keep`: the uid of what is gone stays. */
  readonly onDelete: "cascade" | "refuse" | "keep";
}

export type EventAction = "created" | "updated" | "deleted";

/** The events of a kind, one for each of its standard writes. */
export interface EventRules {
  /** Between `dev.chainguard.api.` and the action. */
  readonly name: string;
  /** Uid of the group that the event belongs to; default the parent. */
  group?(entry: Entry, action: EventAction): string;
  /** Fields in the event of a create or update; all by default. */
  readonly bodyFields?: readonly string[];
  readonly deletedWithoutBody?: boolean;
  /** The parent is an identity provider, which the event names. */
  readonly isOfProvider?: boolean;
  /** The resource that the event is about, where it is not the written one. */
  findSubject?(entry: Entry, platform: PlatformService): Entry | undefined;
}

/** A call with its caller. */
export interface AuthenticatedCall extends Call {
  readonly caller: Caller;
}

/** A create or update before it is stored. */
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
  readonly isFullReplacement: boolean;
  /** Whether the mask names this path (JSON names, dots), a part of it or a parent of it; true for creates. */
  touches(path: string): boolean;
  /** Whether the mask names exactly this path; false for creates. */
  namesExactly(path: string): boolean;
  addViolation(field: string, description: string): void;
}

/** Name of the field that holds one resource in requests. */
export function bodyField({ kind }: KindTable): string {
  return kind.charAt(0).toLowerCase() + kind.slice(1);
}
