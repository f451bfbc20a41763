import type { Props } from "./values";

/** How a collection makes many resources in one request, all or none. */
export interface BatchMethod {
  /** The collection that also makes one at a time: `/iam/v2/roleBindings`. */
  readonly collection: string;
  /** The custom method: `batchCreate`. */
  readonly verb: string;
  /** Most resources in one request. */
  readonly limit: number;
  /** The request's body for resources below one parent. */
  readonly body: (parent: string, resources: readonly unknown[]) => unknown;
  /** The member of the response that contains the created resources, in the order of the request. */
  readonly member: string;
}

/** The requests that a kind with operations of its own can make. Uids are encoded by `address`. */
export interface Api {
  /** Requests under way at once: more than these wait for their turn. */
  readonly maxConcurrency: number;
  /** The unverified claims of the token in use; undefined if it is no JWT. */
  getCallerClaims(): Promise<{ readonly issuer: string; readonly subject: string } | undefined>;
  address(collection: string, uid: string | undefined, suffix?: string): string;
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Record<string, unknown>>;
  /** `isIdempotent`: doing it twice is the same as doing it once, so a lost response is harmless. */
  post(path: string, body: unknown, options: { isIdempotent: boolean }): Promise<Record<string, unknown>>;
  /** Creates one resource, together with others that are created below its parent at the same time. */
  createShared(method: BatchMethod, parent: string, body: unknown): Promise<Record<string, unknown>>;
  /** `mask` names the fields of the body. The path is that of a resource, or of a part of it. */
  patchAt(path: string, body: unknown, mask: readonly string[]): Promise<Record<string, unknown>>;
  delete(collection: string, uid: string): Promise<void>;
  /** `member` of the response contains the list; by default the last word of the path. */
  list(
    collection: string,
    query?: Readonly<Record<string, string | readonly string[]>>,
    options?: { readonly member?: string },
  ): AsyncIterable<Record<string, unknown>>;
  /** A whole list, in one request for all who ask for it at the same time. */
  listShared(
    collection: string,
    query: Readonly<Record<string, string>>,
  ): Promise<readonly Record<string, unknown>[]>;
}

/** The time, for code that waits. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** How a create whose response may be lost is sent, and what it has made is found. */
export interface CreateSteps<T> {
  /** Sends the create once. */
  readonly send: () => Promise<T>;
  /** Finds what a create without a response has made; undefined while there is nothing. */
  readonly findLostCreate: (lost: unknown) => Promise<T | undefined>;
  /** The error after the last attempt, if the request may still take effect. */
  readonly explainUnknown: (error: unknown, sends: number) => unknown;
  readonly sleep: (ms: number) => Promise<void>;
  /** A second send does the same as the first, so the client has repeated it already. */
  readonly isIdempotent?: boolean;
  /** Whether the parent is so new that a refusal may end soon. */
  readonly isBelowNewGroup?: () => Promise<boolean>;
  /** Runs before a create below a new group is sent again. */
  readonly refreshToken?: () => Promise<void>;
}

export interface Created<T> {
  readonly result: T;
  /** An earlier send without a response, which may have taken effect besides; undefined if there was none. */
  readonly lost: unknown;
}

/** What operations need of the process that they run in. */
export interface Host extends Clock {
  /** Tells a person one line. */
  readonly warn: (line: string) => void;
  /** Whether a regular expression in RE2's syntax matches a complete string. */
  readonly matchesPattern: (pattern: string, text: string) => boolean;
  /** Whether a resource of this run's program owns the object of this kind and uid. */
  readonly isOwned: (kind: string, uid: string) => boolean;
  /** Whether a resource of this run's program declares this, by a key of `ResourceSpec.declaredKeys`. */
  readonly isDeclared: (key: string) => boolean;
  /** Sends a create, and finds out what became of it where its response is lost. @throws the error of a create that failed */
  readonly createAndVerify: <T>(steps: CreateSteps<T>) => Promise<Created<T>>;
  /** A complete error: what failed, the server's response, and what to do. */
  readonly explain: (what: string, error: unknown) => Error;
}

/** What a kind does in its own way, beside its description. Responses have the form of the resource, `uid` included. */
export interface Operations {
  readonly create?: (api: Api, inputs: Props, body: Props, host: Host) => Promise<Record<string, unknown>>;
  /** `create` overwrites an existing object, so it is idempotent, and a lost response is an ordinary error. */
  readonly upsert?: boolean;
  /**
   * What a create whose response was lost may have created, looked for before it is sent again; by default the
   * children of the parent, made since, that equal the inputs.
   */
  readonly findLostCreates?: (api: Api, inputs: Props) => Promise<Record<string, unknown>[]>;
  /** Undefined where it does not exist (a 404 with a missing resource is understood as well). */
  readonly get?: (
    api: Api,
    uid: string,
    olds: Props,
    host: Host,
  ) => Promise<Record<string, unknown> | undefined>;
  readonly update?: (
    api: Api,
    uid: string,
    olds: Props,
    news: Props,
    host: Host,
  ) => Promise<Record<string, unknown>>;
  /** Whether `update` sends nothing that changes the object. Otherwise it writes all of `news`. */
  readonly sendsNothing?: (olds: Props, news: Props) => boolean;
  readonly delete?: (api: Api, uid: string, olds: Props, host: Host) => Promise<void>;
  /** Writes the `subresource` fields, when one of them changed; `olds` is empty after a create. */
  readonly writeSubresource?: (api: Api, uid: string, olds: Props, news: Props) => Promise<void>;
  /** Brings what a GET or a list responds with into the form of the fields; a response to a write has it already. */
  readonly normalizeRead?: (item: Record<string, unknown>) => Record<string, unknown>;
  /** Brings each response, also to a write, into the form of the fields. */
  readonly normalizeResponse?: (body: Props, uid: string) => Props;
  /**
   * For a kind with outputs that are returned only at creation: the inputs to record when that response was lost. They
   * differ from those of every program, so that the next run creates these outputs again.
   */
  readonly inputsAfterLostSecret?: (inputs: Props) => Props;
  /** What a resource with these inputs is concerned with, of all that the server returns. */
  readonly selectRelevant?: (live: Props, olds: Props) => Props;
  /** What to say of a refusal, by the name of its code (`PERMISSION_DENIED`), in place of the usual advice. */
  readonly errorHint?: (code: string) => string | undefined;
  /** Runs after each create and update. The resource stays when it fails, and the next run comes here again. */
  readonly afterWrite?: (api: Api, uid: string, news: Props, host: Host) => Promise<void>;
}
