import { checkInputs } from "../../../../provider/fields/check";
import type { Props } from "../../../../provider/fields/values";
import { sampleOf, specOf, withValue } from "../../support/samples";

/* What check refuses, and in which words: tables of the kinds, and what they share. */

export interface Refusal {
  readonly name: string;
  readonly inputs: Props;
  readonly failures: readonly string[];
}

/** By the kind. */
export type Refusals = Readonly<Record<string, readonly Refusal[]>>;

export const NOW = Date.parse("2026-03-01T00:00:00Z");
/** Keys that expire in time, by that clock. */
export const staticKeys = withValue(
  sampleOf("Identity", "keys"),
  ["staticKeys", "expirationTime"],
  "2027-01-01T00:00:00Z",
);

export const GROUP_UID_WANTED =
  "must be the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup";
export const UID_WANTED =
  "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup";
export const NAME_WANTED = "must be lower-case letters, digits, blanks, dots, underscores and dashes only";
export const DIGEST_WANTED = 'must be the digest of an image: "sha256:" and 64 hex digits in lower case';
export const ANCHOR = "must be a regular expression in RE2 syntax (no look-around, no back-references):";
export const SANITISED = "HTML that a sanitiser would change is refused";

export function failuresOf(kind: string, inputs: Props, olds: Props = {}, now = NOW): string[] {
  return checkInputs(specOf(kind), inputs, { olds, now }).map(
    ({ property, reason }) => `${property} ${reason}`,
  );
}
