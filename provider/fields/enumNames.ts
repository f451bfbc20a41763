import type { Words } from "./builders";
import { didYouMean, nearestWord } from "../text/suggestions";
import { innerFields } from "./fieldSpec";
import type { EnumSpec, FieldSpec } from "./fieldSpec";
import type { Json } from "./values";
import { partsOf } from "./walk";

/* Names of enumerations that this version does not know. They are legal, because the server's lists grow. */

/** A warning before the write and the error after it say the same. */
export const NAMES_ARE_DROPPED = "a server drops names that it does not know, without an error";

/** Whether a value of the field has a name of an enumeration in it. */
export function holdsNames(field: FieldSpec): boolean {
  return field.type === "enum" || innerFields(field).some(holdsNames);
}

/**
 * The known name of which another one is a misspelling: they differ in one letter, or in two of a long name. No two known
 * names are so near, but for two pairs of two letters; so a name that a server newly has is hardly ever taken for one.
 */
export function misspeltName({ prefix, known }: EnumSpec, name: string): string | undefined {
  const own = name.slice(prefix.length);
  const meant = known.includes(own) ? undefined : nearestWord(own, known, own.length < 8 ? 1 : 2);
  return meant === undefined ? undefined : `${prefix}${meant}`;
}

/** Names that a message lists. */
const MOST_LISTED = 10;

/** A name without the service, each word in the singular: `GROUP_LIST` of `IAM_GROUPS_LIST`. */
const plainName = (name: string): string =>
  name
    .replace(/^IAM_/, "")
    .replace(/IES(?=_|$)/g, "Y")
    .replace(/S(?=_|$)/g, "");

/** The known name that says the same with the service, or in another number: `IAM_GROUPS_LIST` for `GROUP_LIST`. */
export const sameInOtherWords = (name: string, known: readonly string[]): string | undefined =>
  known.find((one) => plainName(one) === plainName(name));

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

/**
 * What is to be said of each name that has the right form and is not known, in a value of any depth. A misspelt one is
 * refused unless the server is known to have it.
 *
 * @param beside The list that the value is in: no name is proposed that it has already.
 */
export function adviseOnNames(
  field: FieldSpec,
  value: Json | undefined,
  beside: readonly Json[] = [],
): string[] {
  if (field.type !== "enum") {
    const list = Array.isArray(value) ? value : [];
    return partsOf(field, value).flatMap((part) => adviseOnNames(part.field, part.value, list));
  }
  if (typeof value !== "string" || !new RegExp(`^${field.prefix}[A-Z0-9_]+$`).test(value)) return [];
  const { known, prefix } = field;
  const own = value.slice(prefix.length);
  if (known.includes(own) || misspeltName(field, value) !== undefined) return [];
  const open = known.filter((name) => !beside.includes(prefix + name));
  const meant = meantName(prefix, open, own);
  const all =
    known.length > MOST_LISTED ? "" : `; known are ${known.map((name) => prefix + name).join(", ")}`;
  const hint = meant === undefined ? all : `; did you mean ${JSON.stringify(prefix + meant)}?`;
  return [`${value} is not a name that this version knows: ${NAMES_ARE_DROPPED}${hint}`];
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
