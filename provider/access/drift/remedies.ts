import { isUid } from "../../api/uid";
import type { FieldSpec, Json, Props, ResourceSpec } from "../../engine/spec";
import { isObject } from "../../engine/values";
import { declareObject } from "../adopt/adoptable";
import { Call, printKey, printProperty, Reference, printOpenStatement } from "../adopt/code";
import { resourceName } from "../adopt/names";
import type { Directory } from "../graph/directory";
import type { InventoryObject } from "../documents/inventory";

/** A word of a shell's command line; undefined where it cannot be one: half a surrogate pair is no UTF-8. */
export function quoteShellWord(text: string): string | undefined {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return undefined;
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function stackCommand(command: string, urn: string, stack: string): string | undefined {
  const [word, name] = [quoteShellWord(urn), quoteShellWord(stack)];
  return word === undefined || name === undefined ? undefined : `${command} ${word} --stack ${name}`;
}

/** Puts a resource back as the program has it. */
export function revertCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi up --refresh --target", urn, stack);
}

/**
 * Deletes an object that no stack manages; undefined where it takes more than one request, or where something
 * could depend on the object.
 */
export function deleteCommand(
  { collection, operations, dependents }: ResourceSpec,
  uid: string,
): string | undefined {
  if (operations?.delete !== undefined || dependents !== undefined || !isUid(uid)) return undefined;
  return `curl -fX DELETE -H "Authorization: Bearer $PLATFORM_TOKEN" \\\n  "$PLATFORM_BASE_URL${collection}/${uid}"`;
}

/** Takes a resource that is gone out of the state. */
export function forgetCommand(urn: string, stack: string): string | undefined {
  return stackCommand("pulumi state delete", urn, stack);
}

const LONGEST_LABEL = 100;

/** A value with labels that a program may use in place of those that only tell what it does not have. */
function replaceReservedKeys(field: FieldSpec | undefined, value: Json): Json {
  if (field?.type !== "map" || field.reservedKeys === undefined || !isObject(value)) return value;
  const { regex } = field.reservedKeys;
  const labels = new Set(Object.keys(value).filter((key) => !regex.test(key)));
  const entries = Object.entries(value).map(([key, member]): [string, Json | undefined] => {
    if (!regex.test(key)) return [key, member];
    const base = key.replace(regex, "").trim().slice(0, LONGEST_LABEL) || "binding";
    let label = base;
    for (let i = 2; labels.has(label); i += 1) label = `${base.slice(0, LONGEST_LABEL - 6)} (${i})`;
    labels.add(label);
    return [label, member];
  });
  return Object.fromEntries(entries);
}

/** The arguments of a program that adopt a change. A secret must come from where the program has it. */
export function changedArgumentsCode(
  spec: ResourceSpec,
  properties: readonly string[],
  live: Props,
  isSecret: (argument: string) => boolean = () => false,
): string {
  const keys = [...new Set(properties.map((path) => path.replace(/[.[].*$/s, "")))];
  return keys
    .map((key) => {
      if (isSecret(key)) return `// ${key} holds a secret: change it where the program reads it from`;
      const value = live[key];
      if (value === undefined || value === null) return `// without ${printKey(key)}`;
      return printProperty(key, replaceReservedKeys(spec.fields[key], value), 0);
    })
    .join("\n");
}

/** The declaration that takes an object over as it is; undefined where it cannot be. */
export function adoptionCode(
  spec: ResourceSpec,
  object: InventoryObject,
  directory: Directory,
  now: number,
): string | undefined {
  const declared = declareObject(spec, object, now);
  if ("reason" in declared || declared.secrets.length > 0) return undefined;
  const name = resourceName(spec, object, directory);
  const adoption = new Call(new Reference("adopt"), [object.uid, declared.inputs]);
  return printOpenStatement(new Call(new Reference(spec.kind), [name, adoption], true));
}
