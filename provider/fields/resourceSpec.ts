import { withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { leftOutMeans } from "./fieldSpec";
import type { FieldSpec, OneOf, PublicSpec, Reads, SecretSpec } from "./fieldSpec";
import { ADOPT } from "./values";
import type { Json, Props } from "./values";

/*
 * What a kind is: its fields, and what else is said of it; what it does in its own way (`Operations`), and the requests
 * (`Api`) and help (`Host`) that it has for that.
 */

/** The requests that only read. Uids are encoded by `resourcePath`. */
export interface ReadingApi {
  /** What to check where a response is not the API's. */
  readonly addressAdvice: string;
  resourcePath(collection: string, uid: string | undefined, suffix?: string): string;
  get(path: string, query?: Readonly<Record<string, string>>): Promise<Record<string, unknown>>;
  /** `member` of the response contains the list; by default the last word of the path. */
  list(
    collection: string,
    query?: Readonly<Record<string, string | readonly string[]>>,
    options?: { readonly member?: string },
  ): AsyncIterable<Record<string, unknown>>;
}

/** The requests that a kind with operations of its own can make. */
export interface Api extends ReadingApi {
  /** Requests under way at once: more than these wait for their turn. */
  readonly maxConcurrency: number;
  /** The unverified claims of the token in use; undefined if it is no JWT. */
  getCallerClaims(): Promise<{ readonly issuer: string; readonly subject: string } | undefined>;
  /** `isIdempotent`: doing it twice is the same as doing it once, so a lost response is harmless. */
  post(path: string, body: unknown, options: { isIdempotent: boolean }): Promise<Record<string, unknown>>;
  /** Creates one resource, together with others of its collection that are created below its parent at the same time. */
  createShared(collection: string, parent: string, body: unknown): Promise<Record<string, unknown>>;
  /** Creates several resources below one parent, many in each request: what became of each, in their order. */
  createTogether(
    collection: string,
    parent: string,
    bodies: readonly unknown[],
  ): Promise<readonly (Record<string, unknown> | Error)[]>;
  /** `mask` names the fields of the body. The path is that of a resource, or of a part of it. */
  patchAt(path: string, body: unknown, mask: readonly string[]): Promise<Record<string, unknown>>;
  delete(collection: string, uid: string): Promise<void>;
}

/** What operations need of the process that they run in. */
export interface Host {
  readonly sleep: (ms: number) => Promise<void>;
  /** Tells a person one line. */
  readonly warn: (line: string) => void;
  /** Whether a resource of this run's program owns the object of this kind and uid. */
  readonly isOwned: (kind: string, uid: string) => boolean;
  /** Whether a resource of this run's program declares this, by a key of `ResourceSpec.declaredKeys`. */
  readonly isDeclared: (key: string) => boolean;
  /** A complete error: what failed, the server's response, and what to do. */
  readonly explain: (what: string, error: unknown) => Error;
}

/** What a kind does in its own way, beside its description. Responses have the form of the resource, `uid` included. */
interface Operations {
  readonly create?: (api: Api, inputs: Props, body: Props, host: Host) => Promise<Record<string, unknown>>;
  /** `create` may run where the object exists, and deals with a lost response itself: repeating it makes nothing twice. */
  readonly takesOver?: boolean;
  /** Undefined where it does not exist (a 404 with a missing resource is understood as well). */
  readonly get?: (api: ReadingApi, uid: string, olds: Props) => Promise<Record<string, unknown> | undefined>;
  readonly update?: (
    api: Api,
    uid: string,
    olds: Props,
    news: Props,
    host: Host,
  ) => Promise<Record<string, unknown>>;
  /**
   * In the place of `update`, where the API has no PATCH: writes all of an object. An update reads it first, and sends what the
   * server has with the fields that the program changes.
   */
  readonly writeWhole?: (api: Api, inputs: Props) => Promise<Record<string, unknown>>;
  /** Whether `update` sends nothing that changes the object. Otherwise it writes all of `news`. */
  readonly sendsNothing?: (olds: Props, news: Props) => boolean;
  readonly delete?: (api: Api, uid: string, olds: Props, host: Host) => Promise<void>;
  /** Brings what a GET or a list responds with into the form of the fields; a response to a write has it already. */
  readonly normalizeRead?: (item: Record<string, unknown>) => Record<string, unknown>;
  /** Brings each response, also to a write, into the form of the fields. */
  readonly normalizeResponse?: (body: Props, uid: string) => Props;
  /** What a resource with these inputs is concerned with, of all that the server returns. */
  readonly selectRelevant?: (live: Props, olds: Props) => Props;
  /**
   * Runs after each create, whose `olds` are empty, and each update: writes what `subresource` fields say, or waits for
   * it. The resource stays when it fails, and the next run comes here again.
   */
  readonly afterWrite?: (api: Api, uid: string, olds: Props, news: Props, host: Host) => Promise<void>;
}

/** One thing wrong with an input: which property, and what to write instead. */
export interface Failure {
  readonly property: string;
  /** Without the code. */
  readonly reason: string;
  readonly code: ErrorCode;
}

/** What a program found wrong, for the resource of which the engine prints it. */
export interface WrongArguments {
  /** What only the program can tell of the resource: the provider has no way to check it. */
  readonly own: readonly Failure[];
  /** Of all its resources, each in one line. */
  readonly lines: readonly string[];
  /** What the lines say of this resource: the provider may say it in other words, for it knows what the state records. */
  readonly said?: readonly Pick<Failure, "property" | "code">[];
  /** The code with which a lookup of the program has said what is wrong with the settings. */
  readonly wrongSetting?: string;
}

/** What is known while inputs are checked. */
export interface CheckContext {
  /** The inputs of the last run; empty for a new resource. */
  readonly olds: Props;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Resources that can block a delete, found by a list request: for the message of a refused delete. */
export interface Dependents {
  readonly collection: string;
  readonly noun: string;
  /** The query parameter that selects by the uid of the resource to be deleted. */
  readonly parameter: string;
}

/** How the deletion of a resource differs from a plain DELETE. */
export interface Deletion {
  /** What makes the server refuse it: resources in it, or role bindings that use it. */
  readonly blockedBy?: "children" | "bindings";
  /** Which kinds block the delete. The message of a refused one lists them. */
  readonly dependents?: readonly Dependents[];
  /**
   * A parent has at most one, so a replacement below the same parent deletes the old one first. `always`: also where the
   * engine does not ask for a diff (`--replace`), since a create does not adopt an existing one.
   */
  readonly beforeReplace?: "always" | "belowSameParent";
}

/** Whether a resource owns one child of its parent, or all of them beside which there is no other owner. */
interface Ownership {
  /** The kind of the children. */
  readonly kind: string;
  /** The children in the words of messages: `role bindings`. */
  readonly children: string;
  readonly all: boolean;
  /** What to do where there are two owners. */
  readonly advice: string;
}

/** How a kind is found when everything below a group is listed. */
interface Listing {
  /** Only on demand: it takes one request each, or there may be very many. */
  readonly onDemand?: true;
  /** Parameters without which the list leaves some out. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * How much of an object its list holds. `complete`: all that a GET responds with, so reads that come together share a
   * request. `partial`: less than an inventory needs, so each object is read by its uid.
   */
  readonly contents?: "complete" | "partial";
  /** It has no list: it is a part of each resource of this kind, and has that one's uid. */
  readonly singletonOf?: string;
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
  /**
   * What lookups return besides the fields and outputs, or in another form. With `createTime` what a lost create made is
   * found by its age; with `builtIn` the platform has some of its own, which have no parent and never change; with `etag`
   * each write of the object changes that.
   */
  readonly reads?: Reads;
  /** What the server adds and a program needs; each costs time and memory for every resource. */
  readonly outputs?: Readonly<Record<string, PublicSpec | SecretSpec>>;
  /** The uid is the parent's: one for each parent, a part of it. */
  readonly sharesParentUid?: boolean;
  /** Inputs that name one object together: a server has one such object at most. */
  readonly identifiedBy?: readonly string[];
  readonly operations?: Operations;
  /** Children of one parent that have one owner at a time: a program that gives two fails before anything is done. */
  readonly owns?: Ownership;
  /** Keys of the grants that inputs declare: the same for a binding of its own and for one of its group's access. */
  readonly declaredKeys?: (inputs: Props) => readonly string[];
  /**
   * Keys of `declaredKeys`: while a resource of the program declares one of them, the object of a resource with these inputs
   * is not deleted.
   */
  readonly retainedBy?: (inputs: Props) => readonly string[];
  readonly deletion?: Deletion;
  /** Whether the collection's list takes an exact `name` filter. */
  readonly listsByName?: boolean;
  readonly listing?: Listing;
  /** How the names of events about it begin, as in `iam.roles`. */
  readonly eventPrefix?: string;
  /** Whether its being there gives somebody access: `always`, or as soon as a binding names it. */
  readonly grantsAccess?: "always" | "bound";
  /**
   * What systems outside of Pulumi know it by, so that they fail when it is deleted: `uid`, in settings of pipelines and
   * clusters; `imageName`, in what pulls images.
   */
  readonly usedBy?: "uid" | "imageName";
  /** What to say where the API refuses for lack of a capability, in place of the usual advice. */
  readonly refusalHint?: string;
  /** What to do where the server says that something has to be there first. */
  readonly preconditionHint?: string;
  /** Validates what concerns several fields. Unknown values are absent from `inputs`; `unknown` names their top-level keys. */
  readonly validate?: (inputs: Props, unknown: ReadonlySet<string>, context: CheckContext) => Failure[];
  /** Likely mistakes in legal values, by property: printed as warnings by the program. */
  readonly inputWarnings?: Readonly<Record<string, (value: Json | undefined) => string[]>>;
}

/** What a new resource is without an argument that may be forgotten: lines of warnings. */
export function listLeftOut({ fields }: ResourceSpec, inputs: object): string[] {
  if (Object.hasOwn(inputs, ADOPT)) return [];
  return Object.entries(fields).flatMap(([key, field]) => {
    const means = leftOutMeans(field);
    return means === undefined || Object.hasOwn(inputs, key)
      ? []
      : [withCode(`has no ${key}: it makes ${means}; give ${key} where that is not meant`, "PP1110")];
  });
}

/** Outputs that are returned only at creation. */
export function createOnlyOutputs(spec: ResourceSpec): string[] {
  return Object.entries(spec.outputs ?? {})
    .filter(([, field]) => field.createOnly)
    .map(([key]) => key);
}

/** Whether lookups return this of an object. */
export function isReadAs(
  spec: Pick<ResourceSpec, "reads">,
  key: "createTime" | "builtIn" | "email" | "etag",
): boolean {
  return spec.reads !== undefined && Object.hasOwn(spec.reads, key);
}

/** Whether a lost create is found by comparison with what existed before: responses have no time of creation. */
export function isFoundByComparison(spec: Omit<ResourceSpec, "capabilities">): boolean {
  return !isReadAs(spec, "createTime") && !spec.operations?.takesOver && !spec.sharesParentUid;
}

/** The kind of which a resource is made: it owns all objects of that kind that have its uid as their parent. */
export function aggregatedKind({ owns }: Pick<ResourceSpec, "owns">): string | undefined {
  return owns?.all ? owns.kind : undefined;
}

/** The key of an object. Uids alone do not do: kinds share those of their parents. */
export function objectKey(kind: string, uid: string): string {
  return `${kind} ${uid}`;
}

/** What is wrong where another resource is for a group of which one of the two owns all children. */
export function conflictOfOwners(owns: NonNullable<ResourceSpec["owns"]>, other: string): Failure {
  const whose = owns.all
    ? `names the group of ${other} too, and this owns all ${owns.children} of it`
    : `names the group of ${other}, which owns all ${owns.children} of it`;
  const reason = `${whose}: ${owns.advice}`;
  return { property: "parentUid", reason, code: "PP1104" };
}

/** The inputs that name one object together: a create with the same ones creates no other. */
export function identifyingInputs({
  identifiedBy,
  sharesParentUid,
}: Pick<ResourceSpec, "identifiedBy" | "sharesParentUid">): readonly string[] {
  return identifiedBy ?? (sharesParentUid ? ["parentUid"] : []);
}

/** What two objects below one parent hardly ever have in common: their name, what they grant to whom, or where events go. */
export function distinguishingInputs(spec: ResourceSpec): readonly string[] {
  // What two resources must not have in common is refused.
  if (identifyingInputs(spec).length > 0) return [];
  return (
    [["name"], ["identityUid", "roleUid"], ["sink"]].find((keys) =>
      keys.every((key) => key in spec.fields),
    ) ?? []
  );
}

/**
 * What becomes of an object that exists when another resource is created with the same inputs, as under a new name:
 * `takenOver` by the create; `takenOverIfEqual`, or else refused; `refused`, since what is returned once cannot be taken
 * over; `another` where the inputs name none, so that the create makes a second one.
 */
export function onSameObject(spec: ResourceSpec): "takenOver" | "takenOverIfEqual" | "refused" | "another" {
  if (spec.operations?.takesOver) return "takenOver";
  if (identifyingInputs(spec).length === 0) return "another";
  return createOnlyOutputs(spec).length > 0 ? "refused" : "takenOverIfEqual";
}

/** The key of the object that a create with these inputs creates or adopts, if the inputs determine it. */
export function identityKey(spec: ResourceSpec, inputs: Props): string | undefined {
  const { parentUid } = inputs;
  if (spec.sharesParentUid && typeof parentUid === "string") return objectKey(spec.kind, parentUid);
  return spec.identifiedBy === undefined
    ? undefined
    : objectKey(spec.kind, JSON.stringify(spec.identifiedBy.map((key) => inputs[key] ?? null)));
}
