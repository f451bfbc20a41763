/**
 * The declarative description of a resource kind. Everything else (check, diff, wire form, field
 * masks, reading) is derived from it. Pure data and types; imports nothing of the package.
 */

/** A JSON value as the engine hands it over and takes it back. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** The properties of one resource: inputs, or outputs. */
export type Props = Record<string, Json | undefined>;

/** How the engine writes a value that is not known before something else is made. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** What stands for a secret's value, in the engine's documents and in ours. */
export const SECRET_MASK = "[secret]";

/** Among the inputs of a resource that takes over what exists: the uid of that. See adopt.ts. */
export const ADOPT = "__adopt";

/** In outputs of a resource that was made, and then could not be read: what it holds is yet to be seen. */
export const UNCONFIRMED = "__unconfirmed";

/** A format that `check` verifies, by name. See formats.ts. */
export type Format =
  | "uid"
  | "groupUid"
  | "regex"
  | "duration"
  | "timestamp"
  | "int64"
  | "jwks"
  | "url"
  | "httpsUrl"
  | "keyringFile"
  | "rsaPublicKey";

/** A pattern that a text must match, and how to say so: "must be …". */
export interface Pattern {
  readonly regex: RegExp;
  readonly must: string;
}

/**
 * What a change of a field does to access:
 * - `subject`: which principal or resource is meant, exactly or (with the format `regex`) by a pattern;
 * - `permission`: what is set gives access: more is wider;
 * - `restriction`: what is set restricts access: more is narrower;
 * - `expiry`: when access ends, or how long it lasts: later is wider;
 * - `role`: the uid of a role, compared by its capabilities;
 * - `keys`: a JSON Web Key Set: each key lets one more signer in;
 * - `none`: nothing.
 */
export type AccessEffect = "subject" | "permission" | "restriction" | "expiry" | "role" | "keys" | "none";

/** Reads a member of a response; `body` is the object that holds it. */
export type Decoder<T> = (value: unknown, body: Readonly<Record<string, unknown>>) => T;

/** What only the server tells of an object, by the name that a lookup gives it. */
export type Reads = Readonly<Record<string, Decoder<unknown>>>;

interface Behaviour {
  /** That of the field around it if not given, else `none`. A field that is `security` must have one. */
  readonly access?: AccessEffect;
  /** Must be given on create (AIP-203). */
  readonly required?: boolean;
  /** A change replaces the resource (AIP-203). */
  readonly immutable?: boolean;
  /** Sent, never answered: kept from state on read (AIP-203). */
  readonly inputOnly?: boolean;
  /** See SecretSpec. */
  readonly secret?: undefined;
  /** The server rewrites it: its form is remembered beside the program's. */
  readonly normalized?: boolean;
  /** A part of the address (the parent), not of the body. */
  readonly path?: boolean;
  /** Not in the body: written by a request of its own, or only read by `Operations.afterWrite`. */
  readonly subresource?: boolean;
  /** For people: a difference at the server is not drift. A change in the program is sent like any other. */
  readonly ignoreDrift?: boolean;
  /** An output that is answered once, when the resource is made: kept from state on read. */
  readonly createOnly?: boolean;
  /** Its name on the wire, where that is not the property's. */
  readonly wire?: string;
  /** Shown as drift also where the program did not set it: it decides who may do what. */
  readonly security?: boolean;
  /** What setting it needs besides the capabilities of the kind. */
  readonly capabilities?: readonly string[];
  /** The server fills it when it is not given (always, or with what its siblings tell): not drift. */
  readonly serverFilled?: true | ((siblings: Props) => Json | undefined);
}

export interface StringSpec extends Behaviour {
  readonly type: "string";
  /** Of a uid: the member of a response that holds the object it stands for, perhaps instead of the uid. */
  readonly hydratedIn?: string;
  readonly format?: Format;
  readonly pattern?: Pattern;
  readonly maxLength?: number;
}

