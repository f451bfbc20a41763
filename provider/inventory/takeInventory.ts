import pLimit from "p-limit";
import { isWithin, listedKinds } from "../access/documents/inventory";
import type { Inventory, InventoryObject, RefusedList } from "../access/documents/inventory";
import { CodedError, hasCode } from "../errors/codedError";
import { isSet } from "../fields/equal";
import { aggregatedKind, isReadAs } from "../fields/resourceSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import { compareTexts, getOrCompute, stringOrEmpty } from "../fields/values";
import type { Props } from "../fields/values";
import { mapSecrets } from "../fields/walk";
import { findSchemaMismatch, readOutputs } from "../fields/wire";
import { requireUid } from "../http/client";
import type { Client, JsonObject } from "../http/client";
import { ApiError, ConnectionError, isNotFound } from "../http/errors";
import { printable } from "../text/printable";
import { isUid } from "../text/uid";
import { LIST_PAGE_SIZE, splitByUrlLength } from "../http/query";
import { kinds } from "../kinds";
import { findCaller, listHeldRoles, readCapabilities } from "../kinds/caller";
import { findObject, parseLiveInputs } from "../lifecycle/read";

const nonEmptyString = (value: unknown): string | undefined => stringOrEmpty(value) || undefined;

/** A document contains no secret, even where a server returns one. */
const omitSecrets = (fields: ResourceSpec["fields"], values: Props): Props =>
  mapSecrets(fields, values, () => undefined) as Props;

/** The outputs of an object, and what only its kind's responses contain. */
function readDetails(spec: ResourceSpec, response: Props, uid: string): Props {
  const details: Props = { ...readOutputs(spec, response, uid, {}) };
  for (const key of ["email", "etag"] as const) {
    const value = isReadAs(spec, key) ? nonEmptyString(response[key]) : undefined;
    if (value !== undefined) details[key] = value;
  }
  return omitSecrets(spec.outputs ?? {}, details);
}

