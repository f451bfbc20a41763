import type { Message, MessageType } from "../gateway/descriptor";
import { newMessage } from "../gateway/descriptor";
import type { ServiceResponse } from "../gateway/gateway";
import { invalidArgument } from "../gateway/status";
import type { Violation } from "../gateway/status";
import type { EmulatorSettings } from "../settings";
import type { AuthenticatedCall, KindTable, ServiceContext, Write } from "../tables/kindTable";
import { bodyField } from "../tables/methods";
import type { Entry } from "./store";
import type { FieldPath } from "./updateMask";
import { applyMask, isCamelCase, formatFieldPath, replaceAll, resolveMask, selectPaths } from "./updateMask";
import { violationsOf } from "./validate";

interface Mask {
  readonly paths: readonly FieldPath[];
  /** The mask is `*`. */
  readonly isFullReplacement: boolean;
}

/**
 * Applies an update to a stored resource.
 *
 * @returns whether it was written, and the response.
 * @throws StatusError
 */
export function updateEntry(
  context: ServiceContext,
  table: KindTable,
  entry: Entry,
  call: AuthenticatedCall,
): { isWritten: boolean; response: ServiceResponse } {
  const mask = readMask(context.settings, table, call);
  if (!mask) return { isWritten: false, response: { message: context.toResponse(entry) } };
  const violations: Violation[] = [];
  const write = writeOf(context, table, entry, call, mask, violations);
  violations.push(...violationsOf(write.value, table.message), ...immutableViolations(write, table.message));
  table.behaviour?.check?.(write, context);
  if (violations.length > 0) throw invalidArgument(violations);
  table.behaviour?.complete?.(write, context);
  context.put(entry.kind, entry.uid, entry.parent, write.value);
  const message = context.toResponse(context.requireEntry(table.kind, entry.uid));
  return { isWritten: true, response: responseTo(mask, message, context.settings) };
}

function writeOf(
  context: ServiceContext,
  table: KindTable,
  entry: Entry,
  call: AuthenticatedCall,
  { paths, isFullReplacement }: Mask,
  violations: Violation[],
): Write {
  const sent = sentResource(table, call);
  const named = paths.map(formatFieldPath);
  return {
    value: isFullReplacement
      ? replaceAll(entry.value, sent, table.message)
      : applyMask(entry.value, sent, paths, table.message),
    before: entry.value,
    sent,
    parent: entry.parent,
    createdAt: entry.createdAt,
    now: context.now(),
    isFullReplacement,
    touches: (path) =>
      isFullReplacement ||
      named.some((name) => name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`)),
    namesExactly: (path) => named.includes(path),
    addViolation: (field, description) => violations.push({ field, description }),
  };
}

/** The resource in the body of an update. */
export function sentResource(table: KindTable, { request }: AuthenticatedCall): Message {
  return (request[bodyField(table)] ?? newMessage()) as Message;
}

function responseTo(mask: Mask, message: Message, { patchResponse }: EmulatorSettings): ServiceResponse {
  if (patchResponse === "full" || mask.isFullReplacement) return { message };
  if (patchResponse === "sparse") return { message: selectPaths(message, mask.paths) };
  return { message, onlyFields: new Set(["uid", ...mask.paths.map((path) => path[0]?.name ?? "")]) };
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
  const paths = resolveMask(updateMask, table.message, isSnakeOnly);
  if (isExplicit && settings.maskSilent && updateMask.some(isCamelCase)) return undefined;
  return { paths, isFullReplacement: false };
}

function immutableViolations(write: Write, type: MessageType): Violation[] {
  return type.fields
    .filter(({ immutable, name }) => immutable && write.value[name] !== write.before?.[name])
    .map(({ name }) => ({ field: name, description: `${name} cannot change` }));
}
