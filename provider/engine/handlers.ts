import type { Client, JsonObject } from "../api/client";
import { ApiError, isFailedPrecondition, isInvalidArgument, isNotFound, printable } from "../api/errors";
import { checkInputs } from "./check";
import { CreateRegistry } from "./createRegistry";
import { Creator } from "./creator";
import type { CreateResult } from "./creator";
import { changedSubresources, diffFields, diffInputs } from "./fieldMask";
import type { Patch } from "./fieldMask";
import { matchesPattern } from "./formats";
import { identityKey, objectKey } from "./lostCreates";
import { explain, label, PartialFailure, handlerError } from "./messages";
import { OwnerRegistry } from "./ownerRegistry";
import { containsSecret, UNCONFIRMED } from "./spec";
import type { Clock, Failure, Host, Props, ResourceSpec } from "./spec";
import { KeyedMutex } from "./keyedMutex";
import { equal, isSet } from "./values";
import {
  normalizeBody,
  isServerFilled,
  mergeLive,
  findSchemaMismatch,
  outputsFor,
  parentUidOf,
  readBody,
  readOutputs,
  wireName,
} from "./wire";

/** What a handler needs of the world. */
export interface HandlerContext extends Clock {
  readonly client: () => Client;
  /** Writes to one resource, whatever its kinds, take turns by its uid. */
  readonly mutex?: KeyedMutex;
  /** What the program of this run declares and holds. */
  readonly owners?: OwnerRegistry;
  /** What this process creates, of every kind. */
  readonly registry?: CreateRegistry;
  /** Tells a person one line; nobody if not given. */
  readonly warn?: (line: string) => void;
}

/** A resource as the server holds it; `id` is absent where it is gone. */
export interface ReadResult {
  readonly id?: string;
  readonly props?: Props;
  readonly inputs?: Props;
}

export interface DiffResult {
  /**
   * False: nothing. Undefined: something; the engine finds out what (it then shows each property). True where it
   * would find nothing: it compares inputs, and what was recorded of them after a failure is not what they were.
   */
  readonly changes: boolean | undefined;
  readonly replaces: string[];
  readonly deleteBeforeReplace?: true;
}

/** The operations of one kind over plain values. No I/O in `check` and `diff`: the engine calls those one at a time. */
export interface Handlers {
  check(olds: Props, news: Props): Failure[];
  /** `id`: of the resource that the engine compares. */
  diff(olds: Props, news: Props, id?: string): DiffResult;
  create(inputs: Props): Promise<CreateResult>;
  read(id: string, olds: Props): Promise<ReadResult>;
  update(id: string, olds: Props, news: Props): Promise<Props>;
  delete(id: string, olds: Props): Promise<void>;
}

