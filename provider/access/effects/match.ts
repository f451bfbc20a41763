import { isSet } from "../../fields/equal";
import type { FieldSpec } from "../../fields/fieldSpec";
import type { Json, Props } from "../../fields/values";
import { exactPattern } from "../trust/languages";
import type { Languages } from "../trust/languages";
import { findPatternProblem } from "../trust/judgement";
import { narrowed, neutral, unknown, widened } from "./direction";
import type { Effect } from "./direction";

/** What a match accepts: one string, the strings of a pattern, nothing, or unknown. */
export type Accepted = { readonly text: string } | { readonly pattern: string } | "nothing" | "unknown";

const isPattern = (field: FieldSpec): boolean => field.type === "string" && field.format === "regex";

/** What a field accepts that is set. */
export function acceptedBy(field: FieldSpec, value: Json | undefined): Accepted {
  if (typeof value !== "string") return "unknown";
  return isPattern(field) ? { pattern: value } : { text: value };
}

/** Returns what an unset field accepts, if its description defines it. */
function acceptedByDefault(field: FieldSpec, siblings: Props): Accepted | undefined {
  if (field.type === "enum" && field.default !== undefined)
    return { text: `${field.prefix}${field.default}` };
  const filled = typeof field.serverFilled === "function" ? field.serverFilled(siblings) : undefined;
  return typeof filled === "string" && filled !== "" ? { text: filled } : undefined;
}

/** Returns what fields accept together if at most one of them is set; `unknown` if several are. */
export function acceptedByOneOf(
  fields: Readonly<Record<string, FieldSpec>>,
  siblings: Props,
  isRequired: boolean,
): Accepted {
  const members = Object.entries(fields);
  const [first, second] = members.filter(([key, field]) => isSet(field, siblings[key]));
  if (second !== undefined) return "unknown";
  if (first !== undefined) return acceptedBy(first[1], siblings[first[0]]);
  const [filled] = members.flatMap(([, field]) => acceptedByDefault(field, siblings) ?? []);
  return filled ?? (isRequired ? "nothing" : "unknown");
}

function compareLanguages(before: string, after: string, languages: Languages): Effect {
  const isLess = languages.isSubset(after, before);
  const isMore = languages.isSubset(before, after);
  if (isLess === "no")
    return widened(isMore === "yes" ? "accepts more than before" : "accepts others than before");
  if (isLess === "tooLarge" || isMore === "tooLarge")
    return unknown("the patterns take too many steps to compare");
  return isMore === "yes" ? neutral("accepts the same as before") : narrowed("accepts less than before");
}

/** What a change of a match does: the texts that it accepts are compared, whatever form they are written in. */
export function compareAccepted(before: Accepted, after: Accepted, languages: Languages): Effect {
  if (before === "unknown" || after === "unknown")
    return unknown("what is accepted where it is not set is not known");
  if (before === "nothing")
    return after === "nothing" ? neutral() : widened("accepts what was not accepted before");
  if (after === "nothing") return narrowed("accepts nothing any more");
  if ("text" in before && "text" in after) {
    return before.text === after.text ? neutral() : widened("another value than before");
  }
  for (const side of [before, after]) {
    const problem = "pattern" in side ? findPatternProblem(languages, side.pattern) : undefined;
    if (problem?.kind === "unjudged") return unknown(`the pattern cannot be judged: ${problem.reason}`);
  }
  const [old, now] = [before, after].map((side) => ("text" in side ? exactPattern(side.text) : side.pattern));
  return compareLanguages(old ?? "", now ?? "", languages);
}
