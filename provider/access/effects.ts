import { equal, isSet, canonical } from "../fields/equal";
import { ownEffect } from "../fields/fieldSpec";
import type { AccessEffect, FieldSpec, EnumSpec, OneOf } from "../fields/fieldSpec";
import { formats, sortedJson } from "../fields/formats";
import type { ResourceSpec } from "../fields/resourceSpec";
import { SECRET_MASK, isObject, isUnknown, once, ownMember } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { innerField, memberPath } from "../fields/walk";
import { limitLines } from "../text/plain";
import { visible } from "../text/printable";
import { keysByKid, keysIn } from "./documents/digest";
import { isPattern } from "./graph/describedFields";
import { effectOf, isJudged } from "../fields/fieldAccess";
import { distinctLabels, labelByKey } from "./graph/groupHierarchy";
import { readRoleCapabilities } from "./graph/resolveGrants";
import type { Entities } from "./graph/model";
import { isReference, pathsOverlap } from "./graph/inputLeaves";
import { isUnread, reasonOf, reasonWords } from "./graph/unread";
import type { UnreadReason } from "./graph/unread";
import { plainOrQuoted } from "./trust/quote";
import { findPatternProblem } from "./trust/judgement";
import { exactPattern } from "./trust/patternComparer";
import type { PatternComparer } from "./trust/patternComparer";

/** What a change does to access, from what weighs most to what weighs least; `unknown` is what cannot be judged. */
const byWeight = ["widened", "unknown", "narrowed", "neutral"] as const;
export type Direction = (typeof byWeight)[number];

/** The direction of one change, with the reason in words; the reason is empty where there is nothing to say. */
export interface ReasonedDirection {
  readonly direction: Direction;
  readonly reason: string;
}

const neutral = (reason = ""): ReasonedDirection => ({ direction: "neutral", reason });
const widened = (reason: string): ReasonedDirection => ({ direction: "widened", reason });
const narrowed = (reason: string): ReasonedDirection => ({ direction: "narrowed", reason });
const unknown = (reason: string): ReasonedDirection => ({ direction: "unknown", reason });

/** The direction of several changes together: one that widens outweighs all others. */
export function combineDirections(directions: Iterable<Direction>): Direction {
  const found = new Set(directions);
  return byWeight.find((direction) => found.has(direction)) ?? "neutral";
}

/** Whether a direction may be more access: an unknown one may. */
export function mayWiden(direction: Direction): boolean {
  return direction === "widened" || direction === "unknown";
}

/** What is known of the resources that a value refers to, before a change or after it. */
export interface EffectSide {
  /** What to call a resource, by its uid or its key. */
  readonly findName: (key: string) => string;
  /** The capabilities of a role; undefined if they are unknown. */
  readonly findCapabilities: (role: string) => readonly string[] | undefined;
}

/** What `describeEffects` needs besides the two sets of arguments. */
export interface EffectContext {
  readonly before: EffectSide;
  readonly after: EffectSide;
  /** Compares patterns. All questions of one run share its budget. */
  readonly comparer: PatternComparer;
  /** Paths of values that a state records as secrets (`staticKeys.issuerKeys`): no text shows them. */
  readonly secretPaths?: readonly string[];
}

/** Looks up names and capabilities of the referenced resources in entities. */
function createEffectSide(entities: Entities): EffectSide {
  const labels = once(() => distinctLabels(entities));
  return {
    findName: (key) => labels().get(key) ?? plainOrQuoted(labelByKey(entities, key)),
    findCapabilities: (role) => readRoleCapabilities(entities.get(role)),
  };
}

/** What is needed to describe the effects of changes from some entities to others. */
export const createEffectContext = (
  before: Entities,
  after: Entities,
  comparer: PatternComparer,
): EffectContext => ({ before: createEffectSide(before), after: createEffectSide(after), comparer });

const LONGEST_VALUE = 300;

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  secret: SECRET_MASK,
  unknown: "(not known yet)",
  unreadable: "(cannot be read)",
  refreshed: "(not recorded)",
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
    const items = value.map((item, i) => readable(innerField(field, String(i)), item, nameOf));
    return field?.type === "list" && field.unordered === true ? items.sort() : items;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      readable(innerField(field, key), member ?? null, nameOf),
    ]),
  );
}

