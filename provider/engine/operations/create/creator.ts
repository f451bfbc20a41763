import { errorCodeOf } from "../../../errorCodes/codedError";
import type { JsonObject } from "../../../api/client";
import { requireUid } from "../../../api/client";
import { ConnectionError, hasUnknownOutcome } from "../../../api/errors";
import { isUid, lineage } from "../../../api/uid";
import { adoptExisting } from "./adoption";
import { createAndVerify } from "./createAndVerify";
import type { Created } from "./createAndVerify";
import type { PendingCreate } from "./createRegistry";
import { changedSubresources } from "../../wire/fieldMask";
import { identityKey, LostCreateFinder, objectKey, collectionKey } from "./lostCreates";
import type { Attempt } from "./lostCreates";
import type { KindContext } from "../kindContext";
import { isEqualObject, runAfterWrite, verifyWrite } from "../verifyWrite";
import {
  explain,
  explainFailure,
  hasCode,
  labelResource,
  errorMessage,
  PartialFailure,
  RENAME_ADVICE,
} from "../messages";
import { ADOPT, createOnlyOutputs, UNCONFIRMED } from "../../description";
import type { Props } from "../../description";
import { findSchemaMismatch } from "../../wire/schemaMismatch";
import { parentUidOf, readOutputs } from "../../wire/decode";
import { buildCreateBody } from "../../wire/encode";
import { outputsFor } from "../../wire/merge";

/** The rights of a group's owner are known everywhere by then. */
const NEW_GROUP_MS = 120_000;

export interface CreateResult {
  readonly id: string;
  readonly outs: Props;
}

function parentOfInputs({ parentUid }: Props): string | undefined {
  return typeof parentUid === "string" && parentUid !== "" ? parentUid : undefined;
}

/** Creates the resources of one kind, or adopts what exists. */
export class Creator {
  private readonly finder: LostCreateFinder;

  constructor(private readonly kind: KindContext) {
    this.finder = new LostCreateFinder(kind.reader, kind.registry);
  }

  create(inputs: Props): Promise<CreateResult> {
    const { spec, mutex, registry } = this.kind;
    const adopted = inputs[ADOPT];
    const description = this.describe(inputs);
    const parent = parentOfInputs(inputs);
    const identity = identityKey(spec, inputs);
    if (typeof adopted === "string" && adopted !== "") {
      const what = `adopting ${labelResource(spec, inputs)} ${adopted}`;
      return registry.reserve(what, [identity, objectKey(spec, adopted)], description, () =>
        adoptExisting(this.kind.reader, what, adopted, inputs),
      );
    }
    const what = `creating ${description}`;
    return registry.reserve(what, [identity], description, () =>
      // Its uid is the parent's, which other writes use too.
      spec.sharesParentUid && parent !== undefined
        ? mutex.runExclusive(parent, () => this.createOne(what, inputs))
        : this.createOne(what, inputs),
    );
  }

  /** The label of a resource in messages, distinct from others with its name. */
  private describe(inputs: Props): string {
    const parent = parentOfInputs(inputs);
    return `${labelResource(this.kind.spec, inputs)}${parent === undefined ? "" : ` below ${parent}`}`;
  }

  private createOne(what: string, inputs: Props): Promise<CreateResult> {
    const { spec, registry } = this.kind;
    const parent = parentOfInputs(inputs);
    return registry.run(collectionKey(spec, parent), inputs, async (pending) => {
      const { id, response, duplicates } = await explainFailure(spec, what, () =>
        this.createObject(what, inputs, pending),
      );
      const outs = await runAfterWrite(this.kind, id, inputs, await this.verifyCreate(id, inputs, response));
      if (duplicates.length === 0) return { id, outs };
      throw new PartialFailure("PP4002", id, outs, [
        `${labelResource(spec, inputs)} was created as ${id} after a request without a response, which took effect too: delete ${duplicates.join(", ")}, unless someone else created it`,
      ]);
    });
  }

