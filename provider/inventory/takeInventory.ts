import type { Client, JsonObject } from "../api/client";
import { uidOf } from "../api/client";
import { ApiError, ConnectionError, hasCode, isNotFound, printable } from "../api/errors";
import { parseLiveInputs } from "../engine/handlers";
import type { Api, FieldSpec, Props, ResourceSpec } from "../engine/spec";
import { compareTexts, isObject, isSet } from "../engine/values";
import { findSchemaMismatch, readOutputs } from "../engine/wire";
import { splitByUrlLength } from "../functions/validators";
import { kinds as registry } from "../resources";
import type { Inventory, InventoryObject, RefusedList } from "../access/documents/inventory";
import { readingHost, readOnly } from "../engine/readOnly";

/** What is asked of the live organisation. */
export interface InventoryRequest {
  /** The uid of the group; everything below it and the group itself are listed. */
  readonly root: string;
  /** Names of kinds to list; `listedKinds` if not given. */
  readonly kinds?: readonly string[];
  /** Besides: objects of kinds that are not listed, by kind, each named by its uid. */
  readonly additionalUids?: ReadonlyMap<string, readonly string[]>;
  /** Besides: all children of some parents, by their kind. */
  readonly parentsToList?: ReadonlyMap<string, Iterable<string>>;
  /** The group was there, and may be gone: then nothing is. Else it is an error. */
  readonly isRootOptional?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called after each page or object with how many there are of the kind so far. */
  readonly progress?: (kind: string, count: number) => void;
}

const specs = registry.map(({ spec }) => spec);

/** The kinds that an inventory holds unless others are asked for. */
export const listedKinds: readonly string[] = specs
  .filter(({ listing }) => listing?.onDemand !== true && listing?.aggregates === undefined)
  .map(({ kind }) => kind);

/** More uids than this in one list call come back on more than one page. */
const MAX_UIDS = 200;
/** The gateway takes answers of 4 MiB (contract, section 8). */
const SMALL_PAGE_SIZE = 20;

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Never answered, and all the same never to stand in a document. */
function omitSecrets(fields: Readonly<Record<string, FieldSpec>>, values: Props): Props {
  const entries = Object.entries(values).flatMap(([key, value]): [string, Props[string]][] => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field?.secret) return [];
    return [[key, field?.type === "object" && isObject(value) ? omitSecrets(field.fields, value) : value]];
  });
  return Object.fromEntries(entries);
}

/** An answer as an object of the inventory. */
export function inventoryObject(spec: ResourceSpec, answer: JsonObject, uid: string): InventoryObject {
  const wrong = findSchemaMismatch(spec, answer as Props, uid);
  if (wrong !== undefined) {
    throw new ConnectionError(
      `the answer about ${uid} is not about a ${spec.noun}: ${printable(wrong, 100)}`,
      "notSent",
      false,
    );
  }
  const details: Props = { ...readOutputs(spec, answer as Props, uid, {}) };
  for (const key of spec.listing?.details ?? []) {
    const told = text(answer[key]);
    if (told !== undefined) details[key] = told;
  }
  const shown = omitSecrets(spec.outputs ?? {}, details);
  const [createTime, updateTime, lastSeenTime] = ["createTime", "updateTime", "lastSeenTime"].map((key) =>
    text(answer[key]),
  );
  const isBuiltIn = spec.listing?.builtIn === true && !uid.includes("/");
  return {
    kind: spec.kind,
    uid,
    inputs: omitSecrets(spec.fields, parseLiveInputs(spec, answer as Props, uid)),
    ...(isBuiltIn ? { builtIn: true as const } : {}),
    ...(createTime === undefined ? {} : { createTime }),
    ...(updateTime === undefined ? {} : { updateTime }),
    ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
    ...(Object.keys(shown).length === 0 ? {} : { details: shown }),
  };
}

/** A part that every whole answers for is there only where it holds what it cannot be without. */
function isPresent(spec: ResourceSpec, inputs: Props): boolean {
  if (spec.listing?.singletonOf === undefined) return true;
  return Object.entries(spec.fields).every(
    ([key, field]) => !field.required || field.inputOnly || isSet(field, inputs[key]),
  );
}

class InventoryReader {
  private readonly objects = new Map<string, InventoryObject>();
  private readonly refused: RefusedList[] = [];
  private readonly counts = new Map<string, number>();
  private readonly responses = new Map<string, Promise<JsonObject>>();
  private readonly api: Api;

