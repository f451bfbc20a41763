import type { JsonObject } from "../http/client";
import { ApiError, isNotFound } from "../http/errors";
import { hasCode } from "../errors/codedError";
import { applyUpdate, buildPatch, changedSubresources, writesInputOnly } from "../fields/patch";
import type { Patch } from "../fields/patch";
import { UNCONFIRMED } from "../fields/values";
import type { Props } from "../fields/values";
import { readOutputs } from "../fields/wire";
import { mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { adviseOnRefusal, explainFailure, labelResource } from "./messages";
import { confirm, findUnappliedFields, finishWrite } from "./verifyWrite";
import type { Write } from "./verifyWrite";

/** What was removed at the server is created again once a refresh has found that out. */
function hintOnGone(error: unknown): string[] {
  return isNotFound(error) ? ["if it was removed, run pulumi up --refresh"] : [];
}

/** Changes a resource, and returns its outputs. @throws PartialFailure where the server did not apply the change */
export async function updateResource(
  kind: KindContext,
  id: string,
  recorded: Props,
  news: Props,
): Promise<Props> {
  const { spec, client, host } = kind;
  const olds = recorded[UNCONFIRMED] === true ? await readUnconfirmed(kind, id, recorded) : recorded;
  const patch = buildPatch(spec, olds, news);
  const subresources = changedSubresources(spec, olds, news);
  if (patch.mask.length === 0 && subresources.length === 0) {
    return { ...outputsFor(spec, news, {}, olds), ...readOutputs(spec, {}, id, olds) };
  }
  const write = { id, olds, news };
  const what = `updating ${labelResource(spec, news)} ${id} (${[...patch.mask, ...subresources].join(", ")})`;
  return explainFailure(
    spec,
    what,
    async () => {
      if (patch.mask.length === 0) return finishWrite(kind, write, undefined, olds);
      const { update, writeWhole } = spec.operations ?? {};
      const response = update
        ? await update(client(), id, olds, news, host)
        : writeWhole
          ? await writeWhole(client(), applyUpdate(spec, await readLive(kind, id, news), olds, news))
          : await sendPatch(kind, write, patch);
      const known = readOutputs(spec, response as Props, id, olds);
      return finishWrite(kind, write, await confirm(kind, write, response), known);
    },
    (error) => [...hintOnGone(error), ...adviseOnRefusal(spec, news, error)],
  );
}

/** The properties of a resource that was created, and could not be read then. */
async function readUnconfirmed({ spec, reader }: KindContext, id: string, recorded: Props): Promise<Props> {
  return explainFailure(spec, `reading ${labelResource(spec, recorded)} ${id}`, async () => {
    const response = await reader.get(id, recorded);
    const { outs } = mergeLive(spec, recorded, reader.parseInputs(response, id));
    return { ...outs, ...readOutputs(spec, response as Props, id, recorded) };
  });
}

/** The inputs that the server has: a write of the whole object keeps those that the program does not change. */
async function readLive({ reader }: KindContext, id: string, news: Props): Promise<Props> {
  return reader.parseInputs(await reader.get(id, news), id);
}

/**
 * Sends a PATCH with its mask; without the mask where the server refuses, or ignores, masks in camelCase, and where no
 * response would show that it did.
 * @returns the complete resource
 */
async function sendPatch(kind: KindContext, write: Write, { body, mask }: Patch): Promise<JsonObject> {
  const { id, olds = {}, news } = write;
  const client = kind.client();
  const path = client.address(kind.spec.collection, id);
  const send = async (sent?: readonly string[]) =>
    confirm(kind, write, await client.patchAt(path, body, sent));
  const isMultiWord = mask.some((path) => /[A-Z]/.test(path));
  if (isMultiWord && (client.infersMasks || writesInputOnly(kind.spec, olds, news))) return send();
  let refusal: unknown;
  try {
    const whole = await send(mask);
    if (!isMultiWord || isApplied(kind, write, whole)) return whole;
  } catch (error) {
    // The usual field-mask library refuses camelCase.
    if (!isMultiWord || !hasCode(error, "INVALID_ARGUMENT")) throw error;
    refusal = error;
  }
  // The same body implies the same mask.
  const whole = await send().catch((second: unknown) => {
    const isLessPrecise = second instanceof ApiError && second.details.fieldViolations.length === 0;
    throw refusal !== undefined && isLessPrecise && hasCode(second, "INVALID_ARGUMENT") ? refusal : second;
  });
  client.infersMasks ||= isApplied(kind, write, whole);
  return whole;
}

function isApplied({ spec, reader }: KindContext, { id, olds, news }: Write, whole: JsonObject): boolean {
  return findUnappliedFields(spec, olds, news, reader.parseInputs(whole, id)).length === 0;
}
