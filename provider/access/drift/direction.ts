import { printable } from "../../api/errors";
import type { AccessEffect, FieldSpec, Json, OneOf, Props, ResourceSpec } from "../../engine/spec";
import { timestampNanos } from "../../engine/times";
import { canonical, equal, isObject, isSet } from "../../engine/values";
import { HIDDEN } from "../engineState";
import { readPattern } from "../pattern";
import type { FieldChange } from "../report";

/** What a change does to who may do what. */
export type Direction = "widened" | "narrowed" | "neutral";

interface Verdict {
  readonly direction: Direction;
  /** In words; empty where there is nothing to say. */
  readonly why: string;
}

/** One field that differs, and what that means. */
export interface JudgedChange extends FieldChange, Verdict {}

/** The capabilities of a role by its uid; undefined where they are not known. */
export type Capabilities = (roleUid: string) => readonly string[] | undefined;

const LONGEST_VALUE = 160;
const neutral: Verdict = { direction: "neutral", why: "" };
const widened = (why: string): Verdict => ({ direction: "widened", why });
const narrowed = (why: string): Verdict => ({ direction: "narrowed", why });

/** The direction of several changes at once: one that widens outweighs any that narrow. */
export function overall(directions: Iterable<Direction>): Direction {
  const all = new Set(directions);
  return all.has("widened") ? "widened" : all.has("narrowed") ? "narrowed" : "neutral";
}

/** A value as text for people: one line, shortened; undefined where it is not set. */
export function shown(field: FieldSpec, value: Json | undefined): string | undefined {
  if (!isSet(field, value)) return undefined;
  if (field.secret) return HIDDEN;
  if (typeof value === "string") return printable(value, LONGEST_VALUE);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return printable(value.join(", "), LONGEST_VALUE);
  }
  return printable(JSON.stringify(value), LONGEST_VALUE);
}

const quoted = (text: string): string => `"${printable(text, 80)}"`;

function listed(items: readonly string[]): string {
  const first = items.slice(0, 5).map((item) => printable(item, 60));
  return [...first, ...(items.length > first.length ? [`${items.length - first.length} more`] : [])].join(
    ", ",
  );
}

/** What a pattern fits; false for one that cannot be read. */
const fits = (pattern: string, text: string): boolean => readPattern(pattern)?.accepts(text) ?? false;

/** The one text that a pattern fits: `^repo:acme/pay$`; undefined of one that may fit several. */
function onlyText(pattern: string): string | undefined {
  const [, body] = /^\^((?:[^\\.*+?()[\]{}|^$]|\\[^A-Za-z0-9])*)\$$/.exec(pattern) ?? [];
  return body?.replace(/\\(.)/g, "$1");
}

const isPattern = (field: FieldSpec): boolean => field.type === "string" && field.format === "regex";

interface Side {
  readonly field: FieldSpec;
  readonly value: Json | undefined;
}

/** Who is meant, before and after: exactly, by a pattern, or not said. */
function judgeMatch(before: Side, after: Side): Verdict {
  const [old, now] = [before.value, after.value];
  if (typeof old !== "string" || typeof now !== "string" || old === "" || now === "") {
    return widened("who is meant has changed: it may be others");
  }
  const exact = isPattern(after.field) ? onlyText(now) : now;
  if (!isPattern(before.field)) {
    if (exact === old) return neutral;
    if (isPattern(after.field) && fits(now, old)) return widened("a pattern in place of one exact value");
    return widened("another one is meant");
  }
  if (exact !== undefined && fits(old, exact))
    return narrowed("one exact value of those that the pattern fitted");
  return widened("whether the pattern fits more cannot be decided: counted as wider");
}

function texts(value: Json | undefined, items: FieldSpec): Map<string, string> {
  const list = Array.isArray(value) ? value : [];
  return new Map(
    list.map((item) => [
      JSON.stringify(canonical(items, item) ?? null),
      typeof item === "string" ? item : JSON.stringify(item),
    ]),
  );
}

/** What is in one list and not in the other. */
function without(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  return [...one].filter(([key]) => !other.has(key)).map(([, text]) => text);
}

function judgeSet(added: readonly string[], removed: readonly string[], isLimit: boolean): Verdict {
  const more = added.length === 0 ? "" : `adds ${listed(added)}`;
  const less = removed.length === 0 ? "" : `takes away ${listed(removed)}`;
  const why = [more, less].filter((part) => part !== "").join("; ");
  const [widening, narrowing] = isLimit ? [removed, added] : [added, removed];
  if (widening.length > 0) return widened(why);
  return narrowing.length > 0 ? narrowed(why) : neutral;
}

function judgePresence(before: boolean, after: boolean, isLimit: boolean): Verdict {
  if (before && after) return widened("whether that is more cannot be decided: counted as wider");
  const isMore = isLimit ? before : after;
  return isMore ? widened(after ? "set" : "taken away") : narrowed(after ? "set" : "taken away");
}

function judgeRole(before: Json | undefined, after: Json | undefined, capabilities: Capabilities): Verdict {
  const [old, now] = [before, after].map((uid) => (typeof uid === "string" ? capabilities(uid) : undefined));
  if (old === undefined || now === undefined) {
    return isObject(after) || typeof after === "string"
      ? widened("what the roles allow is not known: counted as wider")
      : narrowed("the role is gone");
  }
  const added = now.filter((name) => !old.includes(name));
  const removed = old.filter((name) => !now.includes(name));
  return added.length + removed.length === 0
    ? { direction: "neutral", why: "both roles allow the same" }
    : judgeSet(added, removed, false);
}