  constructor(
    private readonly client: Client,
    private readonly request: InventoryRequest,
  ) {
    this.api = readOnly({
      address: (collection, uid, suffix) => client.address(collection, uid, suffix),
      get: (path, query) => (query ? client.get(path, query) : this.getOnce(path)),
      list: (collection, query, options) => client.list(collection, query, options),
    });
  }

  async read(): Promise<Inventory> {
    const { root, now, additionalUids: also, parentsToList: children } = this.request;
    const wanted = new Set(this.request.kinds ?? listedKinds);
    // The parts of a kind are found by its wholes.
    for (const { kind, listing } of specs) {
      if (wanted.has(kind) && listing?.singletonOf !== undefined) wanted.add(listing.singletonOf);
    }
    const takenAt = new Date(now()).toISOString();
    const asked: { kind: string; uid: string }[] = [];
    await this.verifyRoot();
    await Promise.all(
      specs.map(async (spec) => {
        if (spec.listing?.singletonOf !== undefined || spec.listing?.aggregates !== undefined) return;
        if (wanted.has(spec.kind)) await this.listAll(spec);
        else await this.readByUids(spec, also?.get(spec.kind) ?? [], asked);
        for (const parent of children?.get(spec.kind) ?? []) await this.listChildren(spec, parent);
      }),
    );
    await Promise.all(
      specs.map(async (spec) => {
        const whole = spec.listing?.singletonOf;
        if (whole === undefined) return;
        if (wanted.has(spec.kind)) await this.readSubresources(spec, whole);
        else await this.readByUids(spec, also?.get(spec.kind) ?? [], asked);
      }),
    );
    const byKindAndUid = (a: { kind: string; uid: string }, b: { kind: string; uid: string }) =>
      compareTexts(a.kind, b.kind) || compareTexts(a.uid, b.uid);
    return {
      schemaVersion: 1,
      root,
      takenAt,
      complete: this.refused.length === 0,
      refused: this.refused.sort(
        (a, b) =>
          compareTexts(a.kind, b.kind) ||
          compareTexts(a.scope ?? "", b.scope ?? "") ||
          compareTexts(a.code, b.code),
      ),
      kinds: [...wanted].sort(compareTexts),
      ...(asked.length === 0 ? {} : { asked: asked.sort(byKindAndUid) }),
      objects: [...this.objects.values()].sort(byKindAndUid),
    };
  }

  /** A wrong root would make an empty organisation of a full one. */
  private async verifyRoot(): Promise<void> {
    const { root } = this.request;
    try {
      const answer = await this.getOnce(this.client.address("/iam/v2/groups", root));
      if (answer["uid"] !== root) {
        throw new Error(`the answer is not about ${root}; is platform:baseUrl (or PLATFORM_BASE_URL) right?`);
      }
    } catch (error) {
      if (isNotFound(error)) {
        if (this.request.isRootOptional) return;
        throw new Error(`there is no group with the uid ${root} that this token may see`, { cause: error });
      }
      // Who may list may perhaps not read the group itself; the list of groups tells.
      if (!hasCode(error, "PERMISSION_DENIED")) throw error;
    }
  }

  /** The same address is asked once. */
  private getOnce(path: string): Promise<JsonObject> {
    const known = this.responses.get(path);
    if (known) return known;
    const answer = this.client.get(path);
    this.responses.set(path, answer);
    return answer;
  }

  private async listAll(spec: ResourceSpec): Promise<void> {
    const { root } = this.request;
    const { query } = spec.listing ?? {};
    const isWithin = (uid: string) => uid === root || uid.startsWith(`${root}/`);
    await this.recordRefusal(spec, root, async () => {
      await this.listInto(spec, { ...query, "uidp.descendants_of": root }, isWithin);
      const parent = spec.fields["parentUid"];
      // The group itself is not among its descendants, and so is what has its uid.
      if (spec.sharesParentUid || parent?.required !== true) {
        await this.listInto(spec, { ...query, "uidp.ids": root }, isWithin);
      }
    });
    // The platform's own stand at no group.
    if (spec.listing?.builtIn) {
      await this.recordRefusal(spec, undefined, () =>
        this.listInto(spec, { ...query, "uidp.in_root": "true" }, (uid) => !uid.includes("/")),
      );
    }
  }

  private async listChildren(spec: ResourceSpec, parent: string): Promise<void> {
    const query = { ...spec.listing?.query, "uidp.children_of": parent };
    await this.recordRefusal(spec, parent, () =>
      this.listInto(spec, query, (uid) => uid.startsWith(`${parent}/`)),
    );
  }

