import { errorCodeOf, errorMessage, hasCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { canonical, equal } from "../fields/equal";
import { containsSecret } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import { createOnlyOutputs, isFoundByComparison, isReadAs, onSameObject } from "../fields/resourceSpec";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import type { ResourceSpec } from "../fields/resourceSpec";
import { ADOPT, UNCONFIRMED } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { buildCreateBody, parentUidOf, readOutputs } from "../fields/wire";
import { requireUid } from "../http/client";
import type { JsonObject } from "../http/client";
import { ConnectionError, hasUnknownOutcome, isNotFound } from "../http/errors";
import { ALIAS_OPTION } from "../text/aliasOption";
import { printable } from "../text/printable";
import { isUid, lineage, rootOf } from "../text/uid";
import type { KindContext } from "./context";
import {
  explain,
  adviseOnRefusal,
  explainFailure,
  HandlerError,
  labelResource,
  PartialFailure,
} from "./messages";
import { confirm, finishWrite, unwrittenParts, findUnappliedFields } from "./verifyWrite";

/*
 * A create, from the inputs of a program to the outputs in the state, in the order in which it happens. What becomes of a
 * create whose response is lost stands below it, from `createDespiteLoss` on.
 */

/** What to do where the object of a new resource exists already. */
const RENAME_ADVICE = `if the resource was renamed or moved in the program, connect it to its old name: ${ALIAS_OPTION}; if another stack or a person created it, adopt it with adopt(), or delete it there`;

export interface CreateResult {
  readonly id: string;
  readonly outs: Props;
}

/** Creates a resource, or adopts what exists. */
export async function createResource(kind: KindContext, inputs: Props): Promise<CreateResult> {
  const { spec, mutex, record } = kind;
  const given = inputs[ADOPT];
  const adopted = typeof given === "string" && given !== "" ? given : undefined;
  const label = describe(spec, inputs);
  const what =
    adopted === undefined ? `creating ${label}` : `adopting ${labelResource(spec, inputs)} ${adopted}`;
  return record.reserve(spec, inputs, what, label, () =>
    adopted === undefined
      ? mutex.runExclusive(mutexKeyOf(spec, inputs), () => createNew(kind, what, label, inputs))
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
 * Creates with the same key run one after another. Those of equal resources have one key, or a lost create could take the
 * object of another: inputs that one object may fit agree in all that must be given.
 */
function mutexKeyOf(spec: ResourceSpec, inputs: Props): string {
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
      const { object, lossError } = await createOrTakeOver(kind, attempt);
      const id = String(object["uid"]);
      if (!spec.sharesParentUid) client().noteCreated(id);
      return {
        id,
        object,
        duplicates: lossError === undefined ? [] : await claimDuplicates(kind, attempt, lossError),
      };
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
  const { spec, host, record } = kind;
  try {
    return await createDespiteLoss(kind, attempt);
  } catch (error) {
    if (onSameObject(spec) === "another" || !hasCode(error, "ALREADY_EXISTS")) throw error;
    const object = await findExisting(kind, attempt).catch(() => undefined);
    const uid = String(object?.["uid"]);
    const isFree =
      object !== undefined && !record.keeps(spec.kind, uid) && record.claim(spec, uid, attempt.label);
    if (!isFree) throw explain(spec, attempt.what, error, [RENAME_ADVICE]);
    host.warn(
      `${attempt.what}: ${uid} already exists and is equal, so it is adopted; only one stack should manage it`,
    );
    return { object, lossError: undefined };
  }
}

/** Sends a create once. Its object is claimed for the resource; a 200 that contains no new object of this create is treated as lost. */
async function send(kind: KindContext, attempt: Attempt): Promise<JsonObject> {
  const { spec, client, host, record } = kind;
  const { what, parent, inputs } = attempt;
  const body = buildCreateBody(spec, inputs);
  const ownCreate = spec.operations?.create;
  const response = ownCreate
    ? await ownCreate(client(), inputs, body, host)
    : await client().create(spec.collection, parent, body);
  const uid = requireUid(response, what, client().addressAdvice);
  const { name } = response;
  const isOther = typeof name === "string" && name !== "" && "name" in inputs && name !== inputs["name"];
  if (!isUid(uid) || parentUidOf(spec, uid) !== parent || isOther) {
    const message = `${what}: the response is not about a new ${spec.noun} there; ${client().addressAdvice}`;
    throw new ConnectionError("PP4008", message, "unknown", false);
  }
  if (!record.claim(spec, uid, attempt.label)) {
    const owner = record.ownerOf(spec, uid) ?? "";
    const message = `${what}: the response is about ${uid}, which belongs to another resource of this program, ${owner}`;
    throw new ConnectionError("PP4009", message, "unknown", false);
  }
  return response;
}

/** Outputs of a new resource. What the server did not apply is a partial failure, never silence. */
async function verifyCreate(kind: KindContext, id: string, news: Props, created: JsonObject): Promise<Props> {
  const { spec } = kind;
  // What is returned once is in the first response only.
  const known = readOutputs(spec, created as Props, id, {});
  const write = { id, olds: undefined, news };
  /** The resource exists, but not as declared, or nobody knows: the next update reads it first. */
  const failWith = (code: ErrorCode, reason: string): PartialFailure => {
    const recorded = { ...outputsFor(spec, news, {}), ...unwrittenParts(spec, write) };
    return new PartialFailure(code, id, { ...recorded, ...known, [UNCONFIRMED]: true }, [
      `${labelResource(spec, news)} was created as ${id}, but ${reason}`,
    ]);
  };
  const missing = createOnlyOutputs(spec).filter((key) => known[key] === undefined);
  if (missing.length > 0) {
    // A diff finds that they are missing, and replaces the resource.
    throw failWith(
      "PP4003",
      `the response with its ${missing.join(", ")} was lost, and that is returned only at creation: run again to replace it, or destroy it`,
    );
  }
  const comparison = await confirm(kind, write, created).catch((error: unknown) => {
    throw failWith(errorCodeOf(error), `reading it back failed: ${errorMessage(error)}`);
  });
  return finishWrite(kind, write, comparison, known);
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
    throw new HandlerError(
      "PP4007",
      `${what}: its ${once.join(", ")} is returned only at creation, so it cannot be adopted`,
    );
  }
  const response = await explainFailure(spec, what, () => reader.find(id, inputs));
  if (response === undefined) {
    throw new HandlerError("PP4005", `${what}: not found; remove adopt() to create a new one`);
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
    throw new HandlerError(
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

/*
 * A create whose response may be lost: when it is sent again, what is looked for, and what is done with what is found.
 * Nothing here deletes what a lost create may have left behind: nobody can prove that no other program made it, so an
 * error names it.
 */

/** Waits before each look for what a lost create has made: it may arrive late. */
const LOOK_DELAYS_MS = [500, 1500, 3000];
/** How often a create is sent while its responses are lost. */
const MAX_SENDS = 3;
/** Waits before a create below a new group is sent again: the rights of its owner are not known everywhere yet. */
const NEW_GROUP_DELAYS_MS = [2000, 4000, 8000, 16_000];
/** The rights of a group's owner are known everywhere by then. */
const NEW_GROUP_MS = 120_000;
/** Two clocks that show whole seconds may differ by this. */
const CLOCK_TOLERANCE_MS = 2000;

/** The create of one resource. */
interface AttemptStart {
  readonly what: string;
  /** What messages call the resource as the owner of an object. */
  readonly label: string;
  readonly parent: string | undefined;
  readonly inputs: Props;
}

/** A create that has begun, and whose response may be lost. */
interface Attempt extends AttemptStart {
  /** Just before it was first sent, by `performance.now()`. */
  readonly startedAt: number;
  /** The uids of equal objects from before it, for a kind whose objects have no time of creation. */
  readonly older: ReadonlySet<string>;
}

/** Begins an attempt. For a kind whose objects have no time of creation it lists what exists before the create. */
async function startAttempt(kind: KindContext, start: AttemptStart): Promise<Attempt> {
  const startedAt = performance.now();
  const older = isFoundByComparison(kind.spec) ? await listEqual(kind, start) : [];
  return { ...start, startedAt, older: new Set(older.map(({ uid }) => String(uid))) };
}

/** What a create has made. */
interface Created {
  readonly object: JsonObject;
  /** An earlier send without a response, which may have taken effect besides; undefined if there was none. */
  readonly lossError: unknown;
}

/**
 * Sends a create, and finds out what became of it where its response is lost: one equal object is what it has made. If there
 * is none, it is sent again.
 * @throws the error of a create that failed
 */
async function createDespiteLoss(kind: KindContext, attempt: Attempt): Promise<Created> {
  const { spec, host } = kind;
  const groupDelays = [...NEW_GROUP_DELAYS_MS];
  let lossError: unknown;
  let sends = 0;
  for (;;) {
    try {
      return { object: await send(kind, attempt), lossError };
    } catch (error) {
      const [delay] = groupDelays;
      if (delay !== undefined && mayBeTooEarly(error) && isNewGroup(kind, attempt.parent)) {
        groupDelays.shift();
        await refreshToken(kind, attempt);
        await host.sleep(delay);
        continue;
      }
      const isLost = hasUnknownOutcome(error);
      // Such a create has dealt with a lost response already.
      if (spec.operations?.takesOver || (!isLost && lossError === undefined)) throw error;
      if (isLost) {
        lossError = error;
        sends += 1;
      }
      // What is refused now may exist because an earlier send has arrived: one look tells.
      for (const lookDelay of isLost ? LOOK_DELAYS_MS : [0]) {
        if (lookDelay > 0) await host.sleep(lookDelay);
        const object = await findLostCreate(kind, attempt, lossError);
        // What was found may be the work of any send, so there is no other to name.
        if (object !== undefined) return { object, lossError: undefined };
      }
      if (!isLost) throw error;
      if (sends === MAX_SENDS) {
        throw explain(spec, attempt.what, error, [
          `no response after ${sends} attempts; it may still be created: check before you retry`,
        ]);
      }
    }
  }
}

/** Whether a create may be refused because its parent is not known everywhere yet. An explained error is judged by its cause. */
function mayBeTooEarly(error: unknown): boolean {
  const reason = error instanceof HandlerError ? error.cause : error;
  return hasCode(reason, "PERMISSION_DENIED") || isNotFound(reason);
}

/** Whether this run made the parent, or a group above it, too recently for its rights to be known everywhere. */
function isNewGroup({ client }: KindContext, parent: string | undefined): boolean {
  const ages = parent === undefined ? [] : lineage(parent).map((uid) => client().timeSinceCreation(uid));
  return ages.some((age) => age !== undefined && age < NEW_GROUP_MS);
}

/** Exchanges the token once for a root group that this run made. */
async function refreshToken({ client, host }: KindContext, { what, parent }: Attempt): Promise<void> {
  try {
    await client().refreshTokenFor(rootOf(parent ?? ""));
  } catch (error) {
    // The token in use may suffice: only time may be missing.
    host.warn(`${what}: the token in use is kept, since no new one could be had: ${errorMessage(error)}`);
  }
}

/**
 * The object that a lost create has made: equal in every input, made since, and of no other resource of this run.
 * @throws HandlerError that lists them where there are several
 */
async function findLostCreate(
  kind: KindContext,
  attempt: Attempt,
  lossError: unknown,
): Promise<JsonObject | undefined> {
  const { spec, record } = kind;
  const found = await searchNew(kind, attempt, lossError);
  const uids = found.map(({ uid }) => String(uid)).join(", ");
  if (isReadAs(spec, "createTime") && found.some((each) => Number.isNaN(timeOf(each)))) {
    const advice =
      found.length === 1
        ? `${uids} is equal, but has no creation time: if nobody else made it, delete it or adopt it before you run again`
        : `one of ${uids} may be the new one, but they have no creation time: adopt or delete the one that nobody else made before you run again`;
    throw new HandlerError("PP4001", `${attempt.what}: the response was lost; ${advice}`);
  }
  const [object] = found;
  if (found.length < 2) {
    const isOurs = object !== undefined && record.claim(spec, String(object["uid"]), attempt.label);
    return isOurs ? object : undefined;
  }
  const canAdopt = createOnlyOutputs(spec).length === 0;
  throw new HandlerError(
    "PP4002",
    `${attempt.what}: the response was lost, and ${found.length} equal objects were created since: ${uids}; before you run again, ${canAdopt ? "take over one of them by adopt() and delete the others" : "delete them"}, unless someone else created them`,
  );
}

/** Claims what an earlier send has made besides the object that the create got, and returns the uids. */
async function claimDuplicates(kind: KindContext, attempt: Attempt, lossError: unknown): Promise<string[]> {
  if (kind.spec.sharesParentUid) return [];
  // The object exists and must not be lost, even if this lookup fails.
  const found = await searchNew(kind, attempt, lossError).catch(() => []);
  const uids = found.map(({ uid }) => String(uid));
  // An error tells a person to delete them, so no equal create may take one.
  for (const uid of uids) kind.record.claim(kind.spec, uid, attempt.label);
  return uids;
}

/** The one object of the place that is what the inputs describe, of whatever age; undefined where none or several are. */
async function findExisting(kind: KindContext, attempt: Attempt): Promise<JsonObject | undefined> {
  const found = await listEqual(kind, attempt);
  return found.length === 1 ? found[0] : undefined;
}

/** What a lost create may have made. A search that fails says so: sending again could make a second object. */
async function searchNew(kind: KindContext, attempt: Attempt, lossError: unknown): Promise<JsonObject[]> {
  try {
    return await listNew(kind, attempt);
  } catch (error) {
    if (error instanceof HandlerError) throw error;
    // No response was ever the API's: there is nothing to look for.
    if ([error, lossError].every((each) => each instanceof ConnectionError && !each.isTransient))
      throw lossError;
    throw new HandlerError(
      "PP4001",
      `${attempt.what}: the response was lost (${errorMessage(lossError)}), and the search for what was created failed (${errorMessage(error)}); check whether it exists before you run again`,
    );
  }
}

const timeOf = ({ createTime }: JsonObject): number =>
  typeof createTime === "string" ? Date.parse(createTime) : NaN;

/** Equal objects of the place that were made since the attempt began, or whose age is not known. */
async function listNew(kind: KindContext, attempt: Attempt): Promise<JsonObject[]> {
  const { startedAt, older } = attempt;
  const objects = await listEqual(kind, attempt);
  // The server's clock is known from its responses only, the first of which may be this list's.
  const since = kind.client().serverNow() - (performance.now() - startedAt) - CLOCK_TOLERANCE_MS;
  return objects.filter((object) => !older.has(String(object["uid"])) && !(timeOf(object) < since));
}

/** Equal objects directly below the parent that no resource of this run owns. */
async function listEqual(kind: KindContext, { parent, inputs }: AttemptStart): Promise<JsonObject[]> {
  const { spec, client, reader, record } = kind;
  if (spec.sharesParentUid && parent !== undefined) {
    const only = await reader.find(parent, inputs);
    return only !== undefined && isEqualObject(spec, inputs, reader.parseInputs(only, parent)) ? [only] : [];
  }
  const { name } = inputs;
  const query = {
    ...(parent === undefined ? {} : { "uidp.children_of": parent }),
    ...(spec.listsByName && typeof name === "string" ? { name } : {}),
  };
  const items: JsonObject[] = [];
  for await (const item of client().list(spec.collection, query)) items.push(item);
  return items.filter((item) => {
    const uid = requireUid(item, `listing ${spec.collection}`, client().addressAdvice);
    return (
      parentUidOf(spec, uid) === parent &&
      record.ownerOf(spec, uid) === undefined &&
      isEqualObject(spec, inputs, reader.parseInputs(item, uid))
    );
  });
}

/** Whether an object equals the one that a create with these inputs makes. */
function isEqualObject(spec: ResourceSpec, inputs: Props, live: Props): boolean {
  return findUnappliedFields(spec, undefined, inputs, live).length === 0;
}
