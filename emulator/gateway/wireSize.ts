import type { FieldType, Message, MessageType, Value } from "./descriptor";
import { parseTimestamp } from "./scalars";

/** The largest message between gateway and services in either direction. */
export const maxMessageBytes = 4 * 1024 * 1024;

/**
 * The size of a message between gateway and service. Field numbers are not public, so each tag counts as one byte, its
 * size in all recorded cases.
 */
export function wireSize(message: Message, type: MessageType): number {
  let size = 0;
  for (const field of type.fields) {
    const value = message[field.name];
    if (value !== undefined) size += fieldSize(value, field.type);
  }
  return size;
}

export function maskSize(paths: readonly string[]): number {
  return delimited(paths.reduce((sum, path) => sum + 1 + lengthPrefixed(path), 0)) + 1;
}

function fieldSize(value: Value, type: FieldType): number {
  if (type.kind === "list") {
    const items = value as Value[];
    const packed = type.item.kind === "enum" || type.item.kind === "int32" || type.item.kind === "int64";
    if (packed) return 1 + delimited(items.reduce((sum: number, item) => sum + itemSize(item, type.item), 0));
    return items.reduce((sum: number, item) => sum + 1 + itemSize(item, type.item), 0);
  }
  if (type.kind === "map") {
    return Object.entries(value).reduce((sum, [key, item]) => {
      const keySize = 1 + (type.key === "int64" ? varint(BigInt(key)) : lengthPrefixed(key));
      return sum + 1 + delimited(keySize + 1 + itemSize(item as Value, type.item));
    }, 0);
  }
  return 1 + itemSize(value, type);
}

function itemSize(value: Value, type: FieldType): number {
  switch (type.kind) {
    case "message":
      return delimited(wireSize(value as Message, type.type));
    case "bool":
      return 1;
    case "int32":
    case "int64":
      return varint(BigInt(value as string | number));
    case "enum":
      return varint(
        BigInt(typeof value === "number" ? value : (type.type.numberByName.get(value as string) ?? 0)),
      );
    case "timestamp": {
      const instant = parseTimestamp(value as string);
      if (!instant) return 1;
      const nanos = instant.nanos === 0 ? 0 : 1 + varint(BigInt(instant.nanos));
      return delimited(1 + varint(BigInt(Math.floor(instant.epochMs / 1000))) + nanos);
    }
    case "bytes":
      return delimited(Buffer.byteLength(value as string, "base64"));
    case "fieldMask":
      return maskSize(value as string[]) - 1;
    default:
      return lengthPrefixed(value as string);
  }
}

function lengthPrefixed(text: string): number {
  return delimited(Buffer.byteLength(text, "utf8"));
}

function delimited(length: number): number {
  return varint(BigInt(length)) + length;
}

function varint(value: bigint): number {
  if (value < 0n) return 10;
  let size = 1;
  for (let rest = value >> 7n; rest > 0n; rest >>= 7n) size += 1;
  return size;
}
