// @ts-check

/*
 * The JSON schema of the policy file: that of its types, with the names of the rules and what no type can say.
 */

/** @typedef {{ properties: Record<string, object>, definitions: Record<string, object> & { PolicyEntry: { properties: Readonly<Record<string, object>> } } }} PolicyTypesSchema */

const PUNCTUATION = "\\s!-/:-@\\[-`{-~";

/** Globs with a wildcard and without a letter or digit: `*`, `?*`, `* / *`. They restrict nothing worth the name. */
const CATCH_ALL = `^(?:\\\\[${PUNCTUATION}]|(?![\\\\*?])[${PUNCTUATION}])*[*?](?:\\\\[${PUNCTUATION}]|(?!\\\\)[${PUNCTUATION}])*$`;

const NO_WILDCARD = "^(?:[^\\\\*?]|\\\\.)*$";

const UID = "^[0-9a-f]{40}(?:/[0-9a-f]{16})*$";

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

/**
 * A schema in which one text may stand for each list of texts: the reader takes it for a list of one.
 * @param {any} schema @returns {any}
 */
function withSingleTexts(schema) {
  if (schema === null || typeof schema !== "object") return schema;
  if (Array.isArray(schema)) return schema.map(withSingleTexts);
  const { type, items } = schema;
  const isTexts = type === "array" && (items.type === "string" || items.$ref === "#/definitions/Glob");
  if (isTexts) return { ...schema, type: ["array", "string"], if: { type: "string" }, then: items };
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withSingleTexts(part)]));
}

/**
 * Entries are no definitions: ajv copies the list of all errors for each reference in which it finds one.
 * @param {import("./generatedPages.cjs").Load} load
 * @param {PolicyTypesSchema} types The schema that the types of `policyDocument.ts` give.
 */
function policySchema(load, { definitions, properties, ...schema }) {
  /** @type {import("../../provider/access/rules/rule").Rule[]} */
  const rules = load("access/rules/index").rules;
  const { OWN_RULE_ID } = load("access/rules/ownRules");
  const { isAlwaysHigh } = load("access/rules/rule");
  const { ADDRESS_GLOB } = load("access/trust/glob");
  const { LONGEST_GLOB } = load("access/trust/glob");
  const { UNSEEN } = load("text/printable");
  /** @type {string[]} */
  const driftKinds = load("access/review/finding").differenceKinds;
  const namesOf = (/** @type {typeof rules} */ some) => some.flatMap(({ id, name }) => [id, name]);
  const ruleNames = [...namesOf(rules), ...driftKinds.map((kind) => `drift-${kind}`)];

  const globSchema = {
    type: "string",
    minLength: 1,
    maxLength: LONGEST_GLOB,
    allOf: [
      {
        pattern: `^[^${UNSEEN}]*$`,
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

  /** An entry for a rule whose findings are all high or critical must end, and name what exists: a finding or an object. */
  const isOfHigh = {
    required: ["rule"],
    properties: { rule: { enum: namesOf(rules.filter((rule) => isAlwaysHigh(rule))) } },
  };
  const namesNoUid = {
    properties: { match: { type: "object", additionalProperties: { not: { pattern: UID } } } },
  };
  const mustPin = {
    if: { allOf: [isOfHigh, namesNoUid] },
    then: {
      required: ["fingerprint"],
      errorMessage:
        "findings of this rule are high or critical: without the entry, the report has one with it; or give match a uid",
    },
  };
  /** What an entry accepts: objects by `match`, or one finding by its fingerprint. */
  const mustMatch = {
    if: { not: { anyOf: [{ required: ["fingerprint"] }, isOfHigh] } },
    then: {
      required: ["match"],
      errorMessage: "name what is accepted, or give the fingerprint of the finding",
    },
  };
  const mustEnd = {
    if: isOfHigh,
    then: {
      required: ["expires"],
      errorMessage: "findings of this rule are high or critical, so the suppression must end",
    },
  };

  /** An assertion names its access in one of two ways. */
  const mustNameAccess = {
    oneOf: [{ required: ["can"] }, { required: ["role"] }],
    errorMessage: "must name the access: give can or role, and not both",
  };
  const mustCount = {
    anyOf: [{ required: ["atLeast"] }, { required: ["atMost"] }],
    errorMessage: "must say how many: give atLeast, atMost or both",
  };
  /** @param {string} name @param {readonly object[]} conditions */
  const assertion = (name, ...conditions) => ({ ...definitions[name], allOf: conditions });

  const { PolicyEntry: entry } = definitions;
  // The names come first: the message about another word is theirs.
  const rule = { ...entry.properties["rule"], anyOf: [{ enum: ruleNames }, { pattern: OWN_RULE_ID }] };
  const items = {
    ...entry,
    properties: { ...entry.properties, rule },
    allOf: [mustEnd, mustPin, mustMatch, mustRestrict, mustBeAddress],
  };
  return withSingleTexts({
    $id: "urn:pulumi-platform:access-policy",
    ...schema,
    properties: {
      forbid: { ...properties["forbid"], items: assertion("ForbiddenAccess", mustNameAccess) },
      require: { ...properties["require"], items: assertion("RequiredAccess", mustNameAccess, mustCount) },
      separate: { ...properties["separate"], items: definitions["SeparatedDuties"] },
      rules: properties["rules"],
      settings: definitions["PolicySettings"],
      allow: { ...properties["allow"], items },
      types: { ...properties["types"], items: definitions["JudgedType"] },
    },
    definitions: {
      Glob: globSchema,
      SubjectSelector: definitions["SubjectSelector"],
      SubjectConditions: definitions["SubjectConditions"],
    },
  });
}

module.exports = { policySchema };
