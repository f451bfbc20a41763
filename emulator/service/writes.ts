import type { Field, Message, MessageType, Value } from "../gateway/fields";
import { isMessage, messageType, text } from "../gateway/fields";
import type { ServiceResponse } from "../gateway/gateway";
import type { Violation } from "../gateway/status";
import {
  failedPrecondition,
  invalidArgument,
  invalidField,
  notFound,
  permissionDenied,
} from "../gateway/status";
import type { EmulatorSettings } from "../settings";
import type { AuthenticatedCall, EventAction, KindTable, Reference, Write } from "../tables/kindTable";
import { bodyField } from "../tables/kindTable";
import type { PlatformEvent } from "./events";
import type { PlatformService } from "./platformService";
import type { Entry, Store } from "./store";
import type { Caller } from "./tokens";

// Create.

/** @throws StatusError */
export function createResource(
  platform: PlatformService,
  table: KindTable,
  call: AuthenticatedCall,
): ServiceResponse {
  const parent = (call.request.parent ?? "") as string;
  const entry = prepareCreate(platform, table.kind, parent, sentResource(table, call))();
  emitWriteEvent(platform, entry, "created", call.caller);
  return { message: platform.toResponse(entry, "create") };
}

/** Checks a create and returns the function that stores it. @throws StatusError */
export function prepareCreate(
  platform: PlatformService,
  kind: string,
  parent: string,
  sent: Message,
  fieldPrefix = "",
): () => Entry {
  const table = platform.store.tableOf(kind);
  checkParent(platform, table, parent);
  const now = platform.now();
  const violations: Violation[] = [];
  const write: Write = {
    value: applyMask({}, sent, allPaths(table.message), table.message),
    sent,
    parent,
    createdAt: now,
    now,
    isFullReplacement: false,
    touches: () => true,
    namesExactly: () => false,
    addViolation: (field, description) => violations.push({ field: `${fieldPrefix}${field}`, description }),
  };
  checkWrite(platform, table, write, violations, fieldPrefix);
  const overwritten = table.findOverwritten?.(write, platform);
  table.complete?.(write, platform);
  return () => {
    const uid = overwritten?.uid ?? (table.hasUidOfParent ? parent : platform.store.newUid(parent));
    return platform.put(kind, uid, parent, write.value);
  };
}

/** The resource in the body of a create or update. */
function sentResource(table: KindTable, { request }: AuthenticatedCall): Message {
  return (request[bodyField(table)] ?? {}) as Message;
}

function checkParent(platform: PlatformService, table: KindTable, parent: string): void {
  if (parent === "" && table.mayBeRoot) return;
  if (parent === "") throw invalidField("parent", "parent is required");
  const entry = platform.store.find(table.parent, parent);
  if (!entry) throw notFound(table.parent, parent);
  for (const each of platform.store.tables) each.checkCreateBelow?.(parent, platform);
  checkGroupAge(platform, entry);
}

/** Refuses a create below a group that is younger than `newGroupRefusalMs`. */
function checkGroupAge({ settings, store, now }: PlatformService, parent: Entry): void {
  const minimumAgeMs = settings.newGroupRefusalMs;
  if (minimumAgeMs <= 0) return;
  for (let above: Entry | undefined = parent; above; above = store.find("Group", above.parent)) {
    if (above.kind === "Group" && now() - above.createdAt < minimumAgeMs) {
      throw permissionDenied(`no access to group "${above.uid}" yet`);
    }
  }
}

// Update.

/** A mask path as the fields that it leads through. */
type FieldPath = readonly Field[];

const allPaths = ({ fields }: MessageType): readonly FieldPath[] => fields.map((field) => [field]);

interface Mask {
  readonly paths: readonly FieldPath[];
  /** The mask is `*`. */
  readonly isFullReplacement: boolean;
}

