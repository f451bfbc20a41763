import { ownEffect } from "../../fields/accessMeanings";
import type { AccessEffect } from "../../fields/accessMeanings";
import { isSet } from "../../fields/equal";
import type { EnumSpec, FieldSpec } from "../../fields/fieldSpec";
import type { Json } from "../../fields/values";
import { formats } from "../../fields/formats";
import { ownMember } from "../graph/references";
import type { EffectContext } from "./context";
import { narrowed, neutral, unknown, widened } from "./direction";
import type { Effect } from "./direction";
import { objectOrEmpty, unreadReason } from "./level";
import { effectOf, isJudged } from "../graph/fieldAccess";
import type { FieldLevel, FieldStates } from "./level";
import { acceptedBy, acceptedByOneOf, compareAccepted } from "./match";
import type { Accepted } from "./match";
import { compareCovered, compareKeys, comparePresence, compareSets, itemsOf, namesOf } from "./sets";

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
