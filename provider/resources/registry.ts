import type { ListSpec, Pattern, StringSpec } from "../engine/spec";

/** The repository that a resource is a part of: the uid of it. */
export const parentRepo: StringSpec = {
  type: "string",
  format: "uid",
  path: true,
  immutable: true,
  required: true,
  access: "match",
};

export const tagName: Pattern = {
  regex: /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/,
  must: "a tag: at most 128 letters, digits, dots, underscores and dashes, not beginning with a dot or dash",
};

/** Names of bundles. Which ones there are is the server's affair. */
export const bundles: ListSpec = {
  type: "list",
  unordered: true,
  items: {
    type: "string",
    pattern: {
      regex: /^[a-z0-9][a-z0-9-]*$/,
      must: 'a bundle\'s name in lower case, as in "base" or "ai-gpu"',
    },
  },
};
