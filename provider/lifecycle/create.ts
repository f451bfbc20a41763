import { errorCodeOf } from "../errors/codedError";
import type { JsonObject } from "../http/client";
import { requireUid } from "../http/client";
import { ConnectionError } from "../http/errors";
import { isUid, lineage } from "../text/uid";
import { canonical, equal } from "../fields/equal";
import { containsSecret } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import { changedSubresources } from "../fields/patch";
import { createOnlyOutputs } from "../fields/resourceSpec";
import type { Created, ResourceSpec } from "../fields/resourceSpec";
import { ADOPT, UNCONFIRMED } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { buildCreateBody, findSchemaMismatch, parentUidOf, readOutputs } from "../fields/wire";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { createAndVerify, findDuplicates, findExisting, findLostCreate, startAttempt } from "./lostCreate";
import type { Attempt } from "./lostCreate";
import {
  errorMessage,
  explain,
  explainFailure,
  handlerError,
  hasCode,
  labelResource,
  PartialFailure,
  printable,
  RENAME_ADVICE,
} from "./messages";
import { identityKey, objectKey } from "./owners";
import { isEqualObject, runAfterWrite, verifyWrite } from "./verifyWrite";

/*
 * A create, from the inputs of a program to the outputs in the state, in the order in which it happens. What becomes of a
 * create whose response is lost is in lostCreate.ts.
 */

/** The rights of a group's owner are known everywhere by then. */
const NEW_GROUP_MS = 120_000;

export interface CreateResult {
  readonly id: string;
  readonly outs: Props;
}

/** Creates a resource, or adopts what exists. */
export async function createResource(kind: KindContext, inputs: Props): Promise<CreateResult> {
  const { spec, mutex, claims, owners } = kind;
  const adopted = inputs[ADOPT];
  const description = describe(spec, inputs);
  const identity = identityKey(spec, inputs);
  if (typeof adopted === "string" && adopted !== "") {
    const what = `adopting ${labelResource(spec, inputs)} ${adopted}`;
    owners.refuseKept(spec, inputs, what);
    return claims.reserve(what, [identity, objectKey(spec, adopted)], description, () =>
      adoptExisting(kind, what, adopted, inputs),
    );
  }
  const what = `creating ${description}`;
  owners.refuseKept(spec, inputs, what);
  return claims.reserve(what, [identity], description, () =>
    mutex.runExclusive(turnOf(spec, inputs), () => createNew(kind, what, inputs)),
  );
}

function parentOfInputs({ parentUid }: Props): string | undefined {
  return typeof parentUid === "string" && parentUid !== "" ? parentUid : undefined;
}

/** The label of a resource in messages, distinct from others with its name. */
function describe(spec: ResourceSpec, inputs: Props): string {
  const parent = parentOfInputs(inputs);
  return `${labelResource(spec, inputs)}${parent === undefined ? "" : ` below ${parent}`}`;
}

/**
 * Creates with the same turn run one after another. Those of equal resources have one, or a lost create could take the
 * object of another: inputs that one object may fit agree in all that must be given.
 */
function turnOf(spec: ResourceSpec, inputs: Props): string {
  const parent = parentOfInputs(inputs);
  // Its uid is the parent's, which other writes use too.
  if (spec.sharesParentUid && parent !== undefined) return parent;
  const given = Object.entries(spec.fields)
    .filter(([, { required, inputOnly, path }]) => required && !inputOnly && !path)
    .map(([key, field]) => canonical(field, inputs[key]) ?? null);
  return `${spec.kind} ${JSON.stringify([parent ?? null, ...given])}`;
}

async function createNew(kind: KindContext, what: string, inputs: Props): Promise<CreateResult> {
  const { spec } = kind;
  const { id, response, duplicates } = await explainFailure(spec, what, () =>
    createObject(kind, what, inputs),
  );
  const outs = await runAfterWrite(kind, id, inputs, await verifyCreate(kind, id, inputs, response));
  if (duplicates.length === 0) return { id, outs };
  throw new PartialFailure("PP4002", id, outs, [
    `${labelResource(spec, inputs)} was created as ${id} after a request without a response, which took effect too: delete ${duplicates.join(", ")}, unless someone else created it`,
  ]);
}

