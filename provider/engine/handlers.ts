import type { Client, JsonObject } from "../api/client";
import { ApiError, isFailedPrecondition, isInvalidArgument, isNotFound, printable } from "../api/errors";
import { checkInputs } from "./check";
import { CreateRegistry } from "./createRegistry";
import { Creator } from "./creator";
import type { CreateResult } from "./creator";
import { changedApart, diffFields, diffInputs } from "./fieldMask";
import type { Patch } from "./fieldMask";
import { fits } from "./formats";
import { identityKey, objectKey } from "./lostCreates";
import { explain, label, PartialFailure, refused } from "./messages";
import { OwnerRegistry } from "./ownerRegistry";
import { holdsSecret, UNCONFIRMED } from "./spec";
import type { Clock, Failure, Host, Props, ResourceSpec } from "./spec";
import { Turns } from "./turns";
import { equal, isSet } from "./values";
import {
  inFieldForm,
  isServerFilled,
  mergeLive,
  misfit,
  outputsFor,
  parentByUid,
  readBody,
  readOutputs,
  wireName,
} from "./wire";

/** What a handler needs of the world. */
export interface Surroundings extends Clock {
  readonly client: () => Client;
  /** Writes to one resource, whatever its kinds, take turns by its uid. */
  readonly turns?: Turns;
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
export function liveInputs(spec: ResourceSpec, answer: Props, uid: string): Props {
  const live = readBody(spec, answer, uid);
  const parent = parentByUid(spec, uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

/** Fields that the server did not take: it drops what it does not know. */
function untaken(spec: ResourceSpec, olds: Props | undefined, news: Props, live: Props): string[] {
  const held = mergeLive(spec, outputsFor(spec, news, live), live).inputs;
  return Object.entries(spec.fields)
    .filter(([key, field]) => {
      if (field.path || field.apart || field.inputOnly || (olds && equal(field, olds[key], news[key])))
        return false;
      if (!equal(field, held[key], news[key])) return true;
      const cleared = olds !== undefined && !isSet(field, news[key]);
      return cleared && isSet(field, live[key]) && !isServerFilled(field, live, key);
    })
    .map(([key]) => key);
}

/** Fields that this write left alone, and that hold something else than it recorded. */
function changedElsewhere(spec: ResourceSpec, olds: Props, news: Props, body: Props, live: Props): string[] {
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
function adviceOnGone(error: unknown): string[] {
  return isNotFound(error) ? ["if it was removed, run pulumi up --refresh"] : [];
}

class KindHandlers implements Handlers {
  private readonly turns: Turns;
  private readonly owners: OwnerRegistry;
  private readonly host: Host;
  private readonly creator: Creator;
  private readonly registry: CreateRegistry;

  constructor(
    private readonly spec: ResourceSpec,
    private readonly around: Surroundings,
  ) {
    this.turns = around.turns ?? new Turns();
    this.owners = around.owners ?? new OwnerRegistry();
    this.host = {
      ...around,
      warn: (line) => around.warn?.(line),
      fits,
      isHeld: (kind, uid) => this.owners.isHeld(kind, uid),
      isDeclared: (key) => this.owners.isDeclared(key),
      explain: (what, error) => explain(spec, what, error, []),
    };
    this.registry = around.registry ?? new CreateRegistry();
    this.creator = new Creator({
      spec,
      client: around.client,
      host: this.host,
      turns: this.turns,
      registry: this.registry,
      find: (id, inputs) => this.find(id, inputs),
      live: (response, id) => this.live(response, id),
      isEqual: (inputs, live) => untaken(spec, undefined, inputs, live).length === 0,
      verifyWrite: (id, news, response, told) => this.settled(id, undefined, news, response, told),
      runAfterWrite: (id, news, outs) => this.followed(id, news, outs),
    });
  }

  check(olds: Props, news: Props): Failure[] {
    this.owners.recordCheck(this.spec, news);
    // Of the program's text a message may quote a key or a pattern; the engine prints it as it is.
    return checkInputs(this.spec, news, { olds, now: this.around.now() }).map(({ property, reason }) => ({
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
      ...(this.spec.deletesBeforeReplace && !difference.replaces.includes("parentUid")
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
    const answer = await this.explained(`reading ${label(this.spec, olds)} ${id}`, () =>
      this.find(id, olds, this.spec.readsByList),
    );
    if (answer === undefined) return {};
    const { inputs, outs } = mergeLive(this.spec, olds, this.live(answer, id));
    return { id, props: { ...outs, ...readOutputs(this.spec, answer as Props, id, olds) }, inputs };
  }

  update(id: string, olds: Props, news: Props): Promise<Props> {
    this.owners.recordUpdate(this.spec, id);
    return this.recordFailure(() => this.turns.take(id, () => this.updated(id, olds, news)));
  }

  async delete(id: string, olds: Props): Promise<void> {
    if (this.owners.hasFailure) {
      throw refused(
        `${label(this.spec, olds)} ${id} is not deleted, because another step of this run failed and this may be what it stands for: mend that step and run again`,
      );
    }
    if (this.isKept(id, olds)) {
      this.host.warn(
        `${label(this.spec, olds)} ${id} stays: another resource of this program manages it now, so it is only removed from the state`,
      );
      return;
    }
    const what = `deleting ${label(this.spec, olds)} ${id}`;
    try {
      const own = this.spec.operations?.delete;
      await this.turns.take(id, () =>
        own ? own(this.client(), id, olds, this.host) : this.client().delete(this.spec.collection, id),
      );
    } catch (error) {
      if (!isNotFound(error)) {
        const notes = isFailedPrecondition(error) ? await this.dependents(id) : [];
        throw explain(this.spec, what, error, notes);
      }
    }
    this.release(id, olds);
  }

  /** Whether another resource of the program stands for the same object. */
  private isKept(id: string, olds: Props): boolean {
    const { kind, keptBy, listing } = this.spec;
    if (keptBy?.(olds).some((key) => this.owners.isDeclared(key))) return true;
    // What is made of other objects deletes each of them that no other resource declares.
    return listing?.gathers === undefined && this.owners.isHeld(kind, id, olds);
  }

  /** What is deleted may be created again, by any resource. */
  private release(id: string, olds: Props): void {
    this.registry.release(objectKey(this.spec, id));
    const identity = identityKey(this.spec, olds);
    if (identity !== undefined) this.registry.release(identity);
  }

  private async updated(id: string, recorded: Props, news: Props): Promise<Props> {
    const olds = recorded[UNCONFIRMED] === true ? await this.seen(id, recorded) : recorded;
    const patch = diffFields(this.spec, olds, news);
    const apart = changedApart(this.spec, olds, news);
    if (patch.mask.length === 0 && apart.length === 0) {
      return { ...outputsFor(this.spec, news, {}, olds), ...readOutputs(this.spec, {}, id, olds) };
    }
    const what = `updating ${label(this.spec, news)} ${id} (${[...patch.mask, ...apart].join(", ")})`;
    return this.explained(
      what,
      async () => {
        let answer: JsonObject = {};
        let told = olds;
        if (patch.mask.length > 0) {
          const own = this.spec.operations?.update;
          answer = own
            ? await own(this.client(), id, olds, news, this.host)
            : await this.patched(id, olds, news, patch);
          told = readOutputs(this.spec, answer as Props, id, olds);
          if (!this.isConvincing(id, olds, news, answer)) answer = await this.get(id, news);
        }
        if (apart.length > 0) {
          await this.spec.operations?.writeApart?.(this.client(), id, olds, news);
          answer = await this.get(id, news);
        }
        return this.followed(id, news, this.settled(id, olds, news, answer, told));
      },
      adviceOnGone,
    );
  }

  /**
   * Whether the answer to an update is about the resource, and holds what it should: it may be a part only, all else
   * absent or empty, so that what it holds otherwise is no proof before it is read again.
   */
  private isConvincing(id: string, olds: Props, news: Props, answer: JsonObject): boolean {
    if (answer["uid"] !== id) return false;
    const live = this.live(answer, id);
    return (
      untaken(this.spec, olds, news, live).length === 0 &&
      changedElsewhere(this.spec, olds, news, this.body(answer, id), live).length === 0
    );
  }

  /** An answer in the form of the fields. */
  private body(answer: JsonObject, id: string): Props {
    return inFieldForm(this.spec, answer as Props, id);
  }

  /** What a resource holds that was made, and then could not be read. */
  private async seen(id: string, recorded: Props): Promise<Props> {
    return this.explained(`reading ${label(this.spec, recorded)} ${id}`, async () => {
      const answer = await this.get(id, recorded);
      const { outs } = mergeLive(this.spec, recorded, this.live(answer, id));
      return { ...outs, ...readOutputs(this.spec, answer as Props, id, recorded) };
    });
  }

  private client(): Client {
    return this.around.client();
  }

  private async explained<T>(
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
    let answer: JsonObject | undefined;
    try {
      if (own) answer = await own(this.client(), id, olds, this.host);
      else if (shared) answer = await this.client().readShared(collection, id, shared.query);
      else answer = await this.client().getResource(collection, id);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (answer !== undefined && answer["uid"] !== id) {
      throw refused(`the answer is not about ${id}; is platform:baseUrl right?`);
    }
    return answer;
  }

  private async get(id: string, inputs: Props): Promise<JsonObject> {
    const answer = await this.find(id, inputs);
    if (answer === undefined) throw refused(`${this.spec.noun} ${id} is gone`);
    return answer;
  }

  /** PATCH with the mask; without it where the server refuses, or ignores, masks with names of several words. */
  private async patched(id: string, olds: Props, news: Props, { body, mask }: Patch): Promise<JsonObject> {
    const client = this.client();
    const isMultiWord = mask.some((path) => /[A-Z]/.test(path));
    const isTaken = (answer: JsonObject) =>
      untaken(this.spec, olds, news, this.live(answer, id)).length === 0;
    /** The response to the PATCH, or what a GET finds where the response does not show all of it. */
    const sendAndConfirm = async (paths: readonly string[] | undefined) => {
      const answer = await client.patch(this.spec.collection, id, body, paths);
      return answer["uid"] === id && isTaken(answer) ? answer : this.get(id, news);
    };
    if (isMultiWord && client.infersMasks) return sendAndConfirm(undefined);
    let refusal: unknown;
    try {
      const answer = await sendAndConfirm(mask);
      if (!isMultiWord || isTaken(answer)) return answer;
    } catch (error) {
      // The usual field-mask library refuses camelCase.
      if (!isMultiWord || !isInvalidArgument(error)) throw error;
      refusal = error;
    }
    // The same body implies the same mask.
    const answer = await sendAndConfirm(undefined).catch((second: unknown) => {
      const tellsLess = second instanceof ApiError && second.details.fieldViolations.length === 0;
      throw refusal !== undefined && tellsLess && isInvalidArgument(second) ? refusal : second;
    });
    client.infersMasks ||= isTaken(answer);
    return answer;
  }

  /** What an answer holds, in the form of inputs. @throws HandlerError where it does not have the kind's form */
  private live(answer: JsonObject, id: string): Props {
    const wrong = misfit(this.spec, answer as Props, id);
    if (wrong !== undefined) {
      throw refused(
        `the answer is not about a ${this.spec.noun}: ${printable(wrong, 100)}; is platform:baseUrl right?`,
      );
    }
    return liveInputs(this.spec, answer as Props, id);
  }

  /** What follows a write; the resource stays, whatever becomes of it. */
  private async followed(id: string, news: Props, outs: Props): Promise<Props> {
    try {
      await this.spec.operations?.afterWrite?.(this.client(), id, news, this.host);
      return outs;
    } catch (error) {
      // Recorded as not set, so that the next run comes here again.
      const again = Object.fromEntries(changedApart(this.spec, {}, news).map((key) => [key, null]));
      const { message } = explain(this.spec, `${label(this.spec, news)} ${id}`, error, []);
      throw new PartialFailure(id, { ...outs, ...again }, [message]);
    }
  }

  private settled(id: string, olds: Props | undefined, news: Props, answer: JsonObject, told: Props): Props {
    const live = this.live(answer, id);
    const missing = untaken(this.spec, olds, news, live);
    const outputs = readOutputs(this.spec, answer as Props, id, told);
    const foreign =
      olds === undefined ? [] : changedElsewhere(this.spec, olds, news, this.body(answer, id), live);
    if (missing.length === 0 && foreign.length === 0) {
      return { ...outputsFor(this.spec, news, live, olds), ...outputs };
    }
    const held = mergeLive(this.spec, { ...news }, live).outs;
    const shown = (keys: readonly string[]): string =>
      keys
        .map((key) => {
          const field = this.spec.fields[key];
          const value = field && !holdsSecret(field) ? JSON.stringify(live[key] ?? null) : "something else";
          return `${key} (it holds ${printable(value, 200)})`;
        })
        .join(", ");
    const reason =
      missing.length > 0
        ? `the server answered without an error, but did not take ${shown(missing)}; a name it does not know is dropped silently`
        : `changed as the preview said, but somebody else has changed ${shown(foreign)} since the last run: run again to restore what the program says, unless another stack manages it too`;
    throw new PartialFailure(id, { ...held, ...outputs }, [`${label(this.spec, news)} ${id}: ${reason}`]);
  }

  private async dependents(id: string): Promise<string[]> {
    const notes: string[] = [];
    for (const { collection, noun, by } of this.spec.dependents ?? []) {
      try {
        const names: string[] = [];
        for await (const item of this.client().list(collection, { [by]: id })) {
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

export function handlersFor(spec: ResourceSpec, around: Surroundings): Handlers {
  return new KindHandlers(spec, around);
}