/**
 * A text that is held encrypted in state and never printed. It stands at the top of a resource or in objects, never in
 * a list or a map: whatever marks and masks secrets knows only names of properties.
 */
export interface SecretSpec extends Omit<StringSpec, "secret"> {
  readonly secret: true;
}

/** An enumeration of the API: full names with one prefix; the list of names grows at the server. */
export interface EnumSpec extends Behaviour {
  readonly type: "enum";
  readonly prefix: string;
  /** Known names without prefix: for hints only, since membership is the server's affair. */
  readonly known: readonly string[];
  /** The name, without prefix, that the server takes where none is given: the two mean the same. */
  readonly default?: string;
}

export interface BooleanSpec extends Behaviour {
  readonly type: "boolean";
  /** What the server takes where none is given: the two mean the same. False if not said. */
  readonly default?: boolean;
}

/** A whole number in the range of int32. */
export interface IntegerSpec extends Behaviour {
  readonly type: "integer";
}

export interface ListSpec extends Behaviour {
  readonly type: "list";
  readonly items: PublicSpec;
  /** A set: order and repetition mean nothing. */
  readonly unordered?: boolean;
  readonly maxItems?: number;
}

export interface MapSpec extends Behaviour {
  readonly type: "map";
  readonly values: PublicSpec;
  /** Where it is required: an empty one says something too. */
  readonly allowEmpty?: boolean;
  readonly keys?: Pattern;
  /** Keys that the server refuses. */
  readonly reservedKeys?: Pattern;
}

export interface ObjectSpec extends Behaviour {
  readonly type: "object";
  readonly fields: Readonly<Record<string, PublicSpec>>;
  readonly oneOfs?: readonly OneOf[];
  /** What a lookup returns of it besides its fields. */
  readonly reads?: Reads;
}

