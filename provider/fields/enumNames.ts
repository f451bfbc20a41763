import type { Words } from "./builders";
import { didYouMean, MOST_PROPOSALS, nearestWord } from "../text/suggestions";
import { innerFields } from "./fieldSpec";
import type { EnumSpec, FieldSpec } from "./fieldSpec";
import { getOrCompute } from "./values";
import type { Json } from "./values";
import { partsOf } from "./walk";

/* Names of enumerations that this version does not know. Only those of an open list, which grows often, are legal to write. */

/** A warning before the write and the error after it say the same. */
export const NAMES_ARE_DROPPED = "a server drops names that it does not know, without an error";

/** Whether a value of the field has a name of an enumeration in it. */
export function holdsNames(field: FieldSpec): boolean {
  return field.type === "enum" || innerFields(field).some(holdsNames);
}

/**
 * The known name of which another one is a misspelling: they differ in one letter, or in two of a long name, or in the
 * service or the number of their words. No two known names are so near, but for two pairs of two letters; so a name that
 * a server newly has is hardly ever taken for one.
 */
function misspeltName({ prefix, known }: EnumSpec, name: string): string | undefined {
  const own = name.slice(prefix.length);
  const meant = sameInOtherWords(own, known) ?? nearestWord(own, known, own.length < 8 ? 1 : 2);
  return meant === undefined ? undefined : `${prefix}${meant}`;
}

const isKnown = ({ prefix, known }: EnumSpec, name: string): boolean =>
  known.includes(name.slice(prefix.length));

/** What is wrong with a name of the right form that a program writes; undefined if nothing is. */
export function problemOfName(field: EnumSpec, name: string): string | undefined {
  if (isKnown(field, name)) return undefined;
  const meant = misspeltName(field, name);
  if (meant !== undefined) return `${name} is not a known name; did you mean ${meant}?`;
  if (field.open || name === `${field.prefix}UNSPECIFIED`) return undefined;
  const advice = proposeName({ name, field, beside: new Set() }) || listKnown(field);
  return `${name} is not a known name, and the server would clear the field${advice}`;
}

/** Names that a message lists. */
const MOST_LISTED = 15;

const listKnown = ({ known, prefix }: EnumSpec): string =>
  known.length > MOST_LISTED ? "" : `; known are ${known.map((name) => prefix + name).join(", ")}`;

/** A name without the service, each word in the singular: `GROUP_LIST` of `IAM_GROUPS_LIST`. */
const plainName = (name: string): string =>
  name
    .replace(/^IAM_/, "")
    .replace(/IES(?=_|$)/g, "Y")
    .replace(/S(?=_|$)/g, "");

const plainNames = new Map<string, string>();

/** The known name that says the same with the service, or in another number: `IAM_GROUPS_LIST` for `GROUP_LIST`. */
export function sameInOtherWords(name: string, known: readonly string[]): string | undefined {
  const plain = plainName(name);
  return known.find((one) => getOrCompute(plainNames, one, () => plainName(one)) === plain);
}

/** The known name that was probably meant, without the prefix. Who wants to read is never offered to write. */
function meantName(prefix: string, known: readonly string[], own: string): string | undefined {
  const reading = own.replace(/_(?:READ|GET|VIEW)$/, "_LIST");
  const same = sameInOtherWords(own, known) ?? sameInOtherWords(reading, known);
  if (same !== undefined) return same;
  // The family of a capability says nothing of which one is meant.
  const longer = prefix === "CAP_" ? [] : known.filter((name) => name.startsWith(own));
  if (longer.length === 1) return longer[0];
  const reads = known.filter((name) => /_(?:GET|LIST)$/.test(name));
  const meant = didYouMean(own, reading.endsWith("_LIST") ? reads : known);
  return meant ?? (prefix === "CAP_" ? nearestOfFamily(own, reads) : undefined);
}

/** Of the names whose first word begins as this one does the nearest: `REPO_LIST` for `REPOSITORY_LISTING`. */
function nearestOfFamily(own: string, known: readonly string[]): string | undefined {
  const firstWord = (name: string): string => name.split("_", 1).join("");
  const isAlike = (a: string, b: string): boolean => b.length >= 4 && a.startsWith(b);
  const alike = known.filter((name) => isAlike(firstWord(own), firstWord(name)));
  return nearestWord(own, alike, own.length);
}

interface UnknownName {
  readonly name: string;
  readonly field: EnumSpec;
  /** The list that the name is in. */
  readonly beside: ReadonlySet<Json>;
}

/** The names that have the right form and are not known, in a value of any depth, but for those that are refused. */
function unknownNames(
  field: FieldSpec,
  value: Json | undefined,
  beside: ReadonlySet<Json> = new Set(),
): UnknownName[] {
  if (field.type !== "enum") {
    const list = new Set(Array.isArray(value) ? value : []);
    return partsOf(field, value).flatMap((part) => unknownNames(part.field, part.value, list));
  }
  if (typeof value !== "string" || !new RegExp(`^${field.prefix}[A-Z0-9_]+$`).test(value)) return [];
  return isKnown(field, value) || problemOfName(field, value) !== undefined
    ? []
    : [{ name: value, field, beside }];
}

/** What was probably meant by a name. No name is proposed that the list beside it has already. */
function proposeName({ name, field: { known, prefix }, beside }: UnknownName): string {
  const own = name.slice(prefix.length);
  const open = known.filter((one) => !beside.has(prefix + one));
  const meant = meantName(prefix, open, own);
  if (meant !== undefined) return `; did you mean ${JSON.stringify(prefix + meant)}?`;
  const there = meantName(prefix, known, own);
  return there === undefined
    ? ""
    : `; remove it: ${prefix}${there}, which is probably meant, is there already`;
}

/**
 * What is to be said of each name that an open list lets through, in a value of any depth. Only the first names get a
 * proposal: of a long list it takes minutes.
 *
 * @param old A value whose names are not repeated.
 */
export function adviseOnNames(field: FieldSpec, value: Json | undefined, old?: Json): string[] {
  const unknown = unknownNames(field, value);
  const said = new Set(unknown.length === 0 ? [] : unknownNames(field, old).map(({ name }) => name));
  return unknown
    .filter(({ name }) => !said.has(name))
    .map((one, i) => {
      const proposal = i < MOST_PROPOSALS ? proposeName(one) : "";
      return `${one.name} is not a name that this version knows: ${NAMES_ARE_DROPPED}${proposal || listKnown(one.field)}`;
    });
}

/** A name in the letters of a member: `RepoList` for `REPO_LIST`. */
type MemberName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Capitalize<Lowercase<First>>}${MemberName<Rest>}`
  : Capitalize<Lowercase<Name>>;

/** The names of an enumeration as the code that `pulumi import` prints has them: `RoleCapabilities.RepoList`. */
export function nameMembers<const Prefix extends string, const Names extends string>(
  prefix: Prefix,
  names: Names | readonly string[],
): { readonly [Name in Words<Names> as MemberName<Name>]: `${Prefix}${Name}` } {
  const all: readonly string[] = typeof names === "string" ? names.split(" ") : names;
  const members = all.map((name) => [
    name.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase()),
    `${prefix}${name}`,
  ]);
  return Object.fromEntries(members) as ReturnType<typeof nameMembers<Prefix, Names>>;
}