/** Turns a response into an object of the inventory. @throws ConnectionError where it is of another kind. */
function toInventoryObject(
  spec: ResourceSpec,
  json: JsonObject,
  uid: string,
  { addressAdvice }: Pick<Client, "addressAdvice">,
): InventoryObject {
  const response = json as Props;
  const mismatch = findSchemaMismatch(spec, response, uid);
  if (mismatch !== undefined) {
    throw new ConnectionError(
      "PP4008",
      `the response for ${uid} is not a ${spec.noun}: ${printable(mismatch)}; ${addressAdvice}`,
      "notSent",
      false,
    );
  }
  const details = readDetails(spec, response, uid);
  const isBuiltIn = isReadAs(spec, "builtIn") && !uid.includes("/");
  return {
    kind: spec.kind,
    uid,
    inputs: omitSecrets(spec.fields, parseLiveInputs(spec, response, uid)),
    ...(isBuiltIn ? { builtIn: true as const } : {}),
    createTime: nonEmptyString(response["createTime"]),
    updateTime: nonEmptyString(response["updateTime"]),
    lastSeenTime: nonEmptyString(response["lastSeenTime"]),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

/** The server responds for a subresource that is not set too: such a response lacks the required fields. */
export function exists(spec: ResourceSpec, inputs: Props): boolean {
  if (spec.listing?.singletonOf === undefined) return true;
  return Object.entries(spec.fields).every(
    ([key, field]) => !field.required || field.inputOnly || isSet(field, inputs[key]),
  );
}

const kindSpecs = kinds.map(({ spec }) => spec);

/** Reads one object as an inventory has it; undefined where there is none. @throws what the client throws. */
export async function readObject(
  client: Client,
  kind: string,
  uid: string,
): Promise<InventoryObject | undefined> {
  const spec = kindSpecs.find((each) => each.kind === kind);
  const response = spec && (await findObject(spec, client, uid, {}));
  const object = spec && response && toInventoryObject(spec, response, uid, client);
  return object && exists(spec, object.inputs) ? object : undefined;
}

/** What bindings give to a caller at each group. */
type HeldCapabilities = readonly { readonly group: string; readonly capabilities: ReadonlySet<string> }[];

/** What the bindings that a caller may read give to it: none where it may read none. */
async function readHeldCapabilities(client: Client, caller: string): Promise<HeldCapabilities> {
  try {
    const held = await listHeldRoles(client, caller);
    const ofRoles = new Map<string, Promise<ReadonlySet<string>>>();
    return await Promise.all(
      held.map(async ({ group, roleUid }) => ({
        group,
        capabilities: await getOrCompute(ofRoles, roleUid, () => readCapabilities(client, [roleUid], [])),
      })),
    );
  } catch {
    return [];
  }
}

type ListQuery = Readonly<Record<string, string | readonly string[]>>;
type ObjectName = Readonly<Record<"kind" | "uid", string>>;

const compareObjects = (a: ObjectName, b: ObjectName): number =>
  compareTexts(a.kind, b.kind) || compareTexts(a.uid, b.uid);

const refusalKey = ({ kind, scope = "", code }: RefusedList): string => `${kind} ${scope} ${code}`;

/** The kinds to list: a subresource is found by the kind that has it. */
function kindsToList(requested: readonly string[]): ReadonlySet<string> {
  const wanted = new Set(requested);
  for (const { kind, listing } of kindSpecs) {
    if (wanted.has(kind) && listing?.singletonOf !== undefined) wanted.add(listing.singletonOf);
  }
  return wanted;
}

/** Reads the live organisation below one group into an inventory. */
class InventoryReader {
  private readonly objects = new Map<string, InventoryObject>();
  /** What could not be read. One refused list leaves the rest of an inventory readable. */
  private readonly refused: RefusedList[] = [];
  private readonly counts = new Map<string, number>();
  private readonly readByUid: ObjectName[] = [];
  private readonly wanted: ReadonlySet<string>;
  private caller: string | undefined;
  /** Undefined where bindings need not show it: a person has roles of a directory too, and not each token names its caller. */
  private held: HeldCapabilities | undefined;

  constructor(
    private readonly client: Client,
    private readonly request: InventoryRequest,
  ) {
    this.wanted = kindsToList(request.kinds ?? listedKinds);
  }

  async read(): Promise<Inventory> {
    const takenAt = new Date(this.request.now()).toISOString();
    await this.verifyRoot();
    await this.identifyCaller();
    await Promise.all(kindSpecs.map((spec) => this.readKind(spec)));
    await Promise.all(kindSpecs.map((spec) => this.readSubresourceKind(spec)));
    return {
      schemaVersion: 1,
      root: this.request.root,
      takenAt,
      caller: this.caller,
      complete: this.refused.length === 0,
      refused: this.refused.sort((a, b) => compareTexts(refusalKey(a), refusalKey(b))),
      kinds: [...this.wanted].sort(),
      ...(this.readByUid.length === 0 ? {} : { asked: [...this.readByUid].sort(compareObjects) }),
      objects: [...this.objects.values()].sort(compareObjects),
    };
  }

  private async readKind(spec: ResourceSpec): Promise<void> {
    if (spec.listing?.singletonOf !== undefined || aggregatedKind(spec) !== undefined) return;
    if (this.wanted.has(spec.kind)) await this.listAll(spec);
    else await this.readByUids(spec, this.request.additionalUids?.get(spec.kind) ?? []);
  }

  private async readSubresourceKind(spec: ResourceSpec): Promise<void> {
    const owner = spec.listing?.singletonOf;
    if (owner === undefined) return;
    if (this.wanted.has(spec.kind)) await this.readSubresources(spec, owner);
    else await this.readByUids(spec, this.request.additionalUids?.get(spec.kind) ?? []);
  }

  /** For a wrong root every list would be empty, and the inventory look complete. */
  private async verifyRoot(): Promise<void> {
    const { root } = this.request;
    try {
      const response = await this.client.get(this.client.resourcePath("/iam/v2/groups", root));
      if (response["uid"] !== root) {
        throw new CodedError("PP4008", `the response is not about ${root}; ${this.client.addressAdvice}`);
      }
    } catch (error) {
      if (isNotFound(error)) {
        if (this.request.isRootOptional) return;
        throw new CodedError(
          "PP5008",
          `there is no group with the uid ${root} that this token may see; ${this.client.addressAdvice}`,
          { cause: error },
        );
      }
      // An identity that may list groups need not be allowed to read this one; the list then shows it.
      if (!hasCode(error, "PERMISSION_DENIED")) throw error;
    }
  }

  /** The uid of an identity begins with that of its group; a person's does not. */
  private async identifyCaller(): Promise<void> {
    this.caller = await findCaller(this.client);
    if (this.caller?.includes("/") === true) {
      this.held = await readHeldCapabilities(this.client, this.caller);
    }
  }

  /**
   * Runs an action and records its failure, unless that is recorded already.
   *
   * @returns whether the action succeeded.
   * @throws what is no failure of the server, and UNAUTHENTICATED, which every other request would meet too.
   */
  private async record(
    { kind }: ResourceSpec,
    scope: string | undefined,
    action: () => Promise<void>,
    isRecorded: () => boolean = () => false,
  ): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      const isServerFailure = error instanceof ApiError || error instanceof ConnectionError;
      if (!isServerFailure || error.code === "UNAUTHENTICATED") throw error;
      const { code, errorCode, message } = error;
      if (!isRecorded()) this.refused.push({ kind, scope, code, errorCode, message: printable(message) });
      return false;
    }
  }

  /** Runs a list. Of what lies where the caller may not list the server returns nothing, and refuses nothing. */
  private async recordList(
    spec: ResourceSpec,
    scopes: readonly string[],
    list: () => Promise<void>,
  ): Promise<void> {
    const { held } = this;
    const isListed = await this.record(spec, scopes[0], list);
    if (!isListed || held === undefined) return;
    for (const scope of scopes) {
      const lacking = (spec.capabilities?.read ?? []).filter(
        (needed) =>
          !held.some(({ group, capabilities }) => isWithin(scope, group) && capabilities.has(needed)),
      );
      if (lacking.length === 0) continue;
      const message = `the list may be a part: no binding of the caller at ${scope} or above that it may read gives it ${lacking.join(" and ")}`;
      this.refused.push({ kind: spec.kind, scope, code: "PERMISSION_DENIED", errorCode: "PP3403", message });
      return;
    }
  }

  private async listAll(spec: ResourceSpec): Promise<void> {
    const { root } = this.request;
    const { query } = spec.listing ?? {};
    const isBelow = (uid: string) => isWithin(uid, root);
    await this.recordList(spec, [root], async () => {
      await this.listInto(spec, { ...query, "uidp.descendants_of": root }, isBelow);
      // The group itself is not among its descendants, nor is what shares its uid.
      if (spec.sharesParentUid || spec.fields["parentUid"]?.required !== true) {
        await this.listInto(spec, { ...query, "uidp.ids": root }, isBelow);
      }
    });
    if (isReadAs(spec, "builtIn")) {
      await this.record(spec, undefined, () =>
        this.listInto(spec, { ...query, "uidp.in_root": "true" }, (uid) => !uid.includes("/")),
      );
    }
  }

  private async listInto(
    spec: ResourceSpec,
    query: ListQuery,
    isWanted: (uid: string) => boolean,
  ): Promise<void> {
    const { normalizeRead } = spec.operations ?? {};
    const isPartial = spec.listing?.contents === "partial";
    const uids: string[] = [];
    for await (const item of this.client.list(spec.collection, query)) {
      const uid = requireUid(item, `listing ${spec.collection}`, this.client.addressAdvice);
      if (!isUid(uid)) throw this.wrongUid(spec, uid);
      if (!isWanted(uid)) continue;
      if (isPartial) uids.push(uid);
      else this.add(toInventoryObject(spec, normalizeRead ? normalizeRead(item) : item, uid, this.client));
    }
    if (isPartial) await this.readEach(spec, uids);
  }

  /** One that is written otherwise would count as another object, or as none of this organisation. */
  private wrongUid({ collection }: ResourceSpec, uid: string): ConnectionError {
    const what = `listing ${collection}: "${printable(uid)}" is no uid`;
    return new ConnectionError("PP2108", `${what}; ${this.client.addressAdvice}`, "notSent", false);
  }

  /** Reads objects of a kind that is not listed: by list calls of many uids, or one by one where it has no list. */
  private async readByUids(spec: ResourceSpec, uids: readonly string[]): Promise<void> {
    for (const uid of new Set(uids)) this.readByUid.push({ kind: spec.kind, uid });
    if (spec.listing?.singletonOf !== undefined) {
      await this.readEach(spec, uids);
      return;
    }
    await Promise.all(
      splitByUrlLength("uidp.ids", uids, { maxValues: LIST_PAGE_SIZE }).map((part) =>
        this.recordList(spec, part, () =>
          this.listInto(spec, { ...spec.listing?.query, "uidp.ids": part }, (uid) => part.includes(uid)),
        ),
      ),
    );
  }

  /** Stops at the first refusal, since the server would refuse the others too. */
  private async readEach(spec: ResourceSpec, uids: readonly string[]): Promise<void> {
    let isRefused = false;
    const readOne = async (uid: string): Promise<void> => {
      const response = await findObject(spec, this.client, uid, {});
      const object = response && toInventoryObject(spec, response, uid, this.client);
      if (object && exists(spec, object.inputs)) this.add(object);
    };
    const limit = pLimit(this.client.maxConcurrency);
    const readUnlessRefused = async (uid: string): Promise<void> => {
      if (isRefused) return;
      const isRead = await this.record(
        spec,
        uid,
        () => readOne(uid),
        () => isRefused,
      );
      if (!isRead) isRefused = true;
    };
    await limit.map(new Set(uids), readUnlessRefused);
  }

  private async readSubresources(spec: ResourceSpec, owner: string): Promise<void> {
    const uids = [...this.objects.values()].filter(({ kind }) => kind === owner).map(({ uid }) => uid);
    const ofOwner = this.refused.filter(({ kind }) => kind === owner);
    this.refused.push(...ofOwner.map((refusal) => ({ ...refusal, kind: spec.kind })));
    await this.readEach(spec, uids);
  }

  private add(object: InventoryObject): void {
    this.objects.set(`${object.kind} ${object.uid}`, object);
    const count = (this.counts.get(object.kind) ?? 0) + 1;
    this.counts.set(object.kind, count);
    this.request.progress?.(object.kind, count);
  }
}

/** What to read of the live organisation. */
export interface InventoryRequest {
  /** The uid of a group: the group itself and everything below it are listed. */
  readonly root: string;
  /** Names of kinds to list; by default `listedKinds`. */
  readonly kinds?: readonly string[];
  /** Objects of kinds that are not listed, by kind, to read by their uids. */
  readonly additionalUids?: ReadonlyMap<string, readonly string[]>;
  /** Whether the group may have been deleted: its inventory is then empty, and no error. */
  readonly isRootOptional?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called after each page or object with the number of objects of the kind so far. */
  readonly progress?: (kind: string, count: number) => void;
}

/**
 * Lists the live organisation below one group: one or two list calls for each kind and 200 objects, and a call for each
 * identity provider. A list that is refused or breaks off, or may be a part only, is named in `refused`, and `complete`
 * is false.
 *
 * @throws ApiError with code UNAUTHENTICATED where the server refuses the token; ConnectionError or Error where
 * the group itself cannot be read.
 */
export function takeInventory(client: Client, request: InventoryRequest): Promise<Inventory> {
  return new InventoryReader(client, request).read();
}