function keysIn(value: Json | undefined): Map<string, string> {
  try {
    const parsed = JSON.parse(typeof value === "string" ? value : "") as { keys?: unknown };
    const keys = Array.isArray(parsed.keys) ? (parsed.keys as unknown[]) : [];
    return new Map(
      keys.map((key) => {
        const sorted = isObject(key) ? Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
        const kid = isObject(key) && typeof key["kid"] === "string" ? key["kid"] : "without a kid";
        return [JSON.stringify(sorted), `key ${kid}`];
      }),
    );
  } catch {
    return new Map();
  }
}

function nanos(value: Json | undefined): bigint | undefined {
  return typeof value === "string" ? timestampNanos(value) : undefined;
}

function judge(field: FieldSpec, old: Json | undefined, now: Json | undefined, known: Capabilities): Verdict {
  const effect: AccessEffect = field.access ?? (field.security ? "match" : "none");
  switch (effect) {
    case "none":
      return neutral;
    case "match":
      return judgeMatch({ field, value: old }, { field, value: now });
    case "role":
      return judgeRole(old, now, known);
    case "keys": {
      const [before, after] = [keysIn(old), keysIn(now)];
      return judgeSet(without(after, before), without(before, after), false);
    }
    case "until": {
      const [before, after] = [nanos(old), nanos(now)];
      if (after === undefined) return widened("no end of its own any more");
      if (before === undefined) return narrowed("has an end now");
      return after > before ? widened("ends later") : narrowed("ends earlier");
    }
    case "powers":
    case "limits": {
      const isLimit = effect === "limits";
      if (field.type !== "list") return judgePresence(isSet(field, old), isSet(field, now), isLimit);
      const [before, after] = [texts(old, field.items), texts(now, field.items)];
      return judgeSet(without(after, before), without(before, after), isLimit);
    }
  }
}

/** One entry of a map that differs. */
function judgeEntry(
  map: FieldSpec & { type: "map" },
  old: Json | undefined,
  now: Json | undefined,
  known: Capabilities,
): Verdict {
  const effect = map.access ?? (map.security ? "powers" : "none");
  if (effect === "none") return neutral;
  if (old === undefined || now === undefined) {
    return judgePresence(old !== undefined, now !== undefined, effect === "limits");
  }
  if (map.values.type === "object" && isObject(old) && isObject(now)) {
    const inner = changesIn(map.values.fields, [], "", old, now, known);
    const decided = inner.filter(({ why }) => why !== "");
    if (decided.length > 0) {
      return {
        direction: overall(decided.map(({ direction }) => direction)),
        why: decided.map(({ property, why }) => `${property}: ${why}`).join("; "),
      };
    }
  }
  return effect === "limits"
    ? judgeMatch({ field: map.values, value: old }, { field: map.values, value: now })
    : widened("another one than before: counted as wider");
}

function memberPath(path: string, key: string): string {
  if (/^[A-Za-z_$][\w$-]*$/.test(key)) return path === "" ? key : `${path}.${key}`;
  return `${path}[${quoted(key)}]`;
}

/** A member of a one-of that gives way to another one, judged as the two together. */
function judgeSwitch(
  fields: Readonly<Record<string, FieldSpec>>,
  oneOfs: readonly OneOf[],
  key: string,
  old: Props,
  now: Props,
): Verdict | undefined {
  const members = oneOfs.find((oneOf) => oneOf.members.includes(key))?.members ?? [];
  const chosen = (props: Props): Side | undefined =>
    members.flatMap((member) => {
      const field = fields[member];
      return field && isSet(field, props[member]) ? [{ field, value: props[member] }] : [];
    })[0];
  const [before, after] = [chosen(old), chosen(now)];
  if (!before || !after || before.field === after.field || before.field.type === "object") return undefined;
  return judgeMatch(before, after);
}

function changesIn(
  fields: Readonly<Record<string, FieldSpec>>,
  oneOfs: readonly OneOf[],
  path: string,
  old: Props,
  now: Props,
  known: Capabilities,
): JudgedChange[] {
  return Object.entries(fields).flatMap(([key, field]): JudgedChange[] => {
    const [before, after] = [old[key], now[key]];
    if (equal(field, before, after)) return [];
    const property = memberPath(path, key);
    if (field.type === "object" && (isObject(before) || isObject(after))) {
      const inner = field.oneOfs ?? [];
      return changesIn(
        field.fields,
        inner,
        property,
        isObject(before) ? before : {},
        isObject(after) ? after : {},
        known,
      );
    }
    if (field.type === "map") {
      const [one, other] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
      return [...new Set([...Object.keys(one), ...Object.keys(other)])].sort().flatMap((entry) => {
        const [a, b] = [one[entry], other[entry]];
        if (a !== undefined && b !== undefined && equal(field.values, a, b)) return [];
        return {
          property: memberPath(property, entry),
          before: a === undefined ? undefined : (shown(field.values, a) ?? ""),
          after: b === undefined ? undefined : (shown(field.values, b) ?? ""),
          ...judgeEntry(field, a, b, known),
        };
      });
    }
    const verdict = judgeSwitch(fields, oneOfs, key, old, now) ?? judge(field, before, after, known);
    return [{ property, before: shown(field, before), after: shown(field, after), ...verdict }];
  });
}

/**
 * Every field in which two sets of arguments differ, each with what the difference does to access. What
 * cannot be decided counts as wider, and says so.
 */
export function judgeChanges(
  spec: ResourceSpec,
  old: Props,
  now: Props,
  known: Capabilities,
): JudgedChange[] {
  return changesIn(spec.fields, spec.oneOfs ?? [], "", old, now, known);
}
