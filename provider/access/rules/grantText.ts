import { nameIn } from "../graph/grant";
import type { Grant, GrantChange } from "../graph/grant";

export const scopeText = (grant: Grant): string => `on ${grant.group.path} and everything below it`;
export const roleName = (grant: Grant): string => nameIn(grant.role);

/** Who gets it: said where more than one outsider can be it. */
export const subjectName = ({ subject }: Grant): string => {
  if (!subject.matchesMany) return subject.displayName;
  const anyone = subject.type === "identity" ? "anyone matching this pattern" : "anyone who has it";
  return `${subject.displayName} (${anyone})`;
};

/** How a grant that existed before has changed; nothing for a new grant. */
export function changeReason({ before, reason }: GrantChange): string[] {
  return before === undefined ? [] : [reason];
}
