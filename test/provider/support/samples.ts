import { kinds } from "../../../provider/kinds";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import type { Json, Props } from "../../../provider/fields/values";
import { withUids } from "../../support/byHand";
import { valueOf } from "../../support/fieldValues";
import {
  changeField,
  memberAt,
  propertyPathOf,
  samples as declaredSamples,
  withMember,
} from "../../support/samples";
import type { Sample } from "../../support/samples";

export { CERTIFICATE, PUBLIC_KEY } from "../../support/samples";

export const ROOT_UID = "19d3a64f20c64ba3ccf1bc86ce59d03e705959ad";
export const GROUP_UID = `${ROOT_UID}/efb53f2857d567f2`;
export const CHILD_UID = `${GROUP_UID}/0d1e2f3a4b5c6d7e`;
export const IDENTITY_UID = `${GROUP_UID}/1111111111111111`;
export const REPO_UID = `${GROUP_UID}/3333333333333333`;
export const DIGEST = `sha256:${"6b3f".repeat(16)}`;
export const OTHER_IDENTITY_UID = `${GROUP_UID}/2222222222222222`;
export const ROLE_UID = "f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3";
const OTHER_ROLE_UID = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
export const PROVIDER_UID = `${ROOT_UID}/3333333333333333`;

export const specs: readonly ResourceSpec[] = kinds.map(({ spec }) => spec);

export function specOf(kind: string): ResourceSpec {
  const spec = specs.find((one) => one.kind === kind);
  if (!spec) throw new Error(`no kind ${kind}`);
  return spec;
}

export const JWKS = '{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}';

/** The uids in place of what samples refer to. */
const uids: Readonly<Record<string, string>> = {
  org: ROOT_UID,
  reader: ROLE_UID,
  writer: OTHER_ROLE_UID,
  someone: IDENTITY_UID,
  other: OTHER_IDENTITY_UID,
};

/** The uid in place of what a sample has for itself, by its kind. */
const ownUids: Readonly<Record<string, string>> = {
  Group: GROUP_UID,
  Repo: REPO_UID,
  IdentityProvider: PROVIDER_UID,
};

interface InputsOfSample {
  readonly kind: string;
  readonly label: string;
  readonly inputs: Props;
}

/** Whether an update sets what it names: `{}` and `false` only empty it. */
const setsAll = (update: Readonly<Record<string, unknown>>): boolean =>
  Object.values(update).every((value) => value !== false && JSON.stringify(value) !== "{}");

/** The arguments of a sample; where they leave out a field that it changes, also with that; and after each other update. */
function inputsOf({ label, kind, own, args, fields, updates = [] }: Sample): InputsOfSample[] {
  const unset = fields.filter((field) => memberAt(args, propertyPathOf(field)) === undefined);
  const variants: readonly (readonly [string, Record<string, unknown>])[] = [
    [label, args],
    ...(unset.length > 0 ? [[`${label}, otherwise`, unset.reduce(changeField, args)] as const] : []),
    ...updates
      .filter(setsAll)
      .map((update, i) => [`${label}, updated ${i + 1}`, { ...args, ...update }] as const),
  ];
  const ids = { ...uids, own: ownUids[own?.kind ?? ""] ?? "" };
  return variants.map(([name, each]) => ({ kind, label: name, inputs: withUids(each, ids) as Props }));
}

/** Legal inputs of every kind, made of the samples: each field is set in some of them. */
export const samples: readonly InputsOfSample[] = declaredSamples.flatMap(inputsOf);

/** The inputs of one sample: the first of its kind, or the one with this label. */
export function sampleOf(kind: string, label?: string): Props {
  const found = samples.find((one) => one.kind === kind && (label === undefined || one.label === label));
  if (!found) throw new Error(`no sample ${label ?? ""} of ${kind}`);
  return structuredClone(found.inputs);
}

/** A field that no object holds further fields of, with the way to it. */
export interface Leaf {
  readonly path: readonly string[];
  readonly field: FieldSpec;
}

/** Every leaf: lists and maps are one. */
export function leavesOf(fields: Readonly<Record<string, FieldSpec>>, path: readonly string[] = []): Leaf[] {
  return Object.entries(fields).flatMap(([key, field]) =>
    field.type === "object" ? leavesOf(field.fields, [...path, key]) : [{ path: [...path, key], field }],
  );
}

export const valueAt = (props: Props, path: readonly string[]): Json | undefined =>
  memberAt(props, path) as Json | undefined;

/** A copy with one value changed; undefined takes it out. */
export const withValue = (props: Props, path: readonly string[], value: Json | undefined): Props =>
  withMember(props, path, value) as Props;

/** What a server adds to the inputs: each output that a resource always has. */
export function requiredOutputs(kind: string): Props {
  const required = Object.entries(specOf(kind).outputs ?? {}).filter(([, field]) => field.required);
  return Object.fromEntries(required.map(([key, field]) => [key, valueOf(field, 0)]));
}
