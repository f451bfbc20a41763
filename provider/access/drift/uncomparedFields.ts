import type { FieldSpec } from "../../fields/fieldSpec";
import { kinds } from "../../kinds";

/** Which arguments of a kind drift leaves out, by path. */
export interface UncomparedFields {
  readonly kind: string;
  /** Compared only where the program sets them. */
  readonly ifUnset: readonly string[];
  /** Sent and never returned, so that they cannot be compared. */
  readonly never: readonly string[];
}

type Fields = Readonly<Record<string, FieldSpec>>;

function listPaths(fields: Fields, prefix: string, matches: (field: FieldSpec) => boolean): string[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    const path = `${prefix}${key}`;
    if (matches(field)) return [path];
    // A field that is only sent has no nested fields to name.
    return field.type === "object" && !field.inputOnly ? listPaths(field.fields, `${path}.`, matches) : [];
  });
}

/** What drift does not compare, of each kind. */
export function uncomparedFields(): UncomparedFields[] {
  return kinds
    .map(({ spec }) => ({
      kind: spec.kind,
      ifUnset: listPaths(
        spec.fields,
        "",
        ({ path, required, inputOnly, security }) => !path && !required && !inputOnly && !security,
      ),
      never: listPaths(spec.fields, "", ({ inputOnly }) => inputOnly === true),
    }))
    .filter(({ ifUnset, never }) => ifUnset.length + never.length > 0);
}

const START = "<!-- what drift does not compare: written by npm run docs -->";
const END = "<!-- end -->";

/** Replaces the table in a page of the documents by the current one. */
export function insertUncomparedFields(page: string): string {
  const list = (paths: readonly string[]) => paths.map((path) => `\`${path}\``).join(", ") || "-";
  const rows = uncomparedFields().map(
    ({ kind, ifUnset, never }) => `| \`${kind}\` | ${list(ifUnset)} | ${list(never)} |`,
  );
  const table = ["| Kind | Only where the program sets it | Never |", "| --- | --- | --- |", ...rows].join(
    "\n",
  );
  const [before = "", following = ""] = page.split(START);
  const [, after = ""] = following.split(END);
  return `${before}${START}\n\n${table}\n\n${END}${after}`;
}
