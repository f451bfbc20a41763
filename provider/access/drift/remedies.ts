import { quoteForShell } from "../../text/plain";
import { isUid } from "../../text/uid";
import type { FieldSpec } from "../../fields/fieldSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { declareObject } from "../adopt/adoptable";
import {
  CallExpression,
  printKey,
  printProperty,
  VariableReference,
  printOpenStatement,
} from "../adopt/code";
import { resourceName } from "../adopt/names";
import type { Directory } from "../graph/directory";
import { topProperty } from "../graph/references";
import type { InventoryObject } from "../documents/inventory";

/** Quotes a word for a shell; undefined where a command line cannot contain it: half a surrogate pair is no UTF-8. */
export function quoteShellWord(text: string): string | undefined {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return undefined;
  return /^[\w./:@%+=-]+$/.test(text) ? text : quoteForShell(text);
}

function stackCommand(command: string, urn: string, stack: string): string | undefined {
  const [word, name] = [quoteShellWord(urn), quoteShellWord(stack)];
  return word === undefined || name === undefined ? undefined : `${command} ${word} --stack ${name}`;
}

/** The command that restores what the program declares. */
export function revertCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi up --refresh --target", urn, stack);
}

/** The command that makes an object anew: no argument of its program differs. */
export function replaceCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi up --target-replace", urn, stack);
}

/** The command that takes what the server holds into the state. */
export function refreshCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi refresh --target", urn, stack);
}

/**
 * The command that deletes an object that no stack manages; undefined where that takes more than one request, or
 * where something could depend on the object.
 */
export function deleteCommand(
  { collection, operations, deletion }: ResourceSpec,
  uid: string,
): string | undefined {
  if (operations?.delete !== undefined || deletion?.dependents !== undefined || !isUid(uid)) return undefined;
  return `curl -fX DELETE -H "Authorization: Bearer $PLATFORM_TOKEN" \\\n  "$PLATFORM_BASE_URL${collection}/${uid}"`;
}

/** The command that removes a deleted resource from the state. */
export function forgetCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi state delete", urn, stack);
}

const MAX_LABEL_LENGTH = 100;

/**
 * Replaces the reserved keys of a map, which a program must not use. A GroupAccess has them as labels of bindings that no
 * program declares: each gets a plain label.
 */
function replaceReservedKeys(field: FieldSpec | undefined, value: Json): Json {
  if (field?.type !== "map" || field.reservedKeys === undefined || !isObject(value)) return value;
  const { regex } = field.reservedKeys;
  const labels = new Set(Object.keys(value).filter((key) => !regex.test(key)));
  const entries = Object.entries(value).map(([key, member]): [string, Json | undefined] => {
    if (!regex.test(key)) return [key, member];
    const base = key.replace(regex, "").trim().slice(0, MAX_LABEL_LENGTH) || "binding";
    let label = base;
    for (let i = 2; labels.has(label); i += 1) label = `${base.slice(0, MAX_LABEL_LENGTH - 6)} (${i})`;
    labels.add(label);
    return [label, member];
  });
  return Object.fromEntries(entries);
}

/** The arguments with which a program takes over a change; a secret comes from where the program reads it. */
export function changedArgumentsCode(
  spec: ResourceSpec,
  properties: readonly string[],
  live: Props,
  isSecret: (argument: string) => boolean = () => false,
): string {
  const keys = [...new Set(properties.map(topProperty))];
  return keys
    .map((key) => {
      if (isSecret(key)) return `// ${key} is a secret: change it where the program reads it from`;
      const value = live[key];
      if (value === undefined || value === null) return `// without ${printKey(key)}`;
      return printProperty(key, replaceReservedKeys(spec.fields[key], value), 0);
    })
    .join("\n");
}

/** The declaration that adopts an object as it is; undefined where a program cannot declare it. */
export function adoptionCode(
  spec: ResourceSpec,
  object: InventoryObject,
  directory: Directory,
  now: number,
): string | undefined {
  const declared = declareObject(spec, object, now);
  if ("reason" in declared || declared.secrets.length > 0) return undefined;
  const name = resourceName(spec, object, directory);
  const adoption = new CallExpression(new VariableReference("adopt"), [object.uid, declared.inputs]);
  return printOpenStatement(new CallExpression(new VariableReference(spec.kind), [name, adoption], true));
}
