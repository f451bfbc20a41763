import type { Field, FieldType, Message, MessageType, Value } from "./descriptor";
import { millisecondTimestamp } from "./scalars";

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
  const response: Record<string, unknown> = {};
  for (const field of type.fields) {
    if (options.onlyFields && !options.onlyFields.has(field.name)) continue;
    const value = message[field.name];
    const hasPresence = field.oneof !== undefined || field.optional === true;
    if (options.omitEmpty && !hasPresence && isZero(field, value)) continue;
    if (value !== undefined) response[field.name] = renderValue(value, field.type, options);
    else if (!hasPresence) response[field.name] = zeroOf(field);
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
      return renderMessage(value as Message, type.type, withoutOnlyFields(options));
    case "timestamp":
      return options.milliseconds ? millisecondTimestamp(value as string) : value;
    case "fieldMask":
      return (value as string[])
        .map((path) => path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
        .join(",");
    default:
      return value;
  }
}

function withoutOnlyFields(options: RenderOptions): RenderOptions {
  return options.onlyFields ? { ...options, onlyFields: undefined } : options;
}

/** A message that is set is not zero, even where nothing in it is set. */
function isZero(field: Field, value: Value | undefined): boolean {
  if (value === undefined) return true;
  if (field.type.kind === "list") return (value as Value[]).length === 0;
  if (field.type.kind === "map") return Object.keys(value).length === 0;
  return field.type.kind !== "message" && value === zeroOf(field);
}

function zeroOf(field: Field): unknown {
  switch (field.type.kind) {
    case "list":
      return [];
    case "map":
      return {};
    case "bool":
      return false;
    case "int32":
      return 0;
    case "int64":
      return "0";
    case "enum":
      return field.type.type.zero;
    case "message":
    case "timestamp":
    case "duration":
    case "fieldMask":
      return null;
    default:
      return "";
  }
}