async function createObject(
  kind: KindContext,
  what: string,
  inputs: Props,
): Promise<{ id: string; response: JsonObject; duplicates: string[] }> {
  const { spec, client } = kind;
  const attempt = await startAttempt(kind, { what, parent: parentOfInputs(inputs), inputs });
  const { result: response, lost } = await sendOrTakeOver(kind, attempt);
  const id = requireUid(response, what);
  if (!spec.sharesParentUid) client().noteCreated(id);
  const duplicates = lost === undefined ? [] : await findDuplicates(kind, attempt, lost);
  // The error tells a person to delete them, so no equal create may take one.
  for (const uid of duplicates) claim(kind, uid, inputs);
  return { id, response, duplicates };
}

/** A kind of which a place takes each object once refuses a second one. An equal object is taken over instead. */
async function sendOrTakeOver(kind: KindContext, attempt: Attempt): Promise<Created<JsonObject>> {
  const { spec, host } = kind;
  try {
    return await send(kind, attempt);
  } catch (error) {
    const isUnique = identityKey(spec, attempt.inputs) !== undefined;
    if (!isUnique || !hasCode(error, "ALREADY_EXISTS")) throw error;
    const existing = await findExisting(kind, attempt).catch(() => undefined);
    const uid = existing === undefined ? undefined : requireUid(existing, attempt.what);
    const isTaken = uid !== undefined && (host.isOwned(spec.kind, uid) || !claim(kind, uid, attempt.inputs));
    if (existing === undefined || isTaken) {
      throw explain(spec, attempt.what, error, [RENAME_ADVICE]);
    }
    host.warn(
      `${attempt.what}: ${uid} already exists and is equal, so it is adopted; only one stack should manage it`,
    );
    return { result: existing, lost: undefined };
  }
}

