import type { Field, ItemType, Message, MessageType, Value } from "./descriptor";
import { newMessage, snakeCase } from "./descriptor";
import { canonicalDuration, canonicalTimestamp, parseWholeNumber } from "./scalars";
import type { JsonNode } from "./strictJson";
import { JsonError, describePosition } from "./strictJson";

/**
 * Decodes a message as the gateway does: unknown fields and unknown enum names are dropped, `null` is unset, any other
 * value of the wrong type is refused.
 *
 * @param source the JSON of `node`, for the positions in messages.
 * @throws JsonError with the gateway's text.
 */
export function decodeMessage(node: JsonNode, type: MessageType, source: string): Message {
  return new Decoder(source).message(node, type);
}

class Decoder {
  constructor(private readonly source: string) {}

  message(node: JsonNode, type: MessageType): Message {
    if (node.kind !== "object") throw this.unexpected(node);
    const message = newMessage();
    const parsed = new Set<Field>();
    const setOneofs = new Set<string>();
    for (const member of node.members) {
      const field = type.byName.get(member.key);
      if (!field) continue;
      if (parsed.has(field)) throw this.at(member.at, `duplicate field ${member.raw}`);
      parsed.add(field);
      if (member.value.kind === "null") continue;
      if (field.oneof !== undefined) {
        if (setOneofs.has(field.oneof)) {
          const oneof = `${type.fullName}.${field.oneof}`;
          throw this.at(member.at, `error parsing ${member.raw}, oneof ${oneof} is already set`);
        }
        setOneofs.add(field.oneof);
      }
      const value = this.field(member.value, field);
      if (value !== undefined && !isDefault(value, field)) message[field.name] = value;
    }
    return message;
  }

  private field(node: JsonNode, field: Field): Value | undefined {
    const { type } = field;
    if (type.kind === "list") {
      if (node.kind !== "list") throw this.unexpected(node);
      return node.items
        .map((item) => this.item(item, type.item, field.name))
        .filter((item) => item !== undefined);
    }
    if (type.kind === "map") {
      if (node.kind !== "object") throw this.unexpected(node);
      const entries = newMessage();
      for (const member of node.members) {
        const key =
          type.key === "int64" ? this.readIntegerKey(member.key, member.at, member.raw) : member.key;
        if (key in entries) throw this.at(member.at, `duplicate map key ${member.raw}`);
        const value = this.item(member.value, type.item, "value");
        if (value !== undefined) entries[key] = value;
      }
      return entries;
    }
    return this.item(node, type, field.name);
  }

  private readIntegerKey(key: string, at: number, raw: string): string {
    const number = parseWholeNumber(key, 64);
    if (number === undefined) throw this.at(at, `invalid value for int64 key: ${raw}`);
    return String(number);
  }

  /** Undefined for an unknown enum name. */
  private item(node: JsonNode, type: ItemType, name: string): Value | undefined {
    const invalid = (): JsonError =>
      this.at(node.at, `invalid value for ${type.kind} field ${name}: ${node.raw}`);
    switch (type.kind) {
      case "message":
        return this.message(node, type.type);
      case "string":
        if (node.kind !== "string") throw invalid();
        return node.text;
      case "bytes":
        if (node.kind !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(node.text)) throw invalid();
        return Buffer.from(node.text, "base64").toString("base64");
      case "bool":
        if (node.kind !== "true" && node.kind !== "false") throw invalid();
        return node.kind === "true";
      case "int32":
      case "int64": {
        const digits = node.kind === "number" ? node.raw : node.kind === "string" ? node.text : "";
        const number = parseWholeNumber(digits, type.kind === "int32" ? 32 : 64);
        if (number === undefined) throw invalid();
        return type.kind === "int32" ? Number(number) : String(number);
      }
      case "enum": {
        if (node.kind === "string") return type.type.numberByName.has(node.text) ? node.text : undefined;
        const number = node.kind === "number" ? parseWholeNumber(node.raw, 32) : undefined;
        if (number === undefined) throw invalid();
        return type.type.nameByNumber.get(Number(number)) ?? Number(number);
      }
      default:
        if (node.kind !== "string") throw this.unexpected(node);
        return this.wellKnown(type.kind, node, node.text);
    }
  }

  /** A message of protobuf's own that is a string in JSON. */
  private wellKnown(kind: "timestamp" | "duration" | "fieldMask", node: JsonNode, text: string): Value {
    switch (kind) {
      case "timestamp": {
        const time = canonicalTimestamp(text);
        if (time === undefined) {
          throw this.at(node.at, `invalid google.protobuf.Timestamp value ${node.raw}`);
        }
        return time;
      }
      case "duration": {
        const length = canonicalDuration(text);
        if (length === "range") {
          throw this.at(node.at, `google.protobuf.Duration value out of range: ${node.raw}`);
        }
        if (length === undefined)
          throw this.at(node.at, `invalid google.protobuf.Duration value ${node.raw}`);
        return length.text;
      }
      case "fieldMask":
        return (text === "" ? [] : text.split(",")).map((path) => {
          if (!/^[A-Za-z0-9]+(\.[A-Za-z0-9]+)*$/.test(path)) {
            throw this.at(
              node.at,
              `google.protobuf.FieldMask.paths contains invalid path: ${JSON.stringify(path)}`,
            );
          }
          return snakeCase(path);
        });
    }
  }

  private unexpected(node: JsonNode): JsonError {
    return new JsonError(
      `proto: syntax error (${describePosition(this.source, node.at)}): unexpected token ${node.raw}`,
    );
  }

  private at(at: number, message: string): JsonError {
    return new JsonError(`proto: (${describePosition(this.source, at)}): ${message}`);
  }
}

/** Zero values of fields without presence are the same as nothing. */
export function isDefault(value: Value, field: Field): boolean {
  switch (field.type.kind) {
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "map":
      return Object.keys(value).length === 0;
    case "message":
    case "timestamp":
    case "duration":
    case "fieldMask":
      return false;
    default:
      if (field.oneof !== undefined || field.optional) return false;
      if (field.type.kind === "enum") return value === field.type.type.zero || value === 0;
      return value === "" || value === false || value === 0 || (field.type.kind === "int64" && value === "0");
  }
}