/** @throws StatusError */
export function updateResource(
  platform: PlatformService,
  table: KindTable,
  call: AuthenticatedCall,
): ServiceResponse {
  const entry = requireMutable(platform, table.kind, sentResource(table, call).uid);
  const mask = readMask(platform.settings, table, call);
  if (!mask) return { message: platform.toResponse(entry) };
  const { paths, isFullReplacement } = mask;
  const sent = sentResource(table, call);
  const named = paths.map((path) => path.map((field) => field.name).join("."));
  const replaced = isFullReplacement ? allPaths(table.message) : paths;
  const violations: Violation[] = [];
  const write: Write = {
    value: applyMask(entry.value, sent, replaced, table.message),
    before: entry.value,
    sent,
    parent: entry.parent,
    createdAt: entry.createdAt,
    now: platform.now(),
    isFullReplacement,
    touches: (path) =>
      isFullReplacement ||
      named.some((name) => name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`)),
    namesExactly: (path) => named.includes(path),
    addViolation: (field, description) => violations.push({ field, description }),
  };
  checkWrite(platform, table, write, violations);
  table.complete?.(write, platform);
  platform.put(entry.kind, entry.uid, entry.parent, write.value);
  emitWriteEvent(platform, entry, "updated", call.caller);
  const message = platform.toResponse(platform.requireEntry(table.kind, entry.uid));
  return responseTo(mask, message, platform.settings);
}

function requireMutable(platform: PlatformService, kind: string, uid: Value | undefined): Entry {
  const entry = platform.requireEntry(kind, uid);
  if (entry.builtIn) throw permissionDenied(`${kind} "${entry.uid}" is built in and never changes`);
  return entry;
}

/** Undefined when the update changes nothing. */
function readMask(
  settings: EmulatorSettings,
  table: KindTable,
  { updateMask = [], maskSource }: AuthenticatedCall,
): Mask | undefined {
  const isExplicit = maskSource === "query";
  if (updateMask.length === 0) return undefined;
  // The empty name comes from an empty body; in an explicit mask it is an error.
  if (!isExplicit && updateMask.length === 1 && updateMask[0] === "") return undefined;
  if (updateMask.length === 1 && updateMask[0] === "*") return { paths: [], isFullReplacement: true };
  const isSnakeOnly = isExplicit && settings.maskSpelling === "snake";
  const isDropping = isExplicit && settings.maskSpelling === "drop";
  const isCamelCase = (path: string): boolean => /[A-Z]/.test(path);
  const taken = isDropping ? updateMask.filter((path) => !isCamelCase(path)) : updateMask;
  const paths = resolveMask(taken, table.message, isSnakeOnly);
  if (isExplicit && settings.maskSilent && updateMask.some(isCamelCase)) return undefined;
  return { paths, isFullReplacement: false };
}

/**
 * The fields that mask paths name, in either spelling.
 *
 * @param snakeOnly refuse multi-word names in camelCase, as the Go field mask library does.
 * @throws StatusError code 3 for a path that leads nowhere: unknown, into a list or map, through a scalar.
 */
export function resolveMask(paths: readonly string[], type: MessageType, snakeOnly: boolean): FieldPath[] {
  return paths.map((path) => {
    const fields: Field[] = [];
    let current: MessageType | undefined = type;
    for (const step of path.split(".")) {
      const field: Field | undefined = current?.byName.get(step);
      if (!field || (snakeOnly && step !== field.snake)) {
        throw invalidField("updateMask", `invalid field path ${JSON.stringify(path)}`);
      }
      fields.push(field);
      current = field.type.kind === "message" ? field.type : undefined;
    }
    return fields;
  });
}

/** The stored message with the named fields of the body; a named field that the body lacks is cleared. */
export function applyMask(
  stored: Message,
  body: Message,
  paths: readonly FieldPath[],
  type: MessageType,
): Message {
  const result = structuredClone(stored);
  for (const path of paths) {
    if (!path.some((field) => field.outputOnly)) applyPath(result, body, path, type);
  }
  return result;
}

function applyPath(target: Message, source: Message | undefined, path: FieldPath, type: MessageType): void {
  const [field, ...remaining] = path;
  if (!field) return;
  const sent = source?.[field.name];
  if (remaining.length === 0 || field.type.kind !== "message") {
    const value = sent === undefined ? undefined : keepOutputs(target[field.name], sent, field);
    setField(target, field, type, value);
    return;
  }
  if (sent === undefined && target[field.name] === undefined) return;
  const inner = (target[field.name] ?? {}) as Message;
  setField(target, field, type, inner);
  applyPath(inner, sent as Message | undefined, remaining, field.type);
}

function setField(target: Message, field: Field, type: MessageType, value: Value | undefined): void {
  if (value === undefined) {
    target[field.name] = undefined;
    return;
  }
  if (field.oneof !== undefined) {
    for (const member of type.fields) if (member.oneof === field.oneof) target[member.name] = undefined;
  }
  target[field.name] = value;
}

/** A replaced object keeps its output-only members. */
function keepOutputs(old: Value | undefined, sent: Value, { type }: Field): Value {
  const value = structuredClone(sent);
  if (type.kind !== "message" || !isMessage(value)) return value;
  for (const member of type.fields) {
    if (!member.outputOnly) continue;
    const kept = isMessage(old) ? old[member.name] : undefined;
    if (kept === undefined) value[member.name] = undefined;
    else value[member.name] = kept;
  }
  return value;
}

function responseTo(mask: Mask, message: Message, { patchResponse }: EmulatorSettings): ServiceResponse {
  if (patchResponse === "full" || mask.isFullReplacement) return { message };
  if (patchResponse === "sparse") return { message: selectPaths(message, mask.paths) };
  return { message, onlyFields: new Set(["uid", ...mask.paths.map((path) => path[0]?.name ?? "")]) };
}

/** A message with the uid and the named fields of another, and nothing else. */
function selectPaths(message: Message, paths: readonly FieldPath[]): Message {
  const selected: Message = {};
  if (message.uid !== undefined) selected.uid = message.uid;
  for (const path of paths) selectPath(selected, message, path);
  return selected;
}

function selectPath(target: Message, source: Message, [field, ...remaining]: FieldPath): void {
  const value = field && source[field.name];
  if (field === undefined || value === undefined) return;
  if (remaining.length === 0 || !isMessage(value)) {
    target[field.name] = value;
    return;
  }
  const inner = (target[field.name] ??= {}) as Message;
  selectPath(inner, value, remaining);
}

// Delete.

/** @throws StatusError code 9 that names the children or the users that prevent it. */
export function deleteResource(
  platform: PlatformService,
  { kind, hasIdempotentDelete }: KindTable,
  { request, caller }: AuthenticatedCall,
): ServiceResponse {
  const { uid } = request;
  const message: Message = {};
  if (hasIdempotentDelete && uid !== undefined && !platform.store.find(kind, uid as string))
    return { message };
  const entry = requireMutable(platform, kind, uid);
  checkDelete(platform.store, entry);
  removeEntry(platform.store, entry);
  emitWriteEvent(platform, entry, "deleted", caller);
  return { message };
}

function checkDelete(store: Store, entry: Entry): void {
  const title = `${entry.kind} "${entry.uid}"`;
  const children = store.childrenOf(entry).filter((child) => !store.tableOf(child.kind).isDeletedWithParent);
  if (store.tableOf(entry.kind).refusesDeleteWithChildren && children.length > 0) {
    const description = `${title} still has children: ${describeEntries(store, children)}`;
    throw failedPrecondition("RESOURCE_NOT_EMPTY", entry.uid, description);
  }
  const users = findReferrers(store, entry, "refuse");
  if (users.length === 0) return;
  const description = `${title} is used by ${describeEntries(store, users)}`;
  throw failedPrecondition("RESOURCE_IN_USE", entry.uid, description);
}

/** Removes a resource with its children and everything that refers to it. */
export function removeEntry(store: Store, entry: Entry): void {
  const dependents = [...store.childrenOf(entry), ...findReferrers(store, entry, "cascade")];
  for (const dependent of dependents) removeEntry(store, dependent);
  store.remove(entry);
}

function findReferrers(store: Store, { kind, uid }: Entry, onDelete: Reference["onDelete"]): Entry[] {
  return store.tables.flatMap((table) =>
    (table.references ?? [])
      .filter((reference) => reference.kind === kind && reference.onDelete === onDelete)
      .flatMap(({ field }) => store.referrersOf(table.kind, field, uid)),
  );
}

const maxNames = 10;

/** For example `repos nginx, repos redis, identities ci`. */
function describeEntries(store: Store, entries: readonly Entry[]): string {
  const names = entries.map(
    ({ kind, uid, value }) => `${store.tableOf(kind).collection} ${(value.name ?? uid) as string}`,
  );
  return `${names.slice(0, maxNames).join(", ")}${names.length > maxNames ? ", …" : ""}`;
}

// What each write does: its event, and the checks by the descriptions of fields.

const deleteRequest = messageType({ uid: text() });

/** Emits the event of a write, for kinds that have one. */
function emitWriteEvent(platform: PlatformService, entry: Entry, action: EventAction, caller: Caller): void {
  const { kind, prefix, message: type, events } = platform.store.tableOf(entry.kind);
  if (!events) return;
  const subject = events.findSubject?.(entry, platform);
  if (subject) {
    emitWriteEvent(platform, subject, action, caller);
    return;
  }
  const [, domain = "", version = ""] = prefix.split("/");
  const typePrefix = `${domain}.${version}`;
  const body: PlatformEvent["body"] =
    action === "deleted"
      ? {
          message: { uid: entry.uid },
          type: deleteRequest,
          typeName: `${typePrefix}.Delete${kind}Request`,
        }
      : {
          message: platform.toResponse(entry),
          type,
          typeName: `${typePrefix}.${kind}`,
          onlyFields: events.bodyFields && new Set(events.bodyFields),
        };
  platform.events.publish(
    {
      name: `${events.name}.${action}`,
      subject: entry.uid,
      group: events.group?.(entry, action) ?? entry.parent,
      body: action === "deleted" && events.deletedWithoutBody ? undefined : body,
      identityProvider: events.isOfProvider ? entry.parent : undefined,
    },
    caller,
  );
}

/** Checks a write by the descriptions of its fields and by its kind. @throws StatusError code 3 with all violations. */
function checkWrite(
  platform: PlatformService,
  table: KindTable,
  write: Write,
  violations: Violation[],
  path = "",
): void {
  const { value, before } = write;
  violations.push(...violationsOf(value, table.message, path));
  for (const { immutable, name } of table.message.fields) {
    if (before && immutable && value[name] !== before[name])
      write.addViolation(name, `${name} cannot change`);
  }
  table.check?.(write, platform);
  for (const { field, kind } of table.references ?? []) {
    const uid = value[field] as string | undefined;
    if (uid === undefined || platform.store.exists(kind, uid)) continue;
    write.addViolation(field, `${kind.toLowerCase()} "${uid}" does not exist`);
  }
  if (violations.length > 0) throw invalidArgument(violations);
}

/** All violations of the descriptions of fields: required, one-of, format. */
function violationsOf(message: Message, type: MessageType, path = ""): Violation[] {
  return [
    ...type.fields.flatMap((field) =>
      field.outputOnly ? [] : fieldViolations(message[field.name], field, path),
    ),
    ...type.requiredOneofs.flatMap((oneof) => oneofViolations(message, type, oneof, path)),
  ];
}

function fieldViolations(value: Value | undefined, field: Field, path: string): Violation[] {
  const place = `${path}${field.name}`;
  const { name, format } = field;
  if (value === undefined || value === "") {
    if (!field.required) return [];
    return [{ field: place, description: `${name} ${format?.requirement ?? "is required"}` }];
  }
  const texts = typeof value === "object" ? Object.values(value) : [value];
  const wrong = format ? texts.filter((text) => typeof text === "string" && !format.accepts(text)) : [];
  return [
    ...wrong.slice(0, 1).map(() => ({ field: place, description: `${name} ${format?.requirement ?? ""}` })),
    ...nestedViolations(value, field, place),
  ];
}

function nestedViolations(value: Value, { type }: Field, place: string): Violation[] {
  if (type.kind === "message") return violationsOf(value as Message, type, `${place}.`);
  if (type.kind === "list" && type.item.kind === "message") {
    const itemType = type.item;
    return (value as Message[]).flatMap((item, index) => violationsOf(item, itemType, `${place}[${index}].`));
  }
  return [];
}

function oneofViolations(message: Message, type: MessageType, oneof: string, path: string): Violation[] {
  const members = type.fields.filter((field) => field.oneof === oneof);
  const set = members.find((member) => message[member.name] !== undefined);
  if (!set) {
    const names = members.map((member) => member.name).join(", ");
    const field = `${path}${members[0]?.name ?? oneof}`;
    return [{ field, description: `exactly one of ${names} is required` }];
  }
  const value = message[set.name];
  const empty = value === "" || value === 0 || (set.type.kind === "enum" && value === set.type.zero);
  return empty ? [{ field: `${path}${set.name}`, description: `${set.name} must not be empty` }] : [];
}
