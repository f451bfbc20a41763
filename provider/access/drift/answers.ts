import type { Props, ResourceSpec } from "../../engine/spec";
import { declare } from "../adopt/adoptable";
import { literal, print, property } from "../adopt/code";
import { resourceName } from "../adopt/names";
import type { Directory } from "../directory";
import type { InventoryObject } from "../inventory";

/** A word of a shell's command line; undefined where it cannot be one. */
export function shellWord(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function onStack(command: string, urn: string, stack: string): string | undefined {
  const [word, name] = [shellWord(urn), shellWord(stack)];
  return word === undefined || name === undefined ? undefined : `${command} ${word} --stack ${name}`;
}

/** Puts a resource back as the program has it. */
export function revertCommand(urn: string, stack: string): string | undefined {
  return onStack("pulumi up --refresh --target", urn, stack);
}

/** Takes a resource that is gone out of the state. */
export function forgetCommand(urn: string, stack: string): string | undefined {
  return onStack("pulumi state delete", urn, stack);
}

/** The arguments of a program that take a change over. */
export function changedCode(properties: readonly string[], live: Props): string {
  const keys = [...new Set(properties.map((path) => path.replace(/[.[].*$/s, "")))];
  return keys
    .map((key) => {
      const value = live[key];
      return value === undefined || value === null ? `// without ${key}` : property(key, value, 0);
    })
    .join("\n");
}

/** The declaration that takes an object over as it is; undefined where it cannot be. */
export function adoptingCode(
  spec: ResourceSpec,
  object: InventoryObject,
  directory: Directory,
  now: number,
): string | undefined {
  const declared = declare(spec, object, now);
  if ("reason" in declared || declared.secrets.length > 0) return undefined;
  const name = resourceName(spec, object, directory);
  const args = print(declared.inputs, 0, 0);
  return `new ${spec.kind}(${literal(name)}, adopt(${literal(object.uid)}, ${args}));`;
}
