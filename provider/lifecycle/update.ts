import type { JsonObject } from "../http/client";
import { ApiError, hasCode, isNotFound } from "../http/errors";
import { changedSubresources, buildPatch } from "../fields/patch";
import type { Patch } from "../fields/patch";
import { UNCONFIRMED } from "../fields/values";
import type { Props } from "../fields/values";
import { readOutputs } from "../fields/wire";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { explainFailure, labelResource } from "./messages";
import { findUnappliedFields, isVerified, runAfterWrite, verifyWrite } from "./verifyWrite";

/** What was removed at the server is created again once a refresh has found that out. */
function hintOnGone(error: unknown): string[] {
  return isNotFound(error) ? ["if it was removed, run pulumi up --refresh"] : [];
}

/** An update of one resource. `olds` are the recorded properties. */
interface Update {
  readonly id: string;
  readonly olds: Props;
  readonly news: Props;
  readonly patch: Patch;
  readonly subresources: readonly string[];
}

/** Changes a resource, and returns its outputs. @throws PartialFailure where the server did not apply the change */
export async function updateResource(
  kind: KindContext,
  id: string,
  recorded: Props,
  news: Props,
): Promise<Props> {
  const { spec } = kind;
  const olds = recorded[UNCONFIRMED] === true ? await readUnconfirmed(kind, id, recorded) : recorded;
  const patch = buildPatch(spec, olds, news);
  const subresources = changedSubresources(spec, olds, news);
  if (patch.mask.length === 0 && subresources.length === 0) {
    return { ...outputsFor(spec, news, {}, olds), ...readOutputs(spec, {}, id, olds) };
  }
  const what = `updating ${labelResource(spec, news)} ${id} (${[...patch.mask, ...subresources].join(", ")})`;
  return explainFailure(
    spec,
    what,
    async () => {
      const { response, known } = await write(kind, { id, olds, news, patch, subresources });
      return runAfterWrite(kind, id, news, verifyWrite(kind, { id, olds, news, response, known }));
    },
    hintOnGone,
  );
}

/** Sends the requests of an update. The response contains the complete resource. */
async function write(kind: KindContext, update: Update): Promise<{ response: JsonObject; known: Props }> {
  const { spec, client, host, reader } = kind;
  const { id, olds, news, patch, subresources } = update;
  let response: JsonObject = {};
  let known = olds;
  if (patch.mask.length > 0) {
    const ownUpdate = spec.operations?.update;
    response = ownUpdate ? await ownUpdate(client(), id, olds, news, host) : await sendPatch(kind, update);
    known = readOutputs(spec, response as Props, id, olds);
    if (!isVerified(reader, id, olds, news, response)) response = await reader.get(id, news);
  }
  if (subresources.length > 0) {
    await spec.operations?.writeSubresource?.(client(), id, olds, news);
    response = await reader.get(id, news);
  }
  return { response, known };
}

/** The properties of a resource that was created, and could not be read then. */
async function readUnconfirmed({ spec, reader }: KindContext, id: string, recorded: Props): Promise<Props> {
  return explainFailure(spec, `reading ${labelResource(spec, recorded)} ${id}`, async () => {
    const response = await reader.get(id, recorded);
    const { outs } = mergeLive(spec, recorded, reader.parseInputs(response, id));
    return { ...outs, ...readOutputs(spec, response as Props, id, recorded) };
  });
}

/** Sends a PATCH with its mask; without the mask where the server refuses, or ignores, masks in camelCase. */
async function sendPatch(kind: KindContext, update: Update): Promise<JsonObject> {
  const client = kind.client();
  const { mask } = update.patch;
  const isMultiWord = mask.some((path) => /[A-Z]/.test(path));
  if (isMultiWord && client.infersMasks) return sendAndConfirm(kind, update, undefined);
  let refusal: unknown;
  try {
    const response = await sendAndConfirm(kind, update, mask);
    if (!isMultiWord || isApplied(kind, update, response)) return response;
  } catch (error) {
    // The usual field-mask library refuses camelCase.
    if (!isMultiWord || !hasCode(error, "INVALID_ARGUMENT")) throw error;
    refusal = error;
  }
  // The same body implies the same mask.
  const response = await sendAndConfirm(kind, update, undefined).catch((second: unknown) => {
    const isLessPrecise = second instanceof ApiError && second.details.fieldViolations.length === 0;
    throw refusal !== undefined && isLessPrecise && hasCode(second, "INVALID_ARGUMENT") ? refusal : second;
  });
  client.infersMasks ||= isApplied(kind, update, response);
  return response;
}

/** Sends a PATCH, and reads the resource where the response does not show that it was applied. */
async function sendAndConfirm(
  kind: KindContext,
  update: Update,
  mask: readonly string[] | undefined,
): Promise<JsonObject> {
  const { id, news, patch } = update;
  const response = await kind.client().patch(kind.spec.collection, id, patch.body, mask);
  const isComplete = response["uid"] === id && isApplied(kind, update, response);
  return isComplete ? response : kind.reader.get(id, news);
}

function isApplied({ spec, reader }: KindContext, { id, olds, news }: Update, response: JsonObject): boolean {
  return findUnappliedFields(spec, olds, news, reader.parseInputs(response, id)).length === 0;
}