function send(kind: KindContext, attempt: Attempt): Promise<Created<JsonObject>> {
  const { spec, client, host } = kind;
  const { what, parent, inputs } = attempt;
  const body = buildCreateBody(spec, inputs);
  return createAndVerify({
    send: async () => {
      const ownCreate = spec.operations?.create;
      const response = ownCreate
        ? await ownCreate(client(), inputs, body, host)
        : await client().create(spec.collection, parent, body);
      checkResponse(kind, response, attempt);
      return response;
    },
    findLostCreate: (lost) => takeLostCreate(kind, attempt, lost),
    explainUnknown: (error, sends) =>
      explain(spec, what, error, [
        `no response after ${sends} attempts; it may still be created: check before you retry`,
      ]),
    sleep: host.sleep,
    isIdempotent: spec.operations?.upsert === true,
    isBelowNewGroup: () => isNewGroup(kind, parent),
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

/** Claims the object of a response. One with status 200 that contains no new object of this create is treated as lost. */
function checkResponse(kind: KindContext, response: JsonObject, { what, parent, inputs }: Attempt): void {
  const { spec, claims } = kind;
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
  if (!claim(kind, uid, inputs)) {
    const owner = claims.ownerOf(objectKey(spec, uid)) ?? "";
    throw new ConnectionError(
      "PP4009",
      `${what}: the response is about ${uid}, which belongs to another resource of this program, ${owner}`,
      "unknown",
      false,
    );
  }
}

/** Claims the object of a lost create, so that no other create of this process takes it. */
async function takeLostCreate(
  kind: KindContext,
  attempt: Attempt,
  lost: unknown,
): Promise<JsonObject | undefined> {
  const found = await findLostCreate(kind, attempt, lost);
  if (found === undefined || !claim(kind, String(found["uid"]), attempt.inputs)) return undefined;
  if (createOnlyOutputs(kind.spec).length > 0) {
    throw lostSecret(kind.spec, String(found["uid"]), attempt.inputs);
  }
  return found;
}

/** False where another resource owns the object. The only object of its parent is reserved by the parent. */
function claim({ spec, claims }: KindContext, uid: string, inputs: Props): boolean {
  return spec.sharesParentUid === true || claims.claim(objectKey(spec, uid), describe(spec, inputs));
}

/** Whether the parent is a group too young for its rights to be known everywhere. */
async function isNewGroup(kind: KindContext, parent: string | undefined): Promise<boolean> {
  if (parent === undefined) return false;
  const client = kind.client();
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
function lostSecret(spec: ResourceSpec, id: string, inputs: Props): PartialFailure {
  const recorded = spec.operations?.inputsAfterLostSecret?.(inputs) ?? inputs;
  return new PartialFailure("PP4003", id, { ...outputsFor(spec, recorded, {}), [UNCONFIRMED]: true }, [
    `${labelResource(spec, inputs)} was created as ${id}, but the response with its ${createOnlyOutputs(spec).join(", ")} was lost, and that is returned only at creation: run again to replace it, or destroy it`,
  ]);
}

/** Outputs of a new resource. What the server did not apply is a partial failure, never silence. */
async function verifyCreate(kind: KindContext, id: string, news: Props, created: JsonObject): Promise<Props> {
  const { spec, client, reader } = kind;
  let response = findSchemaMismatch(spec, created as Props, id) === undefined ? created : { uid: id };
  const outputs = readOutputs(spec, response as Props, id, {});
  if (createOnlyOutputs(spec).some((key) => outputs[key] === undefined)) throw lostSecret(spec, id, news);
  const subresources = changedSubresources(spec, {}, news);
  const isApplied = isEqualObject(spec, news, reader.parseInputs(response, id));
  try {
    if (subresources.length > 0) await spec.operations?.writeSubresource?.(client(), id, {}, news);
    if (subresources.length > 0 || !isApplied) {
      response = await reader.get(id, news);
      // Throws where the response does not have the form of the kind.
      reader.parseInputs(response, id);
    }
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
  return verifyWrite(kind, { id, olds: undefined, news, response, known: outputs });
}

/** Takes over what exists, if it is what the inputs describe; writes nothing. */
async function adoptExisting(
  { spec, reader }: KindContext,
  what: string,
  id: string,
  inputs: Props,
): Promise<CreateResult> {
  const once = createOnlyOutputs(spec);
  if (once.length > 0) {
    throw handlerError(
      "PP4007",
      `${what}: its ${once.join(", ")} is returned only at creation, so it cannot be adopted`,
    );
  }
  const response = await reader.find(id, inputs).catch((error: unknown) => {
    throw explain(spec, what, error, []);
  });
  if (response === undefined) {
    throw handlerError("PP4005", `${what}: not found; remove adopt() to create a new one`);
  }
  const existing = reader.parseInputs(response, id);
  const { inputs: liveInputs } = mergeLive(spec, inputs, existing);
  const differences = Object.entries(spec.fields)
    .filter(([key, field]) => !equal(field, liveInputs[key], inputs[key]))
    .map(
      ([key, field]) =>
        `  ${key}: declared ${show(field, inputs[key])}, existing ${show(field, liveInputs[key])}`,
    );
  if (differences.length > 0) {
    throw handlerError(
      "PP4006",
      [
        `${what}: it differs from the program; declare its values, or remove adopt() to create a new one`,
        ...differences,
      ].join("\n"),
    );
  }
  const outs = { ...outputsFor(spec, inputs, existing), ...readOutputs(spec, response as Props, id, {}) };
  return { id, outs };
}

function show(field: FieldSpec, value: Json | undefined): string {
  return containsSecret(field) ? "something else" : printable(JSON.stringify(value ?? null), 300);
}
