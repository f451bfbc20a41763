import { equal, equalForDrift, isSet } from "./equal";
import { isSecurityRelevant } from "./fieldSpec";
import type { FieldSpec } from "./fieldSpec";
import type { ResourceSpec } from "./resourceSpec";
import { isObject } from "./values";
import type { Json, Props } from "./values";

/** Where the server's forms of normalized fields are kept in outputs: `{"syncConfig.source": "…"}`. */
export const NORMALIZED = "__normalized";

interface MergeContext {
  /** The server's forms of normalized fields, as the state recorded them, by path. */
  readonly known: Readonly<Record<string, string>>;
  /** Includes live values that the program did not set, since its inputs are not known. */
  readonly includesUnset: boolean;
}

/** Expresses a live value in the program's spelling; undefined if the program need not show it. */
function mergeField(
  spec: FieldSpec,
  path: string,
  old: Json | undefined,
  live: Json | undefined,
  context: MergeContext,
): Json | undefined {
  if (spec.inputOnly) return old;
  if (spec.normalized && typeof live === "string") {
    if (live === context.known[path]) return old;
    if (live !== old) return live;
  }
  if (spec.type === "object" && isObject(live) && (isObject(old) || !context.includesUnset)) {
    // A member that the program did not set may be security relevant although its object is not.
    const before = isObject(old) ? old : {};
    const merged = mergeFields(spec.fields, `${path}.`, before, live, {
      ...context,
      includesUnset: context.includesUnset || (old === undefined && isSecurityRelevant(spec)),
    });
    if (Object.keys(merged).length > 0) return merged;
    return isSet(spec, old) ? undefined : old;
  }
  if ((context.includesUnset ? equal : equalForDrift)(spec, old, live)) return old;
  if (isSet(spec, old) || context.includesUnset) return live;
  return isSecurityRelevant(spec) ? live : undefined;
}

/** Whether the server set a field that the program did not set. */
export function isServerFilled(field: FieldSpec, siblings: Props, key: string): boolean {
  if (typeof field.serverFilled !== "function") return field.serverFilled === true;
  return siblings[key] === field.serverFilled(siblings);
}

/** What a program declares of a live object: no field that the server computes, and fills in again. */
export function declaredFields(fields: Readonly<Record<string, FieldSpec>>, live: Props): Props {
  const entries = Object.entries(fields).flatMap(([key, field]): [string, Json][] => {
    const value = live[key];
    if (value === undefined || value === null || !isSet(field, value)) return [];
    // The server fills in such a field again.
    if (isServerFilled(field, live, key) && field.serverFilled !== true) return [];
    if (field.type !== "object" || !isObject(value)) return [[key, value]];
    return [[key, declaredFields(field.fields, value)]];
  });
  return Object.fromEntries(entries);
}

function mergeFields(
  fields: Readonly<Record<string, FieldSpec>>,
  prefix: string,
  olds: Props,
  live: Props,
  context: MergeContext,
): Props {
  const entries = Object.entries(fields)
    .map(([key, field]): [string, Json | undefined] => [
      key,
      olds[key] === undefined && !context.includesUnset && isServerFilled(field, live, key)
        ? undefined
        : mergeField(field, `${prefix}${key}`, olds[key], live[key], context),
    ])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** The inputs that describe the live object, and what the state records beside them. */
interface Merged {
  inputs: Props;
  /** Inputs, and the server's forms of normalized fields. */
  outs: Props;
}

/**
 * Expresses the live object in the program's inputs. An equal value keeps the program's spelling, a value that the
 * program did not set is included only if it decides access, and a value that no response contains is kept.
 */
export function mergeLive(spec: ResourceSpec, olds: Props, live: Props): Merged {
  const includesUnset = !Object.keys(spec.fields).some((key) => olds[key] !== undefined);
  const inputs = mergeFields(spec.fields, "", olds, live, { known: knownForms(olds), includesUnset });
  return { inputs, outs: outputsFor(spec, inputs, live, olds) };
}

/** Outputs for inputs that the server applied, with its form of what it rewrote. */
export function outputsFor(spec: ResourceSpec, inputs: Props, live: Props, olds: Props = {}): Props {
  const forms = formsIn(spec.fields, "", { inputs, live, olds }, knownForms(olds));
  const outs = Object.fromEntries(
    Object.keys(spec.fields)
      .filter((key) => inputs[key] !== undefined)
      .map((key) => [key, inputs[key]]),
  );
  return forms.length > 0 ? { ...outs, [NORMALIZED]: Object.fromEntries(forms) } : outs;
}

/** The server's forms of normalized fields, by path. */
function formsIn(
  fields: Readonly<Record<string, FieldSpec>>,
  prefix: string,
  { inputs, live, olds }: Readonly<Record<"inputs" | "live" | "olds", Props>>,
  known: Readonly<Record<string, string>>,
): [string, string][] {
  return Object.entries(fields).flatMap(([key, field]): [string, string][] => {
    const path = `${prefix}${key}`;
    const [mine, server, old] = [inputs[key], live[key], olds[key]];
    if (field.type === "object" && isObject(mine)) {
      const members = { inputs: mine, live: isObject(server) ? server : {}, olds: isObject(old) ? old : {} };
      return formsIn(field.fields, `${path}.`, members, known);
    }
    if (!field.normalized || !isSet(field, mine)) return [];
    // What the write left alone keeps the recorded form: the server's may be of somebody else.
    const form = equal(field, old, mine) ? known[path] : server;
    return typeof form !== "string" || form === mine ? [] : [[path, form]];
  });
}

function knownForms(olds: Props): Readonly<Record<string, string>> {
  return isObject(olds[NORMALIZED]) ? (olds[NORMALIZED] as Record<string, string>) : {};
}
