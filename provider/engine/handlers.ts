import type { Client, JsonObject } from "../api/client";
import { uidOf } from "../api/client";
import {
  ApiError,
  ConnectionError,
  isFailedPrecondition,
  isInvalidArgument,
  isNotFound,
  isPermissionDenied,
  isUnclear,
  printable,
} from "../api/errors";
import { isUid, parentOf } from "../api/uid";
import { checkInputs } from "./check";
import { diffFields, diffInputs } from "./fieldMask";
import type { Patch } from "./fieldMask";
import { fits } from "./formats";
import { explain, HandlerError, PartialFailure, refused } from "./messages";
import { OwnerRegistry } from "./ownerRegistry";
import { ADOPT, holdsSecret } from "./spec";
import type { Clock, Failure, FieldSpec, Host, Json, Props, ResourceSpec } from "./spec";
import { Turns } from "./turns";
import { equal, isSet } from "./values";
import {
  createBody,
  isServerFilled,
  mergeLive,
  misfit,
  outputsFor,
  readBody,
  readOutputs,
  wireName,
} from "./wire";

/** What a handler needs of the world. */
export interface Surroundings extends Clock {
  readonly client: () => Client;
  /** Writes to one resource, whatever its kinds, take turns by its uid (contract, section 9). */
  readonly turns?: Turns;
  /** What the program of this run declares and holds. */
  readonly owners?: OwnerRegistry;
  /** Tells a person one line; nobody if not given. */
  readonly warn?: (line: string) => void;
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

/** Waits before a create below a new group is tried again (contract, section 9). */
const SETTLE_DELAYS_MS = [2000, 4000, 8000, 16_000];
/** Waits between looks for what a lost answer may have made, since it may be made late; then it is sent again. */
const LOOK_DELAYS_MS = [500, 1500, 3000];
/** How often a create is sent whose answers are lost. */
const MOST_SENDS = 3;
const NEW_GROUP_MS = 120_000;
/** In outputs of a resource that was made, and then could not be read: what it holds is yet to be seen. */
const UNCONFIRMED = "__unconfirmed";
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

/** The groups above, and the resource itself: every uid that begins this one. */
function lineage(uid: string): string[] {
  const above = parentOf(uid);
  return above === undefined ? [uid] : [...lineage(above), uid];
}

/** What an answer says of a resource, in the form of inputs; the parent is told by the uid. */
export function liveInputs(spec: ResourceSpec, answer: Props, uid: string): Props {
  const live = readBody(spec, answer, uid);
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

/** Outputs that are answered once, when the resource is made. */
function givenOnce(spec: ResourceSpec): string[] {
  return Object.entries(spec.outputs ?? {})
    .filter(([, field]) => field.createOnly)
    .map(([key]) => key);
}

/** A create whose answer may be lost. */
interface Attempt {
  readonly what: string;
  readonly parent: string | undefined;
  readonly inputs: Props;
  /** When it was first sent, in milliseconds by the clock here. */
  readonly started: number;
  /** Equal ones that were there before, where nothing else tells what is older. */
  readonly older: ReadonlySet<string>;
}

interface Made {
  readonly answer: JsonObject;
  /** Equal ones made since, besides it: what a lost answer left behind. */
  readonly twins: readonly string[];
}

/** Fields with a request of their own that changed. */
function changedApart(spec: ResourceSpec, olds: Props, news: Props): string[] {
  return Object.entries(spec.fields)
    .filter(([key, field]) => field.apart && !equal(field, olds[key], news[key]))
    .map(([key]) => key);
}

class KindHandlers implements Handlers {
  private readonly turns: Turns;
  private readonly owners: OwnerRegistry;
  private readonly host: Host;

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
    const created = await this.createdOrAdopted(inputs);
    this.owners.recordCreate(this.spec, created.id, inputs);
    return created;
  }

  private async createdOrAdopted(inputs: Props): Promise<CreateResult> {
    const adopted = inputs[ADOPT];
    if (typeof adopted === "string" && adopted !== "") return this.adopt(adopted, inputs);
    const parent = parentUid(inputs);
    // The parent's uid is then the resource's.
    return this.spec.sharesParentUid && parent !== undefined
      ? this.turns.take(parent, () => this.made(parent, inputs))
      : this.made(parent, inputs);
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
    return this.turns.take(id, () => this.updated(id, olds, news));
  }

  async delete(id: string, olds: Props): Promise<void> {
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
      if (isNotFound(error)) return;
      const notes = isFailedPrecondition(error) ? await this.dependents(id) : [];
      throw explain(this.spec, what, error, notes);
    }
  }

