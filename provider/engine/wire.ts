import { parentOf } from "../api/uid";
import type { FieldSpec, Json, Props, ResourceSpec } from "./spec";
import { durationToWire } from "./times";
import { equal, equalIgnoringDrift, isObject, isSet } from "./values";

/** The name of a field on the wire. */
export function wireName(key: string, spec: FieldSpec): string {
  return spec.wire ?? key;
}

/** A value as it is sent: fields renamed, unset members left out. */
export function toWire(spec: FieldSpec, value: Json | undefined): Json {
  if (value === undefined || value === null) return null;
  if (spec.type === "string" && spec.format === "duration" && typeof value === "string") {
    return durationToWire(value);
  }
  if (spec.type === "list" && Array.isArray(value)) return value.map((item) => toWire(spec.items, item));
  if (spec.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, toWire(spec.values, member)]),
    );
  }
  if (spec.type === "object" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(spec.fields)
        .filter(([key, field]) => isSet(field, value[key]))
        .map(([key, field]) => [wireName(key, field), toWire(field, value[key])]),
    );
  }
  return value;
}

/** What clears a field: named in the mask and sent empty. */
export function emptyWireValue(spec: FieldSpec): Json {
  switch (spec.type) {
    case "string":
      return spec.format === "duration" || spec.format === "timestamp" ? null : "";
    case "enum":
      return `${spec.prefix}UNSPECIFIED`;
    case "boolean":
      return spec.default ?? false;
    case "integer":
      return 0;
    case "list":
      return [];
    case "map":
      return {};
    case "object":
      return null;
  }
}

/** The body of a create: what the program set, nothing else. */
export function createBody(spec: ResourceSpec, inputs: Props): Props {
  return Object.fromEntries(
    Object.entries(spec.fields)
      .filter(([key, field]) => !field.path && !field.subresource && isSet(field, inputs[key]))
      .map(([key, field]) => [wireName(key, field), toWire(field, inputs[key])]),
  );
}

/** A value as it was answered, in the form of inputs; undefined where it is not set. */
export function fromWire(spec: FieldSpec, value: Json | undefined): Json | undefined {
  if (!isSet(spec, value) && !(spec.type === "object" && isObject(value))) return undefined;
  if (spec.type === "list" && Array.isArray(value)) {
    return value.map((item) => fromWire(spec.items, item) ?? item);
  }
  if (spec.type === "map" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, fromWire(spec.values, member) ?? member ?? null]),
    );
  }
  if (spec.type === "object" && isObject(value)) {
    const members = readFields(spec.fields, value);
    return Object.keys(members).length === 0 ? undefined : members;
  }
  return value;
}

