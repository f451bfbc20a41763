import type { Client, JsonObject } from "../api/client";
import { uidOf } from "../api/client";
import {
  ApiError,
  isFailedPrecondition,
  isInvalidArgument,
  isNotFound,
  isPermissionDenied,
  isUnclear,
  printable,
} from "../api/errors";
import { parentOf } from "../api/uid";
import { checkInputs } from "./check";
import { diffFields, diffInputs } from "./fieldMask";
import type { Patch } from "./fieldMask";
import { explain, HandlerError, PartialFailure, refused } from "./messages";
import { holdsSecret } from "./spec";
import type { Clock, Failure, Props, ResourceSpec } from "./spec";
import { equal, isSet } from "./values";
import { createBody, isServerFilled, mergeLive, outputsFor, readBody, readOutputs } from "./wire";

/** What a handler needs of the world. */
export interface Surroundings extends Clock {
  readonly client: () => Client;
}

export interface CreateResult {
  readonly id: string;
  readonly outs: Props;
}

/** A resource as the server holds it; `id` is absent where it is gone. */
export interface ReadResult {
  readonly id?: string;
  readonly props?: Props;
  readonly inputs?: Props;
}

export interface DiffResult {
  /** False: nothing. Undefined: something; the engine finds out what (it then shows each property). */
  readonly changes: false | undefined;
  readonly replaces: string[];
}

/** The operations of one kind over plain values. No I/O in `check` and `diff`: the engine calls those one at a time. */
export interface Handlers {
  check(olds: Props, news: Props): Failure[];
  diff(olds: Props, news: Props): DiffResult;
  create(inputs: Props): Promise<CreateResult>;
  read(id: string, olds: Props): Promise<ReadResult>;
  update(id: string, olds: Props, news: Props): Promise<Props>;
  delete(id: string, olds: Props): Promise<void>;
}

/** Waits before a create below a new group is tried again (contract, section 9). */
const SETTLE_DELAYS_MS = [2000, 4000, 8000, 16_000];
/** Waits before looking for what a lost answer may have made; then it is sent again. */
const LOST_DELAYS_MS = [500, 2000, 5000];
const NEW_GROUP_MS = 120_000;
/** Two clocks that show whole seconds may differ by this. */
const CLOCK_TOLERANCE_MS = 2000;

function parentUid(inputs: Props): string | undefined {
  const parent = inputs["parentUid"];
  return typeof parent === "string" && parent !== "" ? parent : undefined;
}

function label(spec: ResourceSpec, inputs: Props): string {
  const name = inputs["name"];
  return typeof name === "string" ? `${spec.noun} "${printable(name, 80)}"` : spec.noun;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}

/** The uid of the parent, told by a resource's own. */
function parentByUid(spec: ResourceSpec, uid: string): string | undefined {
  return spec.sharesParentUid ? uid : parentOf(uid);
}