/** What an answer says of a resource, in the form of inputs; the parent is told by the uid. */
export function parseLiveInputs(spec: ResourceSpec, response: Props, uid: string): Props {
  const live = readBody(spec, response, uid);
  const parent = parentUidOf(spec, uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

/** Fields that the server did not take: it drops what it does not know. */
function findUnappliedFields(
  spec: ResourceSpec,
  olds: Props | undefined,
  news: Props,
  live: Props,
): string[] {
  const held = mergeLive(spec, outputsFor(spec, news, live), live).inputs;
  return Object.entries(spec.fields)
    .filter(([key, field]) => {
      if (field.path || field.subresource || field.inputOnly || (olds && equal(field, olds[key], news[key])))
        return false;
      if (!equal(field, held[key], news[key])) return true;
      const cleared = olds !== undefined && !isSet(field, news[key]);
      return cleared && isSet(field, live[key]) && !isServerFilled(field, live, key);
    })
    .map(([key]) => key);
}

/** Fields that this write left alone, and that hold something else than it recorded. */
function findForeignChanges(
  spec: ResourceSpec,
  olds: Props,
  news: Props,
  body: Props,
  live: Props,
): string[] {
  const held = mergeLive(spec, outputsFor(spec, news, {}, olds), live).inputs;
  return Object.entries(spec.fields)
    .filter(
      ([key, field]) =>
        !field.inputOnly &&
        equal(field, olds[key], news[key]) &&
        body[wireName(key, field)] !== undefined &&
        !equal(field, held[key], news[key]),
    )
    .map(([key]) => key);
}

/** What was removed at the server is created again once the state knows it. */
function hintOnGone(error: unknown): string[] {
  return isNotFound(error) ? ["if it was removed, run pulumi up --refresh"] : [];
}

class KindHandlers implements Handlers {
  private readonly mutex: KeyedMutex;
  private readonly owners: OwnerRegistry;
  private readonly host: Host;
  private readonly creator: Creator;
  private readonly registry: CreateRegistry;

  constructor(
    private readonly spec: ResourceSpec,
    private readonly context: HandlerContext,
  ) {
    this.mutex = context.mutex ?? new KeyedMutex();
    this.owners = context.owners ?? new OwnerRegistry();
    this.host = {
      ...context,
      warn: (line) => context.warn?.(line),
      matchesPattern,
      isOwned: (kind, uid) => this.owners.isOwned(kind, uid),
      isDeclared: (key) => this.owners.isDeclared(key),
      explain: (what, error) => explain(spec, what, error, []),
    };
    this.registry = context.registry ?? new CreateRegistry();
    this.creator = new Creator({
      spec,
      client: context.client,
      host: this.host,
      mutex: this.mutex,
      registry: this.registry,
      find: (id, inputs) => this.find(id, inputs),
      parseInputs: (response, id) => this.live(response, id),
      isEqual: (inputs, live) => findUnappliedFields(spec, undefined, inputs, live).length === 0,
      verifyWrite: (id, news, response, outputs) => this.verifyWrite(id, undefined, news, response, outputs),
      runAfterWrite: (id, news, outs) => this.runAfterWrite(id, news, outs),
    });
  }

  check(olds: Props, news: Props): Failure[] {
    this.owners.recordCheck(this.spec, news);
    // Of the program's text a message may quote a key or a pattern; the engine prints it as it is.
    return checkInputs(this.spec, news, { olds, now: this.context.now() }).map(({ property, reason }) => ({
      property: printable(property),
      reason: printable(reason, 2000),
    }));
  }

  diff(olds: Props, news: Props, id?: string): DiffResult {
    const difference = diffInputs(this.spec, olds, news);
    if (id !== undefined) this.owners.recordDiff(this.spec, id, olds, news, difference);
    const isFound = olds[UNCONFIRMED] !== true;
    return {
      changes: difference.changed ? !isFound || undefined : false,
      replaces: [...difference.replaces],
      ...(this.spec.deleteBeforeReplace && !difference.replaces.includes("parentUid")
        ? { deleteBeforeReplace: true }
        : {}),
    };
  }

  async create(inputs: Props): Promise<CreateResult> {
    const created = await this.recordFailure(() => this.creator.create(inputs));
    this.owners.recordCreate(this.spec, created.id, inputs);
    return created;
  }

  private async recordFailure<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      this.owners.hasFailure = true;
      throw error;
    }
  }

  async read(id: string, olds: Props): Promise<ReadResult> {
    const response = await this.explainFailure(`reading ${label(this.spec, olds)} ${id}`, () =>
      this.find(id, olds, this.spec.readsByList),
    );
    if (response === undefined) return {};
    const { inputs, outs } = mergeLive(this.spec, olds, this.live(response, id));
    return { id, props: { ...outs, ...readOutputs(this.spec, response as Props, id, olds) }, inputs };
  }

  update(id: string, olds: Props, news: Props): Promise<Props> {
    this.owners.recordUpdate(this.spec, id);
    return this.recordFailure(() => this.mutex.runExclusive(id, () => this.applyUpdate(id, olds, news)));
  }

  async delete(id: string, olds: Props): Promise<void> {
    if (this.owners.hasFailure) {
      throw handlerError(
        `${label(this.spec, olds)} ${id} is not deleted, because another step of this run failed and this may be what it stands for: mend that step and run again`,
      );
    }
    if (this.isRetained(id, olds)) {
      this.host.warn(
        `${label(this.spec, olds)} ${id} stays: another resource of this program manages it now, so it is only removed from the state`,
      );
      return;
    }
    const what = `deleting ${label(this.spec, olds)} ${id}`;
    try {
      const own = this.spec.operations?.delete;
      await this.mutex.runExclusive(id, () =>
        own ? own(this.client(), id, olds, this.host) : this.client().delete(this.spec.collection, id),
      );
    } catch (error) {
      if (!isNotFound(error)) {
        const notes = isFailedPrecondition(error) ? await this.listDependents(id) : [];
        throw explain(this.spec, what, error, notes);
      }
    }
    this.release(id, olds);
  }

  /** Whether another resource of the program stands for the same object. */
  private isRetained(id: string, olds: Props): boolean {
    const { kind, retainedBy, listing } = this.spec;
    if (retainedBy?.(olds).some((key) => this.owners.isDeclared(key))) return true;
    // What is made of other objects deletes each of them that no other resource declares.
    return listing?.aggregates === undefined && this.owners.isOwned(kind, id, olds);
  }

  /** What is deleted may be created again, by any resource. */
  private release(id: string, olds: Props): void {
    this.registry.release(objectKey(this.spec, id));
    const identity = identityKey(this.spec, olds);
    if (identity !== undefined) this.registry.release(identity);
  }

  private async applyUpdate(id: string, recorded: Props, news: Props): Promise<Props> {
    const olds = recorded[UNCONFIRMED] === true ? await this.readUnconfirmed(id, recorded) : recorded;
    const patch = diffFields(this.spec, olds, news);
    const subresources = changedSubresources(this.spec, olds, news);
    if (patch.mask.length === 0 && subresources.length === 0) {
      return { ...outputsFor(this.spec, news, {}, olds), ...readOutputs(this.spec, {}, id, olds) };
    }
    const what = `updating ${label(this.spec, news)} ${id} (${[...patch.mask, ...subresources].join(", ")})`;
    return this.explainFailure(
      what,
      async () => {
        let response: JsonObject = {};
        let outputs = olds;
        if (patch.mask.length > 0) {
          const own = this.spec.operations?.update;
          response = own
            ? await own(this.client(), id, olds, news, this.host)
            : await this.sendPatch(id, olds, news, patch);
          outputs = readOutputs(this.spec, response as Props, id, olds);
          if (!this.isVerified(id, olds, news, response)) response = await this.get(id, news);
        }
        if (subresources.length > 0) {
          await this.spec.operations?.writeSubresource?.(this.client(), id, olds, news);
          response = await this.get(id, news);
        }
        return this.runAfterWrite(id, news, this.verifyWrite(id, olds, news, response, outputs));
      },
      hintOnGone,
    );
  }

  /**
   * Whether the answer to an update is about the resource, and holds what it should: it may be a part only, all else
   * absent or empty, so that what it holds otherwise is no proof before it is read again.
   */
  private isVerified(id: string, olds: Props, news: Props, response: JsonObject): boolean {
    if (response["uid"] !== id) return false;
    const live = this.live(response, id);
    return (
      findUnappliedFields(this.spec, olds, news, live).length === 0 &&
      findForeignChanges(this.spec, olds, news, this.body(response, id), live).length === 0
    );
  }

  /** An answer in the form of the fields. */
  private body(response: JsonObject, id: string): Props {
    return normalizeBody(this.spec, response as Props, id);
  }

  /** What a resource holds that was made, and then could not be read. */
  private async readUnconfirmed(id: string, recorded: Props): Promise<Props> {
    return this.explainFailure(`reading ${label(this.spec, recorded)} ${id}`, async () => {
      const response = await this.get(id, recorded);
      const { outs } = mergeLive(this.spec, recorded, this.live(response, id));
      return { ...outs, ...readOutputs(this.spec, response as Props, id, recorded) };
    });
  }

  private client(): Client {
    return this.context.client();
  }

  private async explainFailure<T>(
    what: string,
    action: () => Promise<T>,
    notesOn: (error: unknown) => string[] = () => [],
  ): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw explain(this.spec, what, error, notesOn(error));
    }
  }

  /** The resource as the server holds it; undefined where it is gone. `shared`: together with others. */
  private async find(
    id: string,
    olds: Props,
    shared?: ResourceSpec["readsByList"],
  ): Promise<JsonObject | undefined> {
    const own = this.spec.operations?.get;
    const { collection } = this.spec;
    let response: JsonObject | undefined;
    try {
      if (own) response = await own(this.client(), id, olds, this.host);
      else if (shared) response = await this.client().readShared(collection, id, shared.query);
      else response = await this.client().getResource(collection, id);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (response !== undefined && response["uid"] !== id) {
      throw handlerError(`the answer is not about ${id}; is platform:baseUrl right?`);
    }
    return response;
  }

  private async get(id: string, inputs: Props): Promise<JsonObject> {
    const response = await this.find(id, inputs);
    if (response === undefined) throw handlerError(`${this.spec.noun} ${id} is gone`);
    return response;
  }

  /** PATCH with the mask; without it where the server refuses, or ignores, masks with names of several words. */
  private async sendPatch(id: string, olds: Props, news: Props, { body, mask }: Patch): Promise<JsonObject> {
    const client = this.client();
    const isMultiWord = mask.some((path) => /[A-Z]/.test(path));
    const isTaken = (response: JsonObject) =>
      findUnappliedFields(this.spec, olds, news, this.live(response, id)).length === 0;
    /** The response to the PATCH, or what a GET finds where the response does not show all of it. */
    const sendAndConfirm = async (paths: readonly string[] | undefined) => {
      const response = await client.patch(this.spec.collection, id, body, paths);
      return response["uid"] === id && isTaken(response) ? response : this.get(id, news);
    };
    if (isMultiWord && client.infersMasks) return sendAndConfirm(undefined);
    let refusal: unknown;
    try {
      const response = await sendAndConfirm(mask);
      if (!isMultiWord || isTaken(response)) return response;
    } catch (error) {
      // The usual field-mask library refuses camelCase.
      if (!isMultiWord || !isInvalidArgument(error)) throw error;
      refusal = error;
    }
    // The same body implies the same mask.
    const response = await sendAndConfirm(undefined).catch((second: unknown) => {
      const tellsLess = second instanceof ApiError && second.details.fieldViolations.length === 0;
      throw refusal !== undefined && tellsLess && isInvalidArgument(second) ? refusal : second;
    });
    client.infersMasks ||= isTaken(response);
    return response;
  }

  /** What an answer holds, in the form of inputs. @throws HandlerError where it does not have the kind's form */
  private live(response: JsonObject, id: string): Props {
    const wrong = findSchemaMismatch(this.spec, response as Props, id);
    if (wrong !== undefined) {
      throw handlerError(
        `the answer is not about a ${this.spec.noun}: ${printable(wrong, 100)}; is platform:baseUrl right?`,
      );
    }
    return parseLiveInputs(this.spec, response as Props, id);
  }

  /** What follows a write; the resource stays, whatever becomes of it. */
  private async runAfterWrite(id: string, news: Props, outs: Props): Promise<Props> {
    try {
      await this.spec.operations?.afterWrite?.(this.client(), id, news, this.host);
      return outs;
    } catch (error) {
      // Recorded as not set, so that the next run comes here again.
      const again = Object.fromEntries(changedSubresources(this.spec, {}, news).map((key) => [key, null]));
      const { message } = explain(this.spec, `${label(this.spec, news)} ${id}`, error, []);
      throw new PartialFailure(id, { ...outs, ...again }, [message]);
    }
  }

  private verifyWrite(
    id: string,
    olds: Props | undefined,
    news: Props,
    response: JsonObject,
    returned: Props,
  ): Props {
    const live = this.live(response, id);
    const unapplied = findUnappliedFields(this.spec, olds, news, live);
    const outputs = readOutputs(this.spec, response as Props, id, returned);
    const foreignChanges =
      olds === undefined ? [] : findForeignChanges(this.spec, olds, news, this.body(response, id), live);
    if (unapplied.length === 0 && foreignChanges.length === 0) {
      return { ...outputsFor(this.spec, news, live, olds), ...outputs };
    }
    const held = mergeLive(this.spec, { ...news }, live).outs;
    const shown = (keys: readonly string[]): string =>
      keys
        .map((key) => {
          const field = this.spec.fields[key];
          const value =
            field && !containsSecret(field) ? JSON.stringify(live[key] ?? null) : "something else";
          return `${key} (it holds ${printable(value, 200)})`;
        })
        .join(", ");
    const reason =
      unapplied.length > 0
        ? `the server answered without an error, but did not take ${shown(unapplied)}; a name it does not know is dropped silently`
        : `changed as the preview said, but somebody else has changed ${shown(foreignChanges)} since the last run: run again to restore what the program says, unless another stack manages it too`;
    throw new PartialFailure(id, { ...held, ...outputs }, [`${label(this.spec, news)} ${id}: ${reason}`]);
  }

  private async listDependents(id: string): Promise<string[]> {
    const notes: string[] = [];
    for (const { collection, noun, parameter } of this.spec.dependents ?? []) {
      try {
        const names: string[] = [];
        for await (const item of this.client().list(collection, { [parameter]: id })) {
          if (names.length === 10) {
            names.push("…");
            break;
          }
          const name = item["name"];
          names.push(
            `${typeof name === "string" && name !== "" ? `"${printable(name, 80)}" ` : ""}${String(item["uid"])}`,
          );
        }
        if (names.length > 0) notes.push(`${noun}: ${names.join(", ")}`);
      } catch {
        notes.push(`${noun}: could not be listed`);
      }
    }
    return notes;
  }
}

export function handlersFor(spec: ResourceSpec, around: HandlerContext): Handlers {
  return new KindHandlers(spec, around);
}
