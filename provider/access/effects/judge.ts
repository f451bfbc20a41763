import { ownEffect } from "../../fields/fieldSpec";
import type { AccessEffect, EnumSpec, FieldSpec, OneOf } from "../../fields/fieldSpec";
import { isSet } from "../../fields/equal";
import { isObject, isUnknown } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { formats } from "../../fields/formats";
import { ownMember } from "../graph/references";
import type { EffectContext } from "./context";
import { narrowed, neutral, unknown, widened } from "./direction";
import type { Effect } from "./direction";
import { effectOf, isJudged } from "../graph/fieldAccess";
import { compareCovered, compareKeys, comparePresence, compareSets, itemsOf, namesOf } from "./sets";
import { isUnread, reasonOf, reasonWords } from "../graph/unread";
import { exactPattern } from "../trust/languages";
import type { Languages } from "../trust/languages";
import { findPatternProblem } from "../trust/judgement";

/** What a match accepts: one string, the strings of a pattern, nothing, or unknown. */
type Accepted = { readonly text: string } | { readonly pattern: string } | "nothing" | "unknown";

const isPattern = (field: FieldSpec): boolean => field.type === "string" && field.format === "regex";

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

function compareLanguages(before: string, after: string, languages: Languages): Effect {
  const isLess = languages.isSubset(after, before);
  const isMore = languages.isSubset(before, after);
  if (isLess === "no")
    return widened(isMore === "yes" ? "accepts more than before" : "accepts others than before");
  if (isLess === "tooLarge" || isMore === "tooLarge")
    return unknown("the patterns take too many steps to compare");
  return isMore === "yes" ? neutral("accepts the same as before") : narrowed("accepts less than before");
}

/** What a change of a match does: the texts that it accepts are compared, whatever form they are written in. */
function compareAccepted(before: Accepted, after: Accepted, languages: Languages): Effect {
  if (before === "unknown" || after === "unknown")
    return unknown("what is accepted where it is not set is not known");
  if (before === "nothing")
    return after === "nothing" ? neutral() : widened("accepts what was not accepted before");
  if (after === "nothing") return narrowed("accepts nothing any more");
  if ("text" in before && "text" in after) {
    return before.text === after.text ? neutral() : widened("another value than before");
  }
  for (const side of [before, after]) {
    const problem = "pattern" in side ? findPatternProblem(languages, side.pattern) : undefined;
    if (problem?.kind === "unjudged") return unknown(`the pattern cannot be judged: ${problem.reason}`);
  }
  const [old, now] = [before, after].map((side) => ("text" in side ? exactPattern(side.text) : side.pattern));
  return compareLanguages(old ?? "", now ?? "", languages);
}

/** An object on both sides of a change. */
export interface FieldLevel {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs: readonly OneOf[];
  readonly before: Props;
  readonly after: Props;
  /** The path as reports show it, and as states name what they hide. */
  readonly path: string;
  readonly statePath: string;
  /** The effect of a field that has none of its own: that of the field around it. */
  readonly inherited: AccessEffect | "none";
  /** The whole object is set on one side only, so all its members are added or removed with it. */
  readonly presence?: "added" | "removed";
}

/** One value on both sides of a change. */
export interface FieldStates {
  readonly field: FieldSpec;
  readonly key: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly path: string;
  readonly statePath: string;
}

export const objectOrEmpty = (value: Json | undefined): Props => (isObject(value) ? value : {});

/** Why a value cannot be compared, as in "is secret": somewhere inside it stands what was not read. */
export function unreadReason(value: Json | undefined): string | undefined {
  if (isUnread(value)) return reasonWords(reasonOf(value));
  if (isUnknown(value)) return reasonWords("unknown");
  const inner = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return inner.map(unreadReason).find((reason) => reason !== undefined);
}

/** Judges a difference that needs no comparison of the values: a value that is only on one side, or was not read. */
function judgeUncompared({ field, before, after }: FieldStates, level: FieldLevel): Effect | undefined {
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
  { languages }: EffectContext,
): Effect {
  if (field.type === "list") {
    return isSet(field, before) && isSet(field, after)
      ? compareSets(itemsOf(field.items, before), itemsOf(field.items, after))
      : compareAccepted("unknown", "unknown", languages);
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
    languages,
  );
}

function judgeRole(before: Json | undefined, after: Json | undefined, context: EffectContext): Effect {
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
function judgeExpiry({ field, key, before, after }: FieldStates, level: FieldLevel): Effect {
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
function judgeOrder({ before, after }: FieldStates, field: EnumSpec, isLimit: boolean): Effect {
  const [old, now] = [rankOf(field, before), rankOf(field, after)];
  if (old === undefined || now === undefined) return unknown("which of the two is more is not known");
  if (isLimit) return now > old ? narrowed("restricts more") : widened("restricts less");
  return now > old ? widened("gives more") : narrowed("gives less");
}

/** Judges what the difference of one property does to access. */
export function judgeField(step: FieldStates, level: FieldLevel, context: EffectContext): Effect {
  const settled = judgeUncompared(step, level);
  if (settled !== undefined) return settled;
  const { field, before, after } = step;
  const effect = effectOf(field, level.inherited);
  switch (effect) {
    case "none":
    case "other":
      return unknown("another value than before");
    case "subject":
      return compareCovered(field, before, after, false) ?? judgeMatch(step, level, context);
    case "role":
      return judgeRole(before, after, context);
    case "keys":
      return compareKeys(before, after);
    case "expiry":
      return judgeExpiry(step, level);
    case "permission":
    case "restriction": {
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

/** Whether a field has the effect of its value. A switch that the server turns on has it unless it is false. */
function isGiven(field: FieldSpec, value: Json | undefined): boolean {
  if (field.type !== "boolean") return isSet(field, value);
  return (value ?? field.default ?? false) === true;
}

/** Finds what a key accepts that stands in another map on this side only (`claims` against `claimPatterns`). */
function conditionInOtherMap(key: string, level: FieldLevel, side: "before" | "after"): Accepted | undefined {
  const maps = Object.entries(level.fields).flatMap(([name, field]) =>
    field.type === "map" && ownEffect(field) === "restriction" ? [{ name, values: field.values }] : [],
  );
  const entryOf = (name: string, on: "before" | "after"): Json | undefined =>
    ownMember(objectOrEmpty(ownMember(level[on], name)), key);
  const other = side === "before" ? "after" : "before";
  const mapsWithKey = maps.filter(
    ({ name }) => entryOf(name, side) !== undefined && entryOf(name, other) === undefined,
  );
  const [only] = mapsWithKey;
  return only === undefined || mapsWithKey.length > 1
    ? undefined
    : acceptedBy(only.values, entryOf(only.name, side));
}

/** Judges the difference of one entry of a map: it is added, removed, or has another value. */
export function judgeEntry(entry: FieldStates, level: FieldLevel, { languages }: EffectContext): Effect {
  const settled = judgeUncompared(entry, level);
  if (settled !== undefined) return settled;
  const { field, key, before, after } = entry;
  const isLimit = level.inherited === "restriction";
  const acceptedOn = (side: "before" | "after"): Accepted | undefined => {
    if (entry[side] !== undefined) return acceptedBy(field, entry[side]);
    return isLimit ? conditionInOtherMap(key, level, side) : undefined;
  };
  const [old, now] = [acceptedOn("before"), acceptedOn("after")];
  return old === undefined || now === undefined
    ? comparePresence(before !== undefined, after !== undefined, isLimit)
    : compareAccepted(old, now, languages);
}
