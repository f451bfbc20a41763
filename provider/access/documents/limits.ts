import { printable } from "../../text/printable";
import { ownEffect } from "../../fields/accessMeanings";
import type { FieldSpec } from "../../fields/fieldSpec";
import { isObject } from "../../fields/values";
import { urnParts } from "./engineState";
import { DocumentError } from "./jsonText";
import { parseKind } from "./reviewable";
import { specs } from "./specs";

/*
 * The sizes that are read. Whoever writes a program chooses names, keys and references, and a report repeats each of them
 * wherever something refers to it.
 */

/** Characters of a name, of a key, of a reference and of a URN. */
export const LONGEST_NAME = 4_000;

/** Items of a list, and members of an object, in the arguments of one resource. */
const MOST_MEMBERS = 10_000;

/** Groups above one another. */
export const MOST_GROUP_LEVELS = 100;

const count = (number: number): string => number.toLocaleString("en-US");

/** Something is larger than what is read. @param advice what to write instead. */
export function overLimit(what: string, limit: string, advice: string): DocumentError {
  return new DocumentError("PP6009", `${what}, and at most ${limit} are read: ${advice}`);
}

/** Whether a string chooses an object, or who may do what: the only others are texts, patterns and keys. */
function isNameLike(field: FieldSpec | undefined, key: string): boolean {
  if (field?.type === "enum" || key === "name") return true;
  if (field?.type !== "string" || field.pattern !== undefined) return false;
  const isText = ["regex", "jwks", "rsaPublicKey"].includes(field.format ?? "");
  const effect = ownEffect(field);
  return !isText && effect !== undefined && effect !== "other";
}

/** Where a value stands, and what its description says of it. */
interface Place {
  /** The keys that lead to it. */
  readonly keys: readonly string[];
  readonly field: FieldSpec | undefined;
}

/** Finds what is over a limit in the parts of one document. */
class SizeCheck {
  constructor(private readonly who: string) {}

  checkName(value: unknown, what: () => string): void {
    if (typeof value !== "string" || value.length <= LONGEST_NAME) return;
    throw overLimit(
      `${this.who}: ${what()} has ${count(value.length)} characters`,
      count(LONGEST_NAME),
      "write a shorter one",
    );
  }

  checkValue(value: unknown, { keys, field }: Place): void {
    const path = () => keys.map((key) => printable(key, 80)).join(".") || "the arguments";
    if (typeof value === "string") {
      if (isNameLike(field, keys.at(-1) ?? "")) this.checkName(value, path);
      return;
    }
    if (value === null || typeof value !== "object") return;
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    const size = names?.length ?? (value as readonly unknown[]).length;
    if (size > MOST_MEMBERS) {
      const what = `${path()} has ${count(size)} ${names === undefined ? "items" : "members"}`;
      throw overLimit(`${this.who}: ${what}`, count(MOST_MEMBERS), "split the resource");
    }
    if (names === undefined) {
      const items = field?.type === "list" ? withAccessOf(field.items, field) : undefined;
      for (const item of value as readonly unknown[]) this.checkValue(item, { keys, field: items });
      return;
    }
    const above = keys.reduce((length, key) => length + key.length, 0);
    for (const name of names) {
      // A path is repeated for each value below it.
      if (above + name.length > LONGEST_NAME)
        this.checkName([...keys, name].join("."), () => `a key of ${path()}`);
      this.checkValue((value as Readonly<Record<string, unknown>>)[name], {
        keys: [...keys, name],
        field: memberOf(field, name),
      });
    }
  }
}

/** What the description of an object or a map says of a member. */
function memberOf(field: FieldSpec | undefined, name: string): FieldSpec | undefined {
  if (field?.type === "map") return withAccessOf(field.values, field);
  if (field?.type !== "object" || !Object.hasOwn(field.fields, name)) return undefined;
  const inner = field.fields[name];
  return inner && withAccessOf(inner, field);
}

/** A field inside another one has its effect, unless it says another. */
function withAccessOf(inner: FieldSpec, outer: FieldSpec): FieldSpec {
  const access = inner.access ?? outer.access;
  return access === undefined || inner.harmless !== undefined ? inner : { ...inner, access };
}

/** The members of a state that name other resources, and this one. */
const NAMES = ["urn", "type", "id", "parent", "provider", "deletedWith", "importID"];
const NAME_LIST: FieldSpec = { type: "list", items: { type: "string", access: "subject" } };
const NAME_LISTS: Readonly<Record<string, FieldSpec>> = {
  ignoreChanges: NAME_LIST,
  propertyDependencies: { type: "map", values: NAME_LIST },
};

/** What to call a resource in a message. */
function labelOf(urn: unknown): string {
  const { type, name } = urnParts(typeof urn === "string" ? urn : "");
  return (
    `${printable(type.slice(type.lastIndexOf(":") + 1), 80)} ${printable(name, 80)}`.trim() || "a resource"
  );
}

/** @throws DocumentError where the arguments of an object are over a limit. */
export function checkInputSizes(who: string, kind: string, inputs: unknown): void {
  const spec = specs[kind];
  if (spec === undefined) return;
  const fields: Readonly<Record<string, FieldSpec>> = { ...spec.outputs, ...spec.fields };
  new SizeCheck(who).checkValue(inputs, { keys: [], field: { type: "object", fields } });
}

/** @throws DocumentError where one of these is too long. */
export function checkNameLengths(who: string, names: Readonly<Record<string, unknown>>): void {
  const check = new SizeCheck(who);
  for (const [key, value] of Object.entries(names)) check.checkName(value, () => key);
}

/**
 * Checks a resource of a state as the engine writes it. Of one of another package only the names count.
 *
 * @param document what messages call it.
 * @throws DocumentError
 */
export function checkResourceSize(state: unknown, document: string): void {
  if (!isObject(state)) return;
  const { urn, type } = state;
  const who = `${document}: ${labelOf(urn)}`;
  checkNameLengths(who, Object.fromEntries(NAMES.map((key) => [key, state[key]])));
  for (const [key, field] of Object.entries(NAME_LISTS)) {
    new SizeCheck(who).checkValue(state[key], { keys: [key], field });
  }
  const kind = typeof type === "string" ? parseKind(type) : undefined;
  if (kind === undefined) return;
  checkInputSizes(who, kind, state["inputs"]);
  checkInputSizes(who, kind, state["outputs"]);
}
