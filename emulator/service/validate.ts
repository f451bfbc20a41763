import type { Field, Message, MessageType, Value } from "../gateway/descriptor";
import { isMessage } from "../gateway/descriptor";
import type { Violation } from "../gateway/status";

/** All violations of the descriptions of fields: required, one-of, format. */
export function violationsOf(message: Message, type: MessageType, path = ""): Violation[] {
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
  if (type.kind === "message") return violationsOf(value as Message, type.type, `${place}.`);
  if (type.kind === "list" && type.item.kind === "message") {
    const itemType = type.item.type;
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
  const empty = value === "" || value === 0 || (set.type.kind === "enum" && value === set.type.type.zero);
  return empty ? [{ field: `${path}${set.name}`, description: `${set.name} must not be empty` }] : [];
}

/** A copy without output-only fields. */
export function withoutOutputs(message: Message, type: MessageType): Message {
  const copy = Object.create(null) as Message;
  for (const field of type.fields) {
    const value = message[field.name];
    if (value === undefined || field.outputOnly) continue;
    copy[field.name] =
      field.type.kind === "message" && isMessage(value) ? withoutOutputs(value, field.type.type) : value;
  }
  return copy;
}
