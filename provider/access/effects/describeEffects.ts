import { equal, isSet } from "../../fields/equal";
import type { AccessEffect } from "../../fields/accessMeanings";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject, SECRET_MASK } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { ownMember } from "../graph/references";
import type { EffectContext } from "./context";
import type { Direction, Effect } from "./direction";
import { displayMembers, displayValues } from "./display";
import { judgeEntry, judgeField } from "./judge";
import { objectOrEmpty } from "./level";
import { effectOf } from "../graph/fieldAccess";
import type { FieldLevel, FieldStates } from "./level";

/** One property that differs, and what the difference does to access. */
export interface FieldEffect {
  readonly path: string;
  /** As text for people, shortened; a secret is "[secret]"; undefined where it is not set. */
  readonly before?: string;
  readonly after?: string;
  /** Of a set of texts: the members that come and go. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  /** What the property means for access; `none` where its description says why it is harmless. */
  readonly effect: AccessEffect | "none";
  readonly direction: Direction;
  /** Empty where there is nothing to say. */
  readonly reason: string;
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

class EffectReader {
  constructor(private readonly context: EffectContext) {}

  read(level: FieldLevel): FieldEffect[] {
    return Object.entries(level.fields).flatMap(([key, field]) => {
      const step: FieldStates = {
        field,
        key,
        before: ownMember(level.before, key),
        after: ownMember(level.after, key),
        path: joinPath(level.path, key),
        statePath: level.statePath === "" ? key : `${level.statePath}.${key}`,
      };
      if (equal(field, step.before, step.after)) return [];
      const hasMembers = [step.before, step.after].every((value) => isObject(value) || !isSet(field, value));
      if (field.type === "object" && hasMembers) return this.readObject(field, step, level);
      if (field.type === "map" && hasMembers) return this.readMap(field, step, level);
      return [this.toEffect(step, judgeField(step, level, this.context), level)];
    });
  }

  private readObject(
    field: FieldStates["field"] & { type: "object" },
    step: FieldStates,
    level: FieldLevel,
  ): FieldEffect[] {
    const { before, after, path, statePath } = step;
    const presence = !isSet(field, before) ? "added" : !isSet(field, after) ? "removed" : undefined;
    return this.read({
      fields: field.fields,
      oneOfs: field.oneOfs ?? [],
      before: objectOrEmpty(before),
      after: objectOrEmpty(after),
      path,
      statePath,
      inherited: effectOf(field, level.inherited),
      presence: level.presence ?? presence,
    });
  }

  private readMap(
    field: FieldStates["field"] & { type: "map" },
    step: FieldStates,
    around: FieldLevel,
  ): FieldEffect[] {
    const level = { ...around, inherited: effectOf(field, around.inherited) };
    const [before, after] = [objectOrEmpty(step.before), objectOrEmpty(step.after)];
    const { values } = field;
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((key) => {
      const entry: FieldStates = {
        field: values,
        key,
        before: ownMember(before, key),
        after: ownMember(after, key),
        path: joinPath(step.path, key),
        statePath: `${step.statePath}.${key}`,
      };
      if (entry.before !== undefined && entry.after !== undefined) {
        if (equal(values, entry.before, entry.after)) return [];
        const isObjects = isObject(entry.before) && isObject(entry.after);
        if (values.type === "object" && isObjects) return this.readObject(values, entry, level);
      }
      return [this.toEffect(entry, judgeEntry(entry, level, this.context), level)];
    });
  }

  private toEffect(
    { field, path, statePath, ...values }: FieldStates,
    effect: Effect,
    { inherited }: FieldLevel,
  ): FieldEffect {
    const isSecret = this.isSecret(statePath);
    const mask = (value: Json | undefined): string | undefined =>
      value === undefined ? undefined : SECRET_MASK;
    const sides = [
      [values.before, this.context.before.findName],
      [values.after, this.context.after.findName],
    ] as const;
    const [before, after] = isSecret
      ? [mask(values.before), mask(values.after)]
      : displayValues(field, ...sides);
    return {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      ...(isSecret ? {} : displayMembers(field, ...sides)),
      effect: effectOf(field, inherited),
      direction: effect.direction,
      reason: effect.reason !== "" && isSecret ? "its value is a secret" : effect.reason,
    };
  }

  /** Whether a value is a secret, contains one, or is a part of one. */
  private isSecret(path: string): boolean {
    return (this.context.secretPaths ?? []).some(
      (secret) =>
        secret === path ||
        path.startsWith(`${secret}.`) ||
        (/^[.[]/.test(secret.slice(path.length)) && secret.startsWith(path)),
    );
  }
}

/**
 * Describes each property in which two sets of arguments of one kind differ, in the order of the description, with
 * what the difference does to access. Members of an object, and entries of a map, are properties of their own.
 */
export function describeEffects(
  spec: ResourceSpec,
  before: Props,
  after: Props,
  context: EffectContext,
): FieldEffect[] {
  return new EffectReader(context).read({
    fields: spec.fields,
    oneOfs: spec.oneOfs ?? [],
    before,
    after,
    path: "",
    statePath: "",
    inherited: "other",
  });
}
