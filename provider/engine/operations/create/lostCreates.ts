import type { JsonObject } from "../../../api/client";
import { requireUid } from "../../../api/client";
import { ConnectionError } from "../../../api/errors";
import type { CreateRegistry, PendingCreate } from "./createRegistry";
import { HandlerError, errorMessage, handlerError } from "../messages";
import { isFoundByComparison, isReadAs } from "../../description";
import type { Props, ResourceSpec } from "../../description";
import { equal, isSet } from "../../values/values";
import type { KindReader } from "../kindReader";
import { isEqualObject } from "../verifyWrite";
import { parentUidOf } from "../../wire/decode";
import { mergeLive } from "../../wire/merge";

/** Two clocks that show whole seconds may differ by this. */
const CLOCK_TOLERANCE_MS = 2000;

/** A create whose response may be lost. */
export interface Attempt {
  readonly what: string;
  readonly parent: string | undefined;
  readonly inputs: Props;
  /** When it was first sent, by `performance.now()`. */
  readonly startedAt: number;
  /** Equal objects from before it, for a kind whose objects have no date. */
  readonly older: ReadonlySet<string>;
  readonly pending: PendingCreate;
}

/** Creates of one kind below one parent may make each other's objects look like their own. */
export function collectionKey({ kind }: ResourceSpec, parent: string | undefined): string {
  return `${kind} ${parent ?? ""}`;
}

/** The name of an object in the registry. Uids alone do not do: kinds share those of their parents. */
export function objectKey({ kind }: ResourceSpec, uid: string): string {
  return `${kind} ${uid}`;
}

/** The key of the object that a create with these inputs creates or adopts, if the inputs determine it. */
export function identityKey(spec: ResourceSpec, inputs: Props): string | undefined {
  const { parentUid } = inputs;
  if (spec.sharesParentUid && typeof parentUid === "string") return objectKey(spec, parentUid);
  return spec.identifiedBy === undefined
    ? undefined
    : objectKey(spec, JSON.stringify(spec.identifiedBy.map((key) => inputs[key] ?? null)));
}

/** Finds the objects that a create without a response has made: equal in every input, and made since. */
export class LostCreateFinder {
  constructor(
    private readonly reader: KindReader,
    private readonly registry: CreateRegistry,
  ) {}

  /** Whether a create lists what exists before it. */
  get needsOlder(): boolean {
    return isFoundByComparison(this.reader.spec);
  }

  /**
   * The object that a lost create takes as its own.
   * @throws HandlerError that lists them where there are more objects than creates that may have made them
   */
  async findLostCreate(attempt: Attempt, lost: unknown): Promise<JsonObject | undefined> {
    const { inputs, pending } = attempt;
    const { spec } = this.reader;
    const listed = await this.list(attempt, lost);
    if (spec.sharesParentUid) return listed[0];
    const place = collectionKey(spec, attempt.parent);
    // One of these may belong to a create in progress, whose response will name it.
    if (listed.length > 0) await this.registry.waitForResponses(place, pending);
    const found = listed.filter((item) => !this.isOwned(item));
    const rivals = this.registry
      .findRivals(place, pending)
      .filter((rival) => found.some((item) => this.isMadeBy(rival.inputs, item)));
    return found.length > rivals.length + 1
      ? this.chooseFromSurplus(attempt, found)
      : found.find((item) => !rivals.some((rival) => this.isCloser(rival.inputs, inputs, item)));
  }

  /** Chooses an object if there are more objects than lost creates. Others choose first, so that the error names what is left. */
  private async chooseFromSurplus(
    { what, parent, pending }: Attempt,
    found: readonly JsonObject[],
  ): Promise<JsonObject | undefined> {
    // Two that meet a surplus must not wait for each other.
    pending.end();
    await this.registry.waitForOthers(collectionKey(this.reader.spec, parent), pending);
    const left = found.filter((item) => !this.isOwned(item));
    if (left.length < 2) return left[0];
    const uids = left.map(({ uid }) => String(uid)).join(", ");
    throw handlerError(
      "PP4002",
      `${what}: the response was lost, and ${left.length} equal objects were created since: ${uids}; delete the surplus before you run again`,
    );
  }

  /** The uids of what an earlier send has made besides the object that the create got. */
  async findDuplicates(attempt: Attempt, lost: unknown): Promise<string[]> {
    const { spec } = this.reader;
    if (spec.sharesParentUid) return [];
    // The object exists and must not be lost, even if this lookup fails.
    const listed = await this.list(attempt, lost).catch(() => []);
    // What another create of this run has made, or finds, is no duplicate.
    if (listed.length > 0) {
      await this.registry.waitForOthers(collectionKey(spec, attempt.parent), attempt.pending);
    }
    return listed.filter((item) => !this.isOwned(item)).map(({ uid }) => String(uid));
  }

