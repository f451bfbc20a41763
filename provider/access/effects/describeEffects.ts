import { equal, isSet } from "../../fields/equal";
import type { AccessEffect, FieldSpec } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { SECRET_MASK, isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { isReference, ownMember, isPathWithin } from "../graph/references";
import type { EffectContext } from "./context";
import type { Direction, Effect } from "./direction";
import { judgeEntry, judgeField, objectOrEmpty } from "./judge";
import type { FieldLevel, FieldStates } from "./judge";
import { effectOf } from "../graph/fieldAccess";
import { visible } from "../../text/printable";
import { keysIn } from "./sets";
import { isUnread, reasonOf } from "../graph/unread";
import type { UnreadReason } from "../graph/unread";

const LONGEST_VALUE = 300;

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  secret: SECRET_MASK,
  unknown: "(not known yet)",
  unreadable: "(cannot be read)",
};

type NameOf = (key: string) => string;

/** A value with names in place of references, and without what must not be shown. */
function readable(field: FieldSpec | undefined, value: Json, nameOf: NameOf): Json {
  if (field?.secret === true) return SECRET_MASK;
  if (isUnread(value)) return unreadWords[reasonOf(value)];
  if (field?.type === "string" && field.format === "jwks") {
    return [...(keysIn(value)?.values() ?? ["(no key set)"])].join("; ");
  }
  if (typeof value === "string") return field !== undefined && isReference({ field }) ? nameOf(value) : value;
  if (Array.isArray(value)) {
    const items = value.map((item) =>
      readable(field?.type === "list" ? field.items : undefined, item, nameOf),
    );
    return field?.type === "list" && field.unordered === true ? items.sort() : items;
  }
  if (!isObject(value)) return value;
  const inner = (key: string): FieldSpec | undefined =>
    field?.type === "map"
      ? field.values
      : field?.type === "object"
        ? ownMember(field.fields, key)
        : undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, readable(inner(key), member ?? null, nameOf)]),
  );
}

/** How much of what is alike stands around what differs. */
const CONTEXT = 40;
/** How much of what differs is shown of two values that are too long to be shown whole. */
const LONGEST_PART = 120;

/** Two long texts from shortly before the place where they differ to shortly behind it. */
function showDifference(before: string, after: string): [string, string] {
  if (Math.max(before.length, after.length) <= LONGEST_VALUE) return [before, after];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const show = (text: string): string => {
    const [from, to] = [Math.max(0, start - CONTEXT), Math.min(text.length, text.length - end + CONTEXT)];
    const part = text.slice(from, to);
    const shown =
      part.length > LONGEST_PART + 2 * CONTEXT ? `${part.slice(0, LONGEST_PART + CONTEXT)} …` : part;
    return `${from > 0 ? "… " : ""}${shown}${to < text.length && shown === part ? " …" : ""}`;
  };
  return [show(before), show(after)];
}

/** The two values of a property as reports show them: one line, of long ones what differs; undefined where one is not set. */
export function displayValues(
  field: FieldSpec,
  before: readonly [Json | undefined, NameOf],
  after: readonly [Json | undefined, NameOf],
): [string | undefined, string | undefined] {
  const named = [textOf(field, ...before), textOf(field, ...after)];
  // Of two objects of one name only the uids differ.
  const isAlike = named[0] === named[1];
  const [old, now] = isAlike ? [uidsOf(field, before[0]), uidsOf(field, after[0])] : named;
  const shown = old === undefined || now === undefined ? [old, now] : showDifference(old, now);
  const bounded = shown.map((text) => (text === undefined ? undefined : visible(text, LONGEST_VALUE)));
  return [bounded[0], bounded[1]];
}

/** Of a long list of members that come or go: how many are named. */
const MOST_MEMBERS = 20;

/** The members that a set gains and loses, as reports show them; undefined where a value is no set of plain texts. */
function displayMembers(
  field: FieldSpec,
  before: readonly [Json | undefined, NameOf],
  after: readonly [Json | undefined, NameOf],
): { readonly added: readonly string[]; readonly removed: readonly string[] } | undefined {
  if (field.type !== "list" || field.unordered !== true) return undefined;
  const [old, now] = [before, after].map(([value, nameOf]) => {
    const members = isSet(field, value) ? readable(field, value ?? null, nameOf) : [];
    return Array.isArray(members) && members.every((member) => typeof member === "string")
      ? new Set(members)
      : undefined;
  });
  if (old === undefined || now === undefined) return undefined;
  const [added, removed] = [
    [...now].filter((member) => !old.has(member)),
    [...old].filter((member) => !now.has(member)),
  ];
  // Of two objects of one name only the uids differ: the two values tell them apart.
  return added.length + removed.length === 0 ? undefined : { added: listed(added), removed: listed(removed) };
}

function listed(members: readonly string[]): string[] {
  const shown = members.slice(0, MOST_MEMBERS).map((member) => visible(member, LONGEST_VALUE));
  const left = members.length - shown.length;
  return left === 0 ? shown : [...shown, `and ${left} more`];
}

const uidsOf = (field: FieldSpec, value: Json | undefined): string | undefined =>
  textOf(field, value, (key) => key);

function textOf(field: FieldSpec, value: Json | undefined, nameOf: NameOf): string | undefined {
  if (value === undefined || !isSet(field, value)) return undefined;
  const shown = readable(field, value, nameOf);
  const isPlain = Array.isArray(shown) && shown.every((item) => typeof item === "string");
  return typeof shown === "string" ? shown : isPlain ? shown.join(", ") : JSON.stringify(shown);
}

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
      (secret) => isPathWithin(path, secret) || isPathWithin(secret, path),
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
