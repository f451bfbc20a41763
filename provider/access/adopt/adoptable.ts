import { checkInputs } from "../../fields/check";
import { isSet } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import { aggregatedKind } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { isServerFilled } from "../../fields/mergeLive";
import type { InventoryObject } from "../documents/inventory";

/** A secret that the server has and never returns. */
interface MissingSecret {
  /** `oidc.clientSecret` */
  readonly path: string;
}

/** What a program declares for an object that exists. */
export interface Declaration {
  readonly inputs: Props;
  readonly secrets: readonly MissingSecret[];
}

/** Why an object cannot be declared, in words. */
interface NotAdoptable {
  readonly reason: string;
}

function declaredFields(fields: Readonly<Record<string, FieldSpec>>, live: Props): Props {
  const entries = Object.entries(fields).flatMap(([key, field]): [string, Json][] => {
    const value = live[key];
    if (value === undefined || value === null || !isSet(field, value)) return [];
    // The server fills in such a field again.
    if (isServerFilled(field, live, key) && field.serverFilled !== true) return [];
    if (field.type !== "object" || !isObject(value)) return [[key, value]];
    return [[key, declaredFields(field.fields, value)]];
  });
  return Object.fromEntries(entries);
}

/** The inputs without the member at a path. */
function withoutMember(inputs: Props, path: readonly string[]): Props {
  const [key = "", ...rest] = path;
  const { [key]: member, ...others } = inputs;
  return rest.length === 0 || !isObject(member) ? others : { ...others, [key]: withoutMember(member, rest) };
}

function withMember(inputs: Props, path: readonly string[], value: Json): Props {
  const [key = "", ...rest] = path;
  const member = inputs[key];
  return {
    ...inputs,
    [key]: rest.length === 0 ? value : withMember(isObject(member) ? member : {}, rest, value),
  };
}

/** The paths of the secrets that the server never returns. */
function listSecretPaths(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[]): string[][] {
  return Object.entries(fields).flatMap(([key, field]): string[][] => {
    if (field.secret && field.inputOnly) return [[...path, key]];
    return field.type === "object" ? listSecretPaths(field.fields, [...path, key]) : [];
  });
}

/**
 * The arguments with which a program declares an object as it is, or why it cannot.
 *
 * @param now milliseconds since the epoch: a time that has passed cannot be declared.
 */
export function declareObject(
  spec: ResourceSpec,
  object: InventoryObject,
  now: number,
): Declaration | NotAdoptable {
  if (object.builtIn) return { reason: "it is built in, and never changes" };
  const createOnly = Object.entries(spec.outputs ?? {}).filter(([, field]) => field.createOnly);
  if (createOnly.length > 0) {
    return {
      reason: `its ${createOnly.map(([key]) => key).join(", ")} is returned only at creation`,
    };
  }
  if (aggregatedKind(spec) !== undefined) return { reason: "its members are declared one by one" };
  let inputs = declaredFields(spec.fields, object.inputs);
  const problems = () => checkInputs(spec, inputs, { olds: {}, now });
  let secrets: MissingSecret[] = [];
  for (const { property } of problems()) {
    const path = property.split(".");
    // A time in the past cannot be declared; where the server fills it in, the program leaves it out.
    if (isFilledByServer(spec.fields, path)) inputs = withoutMember(inputs, path);
  }
  if (problems().length > 0) {
    // An object that is valid with a secret only has one on the server.
    const paths = listSecretPaths(spec.fields, []);
    const filled = paths.reduce((all, path) => withMember(all, path, "secret"), inputs);
    if (paths.length > 0 && checkInputs(spec, filled, { olds: {}, now }).length === 0) {
      secrets = paths.map((path) => ({ path: path.join(".") }));
      return { inputs, secrets };
    }
  }
  const [problem] = problems();
  if (problem === undefined) return { inputs, secrets };
  return { reason: `${problem.property} ${problem.reason}`.trim() };
}

/** Whether the server fills the field at a path when a program does not set it. */
function isFilledByServer(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[]): boolean {
  const [key = "", ...rest] = path;
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) return false;
  if (rest.length === 0) return field.serverFilled === true;
  return field.type === "object" && isFilledByServer(field.fields, rest);
}
