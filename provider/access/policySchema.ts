import { rules } from "./rules";
import { CATCH_ALL, INVISIBLE } from "./glob";
import { severities } from "./report";
import type { Rule } from "./rules";

/** What an entry can name by `kind`: the kinds of drift. */
export const driftKinds = ["changed", "deleted", "unmanaged", "contested"] as const;

/** What `match` can ask for. */
export const matchKeys = ["uid", "name", "subject", "issuer", "role", "group"] as const;

export type MatchKey = (typeof matchKeys)[number];

export const entryKeys = [
  "rule",
  "kind",
  "type",
  "match",
  "fields",
  "reason",
  "acceptedBy",
  "expires",
] as const;

/** Every id and name that `rule` can have. */
export const ruleNames: readonly string[] = [
  ...rules.flatMap(({ id, name }) => [id, name]),
  ...driftKinds.map((kind) => `drift-${kind}`),
];

const LOUD = severities.indexOf("high");

/** Whether all findings of a rule are of high severity or above. */
export function isAlwaysHigh(rule: Rule): boolean {
  return rule.severities.every((severity) => severities.indexOf(severity) <= LOUD);
}

/** Rules, by id and name, of which an exception must end. */
export const endingRules: readonly string[] = rules
  .filter(isAlwaysHigh)
  .flatMap(({ id, name }) => [id, name]);

/** A day of this century, as it is in the calendar. */
export const DAY =
  "^20\\d\\d-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))$|^20(?:[02468][048]|[13579][26])-02-29$";

/** The name of a kind of resource. */
export const TYPE = "^[A-Z][A-Za-z]{1,63}$";

export const LONGEST_REASON = 1000;
export const LONGEST_PERSON = 200;
const LONGEST_GLOB = 512;

/** In JSON Schema's words what `globProblem` says: nothing empty or invisible, nothing special but * and ?. */
const GLOB = `^(?:[^\\\\\\[\\]{}${INVISIBLE}]|\\\\[^${INVISIBLE}])+$`;

const glob = { type: "string", minLength: 1, maxLength: LONGEST_GLOB, pattern: GLOB };

/** The JSON Schema of the policy file: what an editor needs. The parser says more, and decides. */
export function policySchema(): Record<string, unknown> {
  const given = (keys: readonly string[]): Record<string, unknown>[] =>
    keys.map((key) => ({ required: [key] }));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "urn:pulumi-platform:access-policy",
    title: "Exceptions from the access review of pulumi-platform",
    type: "object",
    additionalProperties: false,
    required: ["allow"],
    properties: {
      allow: {
        description: "Findings that are let be. All that an entry names must fit.",
        type: "array",
        items: {
          type: "object",
          additionalProperties: false,
          required: ["match", "reason"],
          properties: {
            rule: { description: "A rule, by its id or name: see pulumi-platform explain.", enum: ruleNames },
            kind: { description: "A kind of drift.", enum: driftKinds },
            type: {
              description: "A kind of resource: Identity, RoleBinding, …",
              type: "string",
              pattern: TYPE,
            },
            match: {
              description:
                "What the finding is about, by uid, or by names, paths and trust that it had before the change and still has. * stands for anything, ? for one character.",
              type: "object",
              additionalProperties: false,
              minProperties: 1,
              properties: Object.fromEntries(matchKeys.map((key) => [key, glob])),
            },
            fields: {
              description: "Properties that the finding may be about; all of them if not given.",
              type: "array",
              minItems: 1,
              items: glob,
            },
            reason: {
              description: "Why this is all right: for whoever reads the review.",
              type: "string",
              maxLength: LONGEST_REASON,
              pattern: "\\S",
            },
            acceptedBy: {
              description:
                "The person who accepted the finding. Needed for findings of drift that are high or critical.",
              type: "string",
              maxLength: LONGEST_PERSON,
              pattern: "\\S",
            },
            expires: {
              description:
                "The last day on which it counts, as in 2027-01-31. Needed for findings that are high or critical.",
              type: "string",
              pattern: DAY,
            },
          },
          allOf: [
            {
              if: { required: ["rule"], properties: { rule: { enum: endingRules } } },
              then: { required: ["expires"] },
            },
            {
              if: {
                not: {
                  anyOf: [
                    ...given(["kind"]),
                    { required: ["rule"], properties: { rule: { pattern: "^drift-" } } },
                  ],
                },
              },
              then: {
                properties: {
                  match: {
                    anyOf: matchKeys.map((key) => ({
                      required: [key],
                      properties: { [key]: { not: { pattern: CATCH_ALL } } },
                    })),
                  },
                },
              },
            },
          ],
        },
      },
    },
  };
}