  private async createObject(
    what: string,
    inputs: Props,
    pending: PendingCreate,
  ): Promise<{ id: string; response: JsonObject; duplicates: string[] }> {
    const { spec, client } = this.kind;
    const start = { what, parent: parentOfInputs(inputs), inputs, startedAt: performance.now(), pending };
    const none = { ...start, older: new Set<string>() };
    const older = this.finder.needsOlder ? await this.finder.listEqual(none) : [];
    const attempt = { ...start, older: new Set(older.map(({ uid }) => String(uid))) };
    const { result: response, lost } = await this.sendOrTakeOver(attempt);
    const id = requireUid(response, what);
    if (!spec.sharesParentUid) client().noteCreated(id);
    // It has its object: others do not wait for it any longer.
    pending.end();
    const duplicates = lost === undefined ? [] : await this.finder.findDuplicates(attempt, lost);
    return { id, response, duplicates };
  }

  /** A kind of which a place takes each object once refuses a second one. An equal object is taken over instead. */
  private async sendOrTakeOver(attempt: Attempt): Promise<Created<JsonObject>> {
    const { spec, host } = this.kind;
    try {
      return await this.send(attempt);
    } catch (error) {
      const isUnique = identityKey(spec, attempt.inputs) !== undefined;
      if (!isUnique || !hasCode(error, "ALREADY_EXISTS")) throw error;
      const existing = await this.finder.findExisting(attempt).catch(() => undefined);
      const uid = existing === undefined ? undefined : requireUid(existing, attempt.what);
      const isTaken = uid !== undefined && (host.isOwned(spec.kind, uid) || !this.claim(uid, attempt.inputs));
      if (existing === undefined || isTaken) {
        throw explain(spec, attempt.what, error, [RENAME_ADVICE]);
      }
      host.warn(
        `${attempt.what}: ${uid} already exists and is equal, so it is adopted; only one stack should manage it`,
      );
      return { result: existing, lost: undefined };
    }
  }

  private send(attempt: Attempt): Promise<Created<JsonObject>> {
    const { spec, client, host, registry } = this.kind;
    const { what, parent, inputs, pending } = attempt;
    const body = buildCreateBody(spec, inputs);
    return createAndVerify({
      send: () =>
        registry.send(
          pending,
          async () => {
            const response = await this.post(parent, inputs, body);
            this.checkResponse(response, attempt);
            return response;
          },
          hasUnknownOutcome,
        ),
      findLostCreate: (lost) => this.takeLostCreate(attempt, lost),
      explainUnknown: (error, sends) =>
        explain(spec, what, error, [
          `no response after ${sends} attempts; it may still be created: check before you retry`,
        ]),
      sleep: host.sleep,
      isIdempotent: spec.operations?.upsert === true,
      isBelowNewGroup: () => this.isNewGroup(parent),
      refreshToken: () =>
        client()
          .refreshTokenFor(lineage(parent ?? "")[0] ?? "")
          .catch((error: unknown) => {
            // The token in use may suffice: only time may be missing.
            host.warn(
              `${what}: the token in use is kept, since no new one could be had: ${errorMessage(error)}`,
            );
          }),
    });
  }

  private post(parent: string | undefined, inputs: Props, body: Props): Promise<JsonObject> {
    const { collection, operations } = this.kind.spec;
    const client = this.kind.client();
    return operations?.create
      ? operations.create(client, inputs, body, this.kind.host)
      : client.create(collection, parent, body);
  }

  /** A response with status 200 that contains no new object of this create is treated as lost. */
  private checkResponse(response: JsonObject, { what, parent, inputs }: Attempt): void {
    const { spec } = this.kind;
    const uid = requireUid(response, what);
    const { name } = response;
    const isOther = typeof name === "string" && name !== "" && "name" in inputs && name !== inputs["name"];
    if (!isUid(uid) || parentUidOf(spec, uid) !== parent || isOther) {
      throw new ConnectionError(
        "PP4008",
        `${what}: the response is not about a new ${spec.noun} there`,
        "unknown",
        false,
      );
    }
    if (!this.claim(uid, inputs)) {
      const owner = this.kind.registry.ownerOf(objectKey(spec, uid)) ?? "";
      throw new ConnectionError(
        "PP4009",
        `${what}: the response is about ${uid}, which belongs to another resource of this program, ${owner}`,
        "unknown",
        false,
      );
    }
  }

