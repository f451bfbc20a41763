import { equal, isSent, isSet } from "./equal";
import { innerFields } from "./fieldSpec";
import type { FieldSpec, OneOf } from "./fieldSpec";
import type { ResourceSpec } from "./resourceSpec";
import { isObject } from "./values";
import type { Json, Props } from "./values";
import { emptyWireValue, toWire, wireName } from "./wire";

/*
 * What an update writes: the PATCH with its field mask, and the properties that a resource has after it (`applyUpdate`),
 * which the lifecycle sends to kinds without a PATCH. Only the graph of access needs those after a create (`applyCreate`).
 */

/** The changes of one PATCH: body and mask name exactly the same leaves. */
export interface Patch {
  readonly body: Props;
  /** Paths in wire names, dots into objects; lists and maps are one path. */
  readonly mask: readonly string[];
}

/** The fields of a resource, or of an object in it, with the members of which at most one is set. */
interface Level {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  readonly oneOfs?: readonly OneOf[];
}

type Step = readonly [key: string, field: FieldSpec];

/** One field that an update writes. */
interface FieldWrite {
  readonly key: string;
  readonly field: FieldSpec;
  /** The objects around it by their names, from the top. */
  readonly enclosing: readonly Step[];
  /** What it is a member of. */
  readonly level: Level;
  /** Undefined where the write clears it. */
  readonly value: Json | undefined;
}

function* visitFields(
  level: Level,
  enclosing: readonly Step[],
  olds: Props,
  news: Props,
): Generator<FieldWrite> {
  for (const [key, field] of Object.entries(level.fields)) {
    if (field.path || field.subresource || field.immutable) continue;
    if (!isSet(field, news[key]) && isReplacedByMember(level, key, news)) continue;
    const [old, now] = [olds[key], news[key]];
    const write = { key, field, enclosing, level };
    if (isOutdated(field, key, olds, news)) yield { ...write, value: undefined };
    else if (equal(field, old, now)) continue;
    else if (!isSent(field, now)) yield { ...write, value: undefined };
    else if (field.type === "object" && isObject(now))
      yield* visitFields(field, [...enclosing, [key, field]], isObject(old) ? old : {}, now);
    else yield { ...write, value: now };
  }
}

/** Whether the server may keep a value that it took from other fields, which now are others: it has to fill it anew. */
function isOutdated(field: FieldSpec, key: string, olds: Props, news: Props): boolean {
  if (typeof field.serverFilled !== "function") return false;
  if (isSet(field, olds[key]) || isSet(field, news[key])) return false;
  const filled = field.serverFilled(olds);
  return isSet(field, filled) && !equal(field, filled, field.serverFilled(news));
}

/** A one-of member gives way to the one that is sent; naming both is refused. */
function isReplacedByMember({ fields, oneOfs = [] }: Level, key: string, news: Props): boolean {
  return oneOfs.some(
    ({ members }) =>
      members.includes(key) &&
      members.some((member) => {
        const field = fields[member];
        return member !== key && field !== undefined && isSet(field, news[member]);
      }),
  );
}

/** The PATCH that turns `olds` into `news`; an empty mask where nothing changed on the wire. */
export function buildPatch(spec: ResourceSpec, olds: Props, news: Props): Patch {
  const body: Props = {};
  const mask: string[] = [];
  for (const { key, field, enclosing, value } of visitFields(spec, [], olds, news)) {
    const path = [...enclosing.map((step) => wireName(...step)), wireName(key, field)];
    setAt(body, path, value === undefined ? emptyWireValue(field) : toWire(field, value));
    mask.push(path.join("."));
  }
  return { body, mask };
}

/** Whether the PATCH writes what no response shows, such as a secret. */
export function writesInputOnly(spec: ResourceSpec, olds: Props, news: Props): boolean {
  const isOrContains = (field: FieldSpec): boolean =>
    field.inputOnly === true || innerFields(field).some(isOrContains);
  return [...visitFields(spec, [], olds, news)].some(
    ({ field, enclosing }) => isOrContains(field) || enclosing.some(([, object]) => object.inputOnly),
  );
}

/** Sets a value inside an object, and returns the object that contains it directly. */
function setAt(target: Props, path: readonly string[], value: Json | undefined): Props {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    target[key] = value;
    return target;
  }
  const inner: Props = isObject(target[key]) ? target[key] : {};
  target[key] = inner;
  return setAt(inner, rest, value);
}

/**
 * The properties of a resource after the update from `olds` to `news`: those that the server has, and over them what the
 * update writes.
 */
export function applyUpdate(spec: ResourceSpec, live: Props, olds: Props, news: Props): Props {
  const { update, sendsNothing } = spec.operations ?? {};
  const writes = [...visitFields(spec, [], olds, news)];
  const after = structuredClone(live);
  if (update !== undefined) {
    // An operation of the kind's own writes all that it is given. What no response contains is the program's alone.
    const sendsWrites = writes.length > 0 && sendsNothing?.(olds, news) !== true;
    for (const [key, field] of Object.entries(spec.fields)) {
      if (field.inputOnly || (sendsWrites && !field.path)) after[key] = news[key];
    }
    return after;
  }
  const written = writes.map((write) => ({ write, object: writeField(after, write) }));
  for (const { write, object } of written) if (write.value === undefined) fillCleared(write, object);
  for (const key of changedSubresources(spec, olds, news)) after[key] = news[key];
  return after;
}

/** The member that a write names and those that give way to it. */
function membersOf({ key, level }: FieldWrite): string[] {
  const oneOfs = (level.oneOfs ?? []).filter(({ members }) => members.includes(key));
  return [...new Set([key, ...oneOfs.flatMap(({ members }) => members)])];
}

/** Writes a field as the server does, which clears the other members of a one-of; returns the object around it. */
function writeField(target: Props, write: FieldWrite): Props {
  const { key, field, enclosing, value } = write;
  const object = setAt(target, [...enclosing.map(([name]) => name), key], value);
  const [, ...others] = membersOf(write);
  if (isSet(field, value)) for (const other of others) object[other] = undefined;
  return object;
}

/** The server fills in a field that is cleared, where it takes the value from others. */
function fillCleared(write: FieldWrite, object: Props): void {
  for (const key of membersOf(write)) fillField(write.level, key, object);
}

function fillField(level: Level, key: string, props: Props): void {
  const field = level.fields[key];
  if (field === undefined || typeof field.serverFilled !== "function" || isSet(field, props[key])) return;
  if (!isReplacedByMember(level, key, props)) props[key] = field.serverFilled(props);
}

/** The properties of a new resource: those that are given, and what the server takes from them. */
export function applyCreate(spec: ResourceSpec, news: Props): Props {
  const fill = (level: Level, props: Props): Props => {
    const filled = { ...props };
    for (const key of Object.keys(level.fields)) fillField(level, key, filled);
    for (const [key, field] of Object.entries(level.fields)) {
      const value = filled[key];
      if (field.type === "object" && isObject(value)) filled[key] = fill(field, value);
    }
    return filled;
  };
  return fill(spec, news);
}

/** Fields with a request of their own that changed. */
export function changedSubresources(spec: ResourceSpec, olds: Props, news: Props): string[] {
  return Object.entries(spec.fields)
    .filter(([key, field]) => field.subresource && !equal(field, olds[key], news[key]))
    .map(([key]) => key);
}