function readFields(fields: Readonly<Record<string, FieldSpec>>, body: Props): Props {
  const entries = Object.entries(fields)
    .map(([key, field]): [string, Json | undefined] => [key, fromWire(field, body[wireName(key, field)])])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** The uid of a field, or of the object that a response holds in its place. A uid of another type is passed on. */
function resolveHydratedUid(field: FieldSpec, uid: Json | undefined, body: Props): Json | undefined {
  if (field.type !== "string" || field.hydratedIn === undefined) return uid;
  if (uid !== undefined && uid !== null && uid !== "") return uid;
  const object = body[field.hydratedIn];
  return isObject(object) ? object["uid"] : undefined;
}

/** A response in the form of the fields. */
export function normalizeBody(spec: ResourceSpec, response: Props, uid: string): Props {
  const body = spec.normalizeResponse ? spec.normalizeResponse(response, uid) : response;
  const uids = Object.entries(spec.fields)
    .filter(([, field]) => field.type === "string" && field.hydratedIn !== undefined)
    .map(([key, field]) => [key, resolveHydratedUid(field, body[key], body)] as const);
  return uids.length === 0 ? body : { ...body, ...Object.fromEntries(uids) };
}

/** The uid of the parent, told by a resource's own. */
export function parentUidOf(spec: ResourceSpec, uid: string): string | undefined {
  return spec.sharesParentUid ? uid : parentOf(uid);
}

/** The fields of a response that a program can set, in the form of inputs. */
export function readBody(spec: ResourceSpec, body: Props, uid: string): Props {
  return readFields(spec.fields, normalizeBody(spec, body, uid));
}

/** The outputs that a response holds; what it does not name, or tells only once, is kept. */
export function readOutputs(spec: ResourceSpec, body: Props, uid: string, olds: Props): Props {
  const fields = spec.outputs ?? {};
  const normalized = normalizeBody(spec, body, uid);
  const kept = Object.entries(fields)
    .filter(
      ([key, field]) =>
        olds[key] !== undefined && (field.createOnly || !(wireName(key, field) in normalized)),
    )
    .map(([key]) => [key, olds[key]] as const);
  return { ...Object.fromEntries(kept), ...readFields(fields, normalized) };
}

/** Where the server's forms of normalized fields are kept in outputs: `{"syncConfig.source": "…"}`. */
export const NORMALIZED = "__normalized";

interface MergeContext {
  readonly known: Readonly<Record<string, string>>;
  readonly normalized: Record<string, string>;
  /** Take everything that is set: nothing is known of the program's wishes. */
  readonly all: boolean;
}

function mergeField(
  spec: FieldSpec,
  path: string,
  old: Json | undefined,
  live: Json | undefined,
  context: MergeContext,
): Json | undefined {
  if (spec.inputOnly) return old;
  if (spec.normalized && typeof live === "string") {
    if (live === context.known[path]) {
      context.normalized[path] = live;
      return old;
    }
    if (live !== old) return live;
  }
  if (spec.type === "object" && isObject(live) && (isObject(old) || !context.all)) {
    // A member nobody set may be security relevant though its object is not.
    const before = isObject(old) ? old : {};
    const merged = mergeFields(spec.fields, `${path}.`, before, live, {
      ...context,
      all: context.all || (old === undefined && spec.security === true),
    });
    if (Object.keys(merged).length > 0) return merged;
    return isObject(old) && !isSet(spec, old) ? old : undefined;
  }
  if ((context.all ? equal : equalIgnoringDrift)(spec, old, live)) return old;
  if (isSet(spec, old) || context.all) return live;
  return spec.security ? live : undefined;
}

/** Whether the server set a field by itself. */
export function isServerFilled(field: FieldSpec, siblings: Props, key: string): boolean {
  if (typeof field.serverFilled !== "function") return field.serverFilled === true;
  return siblings[key] === field.serverFilled(siblings);
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
      olds[key] === undefined && !context.all && isServerFilled(field, live, key)
        ? undefined
        : mergeField(field, `${prefix}${key}`, olds[key], live[key], context),
    ])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** The inputs that describe what the server holds, and what goes into state beside them. */
export interface Merged {
  inputs: Props;
  /** Inputs, and the server's forms of normalized fields. */
  outs: Props;
}

/**
 * What the server holds, told in the program's words: a value that means the same keeps the
 * program's spelling; what the program did not set shows only where it decides who may do what;
 * what is never answered is kept.
 */
export function mergeLive(spec: ResourceSpec, olds: Props, live: Props): Merged {
  const all = !Object.keys(spec.fields).some((key) => olds[key] !== undefined);
  const known = isObject(olds[NORMALIZED]) ? (olds[NORMALIZED] as Record<string, string>) : {};
  const normalized: Record<string, string> = {};
  const inputs = mergeFields(spec.fields, "", olds, live, { known, normalized, all });
  return { inputs, outs: withNormalized(inputs, normalized) };
}

/**
 * Outputs for inputs that the server just took: remembers its form of what it rewrote. A response may
 * hold a part only: what it leaves out keeps the form that `olds` recorded.
 */
export function outputsFor(spec: ResourceSpec, inputs: Props, live: Props, olds: Props = {}): Props {
  const known = isObject(olds[NORMALIZED]) ? (olds[NORMALIZED] as Record<string, string>) : {};
  const normalized: Record<string, string> = {};
  const visit = (
    fields: Readonly<Record<string, FieldSpec>>,
    prefix: string,
    ours: Props,
    theirs: Props,
    before: Props,
  ) => {
    for (const [key, field] of Object.entries(fields)) {
      const path = `${prefix}${key}`;
      const [mine, server, old] = [ours[key], theirs[key], before[key]];
      if (field.type === "object" && isObject(mine)) {
        visit(field.fields, `${path}.`, mine, isObject(server) ? server : {}, isObject(old) ? old : {});
      } else if (field.normalized && isSet(field, mine)) {
        const form = typeof server === "string" ? server : equal(field, old, mine) ? known[path] : undefined;
        if (form !== undefined && form !== mine) normalized[path] = form;
      }
    }
  };
  visit(spec.fields, "", inputs, live, olds);
  const outs = Object.fromEntries(
    Object.keys(spec.fields)
      .filter((key) => inputs[key] !== undefined)
      .map((key) => [key, inputs[key]]),
  );
  return withNormalized(outs, normalized);
}

function withNormalized(inputs: Props, normalized: Record<string, string>): Props {
  return Object.keys(normalized).length > 0 ? { ...inputs, [NORMALIZED]: normalized } : { ...inputs };
}
