import { rules } from "../rules";
import { isAlwaysHigh } from "../rules/rule";
import { ADDRESS_GLOB } from "../trust/addressGlob";
import { INVISIBLE, LONGEST_GLOB } from "../trust/glob";
import { driftKinds } from "./policyDocument";

/** Every id and name that `rule` can have. */
const ruleNames: readonly string[] = [
  ...rules.flatMap(({ id, name }) => [id, name]),
  ...driftKinds.map((kind) => `drift-${kind}`),
];

const PUNCTUATION = "\\s!-/:-@\\[-`{-~";

/** Globs with a wildcard and without a letter or digit: `*`, `?*`, `* / *`. They restrict nothing worth the name. */
const CATCH_ALL = `^(?:\\\\[${PUNCTUATION}]|(?![\\\\*?])[${PUNCTUATION}])*[*?](?:\\\\[${PUNCTUATION}]|(?!\\\\)[${PUNCTUATION}])*$`;

const globSchema = {
  type: "string",
  minLength: 1,
  maxLength: LONGEST_GLOB,
  allOf: [
    {
      pattern: `^[^${INVISIBLE}]*$`,
      errorMessage: "must not hold control characters or others that nobody sees",
    },
    {
      pattern: "^(?:[^\\\\\\[\\]{}]|\\\\(?:.|$))*$",
      errorMessage:
        "must not hold [ ] { }: only * (anything) and ? (one character) are special; write \\[ for the character itself",
    },
    { pattern: "^(?:[^\\\\]|\\\\.)*$", errorMessage: "must not end in a single \\" },
  ],
};

const NO_WILDCARD = "^(?:[^\\\\*?]|\\\\.)*$";

/** A wildcard in a URL must say which parts of it may vary: it would match the hosts of others too. */
const mustBeAddress = {
  properties: {
    match: {
      properties: {
        issuer: {
          pattern: `${NO_WILDCARD}|${ADDRESS_GLOB}`,
          errorMessage:
            "must be the address of an issuer, as in https://*.acme.example: scheme and host in small letters, and no wildcard in the last part of the host",
        },
        subject: {
          pattern: `${NO_WILDCARD}|^(?![A-Za-z][A-Za-z0-9+.-]*://)|${ADDRESS_GLOB}`,
          errorMessage:
            "must have the scheme and host of its address in small letters, and no wildcard in the last part of the host, as in spiffe://*.acme.example/ci/*",
        },
      },
    },
  },
};

/** An entry for a rule whose findings are all high or critical must end. */
const mustEnd = {
  if: {
    required: ["rule"],
    properties: { rule: { enum: rules.filter(isAlwaysHigh).flatMap(({ id, name }) => [id, name]) } },
  },
  then: {
    required: ["expires"],
    errorMessage: "findings of this rule are high or critical, so the suppression must end",
  },
};

/** What an entry accepts: objects by `match`, or one finding by its fingerprint. */
const mustMatch = {
  if: { not: { required: ["fingerprint"] } },
  then: {
    required: ["match"],
    errorMessage: "name what is accepted, or give the fingerprint of the finding",
  },
};

/** An entry must name something; one for drift may be for everything of a kind. */
const mustRestrict = {
  if: {
    not: {
      anyOf: [{ required: ["kind"] }, { required: ["rule"], properties: { rule: { pattern: "^drift-" } } }],
    },
  },
  then: {
    properties: {
      match: {
        not: {
          type: "object",
          minProperties: 1,
          additionalProperties: { type: "string", pattern: CATCH_ALL },
        },
        errorMessage: "restricts nothing: write a uid, or a part of a name beside the wildcards",
      },
    },
  },
};

/** The schema that the types of `policyDocument.ts` give. */
export interface PolicyTypesSchema {
  readonly properties: { readonly allow: object; readonly types: object };
  readonly definitions: {
    readonly PolicyEntry: { readonly properties: Readonly<Record<string, object>> };
    readonly JudgedType: object;
  };
}

/**
 * The JSON schema of the policy file: that of its types, with the names of the rules and what no type can say.
 * Entries are no definitions: ajv copies the list of all errors for each reference in which it finds one.
 */
export function policySchema({ definitions, properties, ...schema }: PolicyTypesSchema): object {
  const { PolicyEntry: entry } = definitions;
  const rule = { ...entry.properties["rule"], enum: ruleNames };
  const items = {
    ...entry,
    properties: { ...entry.properties, rule },
    allOf: [mustEnd, mustMatch, mustRestrict, mustBeAddress],
  };
  return {
    $id: "urn:pulumi-platform:access-policy",
    ...schema,
    properties: {
      allow: { ...properties.allow, items },
      types: { ...properties.types, items: definitions.JudgedType },
    },
    definitions: { Glob: globSchema },
  };
}
