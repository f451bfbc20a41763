import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { UNMANAGED } from "../../kinds/groupAccess/readBindings";
import { accessKinds } from "./accessKinds";
import { compositeKey } from "./keys";
import type { Entity } from "./model";
import type { Op } from "../documents/operations";
import { Languages, anchored } from "../trust/languages";

type Binding = readonly [label: string, binding: Json | undefined];

function bindingsOf(entity: Entity | undefined): Binding[] {
  const bindings = entity?.inputs["bindings"];
  return Object.entries(isObject(bindings) ? bindings : {});
}

const isUnmanaged = ([label]: Binding): boolean => label.startsWith(UNMANAGED);

const bindingKey = ([, binding]: Binding): string => {
  const { identityUid, roleUid } = isObject(binding) ? binding : {};
  return JSON.stringify([identityUid, roleUid]);
};

function listOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Whether the arguments of a GroupAccess leave a binding of others alone. */
function isIgnored(ignore: Json | undefined, [label, binding]: Binding, languages: Languages): boolean {
  const { identityUids, roleUids, namePatterns } = isObject(ignore) ? ignore : {};
  const { identityUid = null, roleUid = null } = isObject(binding) ? binding : {};
  // A label ends in parentheses if several resources have the same name.
  const names = [label.slice(UNMANAGED.length), label.slice(UNMANAGED.length).replace(/ \([^()]*\)$/, "")];
  return (
    listOrEmpty(identityUids).includes(identityUid) ||
    listOrEmpty(roleUids).includes(roleUid) ||
    listOrEmpty(namePatterns).some(
      (pattern) =>
        typeof pattern === "string" && names.some((name) => languages.matches(anchored(pattern), name)),
    )
  );
}

/**
 * The bindings of others that a refresh has recorded with a GroupAccess, and that stay at their group: all of them when
 * it goes or moves, those that it ignores when it changes.
 */
export function remainingUnmanaged(recorded: Entity, after: Entity | undefined, op: Op): Entity | undefined {
  if (accessKinds[recorded.kind]?.ownsBindings !== true) return undefined;
  const unmanaged = bindingsOf(recorded).filter(isUnmanaged);
  const wanted = new Set(op === "update" ? bindingsOf(after).map(bindingKey) : []);
  const ignore = after?.inputs["ignore"];
  const languages = new Languages();
  const staying = unmanaged.filter(
    (one) =>
      op === "delete" ||
      op === "replace" ||
      (op === "update" && !wanted.has(bindingKey(one)) && isIgnored(ignore, one, languages)),
  );
  if (staying.length === 0) return undefined;
  const inputs: Props = { parentUid: recorded.inputs["parentUid"], bindings: Object.fromEntries(staying) };
  return {
    key: compositeKey("unmanaged", recorded.key),
    kind: recorded.kind,
    urn: recorded.urn,
    inputs,
    unresolved: [],
    secretPaths: [],
    external: true,
  };
}
