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
import { explain, PartialFailure, refused } from "./messages";
import type { Failure, Props, ResourceSpec } from "./spec";
import { equal, isSet } from "./values";
import { createBody, isServerFilled, mergeLive, outputsFor, readBody } from "./wire";

/** What a handler needs of the world. */
export interface Surroundings {
  readonly client: () => Client;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
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

function withParent(spec: ResourceSpec, live: Props, uid: string): Props {
  const parent = parentOf(uid);
  return "parentUid" in spec.fields && parent !== undefined ? { parentUid: parent, ...live } : live;
}

/** Fields that the server did not take: it drops what it does not know (contract, section 2). */
function untaken(spec: ResourceSpec, olds: Props | undefined, news: Props, live: Props): string[] {
  const held = mergeLive(spec, outputsFor(spec, news, live), live).inputs;
  return Object.entries(spec.fields)
    .filter(([key, field]) => {
      if (field.path || field.inputOnly || (olds && equal(field, olds[key], news[key]))) return false;
      if (!equal(field, held[key], news[key])) return true;
      const cleared = olds !== undefined && !isSet(field, news[key]);
      return cleared && isSet(field, live[key]) && !isServerFilled(field, live, key);
    })
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
    return { id, outs: await this.confirmed(id, undefined, inputs, answer) };
  }

  async read(id: string, olds: Props): Promise<ReadResult> {
    let answer: JsonObject;
    try {
      answer = await this.explained(`reading ${label(this.spec, olds)} ${id}`, () => this.get(id));
    } catch (error) {
      if (isNotFound(error instanceof Error ? error.cause : undefined)) return {};
      throw error;
    }
    const { inputs, outs } = mergeLive(this.spec, olds, this.live(answer, id));
    return { id, props: outs, inputs };
  }

  async update(id: string, olds: Props, news: Props): Promise<Props> {
    const { body, mask } = diffFields(this.spec, olds, news);
    if (mask.length === 0) return outputsFor(this.spec, news, {}, olds);
    const what = `updating ${label(this.spec, news)} ${id} (${mask.join(", ")})`;
    return this.explained(what, async () => {
      const client = this.client();
      const multiWord = mask.some((path) => /[A-Z]/.test(path));
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
      let live = this.live(answer, id);
      if (answer["uid"] !== id || untaken(this.spec, olds, news, live).length > 0) {
        live = this.live(await this.get(id), id);
        if (untaken(this.spec, olds, news, live).length > 0 && masked && multiWord) {
          await client.patch(this.spec.collection, id, body, undefined);
          live = this.live(await this.get(id), id);
        }
      }
      return this.settled(id, olds, news, live);
    });
  }

  async delete(id: string, olds: Props): Promise<void> {
    const what = `deleting ${label(this.spec, olds)} ${id}`;
    try {
      await this.client().delete(this.spec.collection, id);
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

  private async get(id: string): Promise<JsonObject> {
    const answer = await this.client().getResource(this.spec.collection, id);
    if (answer["uid"] !== id) throw refused(`the answer is not about ${id}; is platform:baseUrl right?`);
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
        const answer = await client.create(this.spec.collection, parent, body);
        uidOf(answer, `creating ${label(this.spec, inputs)}`);
        return answer;
      } catch (error) {
        const delay = SETTLE_DELAYS_MS[tries];
        if (delay !== undefined && isPermissionDenied(error) && (await this.isNew(parent))) {
          await this.around.sleep(delay);
        } else if (isUnclear(error)) {
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
    const found = await this.equalSiblings(parent, inputs, started).catch((error: unknown) => {
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
    return found[0];
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
      if (parentOf(uid) !== parent || made < since) continue;
      if (untaken(this.spec, undefined, inputs, this.live(item, uid)).length === 0) found.push(item);
    }
    return found;
  }

  /** Outputs of a new resource; what the server did not take is a partial failure, never silence. */
  private async confirmed(id: string, olds: undefined, news: Props, answer: JsonObject): Promise<Props> {
    let live = this.live(answer, id);
    try {
      if (untaken(this.spec, olds, news, live).length > 0) live = this.live(await this.get(id), id);
    } catch (error) {
      throw new PartialFailure(id, outputsFor(this.spec, news, {}), [
        `${label(this.spec, news)} was created as ${id}, but reading it back failed: ${messageOf(error)}`,
      ]);
    }
    return this.settled(id, olds, news, live);
  }

  private settled(id: string, olds: Props | undefined, news: Props, live: Props): Props {
    const missing = untaken(this.spec, olds, news, live);
    if (missing.length === 0) return outputsFor(this.spec, news, live, olds);
    const held = mergeLive(this.spec, { ...news }, live).outs;
    const wrong = missing
      .map((key) => `${key} (it holds ${printable(JSON.stringify(live[key] ?? null), 200)})`)
      .join(", ");
    throw new PartialFailure(id, held, [
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