  /** The one object of the place that is what the inputs describe, and no more; undefined where none or several are. */
  async findExisting({ parent, inputs }: Attempt): Promise<JsonObject | undefined> {
    const { spec, parseInputs } = this.reader;
    const found: JsonObject[] = [];
    for await (const item of this.listSiblings(parent, inputs)) {
      const uid = requireUid(item, `listing ${spec.collection}`);
      if (parentUidOf(spec, uid) !== parent || this.isOwned(item)) continue;
      const liveInputs = mergeLive(spec, inputs, parseInputs(item, uid)).inputs;
      if (Object.entries(spec.fields).every(([key, field]) => equal(field, liveInputs[key], inputs[key]))) {
        found.push(item);
      }
    }
    return found.length === 1 ? found[0] : undefined;
  }

  /** Equal objects of the place that no resource of this run owns. */
  async listEqual({ what, parent, inputs, startedAt, older }: Attempt): Promise<JsonObject[]> {
    const { spec, client, parseInputs } = this.reader;
    const found: JsonObject[] = [];
    for await (const item of this.listSiblings(parent, inputs)) {
      const uid = requireUid(item, `listing ${spec.collection}`);
      if (parentUidOf(spec, uid) !== parent || older.has(uid) || this.isOwned(item)) continue;
      // The server's clock is known from its responses only, the first of which may be this list's.
      const since = client().serverNow() - (performance.now() - startedAt) - CLOCK_TOLERANCE_MS;
      const createdAt = typeof item["createTime"] === "string" ? Date.parse(item["createTime"]) : NaN;
      if (createdAt < since || !isEqualObject(spec, inputs, parseInputs(item, uid))) continue;
      if (Number.isNaN(createdAt) && isReadAs(spec, "createTime")) {
        throw handlerError(
          "PP4001",
          `${what}: the response was lost; ${uid} is equal, but has no creation time: delete it or adopt it before you run again`,
        );
      }
      found.push(item);
    }
    return found;
  }

  private async list(attempt: Attempt, lost: unknown): Promise<JsonObject[]> {
    const own = this.reader.spec.operations?.findLostCreates;
    try {
      return await (own ? own(this.reader.client(), attempt.inputs) : this.listEqual(attempt));
    } catch (error) {
      if (error instanceof HandlerError) throw error;
      // No response was ever the API's: there is nothing to look for.
      if ([error, lost].every((each) => each instanceof ConnectionError && !each.isTransient)) throw lost;
      throw handlerError(
        "PP4001",
        `${attempt.what}: the response was lost (${errorMessage(lost)}), and the search for what was created failed (${errorMessage(error)}); check whether it exists before you run again`,
      );
    }
  }

  /** Lists the objects below a parent, among which a lost create or an equal object is searched. */
  private async *listSiblings(parent: string | undefined, inputs: Props): AsyncIterable<JsonObject> {
    const { spec, client, find } = this.reader;
    if (spec.sharesParentUid && parent !== undefined) {
      const only = await find(parent, inputs);
      if (only !== undefined) yield only;
      return;
    }
    const name = inputs["name"];
    // Concurrent searches share one list.
    yield* await client().listShared(spec.collection, {
      ...(parent === undefined ? {} : { "uidp.children_of": parent }),
      ...(spec.listsByName && typeof name === "string" ? { name } : {}),
    });
  }

  private isOwned({ uid }: JsonObject): boolean {
    const { spec } = this.reader;
    // The only object of its parent was looked up for its owner.
    return !spec.sharesParentUid && this.registry.ownerOf(objectKey(spec, String(uid))) !== undefined;
  }

  private isMadeBy(inputs: Props, item: JsonObject): boolean {
    return isEqualObject(this.reader.spec, inputs, this.reader.parseInputs(item, String(item["uid"])));
  }

  /** Whether other inputs describe an object more fully than these: inputs say nothing of what they leave out. */
  private isCloser(other: Props, inputs: Props, item: JsonObject): boolean {
    const live = this.reader.parseInputs(item, String(item["uid"]));
    const countUnsetInputs = (candidate: Props) =>
      Object.entries(this.reader.spec.fields).filter(
        ([key, field]) => isSet(field, live[key]) && !isSet(field, candidate[key]),
      ).length;
    return isEqualObject(this.reader.spec, other, live) && countUnsetInputs(other) < countUnsetInputs(inputs);
  }
}
