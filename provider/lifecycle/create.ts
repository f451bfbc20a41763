import { errorCodeOf, hasCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import type { JsonObject } from "../http/client";
import { requireUid } from "../http/client";
import { ConnectionError } from "../http/errors";
import { printable } from "../text/printable";
import { isUid } from "../text/uid";
import { identityKey } from "../fields/identity";
import { canonical, equal } from "../fields/equal";
import { containsSecret } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import { createOnlyOutputs } from "../fields/resourceSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import { ADOPT, UNCONFIRMED } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { buildCreateBody, findSchemaMismatch, parentUidOf, readOutputs } from "../fields/wire";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { claimDuplicates, createDespiteLoss, findExisting, startAttempt } from "./lostCreate";
import type { Attempt, Created } from "./lostCreate";
import {
  errorMessage,
  explain,
  adviseOnRefusal,
  explainFailure,
  handlerError,
  labelResource,
  PartialFailure,
} from "./messages";
import { confirm, finishWrite, unwrittenParts } from "./verifyWrite";

/*
 * A create, from the inputs of a program to the outputs in the state, in the order in which it happens. What becomes of a
 * create whose response is lost is in lostCreate.ts.
 */

/** What to do where the object of a new resource exists already. */
const RENAME_ADVICE =
  'if the resource was renamed or moved in the program, connect it to its old name: aliases: [{ name: "<old name>" }]; if another stack or a person created it, adopt it with adopt(), or delete it there';

export interface CreateResult {
  readonly id: string;
  readonly outs: Props;
}

/** Creates a resource, or adopts what exists. */
export async function createResource(kind: KindContext, inputs: Props): Promise<CreateResult> {
  const { spec, mutex, program } = kind;
  const given = inputs[ADOPT];
  const adopted = typeof given === "string" && given !== "" ? given : undefined;
  const label = describe(spec, inputs);
  const what =
    adopted === undefined ? `creating ${label}` : `adopting ${labelResource(spec, inputs)} ${adopted}`;
  return program.reserve(spec, inputs, what, label, () =>
    adopted === undefined
      ? mutex.runExclusive(turnOf(spec, inputs), () => createNew(kind, what, label, inputs))
      : adoptExisting(kind, what, adopted, inputs),
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

async function createNew(
  kind: KindContext,
  what: string,
  label: string,
  inputs: Props,
): Promise<CreateResult> {
  const { spec, client } = kind;
  const { id, object, duplicates } = await explainFailure(
    spec,
    what,
    async () => {
      const attempt = await startAttempt(kind, { what, label, parent: parentOfInputs(inputs), inputs });
      const { object, lost } = await createOrTakeOver(kind, attempt);
      const id = requireUid(object, what);
      if (!spec.sharesParentUid) client().noteCreated(id);
      return { id, object, duplicates: lost === undefined ? [] : await claimDuplicates(kind, attempt, lost) };
    },
    (error) => adviseOnRefusal(spec, inputs, error),
  );
  const outs = await verifyCreate(kind, id, inputs, object);
  if (duplicates.length === 0) return { id, outs };
  throw new PartialFailure("PP4002", id, outs, [
    `${labelResource(spec, inputs)} was created as ${id} after a request without a response, which took effect too: delete ${duplicates.join(", ")}, unless someone else created it`,
  ]);
}

/** A kind of which a place takes each object once refuses a second one. An equal object is taken over instead. */
async function createOrTakeOver(kind: KindContext, attempt: Attempt): Promise<Created> {
  const { spec, host, program } = kind;
  try {
    return await createDespiteLoss(kind, attempt, () => send(kind, attempt));
  } catch (error) {
    if (identityKey(spec, attempt.inputs) === undefined || !hasCode(error, "ALREADY_EXISTS")) throw error;
    const object = await findExisting(kind, attempt).catch(() => undefined);
    const uid = object === undefined ? undefined : requireUid(object, attempt.what);
    const isTaken =
      uid === undefined || program.keeps(spec.kind, uid) || !program.claim(spec, uid, attempt.label);
    if (object === undefined || isTaken) throw explain(spec, attempt.what, error, [RENAME_ADVICE]);
    host.warn(
      `${attempt.what}: ${uid} already exists and is equal, so it is adopted; only one stack should manage it`,
    );
    return { object, lost: undefined };
  }
}

/** Sends a create once. Its object is claimed for the resource; a 200 that contains no new object of this create is treated as lost. */
async function send(kind: KindContext, attempt: Attempt): Promise<JsonObject> {
  const { spec, client, host, program } = kind;
  const { what, parent, inputs } = attempt;
  const body = buildCreateBody(spec, inputs);
  const ownCreate = spec.operations?.create;
  const response = ownCreate
    ? await ownCreate(client(), inputs, body, host)
    : await client().create(spec.collection, parent, body);
  const uid = requireUid(response, what);
  const { name } = response;
  const isOther = typeof name === "string" && name !== "" && "name" in inputs && name !== inputs["name"];
  if (!isUid(uid) || parentUidOf(spec, uid) !== parent || isOther) {
    const message = `${what}: the response is not about a new ${spec.noun} there`;
    throw new ConnectionError("PP4008", message, "unknown", false);
  }
  if (!program.claim(spec, uid, attempt.label)) {
    const owner = program.ownerOf(spec, uid) ?? "";
    const message = `${what}: the response is about ${uid}, which belongs to another resource of this program, ${owner}`;
    throw new ConnectionError("PP4009", message, "unknown", false);
  }
  return response;
}

/** Outputs of a new resource. What the server did not apply is a partial failure, never silence. */
async function verifyCreate(kind: KindContext, id: string, news: Props, created: JsonObject): Promise<Props> {
  const { spec } = kind;
  const isOfKind = findSchemaMismatch(spec, created as Props, id) === undefined;
  // What is returned once is in the first response only.
  const known = readOutputs(spec, isOfKind ? (created as Props) : {}, id, {});
  const write = { id, olds: undefined, news };
  /** The resource exists, but not as declared, or nobody knows: the next update reads it first. */
  const failWith = (code: ErrorCode, reason: string): PartialFailure => {
    const recorded = { ...outputsFor(spec, news, {}), ...unwrittenParts(spec, write) };
    return new PartialFailure(code, id, { ...recorded, ...known, [UNCONFIRMED]: true }, [
      `${labelResource(spec, news)} was created as ${id}, but ${reason}`,
    ]);
  };
  const lost = createOnlyOutputs(spec).filter((key) => known[key] === undefined);
  if (lost.length > 0) {
    // A diff finds that they are missing, and replaces the resource.
    throw failWith(
      "PP4003",
      `the response with its ${lost.join(", ")} was lost, and that is returned only at creation: run again to replace it, or destroy it`,
    );
  }
  const response = await confirm(kind, write, isOfKind ? created : {}).catch((error: unknown) => {
    throw failWith(errorCodeOf(error), `reading it back failed: ${errorMessage(error)}`);
  });
  return finishWrite(kind, write, response, known);
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