function withParent(spec: ResourceSpec, live: Props, uid: string): Props {
  const parent = parentByUid(spec, uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

/** Fields that the server did not take: it drops what it does not know (contract, section 2). */
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

/** Fields with a request of their own that changed. */
function changedApart(spec: ResourceSpec, olds: Props, news: Props): string[] {
  return Object.entries(spec.fields)
    .filter(([key, field]) => field.apart && !equal(field, olds[key], news[key]))
    .map(([key]) => key);
}

class KindHandlers implements Handlers {
  constructor(
    private readonly spec: ResourceSpec,
    private readonly around: Surroundings,
  ) {}

  check(olds: Props, news: Props): Failure[] {
    return checkInputs(this.spec, news, { olds, now: this.around.now() });
  }

  diff(olds: Props, news: Props): DiffResult {
    const { changed, replaces } = diffInputs(this.spec, olds, news);
    return { changes: changed ? undefined : false, replaces: [...replaces] };
  }

  async create(inputs: Props): Promise<CreateResult> {
    const parent = parentUid(inputs);
    const below = parent === undefined ? "" : ` below ${parent}`;
    const answer = await this.explained(`creating ${label(this.spec, inputs)}${below}`, () =>
      this.createOnce(parent, inputs),
    );
    const id = uidOf(answer, `creating ${label(this.spec, inputs)}`);
    return { id, outs: await this.followed(id, inputs, await this.confirmed(id, inputs, answer)) };
  }

  async read(id: string, olds: Props): Promise<ReadResult> {
    const answer = await this.explained(`reading ${label(this.spec, olds)} ${id}`, () => this.find(id, olds));
    if (answer === undefined) return {};
    const { inputs, outs } = mergeLive(this.spec, olds, this.live(answer, id));
    return { id, props: { ...outs, ...readOutputs(this.spec, answer as Props, id, olds) }, inputs };
  }

  async update(id: string, olds: Props, news: Props): Promise<Props> {
    const patch = diffFields(this.spec, olds, news);
    const apart = changedApart(this.spec, olds, news);
    if (patch.mask.length === 0 && apart.length === 0) {
      return { ...outputsFor(this.spec, news, {}, olds), ...readOutputs(this.spec, {}, id, olds) };
    }
    const what = `updating ${label(this.spec, news)} ${id} (${[...patch.mask, ...apart].join(", ")})`;
    return this.explained(what, async () => {
      let answer: JsonObject = {};
      if (patch.mask.length > 0) {
        const own = this.spec.operations?.update;
        answer = own ? await own(this.client(), id, olds, news) : await this.patched(id, olds, news, patch);
      }
      if (apart.length > 0) {
        await this.spec.operations?.writeApart?.(this.client(), id, olds, news);
        answer = await this.get(id, news);
      }
      return this.followed(id, news, this.settled(id, olds, news, answer, olds));
    });
  }

  async delete(id: string, olds: Props): Promise<void> {
    const what = `deleting ${label(this.spec, olds)} ${id}`;
    try {
      const own = this.spec.operations?.delete;
      await (own ? own(this.client(), id, olds) : this.client().delete(this.spec.collection, id));
    } catch (error) {
      if (isNotFound(error)) return;
      const notes = isFailedPrecondition(error) ? await this.dependents(id) : [];
      throw explain(this.spec, what, error, notes);
    }
  }

  private client(): Client {
    return this.around.client();
  }

  private async explained<T>(what: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw explain(this.spec, what, error, []);
    }
  }

  /** The resource as the server holds it; undefined where it is gone. */
  private async find(id: string, olds: Props): Promise<JsonObject | undefined> {
    const own = this.spec.operations?.get;
    let answer: JsonObject | undefined;
    try {
      answer = own
        ? await own(this.client(), id, olds)
        : await this.client().getResource(this.spec.collection, id);
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

  /** PATCH with the mask; without it where the server refuses, or ignores, the mask's spelling. */
  private async patched(id: string, olds: Props, news: Props, { body, mask }: Patch): Promise<JsonObject> {
    const client = this.client();
    const multiWord = mask.some((path) => /[A-Z]/.test(path));
    const isUntaken = (answer: JsonObject) =>
      untaken(this.spec, olds, news, this.live(answer, id)).length > 0;
    let masked = true;
    let answer: JsonObject;
    try {
      answer = await client.patch(this.spec.collection, id, body, mask);
    } catch (error) {
      // The usual field-mask library refuses camelCase; the same body implies the same mask (contract, section 3).
      if (!multiWord || !isInvalidArgument(error)) throw error;
      masked = false;
      answer = await client.patch(this.spec.collection, id, body, undefined).catch((second: unknown) => {
        const tellsLess = second instanceof ApiError && second.details.fieldViolations.length === 0;
        throw tellsLess && isInvalidArgument(second) ? error : second;
      });
    }
    if (answer["uid"] === id && !isUntaken(answer)) return answer;
    answer = await this.get(id, news);
    if (isUntaken(answer) && masked && multiWord) {
      await client.patch(this.spec.collection, id, body, undefined);
      answer = await this.get(id, news);
    }
    return answer;
  }

  private live(answer: JsonObject, id: string): Props {
    return withParent(this.spec, readBody(this.spec, answer as Props, id), id);
  }

  /** POST once; waits for a new group to settle, and looks for what a lost answer may have made. */
  private async createOnce(parent: string | undefined, inputs: Props): Promise<JsonObject> {
    const client = this.client();
    const body = createBody(this.spec, inputs);
    const started = Date.now();
    for (let tries = 0, lost = 0; ; tries += 1) {
      try {
        const own = this.spec.operations?.create;
        const answer = own
          ? await own(client, inputs, body)
          : await client.create(this.spec.collection, parent, body);
        uidOf(answer, `creating ${label(this.spec, inputs)}`);
        return answer;
      } catch (error) {
        const delay = SETTLE_DELAYS_MS[tries];
        // A parent that may not be seen yet answers either way (contract, section 14).
        const isRefused = isPermissionDenied(error) || isNotFound(error);
        if (delay !== undefined && isRefused && (await this.isNew(parent))) {
          await this.around.sleep(delay);
        } else if (isUnclear(error) && !this.spec.operations?.createsOver) {
          const wait = LOST_DELAYS_MS[lost];
          if (wait === undefined) throw error;
          lost += 1;
          await this.around.sleep(wait);
          const made = await this.lookFor(parent, inputs, started, error);
          if (made) return made;
        } else {
          throw error;
        }
      }
    }
  }

  /** Whether the parent is a group too young for its rights to be known everywhere. */
  private async isNew(parent: string | undefined): Promise<boolean> {
    if (parent === undefined) return false;
    const client = this.client();
    // Even reading it may be refused for now.
    const ago = client.madeAgo(parent);
    if (ago !== undefined) return ago < NEW_GROUP_MS;
    try {
      const group = await client.getResource("/iam/v2/groups", parent);
      const made = typeof group["createTime"] === "string" ? Date.parse(group["createTime"]) : NaN;
      return client.serverNow() - made < NEW_GROUP_MS;
    } catch {
      return false;
    }
  }

  /** What a create whose answer was lost has made: equal in every input, made since the attempt. */
  private async lookFor(
    parent: string | undefined,
    inputs: Props,
    started: number,
    lost: unknown,
  ): Promise<JsonObject | undefined> {
    const { made: own } = this.spec.operations ?? {};
    const looking = own ? own(this.client(), inputs) : this.equalSiblings(parent, inputs, started);
    const found = await looking.catch((error: unknown) => {
      if (error instanceof HandlerError) throw error;
      throw refused(
        `creating ${label(this.spec, inputs)}: the answer was lost (${messageOf(lost)}), and looking for what it made failed (${messageOf(error)}); look for it before you run again`,
      );
    });
    if (found.length > 1) {
      const uids = found.map((item) => String(item["uid"])).join(", ");
      throw refused(
        `creating ${label(this.spec, inputs)}: the answer was lost, and ${found.length} equal ones were made since: ${uids}; delete what is too much before you run again`,
      );
    }
    const [made] = found;
    const once = Object.entries(this.spec.outputs ?? {}).filter(([, field]) => field.createOnly);
    if (made !== undefined && once.length > 0) {
      const names = once.map(([key]) => key).join(", ");
      throw refused(
        `creating ${label(this.spec, inputs)}: it was made as ${String(made["uid"])}, but the answer with its ${names} was lost, and is given only once; delete it, then run again`,
      );
    }
    return made;
  }

  private async equalSiblings(
    parent: string | undefined,
    inputs: Props,
    started: number,
  ): Promise<JsonObject[]> {
    const client = this.client();
    const name = inputs["name"];
    const query = {
      ...(parent === undefined ? {} : { "uidp.children_of": parent }),
      ...(this.spec.listsByName && typeof name === "string" ? { name } : {}),
    };
    const found: JsonObject[] = [];
    for await (const item of client.list(this.spec.collection, query)) {
      const uid = uidOf(item, `listing ${this.spec.collection}`);
      // Its clock is known from its answers only, the first of which may be this list's.
      const since = client.serverNow() - (Date.now() - started) - CLOCK_TOLERANCE_MS;
      const made = typeof item["createTime"] === "string" ? Date.parse(item["createTime"]) : NaN;
      if (parentByUid(this.spec, uid) !== parent || made < since) continue;
      if (untaken(this.spec, undefined, inputs, this.live(item, uid)).length === 0) found.push(item);
    }
    return found;
  }

  /** Outputs of a new resource; what the server did not take is a partial failure, never silence. */
  private async confirmed(id: string, news: Props, created: JsonObject): Promise<Props> {
    const told = readOutputs(this.spec, created as Props, id, {});
    const apart = changedApart(this.spec, {}, news);
    let answer = created;
    try {
      if (apart.length > 0) await this.spec.operations?.writeApart?.(this.client(), id, {}, news);
      if (apart.length > 0 || untaken(this.spec, undefined, news, this.live(answer, id)).length > 0) {
        answer = await this.get(id, news);
      }
    } catch (error) {
      const outs = { ...outputsFor(this.spec, news, {}), ...told };
      const step = apart.length > 0 ? `writing ${apart.join(", ")}` : "reading it back";
      // What may not have been written is recorded as not set, so that the next run writes it.
      throw new PartialFailure(id, { ...outs, ...Object.fromEntries(apart.map((key) => [key, null])) }, [
        `${label(this.spec, news)} was created as ${id}, but ${step} failed: ${messageOf(error)}`,
      ]);
    }
    // What is answered once is in the first answer only.
    return this.settled(id, undefined, news, answer, told);
  }

  /** What follows a write; the resource stays, whatever becomes of it. */
  private async followed(id: string, news: Props, outs: Props): Promise<Props> {
    try {
      await this.spec.operations?.afterWrite?.(this.client(), id, news, this.around);
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
    if (missing.length === 0) return { ...outputsFor(this.spec, news, live, olds), ...outputs };
    const held = mergeLive(this.spec, { ...news }, live).outs;
    const wrong = missing
      .map((key) => {
        const field = this.spec.fields[key];
        const shown = field && !holdsSecret(field) ? JSON.stringify(live[key] ?? null) : "something else";
        return `${key} (it holds ${printable(shown, 200)})`;
      })
      .join(", ");
    throw new PartialFailure(id, { ...held, ...outputs }, [
      `${label(this.spec, news)} ${id}: the server answered without an error, but did not take ${wrong}; a name it does not know is dropped silently`,
    ]);
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
