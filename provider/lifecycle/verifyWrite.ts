import type { JsonObject } from "../http/client";
import { printable } from "../text/printable";
import { equal, isSet } from "../fields/equal";
import { adviseOnNames, holdsNames, NAMES_ARE_DROPPED } from "../fields/enumNames";
import { containsSecret } from "../fields/fieldSpec";
import type { ResourceSpec } from "../fields/resourceSpec";
import type { Json, Props } from "../fields/values";
import { normalizeBody, readOutputs, wireName } from "../fields/wire";
import { isServerFilled, mergeLive, outputsFor } from "../fields/mergeLive";
import type { KindContext } from "./context";
import { explain, labelResource, PartialFailure } from "./messages";

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

/** A create or an update of one resource. */
export interface Write {
  readonly id: string;
  /** The recorded properties; undefined after a create. */
  readonly olds: Props | undefined;
  readonly news: Props;
}

/** What a response to a write shows. */
export interface WriteComparison {
  readonly response: JsonObject;
  readonly live: Props;
  /** The same in the spelling of the program. */
  readonly liveInputs: Props;
  /** Inputs that the server did not apply. */
  readonly unapplied: readonly string[];
  /** Inputs that this write did not change and that somebody else changed at the server. */
  readonly changedElsewhere: readonly string[];
}

/** @throws HandlerError if the response does not have the form of the kind */
function compareWrite(
  { spec, reader }: KindContext,
  { id, olds, news }: Write,
  response: JsonObject,
): WriteComparison {
  const live = reader.parseInputs(response, id);
  const body = normalizeBody(spec, response as Props, id);
  const liveInputs = mergeLive(spec, outputsFor(spec, news, {}, olds), live).inputs;
  const changedElsewhere = Object.entries(spec.fields).filter(
    ([key, field]) =>
      olds !== undefined &&
      !field.inputOnly &&
      equal(field, olds[key], news[key]) &&
      body[wireName(key, field)] !== undefined &&
      !equal(field, liveInputs[key], news[key]),
  );
  return {
    response,
    live,
    liveInputs,
    unapplied: findUnappliedFields(spec, olds, news, live),
    changedElsewhere: changedElsewhere.map(([key]) => key),
  };
}

/**
 * The complete resource after a write, compared with it: the response where it shows all that was written and nothing else, or
 * what a GET returns. A response may contain a part of the resource, so a difference in it proves nothing.
 * @throws HandlerError if it does not have the form of the kind
 */
export async function confirm(
  kind: KindContext,
  write: Write,
  response: JsonObject,
): Promise<WriteComparison> {
  if (response["uid"] === write.id) {
    const comparison = compareWrite(kind, write, response);
    if (comparison.unapplied.length === 0 && comparison.changedElsewhere.length === 0) return comparison;
  }
  return compareWrite(kind, write, await kind.reader.get(write.id, write.news));
}

/**
 * The outputs after a write.
 * @param known outputs that only an earlier response contained
 * @throws PartialFailure if the server did not apply what was written
 */
function verifyWrite(spec: ResourceSpec, write: Write, comparison: WriteComparison, known: Props): Props {
  const { id, olds, news } = write;
  const { response, live, liveInputs, unapplied, changedElsewhere } = comparison;
  const outputs = readOutputs(spec, response as Props, id, known);
  if (unapplied.length === 0 && changedElsewhere.length === 0) {
    return { ...outputsFor(spec, news, live, olds), ...outputs };
  }
  // What the server has beside the old and the new value is not recorded: drift has to find it. The next run finds all of this
  // different, and writes it.
  const recordUnapplied = (key: string): Json | undefined => {
    if (olds === undefined) return live[key];
    const field = spec.fields[key];
    return field && equal(field, liveInputs[key], olds[key]) ? olds[key] : null;
  };
  const applied = {
    ...news,
    ...Object.fromEntries(changedElsewhere.map((key) => [key, null])),
    ...Object.fromEntries(unapplied.map((key) => [key, recordUnapplied(key)])),
  };
  const reason =
    unapplied.length > 0
      ? `the server ignored ${describeFields(spec, unapplied, live)}${explainDroppedNames(spec, unapplied, news)}`
      : `updated, but someone else changed ${describeFields(spec, changedElsewhere, live)} since the last run: run again to restore what the program sets, unless another stack manages it too`;
  throw new PartialFailure("PP4004", id, { ...outputsFor(spec, applied, live, olds), ...outputs }, [
    `${labelResource(spec, news)} ${id}: ${reason}`,
  ]);
}

/** What explains that the server ignored fields with names of enumerations, as the end of a sentence. */
function explainDroppedNames({ fields }: ResourceSpec, keys: readonly string[], news: Props): string {
  const ignored = Object.entries(fields).filter(([key, field]) => keys.includes(key) && holdsNames(field));
  if (ignored.length === 0) return "";
  const unknown = ignored.flatMap(([key, field]) => adviseOnNames(field, news[key]));
  return `; ${unknown.length === 0 ? NAMES_ARE_DROPPED : unknown.join("; ")}`;
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

/** What a state records of `subresource` fields before they are written: values that the next run finds different. */
export function unwrittenParts(spec: ResourceSpec, { olds = {}, news }: Write): Props {
  const parts = Object.entries(spec.fields).filter(
    ([key, field]) => field.subresource && (isSet(field, news[key]) || isSet(field, olds[key])),
  );
  return Object.fromEntries(
    parts.map(([key, field]) => [key, equal(field, olds[key], news[key]) ? null : (olds[key] ?? null)]),
  );
}

/**
 * The outputs after a write, once a kind has done what follows it.
 * @param comparison undefined where nothing of its own was written
 * @param known outputs that only an earlier response contained
 * @throws PartialFailure if the server did not apply what was written, or the rest failed: the next run does that again
 */
export async function finishWrite(
  kind: KindContext,
  write: Write,
  comparison: WriteComparison | undefined,
  known: Props,
): Promise<Props> {
  const { spec, client, host } = kind;
  const { id, olds = {}, news } = write;
  const outs =
    comparison === undefined
      ? { ...outputsFor(spec, news, {}, olds), ...readOutputs(spec, {}, id, olds) }
      : verifyWrite(spec, write, comparison, known);
  try {
    await spec.operations?.afterWrite?.(client(), id, olds, news, host);
    return outs;
  } catch (error) {
    const unwritten = unwrittenParts(spec, write);
    const what = `${labelResource(spec, news)} ${id}: ${Object.keys(unwritten).join(", ")} failed`;
    const { errorCode, message } = explain(spec, what, error, []);
    throw new PartialFailure(errorCode, id, { ...outs, ...unwritten }, [message]);
  }
}
