import { isSet } from "../../fields/equal";
import type { AccessMeaning, FieldSpec } from "../../fields/fieldSpec";
import { isObject, compareTexts, getOrCompute, ownMember } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { memberPath, partsOf } from "../../fields/walk";
import { printable } from "../../text/printable";
import { uidsIn } from "../../text/uid";
import { specs } from "../documents/specs";
import { knownIssuerOf } from "../trust/issuers";
import { plainOrQuoted as plain, quoteValue } from "../trust/quote";
import { literalStart } from "../trust/regexSyntax";
import { isPattern, splitPath, textAt, textMeant, meaningsOf, pathsMeant, valueAt } from "./describedFields";
import type { Entity } from "./model";
import { topProperty } from "./inputLeaves";
import { isUnread, unresolvedPaths } from "./unread";

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
interface TrustClaim {
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
      path: memberPath(`${prefix}${key}`, name),
      patternPath: patterns && memberPath(`${prefix}${patterns}`, name),
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
  return partsOf(field, value).flatMap((part) => objectsIn(part.field, part.value, path + part.at));
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
  const fields = specs[entity.kind]?.fields ?? {};
  return getOrCompute(known, entity, () => [...trustsIn(fields, entity.inputs, "")]);
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

/** What a trust accepts as the subject of a token, which is also its claim `sub`: exact values, and patterns. */
function acceptedSubjects(trust: Trust, form: "exact" | "patterns"): string[] {
  const own = form === "exact" ? trust.subject?.exact : trust.subject?.pattern;
  const claims = readClaimConditions(trust, form).filter(([name]) => name === "sub");
  return [...(own === undefined ? [] : [own]), ...claims.map(([, value]) => value)];
}

/** The uids that a trust names as its subject: a token of the platform has that of the identity that its holder has assumed. */
export const subjectUids = (trust: Trust): string[] =>
  [...acceptedSubjects(trust, "exact"), ...acceptedSubjects(trust, "patterns")].flatMap(uidsIn);

/** The patterns of its subject; none where a value of it is exact. */
export const subjectPatterns = (trust: Trust): string[] =>
  acceptedSubjects(trust, "exact").length > 0 ? [] : acceptedSubjects(trust, "patterns");

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
  return { issuer, subject };
}

/** A subject as messages show it. */
export interface SubjectDescription {
  readonly displayName: string;
  /** More than one outsider can be it. */
  readonly matchesMany: boolean;
}

/** Longer patterns are not judged either; nothing of a shorter one is hidden. */
const LONGEST_SHOWN = 1000;

const text = (value: unknown): string => (typeof value === "string" && !isUnread(value) ? value : "");
const quotedPattern = (value: string): string => quoteValue(value, LONGEST_SHOWN);

/** An issuer by its host and path, as the address is read by who fetches it: `https://a@b.example` is b.example. */
function describeIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined || url.host === "") return quoteValue(issuer, LONGEST_SHOWN);
  const rest = `${url.pathname}${url.search}${url.hash}`.replace(/^\/$/, "");
  const scheme = url.protocol === "https:" ? "" : `${url.protocol}//`;
  return `${scheme}${url.host}${printable(rest, LONGEST_SHOWN)}`;
}

/** Further conditions restrict the subject; without them a reader would think that it includes more principals. */
function conditions({ claims }: Trust): string {
  const parts = [
    claims.filter(({ isPattern }) => !isPattern),
    claims.filter(({ isPattern }) => isPattern),
  ].flatMap(
    // A server may return them in another order than a program has.
    (sort) => sort.sort((a, b) => compareTexts(a.name, b.name)),
  );
  const words = parts.map(({ name, value, isPattern }) =>
    isPattern
      ? `${plain(name, 40)} matches ${quotedPattern(text(value))}`
      : `${plain(name, 40)} is ${plain(text(value), 60)}`,
  );
  return words.length === 0 ? "" : `, if ${words.join(" and ")}`;
}

/** A subject of an exact issuer, after the issuer. */
function describeSubject(issuer: string, subject: string): string {
  const known = knownIssuerOf(issuer);
  const description = known?.describe(subject);
  if (known !== undefined && description !== undefined) return `${known.name} ${description}`;
  const [, namespace = "", account = ""] =
    /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(subject) ?? [];
  const who =
    account === ""
      ? `subject ${quoteValue(subject, 200)}`
      : `Kubernetes service account ${namespace}/${account}`;
  return `${known?.name ?? describeIssuer(issuer)}, ${who}`;
}

