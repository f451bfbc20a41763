import { isObject } from "../../fields/values";
import type { Json } from "../../fields/values";
import { withoutRetained } from "../graph/keys";
import type { AccessGraph, Entity } from "../graph/model";
import { ownMember } from "../graph/references";

export function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value)) for (const item of Object.values(value)) yield* textsIn(item);
}

/** Whether a value is the reference that it was, leads to what stays beside a successor, or leads nowhere now. */
const isSameReference = (after: Json | undefined, key: string): boolean =>
  after === undefined || after === "" || (typeof after === "string" && withoutRetained(after) === key);

/** Whether a reference is there still, or leads nowhere now: a reference to what has gone is empty. */
export function stillRefers(before: Json | undefined, after: Json | undefined, key: string): boolean {
  if (before === key) return isSameReference(after, key);
  if (Array.isArray(before)) {
    const items = Array.isArray(after) ? after : [];
    return before.includes(key)
      ? items.some((item) => isSameReference(item, key))
      : items.some((item) => [...textsIn(item)].includes(key));
  }
  if (!isObject(before)) return false;
  return Object.entries(before).some(([name, value]) =>
    stillRefers(value, isObject(after) ? ownMember(after, name) : undefined, key),
  );
}

/** Who refers to whom: by key. */
export function referencesOf({ entities }: AccessGraph): Map<string, Entity[]> {
  const found = new Map<string, Entity[]>();
  for (const entity of entities.values()) {
    for (const text of new Set(textsIn(entity.inputs))) {
      if (!entities.has(text)) continue;
      const list = found.get(text);
      if (list) list.push(entity);
      else found.set(text, [entity]);
    }
  }
  return found;
}
