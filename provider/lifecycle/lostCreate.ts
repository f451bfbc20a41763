import type { JsonObject } from "../http/client";
import { requireUid } from "../http/client";
import { ConnectionError, hasCode, hasUnknownOutcome, isNotFound } from "../http/errors";
import { equal } from "../fields/equal";
import { createOnlyOutputs, isFoundByComparison, isReadAs } from "../fields/resourceSpec";
import type { Created, CreateSteps } from "../fields/resourceSpec";
import type { Props } from "../fields/values";
import { parentUidOf } from "../fields/wire";
import { mergeLive } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { errorMessage, HandlerError, handlerError } from "./messages";
import { objectKey } from "./owners";
import { isEqualObject } from "./verifyWrite";

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
/** Two clocks that show whole seconds may differ by this. */
const CLOCK_TOLERANCE_MS = 2000;

/** Creates, and finds out what became of a create without a response. @throws the error of a create that failed */
export async function createAndVerify<T>(steps: CreateSteps<T>): Promise<Created<T>> {
  let lost: unknown;
  let sends = 0;
  const groupDelays = [...NEW_GROUP_DELAYS_MS];
  for (;;) {
    try {
      return { result: await steps.send(), lost };
    } catch (error) {
      const [delay] = groupDelays;
      if (delay !== undefined && mayEndSoon(error) && (await steps.isBelowNewGroup?.()) === true) {
        groupDelays.shift();
        await steps.refreshToken?.();
        await steps.sleep(delay);
        continue;
      }
      const isLost = hasUnknownOutcome(error);
      if (steps.isIdempotent || (!isLost && lost === undefined)) throw error;
      if (isLost) {
        lost = error;
        sends += 1;
      }
      // What is refused now may exist because an earlier send has arrived: one look tells.
      for (const lookDelay of isLost ? LOOK_DELAYS_MS : [0]) {
        if (lookDelay > 0) await steps.sleep(lookDelay);
        const result = await steps.findLostCreate(lost);
        // What was found may be the work of any send, so there is no other to name.
        if (result !== undefined) return { result, lost: undefined };
      }
      if (!isLost) throw error;
      if (sends === MAX_SENDS) throw steps.explainUnknown(error, sends);
    }
  }
}

/** A parent that is not known everywhere yet refuses either way. An explained error is judged by its cause. */
function mayEndSoon(error: unknown): boolean {
  const reason = error instanceof HandlerError ? error.cause : error;
  return hasCode(reason, "PERMISSION_DENIED") || isNotFound(reason);
}

/** The create of one resource, whose response may be lost. */
export interface Attempt {
  readonly what: string;
  readonly parent: string | undefined;
  readonly inputs: Props;
  /** Just before it was first sent, by `performance.now()`. */
  readonly startedAt: number;
  /** Equal objects from before it, for a kind whose objects have no date. */
  readonly older: ReadonlySet<string>;
}

/** Begins an attempt. For a kind whose objects have no date it lists what exists before the create. */
export async function startAttempt(
  kind: KindContext,
  start: Pick<Attempt, "what" | "parent" | "inputs">,
): Promise<Attempt> {
  const attempt = { ...start, startedAt: performance.now(), older: new Set<string>() };
  if (!isFoundByComparison(kind.spec)) return attempt;
  const older = await listEqual(kind, attempt);
  return { ...attempt, older: new Set(older.map(({ uid }) => String(uid))) };
}

/**
 * The object that a lost create has made: equal in every input, made since, and of no other resource of this run.
 * @throws HandlerError that lists them where there are several
 */
export async function findLostCreate(
  kind: KindContext,
  attempt: Attempt,
  lost: unknown,
): Promise<JsonObject | undefined> {
  const found = await listCandidates(kind, attempt, lost);
  if (found.length < 2) return found[0];
  const uids = found.map(({ uid }) => String(uid)).join(", ");
  const canAdopt = createOnlyOutputs(kind.spec).length === 0;
  throw handlerError(
    "PP4002",
    `${attempt.what}: the response was lost, and ${found.length} equal objects were created since: ${uids}; before you run again, ${canAdopt ? "take over one of them by adopt() and delete the others" : "delete them"}, unless someone else created them`,
  );
}

/** The uids of what an earlier send has made besides the object that the create got. */
export async function findDuplicates(kind: KindContext, attempt: Attempt, lost: unknown): Promise<string[]> {
  if (kind.spec.sharesParentUid) return [];
  // The object exists and must not be lost, even if this lookup fails.
  const listed = await listCandidates(kind, attempt, lost).catch(() => []);
  return listed.map(({ uid }) => String(uid));
}

/** The one object of the place that is what the inputs describe, and no more; undefined where none or several are. */
export async function findExisting(
  kind: KindContext,
  { parent, inputs }: Attempt,
): Promise<JsonObject | undefined> {
  const { spec, reader } = kind;
  const found: JsonObject[] = [];
  for await (const { uid, item } of listSiblings(kind, parent, inputs)) {
    const liveInputs = mergeLive(spec, inputs, reader.parseInputs(item, uid)).inputs;
    if (Object.entries(spec.fields).every(([key, field]) => equal(field, liveInputs[key], inputs[key]))) {
      found.push(item);
    }
  }
  return found.length === 1 ? found[0] : undefined;
}

/** What a lost create may have made. A search that fails says so: sending again could make a second object. */
async function listCandidates(kind: KindContext, attempt: Attempt, lost: unknown): Promise<JsonObject[]> {
  const { spec, client } = kind;
  const own = spec.operations?.findLostCreates;
  try {
    return await (own ? own(client(), attempt.inputs) : listEqual(kind, attempt));
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

/** Equal objects of the place, made since the attempt began, that no resource of this run owns. */
async function listEqual(
  kind: KindContext,
  { what, parent, inputs, startedAt, older }: Attempt,
): Promise<JsonObject[]> {
  const { spec, client, reader } = kind;
  const found: JsonObject[] = [];
  for await (const { uid, item } of listSiblings(kind, parent, inputs)) {
    if (older.has(uid)) continue;
    // The server's clock is known from its responses only, the first of which may be this list's.
    const since = client().serverNow() - (performance.now() - startedAt) - CLOCK_TOLERANCE_MS;
    const createdAt = typeof item["createTime"] === "string" ? Date.parse(item["createTime"]) : NaN;
    if (createdAt < since || !isEqualObject(spec, inputs, reader.parseInputs(item, uid))) continue;
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

/** The objects directly below a parent that no resource of this run owns. */
async function* listSiblings(
  { spec, client, reader, claims }: KindContext,
  parent: string | undefined,
  inputs: Props,
): AsyncIterable<{ readonly uid: string; readonly item: JsonObject }> {
  if (spec.sharesParentUid && parent !== undefined) {
    // The only object of its parent was looked up for its owner.
    const item = await reader.find(parent, inputs);
    if (item !== undefined) yield { uid: parent, item };
    return;
  }
  const name = inputs["name"];
  // Concurrent searches share one list.
  const items = await client().listShared(spec.collection, {
    ...(parent === undefined ? {} : { "uidp.children_of": parent }),
    ...(spec.listsByName && typeof name === "string" ? { name } : {}),
  });
  for (const item of items) {
    const uid = requireUid(item, `listing ${spec.collection}`);
    const isOwned = claims.ownerOf(objectKey(spec, uid)) !== undefined;
    if (parentUidOf(spec, uid) === parent && !isOwned) yield { uid, item };
  }
}