function describeClaims(trust: Trust): SubjectDescription {
  const { exact: issuer = "", pattern: issuerPattern = "" }: Partial<TrustPart> = trust.issuer ?? {};
  const { exact: subject = "", pattern: subjectPattern = "" }: Partial<TrustPart> = trust.subject ?? {};
  const open =
    (issuer === "" && literalStart(issuerPattern).isStart) ||
    (subject === "" && literalStart(subjectPattern).isStart);
  const suffix = conditions(trust);
  const any = `any subject that matches ${quotedPattern(subjectPattern)}`;
  if (issuer === "") {
    const who = subject === "" ? any : `subject ${quoteValue(subject, 200)}`;
    return {
      displayName: `any issuer that matches ${quotedPattern(issuerPattern)}, ${who}${suffix}`,
      matchesMany: open,
    };
  }
  if (subject !== "")
    return { displayName: `${describeSubject(issuer, subject)}${suffix}`, matchesMany: open };
  return {
    displayName: `${knownIssuerOf(issuer)?.name ?? describeIssuer(issuer)}, ${any}${suffix}`,
    matchesMany: open,
  };
}

function describeAws(trust: Trust): SubjectDescription {
  const account = plain(trust.account?.exact ?? "", 40);
  const { exact: arn = "", pattern = "" }: Partial<TrustPart> = trust.arn ?? {};
  const { exact: userId = "", pattern: userIdPattern = "" }: Partial<TrustPart> = trust.userId ?? {};
  const open =
    arn === "" &&
    (literalStart(pattern).isStart ||
      (userId === "" && userIdPattern !== "" && literalStart(userIdPattern).isStart));
  if (arn === "") {
    return {
      displayName: `AWS account ${account}, any principal that matches ${quotedPattern(pattern)}`,
      matchesMany: open,
    };
  }
  const [, type = "", name = ""] = /^arn:[a-z-]*:(?:iam|sts):[^:]*:[^:]*:([a-z-]+)\/(.+)$/s.exec(arn) ?? [];
  const what = { role: "role", user: "user", "assumed-role": "session" }[type];
  const words = what === undefined ? `principal ${plain(arn, 160)}` : `${what} ${plain(name, 160)}`;
  return { displayName: `AWS account ${account}, ${words}`, matchesMany: open };
}

/** Whether a reader cannot know a field of these meanings: it is not shown, or the update may have changed it. */
function isDoubtful({ kind, unread, concealed = [] }: Entity, meanings: string): boolean {
  const hidden = concealed.filter(({ isUnchanged }) => !isUnchanged).map(({ path }) => path);
  const fields = meaningsOf(kind).filter(({ meaning }) => meaning.startsWith(meanings));
  return [...unresolvedPaths(unread), ...hidden].some((path) =>
    fields.some((field) => topProperty(field.path) === topProperty(path)),
  );
}

function describePrincipal(trust: Trust): SubjectDescription {
  const { issuer, subject, account, service, hasKeys } = trust;
  if (account !== undefined) return describeAws(trust);
  if (hasKeys) {
    return {
      displayName: `holder of the static keys of ${describeIssuer(issuer?.exact ?? "")}, subject ${plain(subject?.exact ?? "")}`,
      matchesMany: false,
    };
  }
  if (service?.exact === undefined) return describeClaims(trust);
  return {
    displayName: `the platform's service ${plain(service.exact.replace(/^SERVICE_PRINCIPAL_/, ""), 60)}`,
    matchesMany: false,
  };
}

/** Whether nobody can say which principals an object trusts. */
export const isTrustDoubtful = (entity: Entity): boolean => isDoubtful(entity, "trust.");

/**
 * Who can be an identity.
 *
 * @param label its name, and what tells it apart from another one of that name.
 */
export function describeIdentity(entity: Entity, label?: string): SubjectDescription {
  const { name } = entity;
  if (isTrustDoubtful(entity)) {
    return {
      displayName: `identity ${quoteValue(label ?? text(name), LONGEST_SHOWN)}, whose trust is not known yet`,
      matchesMany: true,
    };
  }
  const principals = trustsOf(entity).map(describePrincipal);
  if (principals.length > 0) {
    return {
      displayName: principals.map(({ displayName }) => displayName).join(", or "),
      matchesMany: principals.length > 1 || principals.some(({ matchesMany }) => matchesMany),
    };
  }
  return {
    displayName:
      name === undefined ? "an identity" : `signed-in user ${quoteValue(label ?? text(name), LONGEST_SHOWN)}`,
    matchesMany: false,
  };
}

/** Who can redeem an invite. */
export function describeInvite(entity: Entity): SubjectDescription {
  if (isDoubtful(entity, "invite.address"))
    return { displayName: "whoever an invite not known yet is for", matchesMany: true };
  const address = textMeant(entity, "invite.address");
  if (address !== undefined) return { displayName: `${plain(address)}, by invite`, matchesMany: false };
  const isOnce = pathsMeant(entity.kind, "invite.once").some((path) => valueAt(entity.inputs, path) === true);
  return { displayName: `${isOnce ? "the first" : "anyone"} with the invite's code`, matchesMany: true };
}

/** Who signs in by an identity provider. */
export function describeProvider(entity: Entity): SubjectDescription {
  const issuer = textMeant(entity, "signIn.issuer");
  const at = issuer === undefined ? "" : ` at ${describeIssuer(issuer)}`;
  return { displayName: `anyone who signs in${at} by ${quoteValue(text(entity.name))}`, matchesMany: false };
}
