import type { SourceLocation } from "../../../documents/sourceLocation";
import type { GrantChange } from "../../../graph/grant";
import type { Finding } from "../../../review/finding";
import type { FieldChange, Report } from "../../report";
import { html, markdown, markdownCode, shorten } from "../escape";
import { headlineOf } from "../headline";
import type { Headline } from "../headline";
import type { RenderOptions } from "../options";
import { byteLength } from "../sizeLimits";
import { RepositoryLinks } from "../repositoryLinks";
import { formatLocation } from "../words";

const LONGEST_VALUE = 300;

/** Rows that are rendered already: a comment near its size limit is built several times. */
export class RenderCache {
  private readonly rows = new Map<GrantChange, string>();
  private readonly full = new Map<Finding, string[]>();
  private readonly short = new Map<Finding, string[]>();

  row(change: GrantChange, make: () => string): string {
    const row = this.rows.get(change) ?? make();
    this.rows.set(change, row);
    return row;
  }

  lines(finding: Finding, details: boolean, make: () => string[]): string[] {
    const known = details ? this.full : this.short;
    const lines = known.get(finding) ?? make();
    known.set(finding, lines);
    return lines;
  }
}

/** How much of the report is shown. What is left out is counted and said. */
export interface RenderBudget {
  readonly diagram: boolean;
  /** Whether findings below critical are shown with their details. */
  readonly details: boolean;
  readonly findings: number;
  readonly grants: number;
  /** Entries of each list of lines. */
  readonly lines: number;
}

/** What the parts of a comment have in common. */
export class CommentContext {
  readonly cache = new RenderCache();
  readonly links: RepositoryLinks;
  readonly headline: Headline | undefined;

  constructor(
    readonly report: Report,
    readonly options: RenderOptions,
  ) {
    this.links = new RepositoryLinks(report, options);
    this.headline = headlineOf(report);
  }

  /** `index.ts:12`, as a link where the repository is known. */
  place(location: SourceLocation | undefined): string | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    return linkTo(this.links.line(location), code(place, 160));
  }
}

/** A link, or its text alone. In HTML, since a name in the address could end a link of Markdown. */
export function linkTo(address: string | undefined, text: string): string {
  return address === undefined ? text : `[${text}](<${html(address)}>)`;
}

/** As many bytes as a letter of any language, or a picture, has. */
const BYTES_OF_LETTER = 4;

/** A text shortened and escaped. One whose letters are longer when they are escaped is shortened further. */
function fit(escape: (text: string) => string, text: string, limit: number): string {
  const shown = escape(shorten(text, limit));
  const excess = byteLength(shown) / (limit * BYTES_OF_LETTER);
  return excess <= 1 ? shown : escape(shorten(text, Math.floor(limit / excess)));
}

/** A string shortened and escaped for Markdown. */
export const escapeText = (text: string, limit = LONGEST_VALUE): string => fit(markdown, text, limit);
export const code = (text: string, limit = LONGEST_VALUE): string => fit(markdownCode, text, limit);

export function fieldLine({ path, before, after }: FieldChange): string {
  const value = (text: string | undefined): string => (text === undefined ? "not set" : code(text));
  return `${code(path)}: ${value(before)} → ${value(after)}`;
}

export function fold(summary: string, body: readonly string[]): string[] {
  return ["<details>", `<summary>${summary}</summary>`, "", ...body, "", "</details>", ""];
}

export function section(
  heading: string,
  lines: readonly string[],
  budget: RenderBudget,
  open = false,
): string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, budget.lines).map((line) => `- ${escapeText(line, 500)}`);
  const left = lines.length - shown.length;
  const body =
    left === 0 ? shown : [...shown, `- … and ${left.toLocaleString("en-US")} more, not shown here`];
  return open ? [`#### ${heading}`, "", ...body, ""] : fold(`${heading} (${lines.length})`, body);
}
