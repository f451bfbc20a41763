import { isServerFilled, NORMALIZED } from "../../fields/mergeLive";
import { equal, equalForDrift, isSet } from "../../fields/equal";
import type { AccessEffect } from "../../fields/accessMeanings";
import type { FieldSpec } from "../../fields/fieldSpec";
import { durationNanos, timestampNanos } from "../../fields/formats";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { unreadReason } from "../effects";
import { decidesAccess, effectOf, mustBeAnnounced } from "../graph/fieldAccess";
import { valueAt } from "../graph/describedFields";
import type { Entity } from "../graph/model";

/** An object of the live organisation. */
export interface LiveEntity extends Entity {
  readonly createTime?: string;
  /** The outputs that the state records of it. */
  readonly recordedOutputs?: Props;
  /** The arguments that the state records of it, and that the last update has written. */
  readonly declared?: Props;
}

/** The arguments of a live object, with the expected spelling of each value that is as expected. */
interface AlignedInputs {
  readonly inputs: Props;
  /** Of values that the review could not read, as in "name is secret". */
  readonly unread: readonly string[];
  /** Of values that decide access, that the review could not read, and of which nothing tells whether they changed. */
  readonly unproven: readonly string[];
  /** Arguments that only a state tells, and no state was given. */
  readonly needsState: readonly string[];
}

/** What is known of the object besides its arguments. */
interface AlignmentOptions {
  readonly hasState: boolean;
  /** Whether anybody may have written the object since the review; undefined where nothing tells. */
  readonly mayBeWritten: boolean | undefined;
}

/** The server rounds times, and takes its own time for the creation. */
const TOLERANCE_NANOS = 60_000_000_000n;

function isNear(one: bigint | undefined, other: bigint | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const apart = one - other;
  return apart <= TOLERANCE_NANOS && apart >= -TOLERANCE_NANOS;
}

const nanosOf = (value: Json | undefined): bigint | undefined =>
  typeof value === "string" ? timestampNanos(value) : undefined;

/** An object, or one inside it, on both sides. */
interface Level {
  readonly fields: ResourceSpec["fields"];
  readonly prefix: string;
  readonly inherited: AccessEffect | "none";
  readonly expected: Props;
  readonly live: Props;
}

/** One argument on both sides. */
interface Argument {
  readonly field: FieldSpec;
  readonly key: string;
  readonly path: string;
  readonly old: Json | undefined;
  readonly now: Json | undefined;
}

class Alignment {
  readonly unread: string[] = [];
  readonly unproven: string[] = [];
  readonly needsState: string[] = [];

  constructor(
    private readonly entity: LiveEntity,
    private readonly options: AlignmentOptions,
  ) {}

  align(level: Level): Props {
    const aligned: Props = { ...level.live };
    for (const [key, field] of Object.entries(level.fields)) {
      const [old, now] = [level.expected[key], level.live[key]];
      aligned[key] = this.alignField(level, { field, key, path: `${level.prefix}${key}`, old, now });
    }
    return aligned;
  }

  private alignField(level: Level, argument: Argument): Json | undefined {
    const { field, key, path, old, now } = argument;
    if (field.returnedAs !== undefined) return this.alignDuration(field.returnedAs, old);
    if (field.inputOnly || field.secret || equalForDrift(field, old, now)) return old;
    if (field.type === "object" && isObject(old) && isObject(now)) {
      if (isServersOwn(field, key, level) || this.isRewritten(argument)) return old;
      const { fields } = field;
      const inherited = effectOf(field, level.inherited);
      return this.align({ fields, prefix: `${path}.`, inherited, expected: old, live: now });
    }
    const reason = unreadReason(old);
    if (reason !== undefined && this.isTaken(`${path} ${reason}`, decidesAccess(field, level.inherited)))
      return old;
    return isServersOwn(field, key, level) || this.isRewritten(argument) ? old : now;
  }

  /** Whether a value that the review could not read is taken for the one that the object has. */
  private isTaken(line: string, decides: boolean): boolean {
    const { mayBeWritten } = this.options;
    if (mayBeWritten === false) return true;
    if (!decides) this.unread.push(line);
    else if (mayBeWritten === undefined) this.unproven.push(line);
    return !decides || mayBeWritten === undefined;
  }

  /** A duration counts from the creation to the end that the server returns in its place. */
  private alignDuration(output: string, old: Json | undefined): Json | undefined {
    const span = typeof old === "string" ? durationNanos(old) : undefined;
    // Without one the end itself is compared.
    if (span === undefined) return old;
    const { createTime, details } = this.entity;
    const [start, end] = [nanosOf(createTime), nanosOf(details?.[output])];
    if (start === undefined || end === undefined) return undefined;
    return isNear(start + span, end) ? old : `${(end - start) / 1_000_000_000n}s`;
  }

  /** Whether the server keeps the expected value in a form of its own, which only the state tells of what is no time. */
  private isRewritten({ field, path, old, now }: Argument): boolean {
    if (!field.normalized || !isSet(field, old) || !isSet(field, now)) return false;
    if (field.type === "string" && field.format === "timestamp") return isNear(nanosOf(old), nanosOf(now));
    const { recordedOutputs, declared } = this.entity;
    const forms = recordedOutputs?.[NORMALIZED];
    // The form is that of what the state declares, which an update that was not done leaves as it was.
    if (this.options.hasState)
      return isObject(forms) && forms[path] === now && equal(field, valueAt(declared, path), old);
    this.needsState.push(path);
    return true;
  }
}

/** Whether a value is the server's to choose: the program sets none, or both sides have the one that follows from others. */
function isServersOwn(field: FieldSpec, key: string, { expected, live }: Level): boolean {
  if (typeof field.serverFilled !== "function") {
    return field.serverFilled === true && !isSet(field, expected[key]);
  }
  return [expected, live].every((side) => !isSet(field, side[key]) || isServerFilled(field, side, key));
}

/** Writes what is as expected of a live object in the expected spelling; all else is left as it is. */
export function alignLive(
  spec: ResourceSpec,
  expected: Props,
  entity: LiveEntity,
  options: AlignmentOptions,
): AlignedInputs {
  const alignment = new Alignment(entity, options);
  const { fields } = spec;
  const inputs = alignment.align({ fields, prefix: "", inherited: "other", expected, live: entity.inputs });
  const { unread, unproven, needsState } = alignment;
  return { inputs, unread, unproven, needsState };
}

/** Whether a live object has these arguments, as far as a review has to announce them and no state is needed to tell. */
export function hasExpectedInputs(spec: ResourceSpec, expected: Props, entity: LiveEntity): boolean {
  const { inputs } = alignLive(spec, expected, entity, { hasState: false, mayBeWritten: true });
  return Object.entries(spec.fields).every(
    ([key, field]) => !mustBeAnnounced(key, field) || equal(field, expected[key], inputs[key]),
  );
}
