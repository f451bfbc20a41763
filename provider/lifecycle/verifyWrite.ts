import type { JsonObject } from "../http/client";
import { printable } from "../http/errors";
import { equal, equalForDrift, isSet } from "../fields/equal";
import { containsSecret } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import { changedSubresources } from "../fields/patch";
import type { ResourceSpec } from "../fields/resourceSpec";
import { isObject } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { normalizeBody, readOutputs, wireName } from "../fields/wire";
import { partsOf } from "../fields/walk";
import { isServerFilled, mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import type { KindReader } from "./read";
import { explain, labelResource, PartialFailure } from "./messages";

/**
 * Whether a live value holds what was written of the fields whose drift is ignored. What was not written there may be
 * anything; the other fields are compared elsewhere.
 */
function hasIgnoredAsWritten(spec: FieldSpec, written: Json | undefined, live: Json | undefined): boolean {
  if (spec.ignoreDrift) return !isSet(spec, written) || equal(spec, written, live);
  if (spec.type === "list" && Array.isArray(written) && Array.isArray(live)) {
    return written.every((item) =>
      live.some(
        (other) => equalForDrift(spec.items, item, other) && hasIgnoredAsWritten(spec.items, item, other),
      ),
    );
  }
  if (!isObject(live)) return true;
  return partsOf(spec, written).every(({ field, key, value }) =>
    hasIgnoredAsWritten(field, value, live[key]),
  );
}

/** Inputs that the server did not apply: it ignores what it does not know. `olds` is undefined after a create. */
export function findUnappliedFields(
  spec: ResourceSpec,
  olds: Props | undefined,
  news: Props,
  live: Props,
): string[] {
  const liveInputs = mergeLive(spec, outputsFor(spec, news, live), live).inputs;
  return Object.entries(spec.fields)
    .filter(([key, field]) => {
      const isUnchanged = olds !== undefined && equal(field, olds[key], news[key]);
      if (field.path || field.subresource || field.inputOnly || isUnchanged) return false;
      if (!equal(field, liveInputs[key], news[key])) return true;
      const isCleared = olds !== undefined && !isSet(field, news[key]);
      return isCleared && isSet(field, live[key]) && !isServerFilled(field, live, key);
    })
    .map(([key]) => key);
}

/** Whether an object equals the one that a create with these inputs makes. */
export function isEqualObject(spec: ResourceSpec, inputs: Props, live: Props): boolean {
  return findUnappliedFields(spec, undefined, inputs, live).length === 0;
}

/** A response to a write, and the inputs in it. */
interface WriteResponse {
  readonly body: Props;
  readonly live: Props;
}

/** Finds the inputs that this write did not change and that somebody else changed at the server. */
function findForeignChanges(
  spec: ResourceSpec,
  olds: Props,
  news: Props,
  { body, live }: WriteResponse,
): string[] {
  const liveInputs = mergeLive(spec, outputsFor(spec, news, {}, olds), live).inputs;
  return Object.entries(spec.fields)
    .filter(
      ([key, field]) =>
        !field.inputOnly &&
        equal(field, olds[key], news[key]) &&
        body[wireName(key, field)] !== undefined &&
        !equal(field, liveInputs[key], news[key]),
    )
    .map(([key]) => key);
}

function parseResponse({ spec, parseInputs }: KindReader, id: string, response: JsonObject): WriteResponse {
  const live = parseInputs(response, id);
  return { body: normalizeBody(spec, response as Props, id), live };
}

/**
 * Whether the response to an update proves that the update was applied. A response may contain a part of the resource, so
 * a difference proves nothing before the resource is read again.
 */
export function isVerified(
  reader: KindReader,
  id: string,
  olds: Props,
  news: Props,
  response: JsonObject,
): boolean {
  if (response["uid"] !== id) return false;
  const parsed = parseResponse(reader, id, response);
  return (
    findUnappliedFields(reader.spec, olds, news, parsed.live).length === 0 &&
    findForeignChanges(reader.spec, olds, news, parsed).length === 0
  );
}

export interface Write {
  readonly id: string;
  /** The recorded properties; undefined after a create. */
  readonly olds: Props | undefined;
  readonly news: Props;
  /** A response that contains the complete resource. */
  readonly response: JsonObject;
  /** Outputs that only an earlier response contained. */
  readonly known: Props;
}

/**
 * The outputs after a write. A field whose drift is ignored is warned of: the server may choose its text.
 * @throws PartialFailure if the server did not apply what was written
 */
export function verifyWrite(
  { spec, reader, host }: KindContext,
  { id, olds, news, response, known }: Write,
): Props {
  const parsed = parseResponse(reader, id, response);
  const { live } = parsed;
  const unapplied = findUnappliedFields(spec, olds, news, live);
  const foreign = olds === undefined ? [] : findForeignChanges(spec, olds, news, parsed);
  const outputs = readOutputs(spec, response as Props, id, known);
  const rewritten = Object.entries(spec.fields)
    .filter(
      ([key, field]) =>
        !equal(field, olds?.[key], news[key]) && !hasIgnoredAsWritten(field, news[key], live[key]),
    )
    .map(([key]) => key);
  if (rewritten.length > 0) {
    host.warn(
      `${labelResource(spec, news)} ${id}: the server did not take over every name or text in ${describeFields(spec, rewritten, live)}; these only inform people, so this is neither an error nor drift`,
    );
  }
  if (unapplied.length === 0 && foreign.length === 0) {
    return { ...outputsFor(spec, news, live, olds), ...outputs };
  }
  const liveOutputs = mergeLive(spec, { ...news }, live).outs;
  const reason =
    unapplied.length > 0
      ? `the server ignored ${describeFields(spec, unapplied, live)}; it silently drops names that it does not know`
      : `updated, but someone else changed ${describeFields(spec, foreign, live)} since the last run: run again to restore the program's values, unless another stack manages it too`;
  throw new PartialFailure("PP4004", id, { ...liveOutputs, ...outputs }, [
    `${labelResource(spec, news)} ${id}: ${reason}`,
  ]);
}

function describeFields(spec: ResourceSpec, keys: readonly string[], live: Props): string {
  return keys
    .map((key) => {
      const field = spec.fields[key];
      const value = field && !containsSecret(field) ? JSON.stringify(live[key] ?? null) : "something else";
      return `${key} (the server has ${printable(value, 200)})`;
    })
    .join(", ");
}

/** Runs what a kind does after a write. Where it fails, the resource stays and the next run repeats it. */
export async function runAfterWrite(
  { spec, client, host }: KindContext,
  id: string,
  news: Props,
  outs: Props,
): Promise<Props> {
  try {
    await spec.operations?.afterWrite?.(client(), id, news, host);
    return outs;
  } catch (error) {
    // A subresource that is recorded as not set differs from the program, so the next run writes it again.
    const unset = Object.fromEntries(changedSubresources(spec, {}, news).map((key) => [key, null]));
    const { errorCode, message } = explain(spec, `${labelResource(spec, news)} ${id}`, error, []);
    throw new PartialFailure(errorCode, id, { ...outs, ...unset }, [message]);
  }
}