  /** Claims the object of a lost create, so that no other create of this process takes it. */
  private async takeLostCreate(attempt: Attempt, lost: unknown): Promise<JsonObject | undefined> {
    const found = await this.finder.findLostCreate(attempt, lost);
    if (found === undefined || !this.claim(String(found["uid"]), attempt.inputs)) return undefined;
    if (createOnlyOutputs(this.kind.spec).length > 0)
      throw this.lostSecret(String(found["uid"]), attempt.inputs);
    return found;
  }

  /** False where another resource owns the object. The only object of its parent is reserved by the parent. */
  private claim(uid: string, inputs: Props): boolean {
    const { spec, registry } = this.kind;
    return spec.sharesParentUid === true || registry.claim(objectKey(spec, uid), this.describe(inputs));
  }

  /** Whether the parent is a group too young for its rights to be known everywhere. */
  private async isNewGroup(parent: string | undefined): Promise<boolean> {
    if (parent === undefined) return false;
    const client = this.kind.client();
    // Even reading it may be refused for now.
    const known = lineage(parent).map((uid) => client.timeSinceCreation(uid));
    if (known.some((ago) => ago !== undefined && ago < NEW_GROUP_MS)) return true;
    if (known.at(-1) !== undefined) return false;
    try {
      const { createTime } = await client.getResource("/iam/v2/groups", parent);
      const createdAt = typeof createTime === "string" ? Date.parse(createTime) : NaN;
      return client.serverNow() - createdAt < NEW_GROUP_MS;
    } catch {
      return false;
    }
  }

  /**
   * The error of a create whose response with one-time outputs was lost. It records other inputs than the program's, so
   * that the next run creates these outputs again.
   */
  private lostSecret(id: string, inputs: Props): PartialFailure {
    const { spec } = this.kind;
    const recorded = spec.operations?.inputsAfterLostSecret?.(inputs) ?? inputs;
    return new PartialFailure("PP4003", id, { ...outputsFor(spec, recorded, {}), [UNCONFIRMED]: true }, [
      `${labelResource(spec, inputs)} was created as ${id}, but the response with its ${createOnlyOutputs(spec).join(", ")} was lost, and that is returned only at creation: run again to replace it, or destroy it`,
    ]);
  }

  /** Outputs of a new resource. What the server did not apply is a partial failure, never silence. */
  private async verifyCreate(id: string, news: Props, created: JsonObject): Promise<Props> {
    const { spec, client, reader } = this.kind;
    let response = findSchemaMismatch(spec, created as Props, id) === undefined ? created : { uid: id };
    const outputs = readOutputs(spec, response as Props, id, {});
    if (createOnlyOutputs(spec).some((key) => outputs[key] === undefined)) throw this.lostSecret(id, news);
    const subresources = changedSubresources(spec, {}, news);
    const isApplied = isEqualObject(spec, news, reader.parseInputs(response, id));
    try {
      if (subresources.length > 0) await spec.operations?.writeSubresource?.(client(), id, {}, news);
      if (subresources.length > 0 || !isApplied) response = await this.readBack(id, news);
    } catch (error) {
      const outs = {
        ...outputsFor(spec, news, {}),
        ...outputs,
        ...(isApplied ? {} : { [UNCONFIRMED]: true }),
      };
      const step = subresources.length > 0 ? `writing ${subresources.join(", ")}` : "reading it back";
      // What may not have been written is recorded as not set, so that the next run writes it.
      throw new PartialFailure(
        errorCodeOf(error),
        id,
        { ...outs, ...Object.fromEntries(subresources.map((key) => [key, null])) },
        [`${labelResource(spec, news)} was created as ${id}, but ${step} failed: ${errorMessage(error)}`],
      );
    }
    // What is returned once is in the first response only.
    return verifyWrite(this.kind, { id, olds: undefined, news, response, known: outputs });
  }

  private async readBack(id: string, news: Props): Promise<JsonObject> {
    const { reader } = this.kind;
    const response = await reader.get(id, news);
    // Throws where the response does not have the form of the kind.
    reader.parseInputs(response, id);
    return response;
  }
}