/** How much of what is alike stands around what differs. */
const CONTEXT = 40;
/** Two long texts from shortly before the place where they differ. */
function showDifference(before: string, after: string): [string, string] {
  if (Math.max(before.length, after.length) <= LONGEST_VALUE) return [before, after];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const from = Math.max(0, start - CONTEXT);
  const show = (text: string): string => `${from > 0 ? "… " : ""}${text.slice(from)}`;
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

const listed = (members: readonly string[]): string[] =>
  limitLines(
    members.map((member) => visible(member, LONGEST_VALUE)),
    MOST_MEMBERS,
  );

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

class EffectReader {
  constructor(private readonly context: EffectContext) {}

  read(level: FieldLevel): FieldEffect[] {
    return Object.entries(level.fields).flatMap(([key, field]) => {
      const step: FieldStates = {
        field,
        key,
        before: ownMember(level.before, key),
        after: ownMember(level.after, key),
        path: memberPath(level.path, key),
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
    const { before, after, path } = step;
    const presence = !isSet(field, before) ? "added" : !isSet(field, after) ? "removed" : undefined;
    return this.read({
      fields: field.fields,
      oneOfs: field.oneOfs ?? [],
      before: objectOrEmpty(before),
      after: objectOrEmpty(after),
      path,
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
        path: memberPath(step.path, key),
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
    { field, path, ...values }: FieldStates,
    effect: ReasonedDirection,
    { inherited }: FieldLevel,
  ): FieldEffect {
    const isSecret = this.isSecret(path);
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
      before,
      after,
      ...(isSecret ? {} : displayMembers(field, ...sides)),
      effect: effectOf(field, inherited),
      direction: effect.direction,
      reason: effect.reason !== "" && isSecret ? "its value is a secret" : effect.reason,
    };
  }

  /** Whether a value is a secret, contains one, or is a part of one. */
  private isSecret(path: string): boolean {
    return (this.context.secretPaths ?? []).some((secret) => pathsOverlap(path, secret));
  }
}

/**
 * Describes each property in which two sets of arguments of one kind differ, in the order of the description, with
 * what the difference does to access. Members of an object, and entries of a map, are properties of their own. Nothing is known of
 * the properties of an unknown kind.
 */
export function describeEffects(
  spec: ResourceSpec | undefined,
  before: Props,
  after: Props,
  context: EffectContext,
): FieldEffect[] {
  if (spec === undefined) return [];
  return new EffectReader(context).read({
    fields: spec.fields,
    oneOfs: spec.oneOfs ?? [],
    before,
    after,
    path: "",
    inherited: "other",
  });
}

/** What a match accepts: one string, the strings of a pattern, nothing, or unknown. */
type Accepted = { readonly text: string } | { readonly pattern: string } | "nothing" | "unknown";

/** What a field accepts that is set. */
function acceptedBy(field: FieldSpec, value: Json | undefined): Accepted {
  if (typeof value !== "string") return "unknown";
  return isPattern(field) ? { pattern: value } : { text: value };
}

/** Returns what an unset field accepts, if its description defines it. */
function acceptedByDefault(field: FieldSpec, siblings: Props): Accepted | undefined {
  if (field.type === "enum" && field.default !== undefined)
    return { text: `${field.prefix}${field.default}` };
  const filled = typeof field.serverFilled === "function" ? field.serverFilled(siblings) : undefined;
  return typeof filled === "string" && filled !== "" ? { text: filled } : undefined;
}

/** Returns what fields accept together if at most one of them is set; `unknown` if several are. */
function acceptedByOneOf(
  fields: Readonly<Record<string, FieldSpec>>,
  siblings: Props,
  isRequired: boolean,
): Accepted {
  const members = Object.entries(fields);
  const [first, second] = members.filter(([key, field]) => isSet(field, siblings[key]));
  if (second !== undefined) return "unknown";
  if (first !== undefined) return acceptedBy(first[1], siblings[first[0]]);
  const [filled] = members.flatMap(([, field]) => acceptedByDefault(field, siblings) ?? []);
  return filled ?? (isRequired ? "nothing" : "unknown");
}

function compareLanguages(before: string, after: string, comparer: PatternComparer): ReasonedDirection {
  const isLess = comparer.acceptsAllOf(before, after);
  const isMore = comparer.acceptsAllOf(after, before);
  if (isLess === "no")
    return widened(isMore === "yes" ? "accepts more than before" : "accepts others than before");
  if (isLess === "tooLarge" || isMore === "tooLarge")
    return unknown("the patterns take too many steps to compare");
  return isMore === "yes" ? neutral("accepts the same as before") : narrowed("accepts less than before");
}

/** What a change of a match does: the texts that it accepts are compared, whatever form they are written in. */
function compareAccepted(before: Accepted, after: Accepted, comparer: PatternComparer): ReasonedDirection {
  if (before === "unknown" || after === "unknown")
    return unknown("what is accepted where it is not set is not known");
  if (before === "nothing") return widened("accepts what was not accepted before");
  if (after === "nothing") return narrowed("accepts nothing any more");
  if ("text" in before && "text" in after) {
    return before.text === after.text ? neutral() : widened("another value than before");
  }
  for (const side of [before, after]) {
    const problem = "pattern" in side ? findPatternProblem(comparer, side.pattern) : undefined;
    if (problem?.kind === "unjudged") return unknown(`the pattern cannot be judged: ${problem.reason}`);
  }
  const [old, now] = [before, after].map((side) => ("text" in side ? exactPattern(side.text) : side.pattern));
  return compareLanguages(old ?? "", now ?? "", comparer);
}

/** An object on both sides of a change. */
interface FieldLevel {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs: readonly OneOf[];
  readonly before: Props;
  readonly after: Props;
  readonly path: string;
  /** The effect of a field that has none of its own: that of the field around it. */
  readonly inherited: AccessEffect | "none";
  /** The whole object is set on one side only, so all its members are added or removed with it. */
  readonly presence?: "added" | "removed";
}

/** One value on both sides of a change. */
interface FieldStates {
  readonly field: FieldSpec;
  readonly key: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly path: string;
}

const objectOrEmpty = (value: Json | undefined): Props => (isObject(value) ? value : {});

/** Why a value cannot be compared, as in "is secret": somewhere inside it stands what was not read. */
export function unreadReason(value: Json | undefined): string | undefined {
  if (isUnread(value)) return reasonWords(reasonOf(value));
  if (isUnknown(value)) return reasonWords("unknown");
  const inner = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return inner.map(unreadReason).find((reason) => reason !== undefined);
}

/** Judges a difference that needs no comparison of the values: a value that is only on one side, or was not read. */
function judgeUncompared(
  { field, before, after }: FieldStates,
  level: FieldLevel,
): ReasonedDirection | undefined {
  if (!isJudged(field, level.inherited)) return neutral();
  const unread = unreadReason(before) ?? unreadReason(after);
  if (unread !== undefined) return unknown(`cannot be judged: a value ${unread}`);
  if (effectOf(field, level.inherited) === "other") return unknown("another value than before");
  const { unsetMeans } = field;
  if (unsetMeans !== undefined && isGiven(field, before) && !isGiven(field, after))
    return unknown(unsetMeans);
  if (level.presence === undefined) return undefined;
  return level.presence === "added" ? widened("is new") : narrowed("is gone");
}

function effectAt({ fields }: FieldLevel, member: string): AccessEffect | undefined {
  const field = fields[member];
  return field && ownEffect(field);
}

/** Judges a change of what a field accepts, together with the other members of its one-of. */
function judgeMatch(
  { field, key, before, after }: FieldStates,
  level: FieldLevel,
  { comparer }: EffectContext,
): ReasonedDirection {
  if (field.type === "list") {
    return isSet(field, before) && isSet(field, after)
      ? compareSets(itemsOf(field.items, before), itemsOf(field.items, after))
      : compareAccepted("unknown", "unknown", comparer);
  }
  const oneOf = level.oneOfs.find(({ members }) => members.includes(key));
  const members = (oneOf?.members ?? []).filter((member) => effectAt(level, member) === "subject");
  const fields = Object.fromEntries(
    [...members, key].map((member) => [member, level.fields[member] ?? field]),
  );
  const isRequired = field.required === true || oneOf?.required === true;
  return compareAccepted(
    acceptedByOneOf(fields, level.before, isRequired),
    acceptedByOneOf(fields, level.after, isRequired),
    comparer,
  );
}

function judgeRole(
  before: Json | undefined,
  after: Json | undefined,
  context: EffectContext,
): ReasonedDirection {
  if (typeof before !== "string" || before === "") return widened("a role where there was none");
  if (typeof after !== "string" || after === "") return narrowed("the role is gone");
  const [old, now] = [context.before.findCapabilities(before), context.after.findCapabilities(after)];
  if (old === undefined || now === undefined) return unknown("what the roles allow is not known");
  const effect = compareSets(namesOf(old), namesOf(now));
  return effect.direction === "neutral" ? neutral("both roles allow the same") : effect;
}

/** How late or how long an end is; undefined if the text is not one. */
function amountOf(field: FieldSpec, value: Json | undefined): bigint | undefined {
  if (typeof value !== "string" || field.type !== "string") return undefined;
  return formats[field.format ?? "timestamp"].amount?.(value);
}

/** Judges a change of an expiry, which may be set, removed or moved. */
function judgeExpiry({ field, key, before, after }: FieldStates, level: FieldLevel): ReasonedDirection {
  const isSetAfter = isSet(field, after);
  if (isSet(field, before) && isSetAfter) {
    const [old, now] = [amountOf(field, before), amountOf(field, after)];
    if (old === undefined || now === undefined) return unknown("an end is no time that can be read");
    return now > old ? widened("ends later") : narrowed("ends earlier");
  }
  const unsetSide = isSetAfter ? level.before : level.after;
  const oneOfMembers = level.oneOfs.find(({ members }) => members.includes(key))?.members ?? [];
  const neverExpires = oneOfMembers.some(
    (other) => other !== key && isSet(level.fields[other] ?? field, unsetSide[other]),
  );
  if (!neverExpires && (field.serverFilled !== undefined || field.inputOnly === true)) {
    return unknown("the end that the server sets is not known");
  }
  return isSetAfter ? narrowed("has an end now") : widened("has no end any more");
}

/** The place of a name, or of the default where none is set, among the names in their order; undefined where it has none. */
function rankOf(field: EnumSpec, value: Json | undefined): number | undefined {
  const name = isSet(field, value) ? value : `${field.prefix}${field.default ?? ""}`;
  const rank = field.known.findIndex((known) => `${field.prefix}${known}` === name);
  return rank < 0 ? undefined : rank;
}

/** Judges two names that are in order: the later gives more, or restricts more. */
function judgeOrder({ before, after }: FieldStates, field: EnumSpec, isLimit: boolean): ReasonedDirection {
  const [old, now] = [rankOf(field, before), rankOf(field, after)];
  if (old === undefined || now === undefined) return unknown("which of the two is more is not known");
  if (isLimit) return now > old ? narrowed("restricts more") : widened("restricts less");
  return now > old ? widened("gives more") : narrowed("gives less");
}

/** Judges what the difference of one property does to access. */
function judgeField(step: FieldStates, level: FieldLevel, context: EffectContext): ReasonedDirection {
  const settled = judgeUncompared(step, level);
  if (settled !== undefined) return settled;
  const { field, before, after } = step;
  const effect = effectOf(field, level.inherited);
  switch (effect) {
    case "subject":
      return compareCovered(field, before, after, false) ?? judgeMatch(step, level, context);
    case "role":
      return judgeRole(before, after, context);
    case "keys":
      return compareKeys(before, after);
    case "expiry":
      return judgeExpiry(step, level);
    // A permission or a restriction.
    default: {
      const isLimit = effect === "restriction";
      if (field.type === "enum" && field.ordered) return judgeOrder(step, field, isLimit);
      const covered = compareCovered(field, before, after, isLimit);
      if (covered !== undefined) return covered;
      if (field.type !== "list")
        return comparePresence(isGiven(field, before), isGiven(field, after), isLimit);
      return compareSets(itemsOf(field.items, before), itemsOf(field.items, after), isLimit);
    }
  }
}

/** Whether a field has the effect of its value. */
function isGiven(field: FieldSpec, value: Json | undefined): boolean {
  if (field.type !== "boolean") return isSet(field, value);
  return value === true;
}

/** Judges the difference of one entry of a map: it is added, removed, or has another value. */
function judgeEntry(entry: FieldStates, level: FieldLevel, { comparer }: EffectContext): ReasonedDirection {
  const settled = judgeUncompared(entry, level);
  if (settled !== undefined) return settled;
  const { field, before, after } = entry;
  return before === undefined || after === undefined
    ? comparePresence(before !== undefined, after !== undefined, level.inherited === "restriction")
    : compareAccepted(acceptedBy(field, before), acceptedBy(field, after), comparer);
}

const MOST_LISTED = 5;

/** Members by their key; the value is their display name. */
type Members = ReadonlyMap<string, string>;

function joinItems(items: readonly string[]): string {
  const more = items.length - MOST_LISTED;
  const first = items.slice(0, MOST_LISTED).map((item) => visible(item, 120));
  return [...first, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function subtract(members: Members, others: Members): string[] {
  return [...members].filter(([key]) => !others.has(key)).map(([, name]) => name);
}

/** `adds a, b; takes away c`: what a set gains and loses. */
export function describeMembers(added: readonly string[], removed: readonly string[]): string {
  const parts = [
    ...(added.length === 0 ? [] : [`adds ${joinItems(added)}`]),
    ...(removed.length === 0 ? [] : [`takes away ${joinItems(removed)}`]),
  ];
  return parts.join("; ");
}

/** Compares two sets. With `isLimit` each member restricts access, otherwise each gives access. */
function compareSets(before: Members, after: Members, isLimit = false): ReasonedDirection {
  const [added, removed] = [subtract(after, before), subtract(before, after)];
  const [more, less] = isLimit ? [removed, added] : [added, removed];
  if (more.length > 0) return widened(describeMembers(added, removed));
  return less.length > 0 ? narrowed(describeMembers(added, removed)) : neutral();
}

/** What of a change is seen without its values: on which sides something is set. */
export function describePresence(before: boolean, after: boolean): string {
  return before && after ? "another value than before" : after ? "set" : "taken away";
}

/** The members that are set on one side only, or differ in a way that cannot be ordered. */
function comparePresence(before: boolean, after: boolean, isLimit: boolean): ReasonedDirection {
  const reason = describePresence(before, after);
  return (isLimit ? before : after) || (before && after) ? widened(reason) : narrowed(reason);
}

/** The items of a list by key. Informational fields, such as descriptions, are not part of the key. */
function itemsOf(items: FieldSpec, value: Json | undefined): Members {
  const all = Array.isArray(value) ? value : [];
  return new Map(
    all.map((item) => [
      JSON.stringify(canonical(items, item, { includesIgnored: false }) ?? null),
      typeof item === "string" ? item : sortedJson(item),
    ]),
  );
}

/** What an item of a list, or the value itself, covers of others; undefined where its format does not say. */
function coverageOf(field: FieldSpec) {
  const text = field.type === "list" ? field.items : field;
  return text.type === "string" && text.format !== undefined ? formats[text.format].coverage : undefined;
}

/**
 * Compares values whose format knows what several cover together, such as networks: what those before cover is nothing new.
 * Undefined for other values, and where one side is not set.
 */
function compareCovered(
  field: FieldSpec,
  before: Json | undefined,
  after: Json | undefined,
  isLimit: boolean,
): ReasonedDirection | undefined {
  const coverage = coverageOf(field);
  if (coverage === undefined) return undefined;
  const textsIn = (value: Json | undefined): string[] =>
    (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string");
  const [old, now] = [textsIn(before), textsIn(after)];
  if (old.length === 0 || now.length === 0) return undefined;
  const [heldBefore, heldAfter] = [coverage(old), coverage(now)];
  if (heldBefore === undefined || heldAfter === undefined) return unknown("a value cannot be read");
  const taken = namesOf(old.filter((text) => !heldAfter(text)));
  const added = namesOf(now.filter((text) => !heldBefore(text)));
  const effect = compareSets(taken, added, isLimit);
  return effect.direction === "neutral" ? neutral("covers the same as before") : effect;
}

const namesOf = (names: readonly string[]): Members => new Map(names.map((name) => [name, name]));

/** Compares key sets: each added key accepts one more signer, and of several with one `kid` another one may count. */
export function compareKeys(before: Json | undefined, after: Json | undefined): ReasonedDirection {
  const [old, now] = [keysIn(before), keysIn(after)];
  if (old === undefined || now === undefined)
    return unknown("a key set is no JSON Web Key Set that every parser reads alike");
  const effect = compareSets(old, now);
  if (effect.direction === "widened") return effect;
  const keys = keysByKid(after);
  const isOther = ([kid, rivals]: readonly [string, readonly string[]]): boolean => {
    const left = keys.get(kid);
    return rivals.length > 1 && left !== undefined && left.join("\n") !== rivals.join("\n");
  };
  const changed = [...keysByKid(before)].find(isOther);
  return changed === undefined ? effect : unknown(`of the keys ${changed[0]} another one may count now`);
}
