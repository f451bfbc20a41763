import type { JsonObject } from "../api/client";
import { ConnectionError, printable } from "../api/errors";
import type { InventoryObject } from "../access/documents/inventory";
import { parseLiveInputs } from "../engine/operations/read";
import { isReadAs } from "../engine/description";
import type { FieldSpec, Props, ResourceSpec } from "../engine/description";
import { isObject, isSet } from "../engine/values/values";
import { findSchemaMismatch } from "../engine/wire/schemaMismatch";
import { readOutputs } from "../engine/wire/decode";

/** The value where it is a string that is not empty. */
function nonEmptyString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A document contains no secret, even where a server returns one. */
function omitSecrets(fields: Readonly<Record<string, FieldSpec>>, values: Props): Props {
  const entries = Object.entries(values).flatMap(([key, value]): [string, Props[string]][] => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field?.secret) return [];
    return [[key, field?.type === "object" && isObject(value) ? omitSecrets(field.fields, value) : value]];
  });
  return Object.fromEntries(entries);
}

/** The outputs of an object, and what only its kind's responses contain. */
function readDetails(spec: ResourceSpec, response: Props, uid: string): Props {
  const details: Props = { ...readOutputs(spec, response, uid, {}) };
  for (const key of ["email", "etag"] as const) {
    const value = isReadAs(spec, key) ? nonEmptyString(response[key]) : undefined;
    if (value !== undefined) details[key] = value;
  }
  return omitSecrets(spec.outputs ?? {}, details);
}

/** Turns a response into an object of the inventory. @throws ConnectionError where it is of another kind. */
export function toInventoryObject(spec: ResourceSpec, json: JsonObject, uid: string): InventoryObject {
  const response = json as Props;
  const mismatch = findSchemaMismatch(spec, response, uid);
  if (mismatch !== undefined) {
    throw new ConnectionError(
      "PP4008",
      `the response for ${uid} is not a ${spec.noun}: ${printable(mismatch, 100)}`,
      "notSent",
      false,
    );
  }
  const details = readDetails(spec, response, uid);
  const [createTime, updateTime, lastSeenTime] = ["createTime", "updateTime", "lastSeenTime"].map((key) =>
    nonEmptyString(response[key]),
  );
  const isBuiltIn = isReadAs(spec, "builtIn") && !uid.includes("/");
  return {
    kind: spec.kind,
    uid,
    inputs: omitSecrets(spec.fields, parseLiveInputs(spec, response, uid)),
    ...(isBuiltIn ? { builtIn: true as const } : {}),
    ...(createTime === undefined ? {} : { createTime }),
    ...(updateTime === undefined ? {} : { updateTime }),
    ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

/** The server responds for a subresource that is not set too: such a response lacks the required fields. */
export function exists(spec: ResourceSpec, inputs: Props): boolean {
  if (spec.listing?.singletonOf === undefined) return true;
  return Object.entries(spec.fields).every(
    ([key, field]) => !field.required || field.inputOnly || isSet(field, inputs[key]),
  );
}
