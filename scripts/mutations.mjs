// @ts-check

/**
 * One thing that is broken on purpose, in one place.
 * @typedef {object} Mutation
 * @property {string} name
 * @property {string} file
 * @property {RegExp} find Matches once.
 * @property {string} replace
 * @property {string} tests Which tests of `npm test` must fail: a pattern of paths.
 */

/** @type {readonly Mutation[]} */
export const mutations = [
  {
    name: "a mask names the outermost field in place of the changed one",
    file: "provider/fields/fieldMask.ts",
    find: / mask\.push\(path\.join\("\."\)\)/,
    replace: ' mask.push(path[0] ?? "")',
    tests: "fields/fieldMask",
  },
  {
    name: "each 404 is a missing resource, that of a wrong address too",
    file: "provider/http/errors.ts",
    find: /error\.code === "NOT_FOUND" && error\.details\.resource !== undefined;/,
    replace: 'error.code === "NOT_FOUND";',
    tests: "provider/http|lifecycle/handlers",
  },
  {
    name: "a create whose response was lost is repeated like a read",
    file: "provider/http/retry.ts",
    find: /error\.isTransient && \(isIdempotent \|\| error\.outcome === "[a-zA-Z]+"\)/,
    replace: "error.isTransient",
    tests: "http/retry|http/client|lifecycle/faults",
  },
  {
    name: "names of a report are not escaped in HTML",
    file: "provider/access/report/render/escape.ts",
    find: /return plain\(text\)\.replace\(\/\[&<>"'\]\/g, byCode\);/,
    replace: "return plain(text);",
    tests: "access/report/render",
  },
  {
    name: "an outsider who becomes owner of the organisation is not critical",
    file: "provider/access/rules/grants.ts",
    find: /severity: hasWideReach\(grant\) \? "critical" : "high"/,
    replace: 'severity: "high"',
    tests: "access/rules",
  },
  {
    name: "a hash covers the beginning of a document alone",
    file: "provider/access/documents/digest.ts",
    find: /\.update\(content\)/,
    replace: ".update(content.slice(0, 64))",
    tests: "access/verify|access/review",
  },
  {
    name: "a review with findings ends with exit code 0",
    file: "provider/cli/commands/review.ts",
    find: /return exitCodes\.reviewFindings;/,
    replace: "return exitCodes.clean;",
    tests: "provider/cli",
  },
  {
    name: "a list asks for more than a page may hold",
    file: "provider/lookups/lookup.ts",
    find: /const MAX_PAGE = 200;/,
    replace: "const MAX_PAGE = 2000;",
    tests: "provider/lookups",
  },
  {
    name: "secrets of a program are not masked in messages",
    file: "provider/lifecycle/messages.ts",
    find: /if \(field\.secret && typeof value === "string"\) registerCredential\(value\);/,
    replace: "",
    tests: "fields/secretFields",
  },
  {
    name: "two writes to one resource run at once",
    file: "provider/lifecycle/context.ts",
    find: /\(this\.last\.get\(key\) \?\? Promise\.resolve\(\)\)\.then\(action\)/,
    replace: "action()",
    tests: "provider/lifecycle",
  },
];
