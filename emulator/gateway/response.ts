import type { FieldType, Message, MessageType, Value } from "./fields";
import { hasPresence, isZero, zeroOf } from "./fields";
import type { GatewayResponse } from "./gateway";
import { Code, httpStatusOf, knownDetailTypes, StatusError } from "./status";
import { millisecondTimestamp } from "./time";

export interface RenderOptions {
  /** Cut every timestamp to three digits (the specification) or write 0, 3, 6 or 9 (the recorded gateway). */
  readonly milliseconds: boolean;
  /** Keep only these top-level fields. */
  readonly onlyFields?: ReadonlySet<string>;
  /** Leave out what has no presence and holds its zero value, as proto JSON does by default. */
  readonly omitEmpty?: boolean;
}

/**
 * A message as JSON: it has every field, with its zero value or `null` when unset, except members of one-ofs and
 * optional fields.
 */
export function renderMessage(
  message: Message,
  type: MessageType,
  options: RenderOptions,
): Record<string, unknown> {
  const { onlyFields, ...inner } = options;
  const response: Record<string, unknown> = {};
  for (const field of type.fields) {
    if (onlyFields && !onlyFields.has(field.name)) continue;
    const value = message[field.name];
    const isEmpty = value === undefined || isZero(value, field.type);
    if (isEmpty && options.omitEmpty && !hasPresence(field)) continue;
    if (value !== undefined) response[field.name] = renderValue(value, field.type, inner);
    else if (!hasPresence(field)) response[field.name] = zeroOf(field.type);
  }
  return response;
}

function renderValue(value: Value, type: FieldType, options: RenderOptions): unknown {
  switch (type.kind) {
    case "list":
      return (value as Value[]).map((item) => renderValue(item, type.item, options));
    case "map": {
      const response = Object.create(null) as Record<string, unknown>;
      for (const [key, item] of Object.entries(value)) {
        response[key] = renderValue(item as Value, type.item, options);
      }
      return response;
    }
    case "message":
      return renderMessage(value as Message, type, options);
    case "timestamp":
      return options.milliseconds ? millisecondTimestamp(value as string) : value;
    default:
      return value;
  }
}

export function jsonResponse(status: number, body: unknown): GatewayResponse {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

/** Any error as a response. @param verb the response to HEAD has no body. */
export function errorResponse(
  error: unknown,
  verb = "GET",
  { omitEmpty } = { omitEmpty: false },
): GatewayResponse {
  const { code, message, details, headers } =
    error instanceof StatusError
      ? error
      : new StatusError(Code.internal, error instanceof Error ? error.message : String(error));
  const contentType = { "Content-Type": "application/json" };
  if (details.some((detail) => !knownDetailTypes.has(detail["@type"]))) {
    const body = JSON.stringify({ code: Code.internal, message: "failed to marshal error message" });
    return { status: 500, headers: contentType, body };
  }
  const body = JSON.stringify({ code, message, details }, omitEmpty ? withoutEmpty : undefined);
  return {
    status: httpStatusOf(code),
    headers: {
      ...contentType,
      ...headers,
      ...(code === Code.unauthenticated && { "WWW-Authenticate": message }),
    },
    body: verb === "HEAD" ? "" : body,
  };
}

/** Leaves out empty members where JSON is written. */
function withoutEmpty(_key: string, value: unknown): unknown {
  const isEmpty = Array.isArray(value) ? value.length === 0 : value === null || value === "" || value === 0;
  return isEmpty ? undefined : value;
}