  private async listInto(
    spec: ResourceSpec,
    query: Readonly<Record<string, string | readonly string[]>>,
    isWanted: (uid: string) => boolean,
  ): Promise<void> {
    const { partialInLists, normalizeItem: form } = spec.listing ?? {};
    const uids: string[] = [];
    for await (const item of this.listPages(spec, query)) {
      const uid = uidOf(item, `listing ${spec.collection}`);
      if (!isWanted(uid)) continue;
      if (partialInLists) uids.push(uid);
      else this.add(inventoryObject(spec, form ? form(item) : item, uid));
    }
    if (partialInLists) await this.readEach(spec, uids);
  }

  /** In pages as large as may be; in small ones where the server says that a large one is too much. */
  private async *listPages(
    spec: ResourceSpec,
    query: Readonly<Record<string, string | readonly string[]>>,
  ): AsyncGenerator<JsonObject> {
    try {
      yield* this.client.list(spec.collection, query);
    } catch (error) {
      const isTooLarge = error instanceof ApiError && /larger than max/i.test(error.serverMessage);
      if (!isTooLarge) throw error;
      yield* this.client.list(spec.collection, query, { pageSize: SMALL_PAGE_SIZE });
    }
  }

  /** Those of a kind that is not listed: by list calls of many uids, or one by one where it has no list. */
  private async readByUids(
    spec: ResourceSpec,
    uids: readonly string[],
    asked: { kind: string; uid: string }[],
  ): Promise<void> {
    for (const uid of new Set(uids)) asked.push({ kind: spec.kind, uid });
    if (spec.listing?.singletonOf !== undefined) {
      await this.readEach(spec, uids);
      return;
    }
    await Promise.all(
      splitByUrlLength("uidp.ids", uids, MAX_UIDS).map((part) =>
        this.recordRefusal(spec, part[0], () =>
          this.listInto(spec, { ...spec.listing?.query, "uidp.ids": part }, (uid) => part.includes(uid)),
        ),
      ),
    );
  }

  /** Reads each by its uid; the first refusal ends it, since the others would meet the same. */
  private async readEach(spec: ResourceSpec, uids: readonly string[]): Promise<void> {
    let isRefused = false;
    await Promise.all(
      [...new Set(uids)].map(async (uid) => {
        if (isRefused) return;
        const isRead = await this.recordRefusal(
          spec,
          uid,
          async () => {
            const answer = await this.find(spec, uid);
            const object = answer && inventoryObject(spec, answer, uid);
            if (object && isPresent(spec, object.inputs)) this.add(object);
          },
          () => isRefused,
        );
        if (!isRead) isRefused = true;
      }),
    );
  }

  private async find(spec: ResourceSpec, uid: string): Promise<JsonObject | undefined> {
    try {
      const own = spec.operations?.get;
      return await (own
        ? own(this.api, uid, {}, readingHost)
        : this.getOnce(this.api.address(spec.collection, uid)));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** What the server refuses, or where it breaks off, is told in the document; a wrong token ends the run. */
  private async recordRefusal(
    spec: ResourceSpec,
    scope: string | undefined,
    action: () => Promise<void>,
    isKnown: () => boolean = () => false,
  ): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      const isOfServer = error instanceof ApiError || error instanceof ConnectionError;
      if (!isOfServer || error.code === "UNAUTHENTICATED") throw error;
      if (!isKnown()) {
        this.refused.push({
          kind: spec.kind,
          ...(scope === undefined ? {} : { scope }),
          code: error.code,
          message: printable(error.message),
        });
      }
      return false;
    }
  }

  /** The part of each whole that there is; those of wholes that could not be found are not looked at. */
  private async readSubresources(spec: ResourceSpec, whole: string): Promise<void> {
    const uids = [...this.objects.values()].filter(({ kind }) => kind === whole).map(({ uid }) => uid);
    const unseen = this.refused.filter(({ kind }) => kind === whole);
    for (const refusal of unseen) this.refused.push({ ...refusal, kind: spec.kind });
    await this.readEach(spec, uids);
  }

  private add(object: InventoryObject): void {
    this.objects.set(`${object.kind} ${object.uid}`, object);
    const count = (this.counts.get(object.kind) ?? 0) + 1;
    this.counts.set(object.kind, count);
    this.request.progress?.(object.kind, count);
  }
}

/**
 * Lists the live organisation below one group: at most one list call for each kind and 200 objects. A list
 * that is refused or breaks off is named in `refused`, and `complete` is false.
 *
 * @throws ApiError with code UNAUTHENTICATED for a token that the server does not take; ConnectionError or
 * Error where the group itself cannot be read.
 */
export function takeInventory(client: Client, request: InventoryRequest): Promise<Inventory> {
  return new InventoryReader(client, request).read();
}
