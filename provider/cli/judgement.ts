import type { Judgement, Rules } from "../access/review";
import type { Finding } from "../access/report";
import type { CommonOptions } from "./options";

/** The rules of a review, with the guards that the flags set. */
export function rulesBy(_options: CommonOptions): Rules {
  return () => [];
}

/** What the policy file of the flags makes of findings; undefined where there is none. */
export function judgementBy(
  _options: CommonOptions,
): ((findings: readonly Finding[]) => Judgement) | undefined {
  return undefined;
}
