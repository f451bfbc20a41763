import fc from "../../support/properties";
import { HOSTILE_TEXT } from "../../support/logCommands";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import { CHILD_UID, ROOT_UID, specs } from "./samples";

/* JSON of a server that is none of the API's: names that descriptions know, with values that do not fit. */

export const ESCAPE = `\u001b[31m\u001b]0;title\u0007\u202e\r\n::error::${HOSTILE_TEXT}`;

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, "", "a", "12", ROOT_UID, CHILD_UID, "CAP_NEWER", "X_UNSPECIFIED", ESCAPE),
  fc.constantFrom<unknown>("0001-01-01T00:00:00Z", "9".repeat(400), 0, 1, -3, 99, 1.5, 1e308, true, false),
  fc.string(),
);

const namesIn = (fields: Readonly<Record<string, FieldSpec>>): string[] =>
  Object.entries(fields).flatMap(([key, field]) => [
    ...[key, field.wire ?? key],
    ...(field.type === "object" ? namesIn(field.fields) : []),
  ]);

const known = specs.flatMap(({ fields, outputs, reads }) => [
  ...namesIn({ ...fields, ...outputs }),
  ...Object.keys(reads ?? {}),
]);

/** What the lookups read that are of no kind. */
const ofLookups =
  "uid identity role group scim code termsAcceptances nextPageToken installations status id response eligible size " +
  "architectures content ecosystem versionCount sizeBytes totalCount severities events fixed findings advisories aliases references";

/** Names that the package knows, and names that a parser of little care falls for. */
const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...new Set([...known, ...ofLookups.split(" ")])) },
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty"),
  fc.string(),
);

export const { value: hostileValue, object: hostileObject } = fc.letrec<{
  value: unknown;
  object: Record<string, unknown>;
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "medium", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  // A member named __proto__ is one of its own.
  object: fc
    .array(fc.tuple(name, tie("value")), { maxLength: 10 })
    .map((members) => Object.fromEntries(members)),
}));
