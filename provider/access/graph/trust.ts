import type { AccessMeaning, FieldSpec } from "../../fields/fieldSpec";
import { isSet } from "../../fields/equal";
import { isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { specs } from "../documents/specs";
import { splitPath, textAt, textMeant } from "./describedFields";
import type { Entity } from "./model";
import { ownMember } from "./references";

/*
 * How principals prove who they are: read from any resource by what the description of its fields says that they mean.
 */

/** A part of a trust that has an exact value, or a pattern in its place. */
export interface TrustPart {
  /** Undefined where it is not set or was not read. */
  readonly exact: string | undefined;
  readonly pattern: string | undefined;
  /** The paths of both fields: where the kind has only one of them, that is both. */
  readonly exactPath: string;
  readonly patternPath: string;
}

/** A further claim that a token must have. */
export interface TrustClaim {
  readonly name: string;
  readonly path: string;
  /** Where a pattern for it stands; undefined where the kind takes none. */
  readonly patternPath: string | undefined;
  readonly isPattern: boolean;
  readonly value: Json | undefined;
}

/** The conditions of one object, which a principal must all meet. */
export interface Trust {
  /** Undefined where the kind has no such field beside the others. */
  readonly issuer: TrustPart | undefined;
  readonly subject: TrustPart | undefined;
  readonly audience: TrustPart | undefined;
  readonly account: TrustPart | undefined;
  readonly arn: TrustPart | undefined;
  readonly userId: TrustPart | undefined;
  readonly service: TrustPart | undefined;
  /** The exact ones first, each sort in the order of the program. */
  readonly claims: readonly TrustClaim[];
  /** Whether keys are registered that sign in place of those that the issuer publishes. */
  readonly hasKeys: boolean;
  /** Where such keys stand, and their key sets. */
  readonly keySets: readonly { readonly path: string; readonly value: Json | undefined }[];
}

type Fields = Readonly<Record<string, FieldSpec>>;
type NamedField = readonly [name: string, field: FieldSpec];

const isPattern = (field: FieldSpec): boolean => field.type === "string" && field.format === "regex";

const isTrusted = ([, { access }]: NamedField): boolean => access?.startsWith("trust.") === true;

function readPart(
  fields: readonly NamedField[],
  values: Props,
  prefix: string,
  meaning: AccessMeaning,
): TrustPart | undefined {
  const meant = fields.filter(([, { access, type }]) => access === meaning && type !== "list");
  const [pattern] = meant.find(([, field]) => isPattern(field)) ?? [];
  const [exact] = meant.find(([, field]) => !isPattern(field)) ?? [];
  const [exactName, patternName] = [exact ?? pattern, pattern ?? exact];
  if (exactName === undefined || patternName === undefined) return undefined;
  return {
    exact: exact === undefined ? undefined : textAt(values, exact),
    pattern: pattern === undefined ? undefined : textAt(values, pattern),
    exactPath: `${prefix}${exactName}`,
    patternPath: `${prefix}${patternName}`,
  };
}

function readClaims(fields: readonly NamedField[], values: Props, prefix: string): TrustClaim[] {
  const maps = fields.flatMap(([key, field]) =>
    field.access === "trust.claims" && field.type === "map" ? [[key, field.values] as const] : [],
  );
  const [patterns] = maps.find(([, value]) => isPattern(value)) ?? [];
  const claims = maps.flatMap(([key, field]) => {
    const entries = ownMember(values, key);
    if (!isObject(entries)) return [];
    return Object.entries(entries).map(([name, value]): TrustClaim => ({
      name,
      path: `${prefix}${key}.${name}`,
      patternPath: patterns && `${prefix}${patterns}.${name}`,
      isPattern: isPattern(field),
      value,
    }));
  });
  return [...claims.filter((claim) => !claim.isPattern), ...claims.filter((claim) => claim.isPattern)];
}

function readTrust(fields: readonly NamedField[], values: Props, prefix: string): Trust {
  const part = (meaning: AccessMeaning): TrustPart | undefined => readPart(fields, values, prefix, meaning);
  const keys = fields.filter(
    ([key, field]) => field.access === "trust.keys" && (field.required || isSet(field, values[key])),
  );
  return {
    issuer: part("trust.issuer"),
    subject: part("trust.subject"),
    audience: part("trust.audience"),
    account: part("trust.account"),
    arn: part("trust.arn"),
    userId: part("trust.userId"),
    service: part("trust.service"),
    claims: readClaims(fields, values, prefix),
    hasKeys: keys.length > 0,
    keySets: keys.map(([key]) => ({ path: `${prefix}${key}`, value: values[key] })),
  };
}

/** The objects inside a value, each with its fields and path. */
function objectsIn(
  field: FieldSpec,
  value: Json | undefined,
  path: string,
): readonly (readonly [Fields, Props, string])[] {
  if (field.type === "object") return isObject(value) ? [[field.fields, value, path]] : [];
  if (field.type === "list" && Array.isArray(value))
    return value.flatMap((item, index) => objectsIn(field.items, item, `${path}[${index}]`));
  return field.type === "map" && isObject(value)
    ? Object.entries(value).flatMap(([key, entry]) => objectsIn(field.values, entry, `${path}.${key}`))
    : [];
}

function* trustsIn(fields: Fields, values: Props, prefix: string): Generator<Trust> {
  const trusted = Object.entries(fields).filter(isTrusted);
  const isTop = prefix === "";
  // At the top there is always an object, also where none of them is set.
  if (trusted.length > 0 && (!isTop || trusted.some(([key, field]) => isSet(field, ownMember(values, key)))))
    yield readTrust(trusted, values, prefix);
  for (const [key, field] of Object.entries(fields)) {
    for (const [inner, value, path] of objectsIn(field, ownMember(values, key), `${prefix}${key}`))
      yield* trustsIn(inner, value, `${path}.`);
  }
}

/** Several rules ask the same of each entity. */
const known = new WeakMap<Pick<Entity, "kind" | "inputs">, readonly Trust[]>();

/** What an entity trusts: each of these lets principals in. */
export function trustsOf(entity: Pick<Entity, "kind" | "inputs">): readonly Trust[] {
  const found = known.get(entity);
  if (found !== undefined) return found;
  const fields = specs[entity.kind]?.fields ?? {};
  const trusts = [...trustsIn(fields, entity.inputs, "")];
  known.set(entity, trusts);
  return trusts;
}

/** Whether it is of tokens that are signed with the keys that their issuer publishes. */
export const isOfTokens = ({ issuer, hasKeys }: Trust): boolean => issuer !== undefined && !hasKeys;

/** The further claims that were read, as names with exact values or patterns. */
export function readClaimConditions(
  { claims }: Trust,
  form: "exact" | "patterns",
): (readonly [name: string, value: string])[] {
  return claims.flatMap(({ name, value, isPattern }) =>
    typeof value === "string" && isPattern === (form === "patterns") ? [[name, value] as const] : [],
  );
}

/** The value of a part, or its pattern where it has no exact one. */
export const acceptedText = (part: TrustPart | undefined): string | undefined => part?.exact ?? part?.pattern;

/** The path of what a part is set by. */
export const pathOf = ({ exact, exactPath, patternPath }: TrustPart): string =>
  exact === undefined ? patternPath : exactPath;

/** The name of a field in the object around it. */
export const fieldName = (path: string): string => splitPath(path)[1];

/** Whose tokens or keys let principals in, and which subject they must name, as the program writes it. */
export function describeTrust(
  entity: Entity | undefined,
): { readonly issuer?: string; readonly subject?: string } | undefined {
  if (entity === undefined) return undefined;
  const trusts = trustsOf(entity);
  const first = (texts: readonly (string | undefined)[]): string | undefined =>
    texts.find((text) => text !== undefined);
  const issuer = first([
    ...trusts.map((trust) => acceptedText(trust.issuer)),
    textMeant(entity, "signIn.issuer"),
    ...trusts.map(({ account }) => acceptedText(account)),
  ]);
  const subject = first([
    ...trusts.map((trust) => acceptedText(trust.subject)),
    ...trusts.map(({ arn }) => acceptedText(arn)),
    ...trusts.map(({ service }) => acceptedText(service)),
  ]);
  if (issuer === undefined && subject === undefined) return undefined;
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}
