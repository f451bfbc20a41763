import { equal, isSet } from "./equal";
import { isName } from "./fieldAccess";
import { innerFields } from "./fieldSpec";
import type { FieldSpec } from "./fieldSpec";
import type { ResourceSpec } from "./resourceSpec";
import { isObject, ownMember, UNKNOWN } from "./values";
import type { Json, Props } from "./values";
import { memberPath, partsOf } from "./walk";

/*
 * A refresh records what the server has, also what somebody else than the program wrote there. The outputs of the resource say where.
 * They contain no value: the engine would not encrypt one that the program calls a secret.
 */

/** The output with the marks: `{"capabilities": {"1": "added"}, "claimMatch": {"subject": "changed"}}`. An update writes none. */
export const REFRESHED = "__refreshed";

/** Whether a refresh has recorded something that no program gave. */
export const isRefreshed = (outputs: Props): boolean => outputs[REFRESHED] !== undefined;

/** Marks what is not as the program gave it; undefined where nothing is, but for what is harmless. */
function markOf(field: FieldSpec, given: Json | undefined, live: Json | undefined): Json | undefined {
  if (field.harmless !== undefined || equal(field, given, live)) return undefined;
  if (!isSet(field, given)) return "added";
  if (field.type === "list" && field.unordered && Array.isArray(given) && Array.isArray(live)) {
    const lacks = (items: readonly Json[], item: Json): boolean =>
      !items.some((other) => equal(field.items, other, item));
    if (given.some((item) => lacks(live, item))) return "changed";
    return Object.fromEntries(live.flatMap((item, i) => (lacks(given, item) ? [[i, "added"]] : [])));
  }
  if (innerFields(field).length === 0 || !isObject(given) || !isObject(live)) return "changed";
  const marks = partsOf(field, { ...given, ...live }).flatMap(({ field: inner, key }) => {
    const [before, now] = [ownMember(given, key), ownMember(live, key)];
    // An entry of a map is there also where it is empty.
    const isOnOneSide = field.type === "map" && (before === undefined) !== (now === undefined);
    const mark = isOnOneSide ? (before === undefined ? "added" : "changed") : markOf(inner, before, now);
    return mark === undefined ? [] : [[key, mark] as const];
  });
  return marks.length === 0 ? undefined : Object.fromEntries(marks);
}

/**
 * The mark of a refresh for the outputs of a resource; empty where the server has what the program gave.
 *
 * @param olds the recorded outputs: those of an import have no arguments, and so no program's.
 */
export function markRefreshed({ fields }: ResourceSpec, olds: Props, live: Props): Props {
  if (!Object.keys(fields).some((key) => olds[key] !== undefined)) return {};
  const given = inputsOfProgram({ fields }, olds, olds);
  const marks = Object.entries(fields).flatMap(([key, field]) => {
    const mark = isName(key)
      ? markOf({ ...field, harmless: undefined }, given[key], live[key])
      : markOf(field, given[key], live[key]);
    return mark === undefined ? [] : [[key, mark] as const];
  });
  return marks.length === 0 ? {} : { [REFRESHED]: Object.fromEntries(marks) };
}

/** What stands in place of a value that is not recorded any more, by its path. */
type Replacement = (path: string, recorded: Json | undefined) => Json | undefined;

function withoutMarked(
  value: Json | undefined,
  mark: Json | undefined,
  path: string,
  replace: Replacement,
): Json | undefined {
  if (mark === undefined) return value;
  if (mark === "added") return undefined;
  if (!isObject(mark)) return replace(path, value);
  if (Array.isArray(value)) return value.filter((_item, i) => ownMember(mark, String(i)) === undefined);
  if (!isObject(value)) return replace(path, value);
  return withoutMarkedMembers(value, mark, path, replace);
}

function withoutMarkedMembers(values: Props, marks: Props, path: string, replace: Replacement): Props {
  const keys = new Set([...Object.keys(values), ...Object.keys(marks)]);
  const entries = [...keys].map((key): [string, Json | undefined] => [
    key,
    withoutMarked(ownMember(values, key), ownMember(marks, key), memberPath(path, key), replace),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * The recorded arguments without what a refresh has put there: as the last program gave them, as far as that is recorded. A program can
 * have the engine encrypt the marks: where they cannot be read, any argument may be marked.
 */
export function inputsOfProgram(
  { fields }: Pick<ResourceSpec, "fields">,
  inputs: Props,
  outputs: Props,
  replace: Replacement = () => UNKNOWN,
): Props {
  const marks = outputs[REFRESHED];
  if (marks === undefined) return inputs;
  const known = isObject(marks)
    ? marks
    : Object.fromEntries(Object.keys(fields).map((key) => [key, "changed"]));
  return withoutMarkedMembers(inputs, known, "", replace);
}
