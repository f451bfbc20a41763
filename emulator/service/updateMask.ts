import type { Field, Message, MessageType, Value } from "../gateway/descriptor";
import { copyValue, isMessage, newMessage, clearField } from "../gateway/descriptor";
import { invalidField } from "../gateway/status";

/** A mask path as the fields that it leads through. */
export type FieldPath = readonly Field[];

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
        throw invalidField("updateMask", `invalid field path ${JSON.stringify(path)} for ${type.fullName}`);
      }
      fields.push(field);
      current = field.type.kind === "message" ? field.type.type : undefined;
    }
    return fields;
  });
}

/** Whether a path has a multi-word name in camelCase. */
export function isCamelCase(path: string): boolean {
  return /[A-Z]/.test(path);
}

export function formatFieldPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** The stored message with the named fields of the body; a named field that the body lacks is cleared. */
export function applyMask(
  stored: Message,
  body: Message,
  paths: readonly FieldPath[],
  type: MessageType,
): Message {
  const result = copyValue(stored);
  for (const path of paths) {
    if (!path.some((field) => field.outputOnly)) applyPath(result, body, path, type);
  }
  return result;
}

/** A message with the uid and the named fields of another, and nothing else. */
export function selectPaths(message: Message, paths: readonly FieldPath[]): Message {
  const selected = newMessage();
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
  const inner = (target[field.name] ??= newMessage()) as Message;
  selectPath(inner, value, remaining);
}

/** Replaces all fields that are not output-only. */
export function replaceAll(stored: Message, body: Message, type: MessageType): Message {
  return applyMask(
    stored,
    body,
    type.fields.map((field) => [field]),
    type,
  );
}

function applyPath(target: Message, source: Message | undefined, path: FieldPath, type: MessageType): void {
  const [field, ...remaining] = path;
  if (!field) return;
  const sent = source?.[field.name];
  if (remaining.length === 0 || field.type.kind !== "message") {
    setField(
      target,
      field,
      type,
      sent === undefined ? undefined : keepOutputs(target[field.name], sent, field),
    );
    return;
  }
  if (sent === undefined && target[field.name] === undefined) return;
  const inner = (target[field.name] ?? newMessage()) as Message;
  setField(target, field, type, inner);
  applyPath(inner, sent as Message | undefined, remaining, field.type.type);
}

function setField(target: Message, field: Field, type: MessageType, value: Value | undefined): void {
  if (value === undefined) {
    clearField(target, field.name);
    return;
  }
  if (field.oneof !== undefined) {
    for (const member of type.fields) if (member.oneof === field.oneof) clearField(target, member.name);
  }
  target[field.name] = value;
}

/** A replaced object keeps its output-only members. */
function keepOutputs(old: Value | undefined, sent: Value, { type }: Field): Value {
  const value = copyValue(sent);
  if (type.kind !== "message" || !isMessage(value)) return value;
  for (const member of type.type.fields) {
    if (!member.outputOnly) continue;
    const kept = isMessage(old) ? old[member.name] : undefined;
    if (kept === undefined) clearField(value, member.name);
    else value[member.name] = kept;
  }
  return value;
}