  /** Whether another resource of the program stands for the same object. */
  private isKept(id: string, olds: Props): boolean {
    const { kind, keptBy, listing } = this.spec;
    if (keptBy?.(olds).some((key) => this.owners.isDeclared(key))) return true;
    // What is made of other objects deletes each of them that no other resource declares.
    return listing?.gathers === undefined && this.owners.isHeld(kind, id, olds);
  }

  private async made(parent: string | undefined, inputs: Props): Promise<CreateResult> {
    const what = `creating ${label(this.spec, inputs)}${parent === undefined ? "" : ` below ${parent}`}`;
    const { answer, twins } = await this.explained(what, () => this.createOnce(what, parent, inputs));
    const id = uidOf(answer, what);
    const outs = await this.followed(id, inputs, await this.confirmed(id, inputs, answer));
    if (twins.length > 0) {
      throw new PartialFailure(id, outs, [
        `${label(this.spec, inputs)} was made as ${id} after an answer was lost, and what was sent first has arrived too: delete ${twins.join(", ")}, unless somebody else made it`,
      ]);
    }
    return { id, outs };
  }

  private async updated(id: string, recorded: Props, news: Props): Promise<Props> {
    const olds = recorded[UNCONFIRMED] === true ? await this.seen(id, recorded) : recorded;
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
        answer = own
          ? await own(this.client(), id, olds, news, this.host)
          : await this.patched(id, olds, news, patch);
      }
      if (apart.length > 0) {
        await this.spec.operations?.writeApart?.(this.client(), id, olds, news);
        answer = await this.get(id, news);
      }
      return this.followed(id, news, this.settled(id, olds, news, answer, olds));
    });
  }

  /** What a resource holds that was made, and then could not be read. */
  private async seen(id: string, recorded: Props): Promise<Props> {
    return this.explained(`reading ${label(this.spec, recorded)} ${id}`, async () => {
      const answer = await this.get(id, recorded);
      const { outs } = mergeLive(this.spec, recorded, this.live(answer, id));
      return { ...outs, ...readOutputs(this.spec, answer as Props, id, recorded) };
    });
  }

  /** Takes over what exists, if it is what the inputs describe; writes nothing. */
  private async adopt(id: string, inputs: Props): Promise<CreateResult> {
    const what = `adopting ${label(this.spec, inputs)} ${id}`;
    const once = Object.entries(this.spec.outputs ?? {}).filter(([, field]) => field.createOnly);
    if (once.length > 0) {
      const names = once.map(([key]) => key).join(", ");
      throw refused(`${what}: its ${names} is answered only when it is made, so it cannot be taken over`);
    }
    const answer = await this.explained(what, () => this.find(id, inputs));
    if (answer === undefined) {
      throw refused(`${what}: there is none with this uid; leave adopt() out to make a new one`);
    }
    const live = this.live(answer, id);
    const { inputs: held } = mergeLive(this.spec, inputs, live);
    const different = Object.entries(this.spec.fields).filter(
      ([key, field]) => !equal(field, held[key], inputs[key]),
    );
    if (different.length > 0) {
      const text = (field: FieldSpec, value: Json | undefined) =>
        holdsSecret(field) ? "something else" : printable(JSON.stringify(value ?? null), 300);
      throw refused(
        [
          `${what}: it is not what the program declares; declare what it holds, or leave adopt() out to make a new one`,
          ...different.map(
            ([key, field]) =>
              `  ${key}: declared ${text(field, inputs[key])}, held ${text(field, held[key])}`,
          ),
        ].join("\n"),
      );
    }
    return {
      id,
      outs: { ...outputsFor(this.spec, inputs, live), ...readOutputs(this.spec, answer as Props, id, {}) },
    };
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

  /** POST once; waits for a new group to settle, and looks for what a lost answer may have made. */
  private async createOnce(what: string, parent: string | undefined, inputs: Props): Promise<Made> {
    const client = this.client();
    const body = createBody(this.spec, inputs);
    const attempt: Attempt = { what, parent, inputs, started: Date.now(), older: new Set() };
    if (this.spec.untimed) {
      const older = await this.equalSiblings(attempt);
      Object.assign(attempt, { older: new Set(older.map(({ uid }) => uid)) });
    }
    let lost: unknown;
    for (let sends = 1, settled = 0; ;) {
      try {
        const answer = await this.sendCreate(parent, inputs, body);
        this.checkUid(answer, attempt);
        this.claims(answer);
        return { answer, twins: lost === undefined ? [] : await this.twins(attempt, lost) };
      } catch (error) {
        const delay = SETTLE_DELAYS_MS[settled];
        // A parent that may not be seen yet answers either way (contract, section 14).
        // What a kind has explained already is judged by what lies behind it.
        const reason = error instanceof HandlerError ? error.cause : error;
        const isRefused = isPermissionDenied(reason) || isNotFound(reason);
        if (delay !== undefined && isRefused && (await this.isNew(parent))) {
          settled += 1;
          await client.learnOf(lineage(parent ?? "")[0] ?? "");
          await this.around.sleep(delay);
          continue;
        }
        const isTold = error instanceof HandlerError && lost === undefined;
        if (this.spec.operations?.createsOver || isTold) throw error;
        if (isUnclear(error)) {
          lost = error;
          for (const wait of LOOK_DELAYS_MS) {
            await this.around.sleep(wait);
            const answer = await this.lookFor(attempt, lost);
            if (answer) return { answer, twins: [] };
          }
          if (sends === MOST_SENDS) {
            throw explain(this.spec, what, error, [
              `sent ${sends} times, and each answer was lost; it was not there yet when last looked for: look again before you run again`,
            ]);
          }
          sends += 1;
          continue;
        }
        // What is refused now may be there because the lost one has arrived.
        const answer = lost === undefined ? undefined : await this.lookFor(attempt, lost);
        if (answer) return { answer, twins: [] };
        throw error;
      }
    }
  }

  /** A 200 that is not about a new resource there is an answer that was lost. */
  private checkUid(answer: JsonObject, { what, parent, inputs }: Attempt): void {
    const uid = uidOf(answer, what);
    const { name } = answer;
    const isOther = typeof name === "string" && name !== "" && "name" in inputs && name !== inputs["name"];
    if (!isUid(uid) || parentByUid(this.spec, uid) !== parent || isOther) {
      throw new ConnectionError(
        `${what}: the answer is not about a new ${this.spec.noun} there`,
        "unclear",
        false,
      );
    }
  }

  /** One POST, or a share in one that makes others below the same parent as well. */
  private sendCreate(parent: string | undefined, inputs: Props, body: Props): Promise<JsonObject> {
    const { batchCreate, collection, operations } = this.spec;
    const client = this.client();
    if (operations?.create) return operations.create(client, inputs, body, this.host);
    return batchCreate && parent !== undefined
      ? client.createShared(batchCreate, parent, body)
      : client.create(collection, parent, body);
  }

  /** Whether the parent is a group too young for its rights to be known everywhere. */
  private async isNew(parent: string | undefined): Promise<boolean> {
    if (parent === undefined) return false;
    const client = this.client();
    // Even reading it may be refused for now.
    const known = lineage(parent).map((uid) => client.madeAgo(uid));
    if (known.some((ago) => ago !== undefined && ago < NEW_GROUP_MS)) return true;
    if (known.at(-1) !== undefined) return false;
    try {
      const group = await client.getResource("/iam/v2/groups", parent);
      const made = typeof group["createTime"] === "string" ? Date.parse(group["createTime"]) : NaN;
      return client.serverNow() - made < NEW_GROUP_MS;
    } catch {
      return false;
    }
  }

  /** What a create whose answer was lost has made: equal in every input, made since the attempt. */
  private async lookFor(attempt: Attempt, lost: unknown): Promise<JsonObject | undefined> {
    const { what, inputs } = attempt;
    const found = await this.candidates(attempt, lost);
    if (found.length > 1) {
      const uids = found.map((item) => String(item["uid"])).join(", ");
      throw refused(
        `${what}: the answer was lost, and ${found.length} equal ones were made since: ${uids}; delete what is too much before you run again`,
      );
    }
    const [made] = found;
    // Another create that looks for its own may have taken it meanwhile.
    if (made === undefined || !this.claims(made)) return undefined;
    if (givenOnce(this.spec).length > 0) throw this.unseen(String(made["uid"]), inputs);
    return made;
  }

  /** Whether what an answer is about was not known before; what has its parent's uid is the only one. */
  private claims(answer: JsonObject): boolean {
    return this.spec.sharesParentUid === true || this.client().claim(String(answer["uid"]));
  }

  /** The others that a create whose answer was lost has made, besides the one that was answered. */
  private async twins(attempt: Attempt, lost: unknown): Promise<string[]> {
    if (this.spec.sharesParentUid) return [];
    // The new one is there and must not be lost, whatever comes of looking.
    const found = await this.candidates(attempt, lost).catch(() => []);
    return found.map((item) => String(item["uid"]));
  }

  private async candidates(attempt: Attempt, lost: unknown): Promise<JsonObject[]> {
    const { what, inputs } = attempt;
    const own = this.spec.operations?.made;
    try {
      return await (own ? own(this.client(), inputs) : this.equalSiblings(attempt));
    } catch (error) {
      if (error instanceof HandlerError) throw error;
      // Nothing that was ever the API has answered: there is nothing to look for.
      if ([error, lost].every((each) => each instanceof ConnectionError && !each.passing)) throw lost;
      throw refused(
        `${what}: the answer was lost (${messageOf(lost)}), and looking for what it made failed (${messageOf(error)}); look for it before you run again`,
      );
    }
  }

  /** What is answered once is lost: the next run makes it anew, since the recorded inputs are not the program's. */
  private unseen(id: string, inputs: Props): PartialFailure {
    const recorded = this.spec.unseen?.(inputs) ?? inputs;
    return new PartialFailure(id, { ...outputsFor(this.spec, recorded, {}), [UNCONFIRMED]: true }, [
      `${label(this.spec, inputs)} was made as ${id}, but the answer with its ${givenOnce(this.spec).join(", ")} was lost, and that is given only once: run again to have it made anew, or destroy it`,
    ]);
  }

  /** Children of the parent that equal the inputs, and that no attempt before this one has made. */
  private async equalSiblings({ what, parent, inputs, started, older }: Attempt): Promise<JsonObject[]> {
    const client = this.client();
    const found: JsonObject[] = [];
    for await (const item of this.siblings(parent, inputs)) {
      const uid = uidOf(item, `listing ${this.spec.collection}`);
      const isOurs = !this.spec.sharesParentUid && client.madeAgo(uid) !== undefined;
      if (parentByUid(this.spec, uid) !== parent || older.has(uid) || isOurs) continue;
      // Its clock is known from its answers only, the first of which may be this list's.
      const since = client.serverNow() - (Date.now() - started) - CLOCK_TOLERANCE_MS;
      const made = typeof item["createTime"] === "string" ? Date.parse(item["createTime"]) : NaN;
      if (made < since || untaken(this.spec, undefined, inputs, this.live(item, uid)).length > 0) continue;
      if (Number.isNaN(made) && !this.spec.untimed) {
        throw refused(
          `${what}: the answer was lost; ${uid} is equal, but does not tell when it was made: delete it, or adopt it, before you run again`,
        );
      }
      found.push(item);
    }
    return found;
  }

  private async *siblings(parent: string | undefined, inputs: Props): AsyncIterable<JsonObject> {
    const client = this.client();
    if (this.spec.sharesParentUid && parent !== undefined) {
      const only = await this.find(parent, inputs);
      if (only !== undefined) yield only;
      return;
    }
    const name = inputs["name"];
    // What was made in one batch is looked for in one list.
    yield* await client.listShared(this.spec.collection, {
      ...(parent === undefined ? {} : { "uidp.children_of": parent }),
      ...(this.spec.listsByName && typeof name === "string" ? { name } : {}),
    });
  }

  /** Outputs of a new resource; what the server did not take is a partial failure, never silence. */
  private async confirmed(id: string, news: Props, created: JsonObject): Promise<Props> {
    const fits = misfit(this.spec, created as Props, id) === undefined;
    let answer = fits ? created : { uid: id };
    const told = readOutputs(this.spec, answer as Props, id, {});
    if (givenOnce(this.spec).some((key) => told[key] === undefined)) throw this.unseen(id, news);
    const apart = changedApart(this.spec, {}, news);
    const isTaken = untaken(this.spec, undefined, news, this.live(answer, id)).length === 0;
    try {
      if (apart.length > 0) await this.spec.operations?.writeApart?.(this.client(), id, {}, news);
      if (apart.length > 0 || !isTaken) {
        answer = await this.get(id, news);
        // Its form is a part of what is confirmed.
        this.live(answer, id);
      }
    } catch (error) {
      const outs = {
        ...outputsFor(this.spec, news, {}),
        ...told,
        ...(isTaken ? {} : { [UNCONFIRMED]: true }),
      };
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
    const body = this.spec.fromServer?.(answer as Props, id) ?? (answer as Props);
    const foreign = olds === undefined ? [] : changedElsewhere(this.spec, olds, news, body, live);
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
