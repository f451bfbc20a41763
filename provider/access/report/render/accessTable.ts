import { createHash } from "node:crypto";
import { accessColumns } from "../accessRows";
import type { AccessRow } from "../accessRows";
import { csv, markdown } from "./escape";
import { markup, trustedMarkup } from "./html/markup";
import { formatTime } from "./words";

/** A table of access, and what was not read for it. */
interface AccessTable {
  readonly rows: readonly AccessRow[];
  readonly incomplete: readonly string[];
  /** How the access breaks what a policy file asserts, a line each. */
  readonly broken: readonly string[];
}

type Column = keyof AccessRow;

const columns = Object.keys(accessColumns) as Column[];
/** What a person reads: the uids are for programs, and the source's kind is the first word of the path. */
const readable = columns.filter((column) => !column.endsWith("Uid") && column !== "sourceKind");

/** What a cell says where nothing is to be said. */
const nothing = (column: Column): string => (column === "matches" ? "yes" : "");

/** The columns in which some row says something. */
function shownColumns(rows: readonly AccessRow[], without: readonly Column[] = []): Column[] {
  return readable.filter(
    (column) => !without.includes(column) && rows.some((row) => row[column] !== nothing(column)),
  );
}

const readableValue = (row: AccessRow, column: Column): string =>
  column === "expires" || column === "lastUsed" ? formatTime(row[column]) : row[column];

/** What a page shows: the column of the group says where a grant is. */
const pageValue = (row: AccessRow, column: Column): string =>
  column === "path" ? row.path.replace(` at ${row.group}`, "") : readableValue(row, column);

/** A longer word may have to be broken, else it would be wider than the page. */
const LONGEST_WHOLE_WORD = 20;

const hasShortWords = (text: string): boolean =>
  text.split(/\s/).every((word) => word.length <= LONGEST_WHOLE_WORD);

/** RFC 4180: a header, quoted fields, CRLF. */
export function accessAsCsv({ rows }: AccessTable): string {
  const lines = [
    columns.map((column) => accessColumns[column]),
    ...rows.map((row) => columns.map((column) => row[column])),
  ];
  return lines.map((fields) => `${fields.map(csv).join(",")}\r\n`).join("");
}

export function accessAsMarkdown({ rows, incomplete, broken }: AccessTable): string {
  const line = (fields: readonly string[]): string => `| ${fields.join(" | ")} |`;
  const shown = shownColumns(rows);
  return [
    "# Who has what",
    "",
    ...incomplete.flatMap((reason) => [`**Incomplete**: ${markdown(reason)}`, ""]),
    ...broken.flatMap((line) => [`**Broken**: ${markdown(line)}`, ""]),
    line(shown.map((column) => accessColumns[column])),
    line(shown.map(() => "---")),
    ...rows.map((row) => line(shown.map((column) => markdown(readableValue(row, column))))),
    "",
  ].join("\n");
}

const tableStyle = `:root { color-scheme: light dark; --soft: light-dark(#5b626b, #a2a9b3); --rule: light-dark(#dfe2e6, #32373d); }
body { font: 0.875rem/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.375rem 0.75rem 0.375rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; min-width: 4.5rem; }
.whole { overflow-wrap: break-word; }
.subject { min-width: 12rem; font-weight: 500; } .path, .group { min-width: 9rem; }
.expires, .lastUsed { min-width: 6rem; }
thead th, .name { color: var(--soft); font-size: 0.8125rem; font-weight: 400; }
@media (max-width: 56rem) {
  body { margin: 1rem; }
  table, tbody, tr, th, td { display: block; min-width: 0; }
  thead { display: none; }
  tr { border-top: 1px solid var(--rule); padding-top: 0.5rem; }
  tr.again { border: 0; padding-top: 0.25rem; }
  th, td { border: 0; padding: 0; }
  td:empty { display: none; }
  th::after { content: " "; }
  .again .subject, .again .subjectType { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  th.subject, .subject .name { display: inline; min-width: 0; }
  td { display: inline; min-width: 0; color: var(--soft); font-size: 0.8125rem; }
  td.role, td.group { color: inherit; font-size: inherit; }
  td.role::before, td.path::before { content: "\\a"; white-space: pre; } .again td.role::before { content: none; }
  td:not(:last-child):not(.subjectType):not(.group):not(:empty)::after { content: " · "; color: var(--soft); }
  td.expires::before, td.lastUsed::before, td.matches::before { content: attr(data-label) " "; color: var(--soft); }
}
@media print { body { margin: 0; } }`;

/** One page that loads nothing. */
export function accessAsHtml({ rows, incomplete, broken }: AccessTable): string {
  const hash = createHash("sha256").update(tableStyle, "utf8").digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const shown = shownColumns(rows, ["subject", "subjectName"]);
  const classes = new Map(
    shown.map((column) => {
      const isWhole = rows.every((row) => hasShortWords(pageValue(row, column)));
      return [column, isWhole ? `${column} whole` : column] as const;
    }),
  );
  const heads = [markup`<th scope="col">${accessColumns.subject}</th>`].concat(
    shown.map((column) => markup`<th scope="col">${accessColumns[column]}</th>`),
  );
  const body = rows.map((row, index) => {
    const { subject, subjectName } = row;
    // The words for a subject often contain its name.
    const name =
      subjectName === "" || subject.includes(subjectName)
        ? undefined
        : markup`<div class="name">${subjectName}</div>`;
    const cells = shown.map(
      (column) =>
        markup`<td class="${classes.get(column)}" data-label="${accessColumns[column]}">${pageValue(row, column)}</td>`,
    );
    // On a telephone the grants of one subject stand below its name.
    const above = rows[index - 1];
    const isAgain = above?.subject === subject && above.subjectName === subjectName;
    const again = isAgain ? markup` class="again"` : undefined;
    return markup`<tr${again}><th scope="row" class="subject">${subject}${name}</th>${cells}</tr>\n`;
  });
  const notes = [
    ...incomplete.map((reason) => markup`<p><strong>Incomplete</strong>: ${reason}</p>\n`),
    ...broken.map((line) => markup`<p><strong>Broken</strong>: ${line}</p>\n`),
  ];
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who has what</title>
<style>${trustedMarkup(tableStyle)}</style>
</head>
<body>
<h1>Who has what</h1>
${notes}<p>${String(rows.length)} grants</p>
<table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table>
</body>
</html>
`.text;
}
