import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import type { FieldSpec } from "../fields/fieldSpec";
import { isObject, isUnknown, SECRET_TYPE, SIGNATURE } from "../fields/values";
import type { Json, Props } from "../fields/values";

/*
 * Values as the engine sends them: with secrets in a wrapper of their own. Operations work with plain values, and what
 * they return is marked again.
 */

type Fields = Readonly<Record<string, FieldSpec>>;

const isSecret = (value: Json | undefined): value is { value: Json } =>
  isObject(value) && value[SIGNATURE] === SECRET_TYPE;

/** A value without the wrappers of secrets. */
export function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  if (isSecret(value)) return withoutMarks(value.value);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutMarks(member ?? null)]),
  );
}

/** Whether a value, or a part of it, was sent as a secret. */
export function containsMark(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(containsMark);
  return isSecret(value) || (isObject(value) && Object.values(value).some(containsMark));
}

/** Marks a value as a secret. What is not known yet stays as it is: the engine finds it by its text. */
export function asSecret(value: Json): Json {
  return isUnknown(value) || isSecret(value) ? value : { [SIGNATURE]: SECRET_TYPE, value };
}

/** Marks what a field describes as a secret, and what one of these values was marked as. A list is marked as a whole. */
function withMark(
  field: FieldSpec | undefined,
  value: Json | undefined,
  sent: readonly (Json | undefined)[],
): Json {
  if (value === undefined || value === null) return null;
  if (field?.secret || sent.some(isSecret) || (Array.isArray(value) && sent.some(containsMark)))
    return asSecret(value);
  if (!isObject(value)) return value;
  return withMarks(field?.type === "object" ? field.fields : {}, value, sent.filter(isObject));
}

/** Marks the secrets among properties: those that are described as such, and those that the engine sent as such. */
export function withMarks(fields: Fields, props: Props, sent: readonly Props[]): Props {
  return Object.fromEntries(
    Object.entries(props)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [
        key,
        withMark(
          fields[key],
          value,
          sent.map((each) => each[key]),
        ),
      ]),
  );
}

/** The properties in a message, with the marks of secrets. */
export function fromStruct(struct: Struct | undefined): Props {
  return struct?.toJavaScript() ?? {};
}

/** A message with properties, without members that are undefined. */
export function toStruct(props: Props): Struct {
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(props)) as Record<string, JavaScriptValue>);
}
