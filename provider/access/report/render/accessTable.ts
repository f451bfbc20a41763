import { createHash } from "node:crypto";
import { accessColumns } from "../accessRows";
import type { AccessRow } from "../accessRows";
import { csv, markdown } from "./escape";
import { markup, trusted } from "./html/markup";

/** A table of access, and what was not read for it. */
export interface AccessTable {
  readonly rows: readonly AccessRow[];
  readonly incomplete: readonly string[];
}

type Column = keyof AccessRow;

const columns = Object.keys(accessColumns) as Column[];
/** What a person reads: the uids are for programs. */
const shown = columns.filter((column) => !column.endsWith("Uid"));

/** RFC 4180: a header, quoted fields, CRLF. */
export function accessAsCsv({ rows }: AccessTable): string {
  const lines = [
    columns.map((column) => accessColumns[column]),
    ...rows.map((row) => columns.map((column) => row[column])),
  ];
  return lines.map((fields) => `${fields.map(csv).join(",")}\r\n`).join("");
}

export function accessAsMarkdown({ rows, incomplete }: AccessTable): string {
  const line = (fields: readonly string[]): string => `| ${fields.join(" | ")} |`;
  return [
    "# Who has what",
    "",
    ...incomplete.flatMap((reason) => [`**Incomplete**: ${markdown(reason)}`, ""]),
    line(shown.map((column) => accessColumns[column])),
    line(shown.map(() => "---")),
    ...rows.map((row) => line(shown.map((column) => markdown(row[column])))),
    "",
  ].join("\n");
}

const style = `:root { color-scheme: light dark; }
body { font: 0.875rem/1.5 system-ui, sans-serif; margin: 2rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid; padding: 0.375rem 0.75rem; text-align: left; vertical-align: top; }
@media print { body { margin: 0; } }`;

/** One page that loads nothing. */
export function accessAsHtml({ rows, incomplete }: AccessTable): string {
  const hash = createHash("sha256").update(style, "utf8").digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const heads = shown.map((column) => markup`<th scope="col">${accessColumns[column]}</th>`);
  const body = rows.map(
    (row) => markup`<tr>${shown.map((column) => markup`<td>${row[column]}</td>`)}</tr>\n`,
  );
  const gaps = incomplete.map((reason) => markup`<p><strong>Incomplete</strong>: ${reason}</p>\n`);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who has what</title>
<style>${trusted(style)}</style>
</head>
<body>
<h1>Who has what</h1>
${gaps}<p>${String(rows.length)} grants</p>
<table>
<thead><tr>${heads}</tr></thead>
<tbody>
${body}</tbody>
</table>
</body>
</html>
`.text;
}
