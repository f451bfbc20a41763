import { isUtf8 } from "node:buffer";
import { decodeMessage } from "./decode";
import type { Field, Message, MessageType } from "./descriptor";
import { clearField, newMessage } from "./descriptor";
import { inferMask } from "./fieldMask";
import type { Call } from "./gateway";
import type { QueryPair } from "./query";
import { applyQuery, parseQuery } from "./query";
import type { Match, Method } from "./routes";
import { Code, StatusError } from "./status";
import type { JsonNode } from "./strictJson";
import { readJson } from "./strictJson";
import { maskSize, maxMessageBytes, wireSize } from "./wireSize";

/** The parts of a request that make a call. */
export interface CallSource {
  readonly match: Match;
  readonly rawQuery: string;
  readonly body: Buffer;
  /** The body is a form, whose fields are further query parameters. */
  readonly isForm: boolean;
  /** The path had invalid UTF-8, which is U+FFFD in the values of the match. */
  readonly pathHasInvalidUtf8: boolean;
  readonly ignoreMask: boolean;
}

interface Mask {
  readonly updateMask: readonly string[] | undefined;
  readonly maskSource: Call["maskSource"];
}

/** Decodes body, query and path into the request message and its field mask. @throws StatusError and others */
export function readCall(source: CallSource): Omit<Call, "authorization"> {
  const { method, values } = source.match;
  const message = newMessage();
  const maskField = method.request.fields.find((field) => field.type.kind === "fieldMask");
  const inferred = readBodyInto(message, method, source.body, maskField);
  const mask = readQueryInto(message, source, maskField, inferred);
  if (maskField) clearField(message, maskField.name);
  for (const { path, value } of values) {
    if (source.pathHasInvalidUtf8 && value.includes("\ufffd")) throw invalidUtf8();
    setPath(message, path, value);
  }
  if (source.body.length > maxMessageBytes / 4) {
    checkSize(wireSize(message, method.request) + (mask.updateMask ? maskSize(mask.updateMask) : 0));
  }
  return { method, request: message, ...mask };
}

function readBodyInto(message: Message, method: Method, body: Buffer, maskField: Field | undefined): Mask {
  if (method.body === undefined) return { updateMask: undefined, maskSource: "inferred" };
  const { node, text } = readBody(body);
  const field = method.body === "*" ? undefined : method.request.byName.get(method.body);
  const type = field ? requireMessageType(field) : method.request;
  const decoded = node ? decodeMessage(node, type, text) : newMessage();
  if (field) {
    message[field.name] = decoded;
    const updateMask = maskField && (node ? inferMask(node, type) : []);
    return { updateMask, maskSource: "inferred" };
  }
  Object.assign(message, decoded);
  const updateMask = maskField && (message[maskField.name] as string[] | undefined);
  return { updateMask, maskSource: updateMask ? "body" : "inferred" };
}

/**
 * Reads the query parameters into the message, and returns the mask that applies. A mask in the query replaces the
 * inferred one; its items, as `updateMask.paths`, are added to it.
 */
function readQueryInto(
  message: Message,
  { match, rawQuery, isForm, body, ignoreMask }: CallSource,
  maskField: Field | undefined,
  mask: Mask,
): Mask {
  const { method, values } = match;
  if (method.body === "*") return mask;
  const bound = new Set(values.map(({ path }) => path[0] ?? ""));
  if (method.body !== undefined) bound.add(method.body);
  const outcome = applyQuery(queryPairs(rawQuery, isForm, body), method.request, message, bound);
  if (outcome.hasInvalidUtf8) throw invalidUtf8();
  if (!outcome.mask || !maskField || ignoreMask) return mask;
  const { replacesInferred, paths } = outcome.mask;
  return {
    updateMask: replacesInferred ? [...paths] : [...(mask.updateMask ?? []), ...paths],
    maskSource: "query",
  };
}

function readBody(body: Buffer): { node: JsonNode | undefined; text: string } {
  const text = body.toString("utf8");
  return { node: readJson(text, !isUtf8(body)), text };
}

function queryPairs(rawQuery: string, form: boolean, body: Buffer): QueryPair[] {
  const pairs = parseQuery(rawQuery);
  if (!form) return pairs;
  // The gateway reads a form body as further parameters and ignores JSON in it.
  const text = body.toString("utf8");
  return /^\s*[{[]/.test(text) ? pairs : [...parseQuery(text), ...pairs];
}

function requireMessageType(field: Field): MessageType {
  if (field.type.kind !== "message") throw new Error(`${field.name} is not a message`);
  return field.type.type;
}

function setPath(message: Message, path: readonly string[], value: string): void {
  const [first = "", ...remaining] = path;
  if (remaining.length > 0) {
    message[first] ??= newMessage();
    setPath(message[first] as Message, remaining, value);
  } else if (value === "") {
    clearField(message, first);
  } else {
    message[first] = value;
  }
}

/** @throws StatusError code 8 for a message above the limit. */
export function checkSize(size: number): void {
  if (size > maxMessageBytes) {
    throw new StatusError(
      Code.resourceExhausted,
      `grpc: received message larger than max (${size} vs. ${maxMessageBytes})`,
    );
  }
}

function invalidUtf8(): StatusError {
  return new StatusError(Code.internal, "grpc: error while marshaling: string field contains invalid UTF-8");
}
