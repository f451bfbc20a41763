import type { Entity } from "../graph/model";
import { NEW_GRANT, nameIn, pathIn, roleOn } from "../graph/grant";
import type { Grant, GrantChange } from "../graph/grant";
import { LONGEST_SHOWN_NAME, plainOrQuoted } from "../trust/quote";

/** What to do about a role that everybody of a directory gets. */
export const ADVICE_OF_PROVIDER = "set viewer as defaultRole, and bind more to those who need it";

/** What to do about an object that several stacks manage. */
export const KEEP_IN_ONE_PROGRAM = "keep it in one program; remove it from the others and from their states";

/** Spells a kind in words: "identity provider". */
export function nounOf(kind: string): string {
  return kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** "identity ci-deployer". A name that reads as more than a name is in quotes. */
export function labelEntity({ kind, name, uid, urn }: Pick<Entity, "kind" | "name" | "uid" | "urn">): string {
  const own = name ?? urn?.split("::").at(-1);
  return `${nounOf(kind)} ${own === undefined ? (uid ?? "without a name") : plainOrQuoted(own, LONGEST_SHOWN_NAME)}`;
}

/** "ada: owner on acme / payments". */
export const grantLine = (grant: Grant): string => `${grant.subject.displayName}: ${roleOn(grant)}`;

export const scopeText = (grant: Grant): string => `on ${pathIn(grant.group.path)} and everything below it`;
export const roleName = (grant: Grant): string => nameIn(grant.role);

/** Who gets it: said where more than one outsider can be it. */
export const subjectName = ({ subject }: Grant): string => {
  if (!subject.matchesMany) return subject.displayName;
  const anyone = subject.type === "identity" ? "anyone matching this pattern" : "anyone who has it";
  return `${subject.displayName} (${anyone})`;
};

/** What there is to say of a change of a grant, beside that the grant is new. */
export function changeReason({ reason }: GrantChange): string[] {
  return reason === NEW_GRANT ? [] : [reason];
}
