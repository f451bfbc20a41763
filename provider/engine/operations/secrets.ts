import { registerCredential } from "../../api/credentials";
import type { FieldSpec, Props, ResourceSpec } from "../description";
import { isObject } from "../values/values";

/** Remembers the secrets among the properties of a resource, so that no message repeats one that a server quotes. */
export function maskSecretsOf(spec: ResourceSpec, ...properties: readonly Props[]): void {
  for (const props of properties) holdFields({ ...spec.fields, ...spec.outputs }, props);
}

function holdFields(fields: Readonly<Record<string, FieldSpec>>, props: Props): void {
  for (const [key, field] of Object.entries(fields)) {
    const value = props[key];
    if (field.secret && typeof value === "string") registerCredential(value);
    if (field.type === "object" && isObject(value)) holdFields(field.fields, value);
  }
}