/** An object that may have a secret among its members. */
export interface SecretObjectSpec extends Omit<ObjectSpec, "fields"> {
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/** A field that is no secret, and holds none. */
export type PublicSpec = StringSpec | EnumSpec | BooleanSpec | IntegerSpec | ListSpec | MapSpec | ObjectSpec;

export type FieldSpec = PublicSpec | SecretSpec | SecretObjectSpec;

/** Members of which at most one is set. */
export interface OneOf {
  readonly members: readonly string[];
  /** Exactly one must be set. */
  readonly required: boolean;
  /** Going from one member to another replaces the resource. */
  readonly immutable?: boolean;
}

/** One thing wrong with an input: which property, and what to write instead. */
export interface Failure {
  property: string;
  reason: string;
}

/** What is known while inputs are checked. */
export interface CheckContext {
  /** The inputs of the last run; empty for a new resource. */
  readonly olds: Props;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What stands in the way of a delete, found by a list call: for the message of a refused delete. */
export interface Dependents {
  readonly collection: string;
  readonly noun: string;
  /** The query parameter that selects by the uid of the resource to be deleted. */
  readonly parameter: string;
}

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
  /** The member of the answer that holds what was made, in the order of the request. */
  readonly member: string;
}

/** The requests that a kind with operations of its own can make. Uids are encoded by `address`. */
export interface Api {
  /** Requests under way at once: more than these wait for their turn. */
  readonly maxConcurrency: number;
  /** Whom the token in use says that it stands for; undefined where it tells nobody. The server alone verifies it. */
  getCallerClaims(): Promise<{ readonly issuer: string; readonly subject: string } | undefined>;
  address(collection: string, uid: string | undefined, suffix?: string): string;
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Record<string, unknown>>;
  /** `isIdempotent`: doing it twice is the same as doing it once, so a lost answer is no question. */
  post(path: string, body: unknown, options: { isIdempotent: boolean }): Promise<Record<string, unknown>>;
  /** `mask` names what the body holds. The address is a resource's, or of a part of it. */
  patchAt(path: string, body: unknown, mask: readonly string[]): Promise<Record<string, unknown>>;
  delete(collection: string, uid: string): Promise<void>;
  /** `member` of the answer holds the list; the last word of the path if not given. */
  list(
    collection: string,
    query?: Readonly<Record<string, string | readonly string[]>>,
    options?: { readonly member?: string },
  ): AsyncIterable<Record<string, unknown>>;
}

/** The time, for whoever has to wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** What operations need of the process that they run in. */
export interface Host extends Clock {
  /** Tells a person one line. */
  readonly warn: (line: string) => void;
  /** Whether a regular expression in RE2's syntax fits a text from its first character to its last. */
  readonly matchesPattern: (pattern: string, text: string) => boolean;
  /** Whether a resource of this run's program holds the object of this kind and uid. */
  readonly isOwned: (kind: string, uid: string) => boolean;
  /** Whether a resource of this run's program declares this, by a key of `ResourceSpec.declaredKeys`. */
  readonly isDeclared: (key: string) => boolean;
  /** An error told whole: what was being done, what the server said of it, and what to do. */
  readonly explain: (what: string, error: unknown) => Error;
}

/** Where a kind's requests differ from the usual ones. Answers have the form of the resource, `uid` included. */
export interface Operations {
  readonly create?: (api: Api, inputs: Props, body: Props, host: Host) => Promise<Record<string, unknown>>;
  /** `create` writes over what is there and may be done twice: a lost answer is an error like any other. */
  readonly upsert?: boolean;
  /**
   * What a create whose answer was lost may have made, looked for before it is sent again; by default the
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
  readonly delete?: (api: Api, uid: string, olds: Props, host: Host) => Promise<void>;
  /** Writes the `subresource` fields, when one of them changed; `olds` is empty after a create. */
  readonly writeSubresource?: (api: Api, uid: string, olds: Props, news: Props) => Promise<void>;
  /** Runs after each create and update. The resource stays when it fails, and the next run comes here again. */
  readonly afterWrite?: (api: Api, uid: string, news: Props, host: Host) => Promise<void>;
}

/** Whether a resource owns one child of its parent, or all of them beside which there is no other owner. */
export interface Ownership {
  /** How messages call the children: `role bindings`. Kinds that own the same say the same. */
  readonly children: string;
  readonly all: boolean;
  /** What to do where there are two owners. */
  readonly advice: string;
}

/** How a kind is found when everything below a group is listed. */
export interface Listing {
  /** Only where it is asked for: it takes one request each, or there may be very many. */
  readonly onDemand?: true;
  /** Parameters without which the list keeps some out. */
  readonly query?: Readonly<Record<string, string>>;
  /** Some are the platform's own: they have no parent, and never change. */
  readonly builtIn?: true;
  /** Lists leave something out: each is read once more by its uid. */
  readonly partialInLists?: true;
  /** It has no list: it is a part of each resource of this kind, and has that one's uid. */
  readonly singletonOf?: string;
  /** It is made of all objects of this kind that have its uid as their parent; its GET reads their list. */
  readonly aggregates?: string;
  /** What a resource with these inputs is concerned with, of all that the server tells. */
  readonly selectRelevant?: (live: Props, olds: Props) => Props;
  /** Members of the answer that are no arguments, and tell people something. */
  readonly details?: readonly string[];
  /** Brings an object of a list into the form of its GET. */
  readonly normalizeItem?: (item: Record<string, unknown>) => Record<string, unknown>;
}

/** The capabilities that the requests of each operation need, with their prefix: `CAP_IAM_GROUPS_LIST`. */
export interface NeededCapabilities {
  /** Of a refresh, an import and a lookup; of drift and adoption too. */
  readonly read: readonly string[];
  readonly create: readonly string[];
  /** Left out where every change replaces. */
  readonly update?: readonly string[];
  readonly delete: readonly string[];
}

export interface ResourceSpec {
  /** The class name and registry key: `RoleBinding`. */
  readonly kind: string;
  /** How messages call it: `role binding`. */
  readonly noun: string;
  /** The collection's path, as in `/iam/v2/roleBindings`. */
  readonly collection: string;
  readonly capabilities?: NeededCapabilities;
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs?: readonly OneOf[];
  /** What lookups return besides the fields and outputs, or in another form. */
  readonly reads?: Reads;
  /** What the server adds and a program needs; each costs time and memory for every resource. */
  readonly outputs?: Readonly<Record<string, PublicSpec | SecretSpec>>;
  /** The uid is the parent's: one for each parent, a part of it. */
  readonly sharesParentUid?: boolean;
  /** Inputs that name one object together: a create with the same ones writes over it. */
  readonly identifiedBy?: readonly string[];
  readonly operations?: Operations;
  /** Nothing tells when one was made: what a lost answer made is told from what was there before. */
  readonly lacksCreateTime?: boolean;
  /**
   * For a kind with outputs that are answered once: what is recorded as its inputs when that answer was lost. It
   * differs from what any program gives, so that the next run makes those outputs anew.
   */
  readonly inputsAfterLostSecret?: (inputs: Props) => Props;
  /** Children of one parent that have one owner at a time: a program that gives two fails before anything is done. */
  readonly owns?: Ownership;
  /** What inputs declare, where they tell it without a uid: keys, the same for all resources that declare the same. */
  readonly declaredKeys?: (inputs: Props) => readonly string[];
  /**
   * Keys of `declaredKeys`: while a resource of the program declares one of them, the object of a resource with these inputs
   * is not deleted.
   */
  readonly retainedBy?: (inputs: Props) => readonly string[];
  /**
   * A parent has one at most, so a replacement below the same parent deletes the old one first. `always`: also where the
   * engine does not ask for a diff (`--replace`), since an existing one is not taken over.
   */
  readonly deleteBeforeReplace?: "always" | "belowSameParent";
  /**
   * Its lists hold all that a GET answers, so that what is read together may share a request. `query` has them
   * show what they leave out unasked.
   */
  readonly readsByList?: { readonly query?: Readonly<Record<string, string>> };
  /** What is made together below one parent may share a request. */
  readonly batchCreate?: BatchMethod;
  /** Whether the collection's list takes an exact `name` filter. */
  readonly listsByName?: boolean;
  readonly listing?: Listing;
  /** How the names of events about it begin, as in `iam.roles`. */
  readonly eventPrefix?: string;
  /** Whether its being there gives somebody access: `always`, or as soon as a binding names it. */
  readonly grantsAccess?: "always" | "bound";
  /** Rules across fields. Unknown values are absent from `inputs`; `unknown` names their top-level keys. */
  readonly rules?: (inputs: Props, unknown: ReadonlySet<string>, context: CheckContext) => Failure[];
  /** Brings an answer into the form of the fields. */
  readonly normalizeResponse?: (body: Props, uid: string) => Props;
  /** What to say of a refusal, by the name of its code (`PERMISSION_DENIED`), in place of the usual advice. */
  readonly errorHints?: Readonly<Record<string, string>>;
  /** What may refuse a delete. */
  readonly dependents?: readonly Dependents[];
  /** Likely mistakes in legal values, by property: printed as warnings by the program. */
  readonly inputWarnings?: Readonly<Record<string, (value: Json | undefined) => string[]>>;
}

/** Whether a field, or a part of it, is a secret. */
export function containsSecret(field: FieldSpec): boolean {
  return (
    field.secret === true || (field.type === "object" && Object.values(field.fields).some(containsSecret))
  );
}

/** Outputs that are answered once, when the resource is made. */
export function createOnlyOutputs(spec: ResourceSpec): string[] {
  return Object.entries(spec.outputs ?? {})
    .filter(([, field]) => field.createOnly)
    .map(([key]) => key);
}
