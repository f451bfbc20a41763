import { capitalize } from "../../../../fields/values";
import type { SourceLocation } from "../../../documents/sourceLocation";
import type { GrantChange } from "../../../graph/grant";
import type { Finding, Severity } from "../../../review/finding";
import { describeFindings, describeRanks, rankGrants, sortGrants, weighGrants } from "../../counts";
import type { FieldChange, Report } from "../../report";
import { EntryList } from "../entries";
import type { Entry } from "../entries";
import { commentMarker, html, markdown, markdownBlock, markdownCode, shorten } from "../escape";
import {
  headlineOf,
  incompleteHeading,
  provenanceParts,
  digestOf,
  tallies,
  tallyLine,
  verdict,
} from "../head";
import type { Headline } from "../head";
import type { RenderOptions } from "../options";
import { RepositoryLinks } from "../repositoryLinks";
import { sectionsOf } from "../sections";
import type { Section } from "../sections";
import { byteLength, largestThatFits } from "../sizeLimits";
import {
  capabilityWords,
  changeOrder,
  chooseName,
  fieldSides,
  formatLocation,
  formatRule,
  joinStacks,
  nameSubject,
  title,
} from "../words";
import { plural } from "../../../../text/plain";
import { renderDiagram } from "./diagram";

/** GitHub takes 65,536 characters in a comment; these are bytes, which are never fewer. */
const MOST_BYTES_OF_COMMENT = 65_000;

/** Grants that a comment shows even where it has no room for all findings, and entries of the other lists. */
const FIRST_PARTS = [
  { grants: 20, lines: 3 },
  { grants: 20, lines: 0 },
  { grants: 5, lines: 0 },
  { grants: 1, lines: 0 },
];
/** A longer table would push the risks' neighbours off the screen: it is closed at first. */
const MOST_OPEN_GRANTS = 20;
/** Details that an entry shows where there is room, and where there is little. */
const MOST_DETAILS = { all: 50, few: 5 };
const LONGEST_VALUE = 300;

const icons = { clean: "✅", findings: "🟡", failing: "🔴", incomplete: "⚠️" } as const;
const severityIcons: Readonly<Record<Severity, string>> = {
  critical: "🔴",
  high: "🟠",
  medium: "🟡",
  low: "⚪",
};
const changeWords: Readonly<Record<GrantChange["change"], string>> = {
  gained: "➕ gained",
  widened: "⬆️ widened",
  lost: "➖ lost",
  narrowed: "⬇️ narrowed",
};

/** How much of the report is shown. What is left out is counted and said. */
interface SpaceForEntries {
  readonly diagram: boolean;
  /** Whether entries below critical are shown with their details. */
  readonly details: boolean;
  readonly entries: number;
  readonly grants: number;
  /** Entries of each list of lines. */
  readonly lines: number;
}

/**
 * For a comment, an issue or a summary. Where it has no room for all, the picture goes first, then details,
 * then grants, then findings, the least severe first; the verdict stays.
 */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const comment = new Comment(report, options);
  const maxBytes = options.maxBytes ?? MOST_BYTES_OF_COMMENT;
  const all: SpaceForEntries = {
    diagram: true,
    details: true,
    entries: Infinity,
    grants: Infinity,
    lines: Infinity,
  };
  const steps: readonly SpaceForEntries[] = [
    all,
    { ...all, diagram: false },
    { ...all, diagram: false, details: false, lines: 50 },
  ];
  for (const budget of steps) {
    const text = comment.write(budget);
    if (byteLength(text) <= maxBytes) return text;
  }
  const short: SpaceForEntries = { diagram: false, details: false, entries: Infinity, grants: 0, lines: 10 };
  // What reaches a root, or is critical, stays beside the worst finding.
  const weigh = weighGrants(report.findings);
  const worst = report.grants.filter((change) => weigh(change) < 1).length;
  const writeWith = ({ grants, lines }: Pick<SpaceForEntries, "grants" | "lines">, entries: number): string =>
    comment.write({ ...short, entries, grants: Math.min(grants, worst), lines });
  const first = FIRST_PARTS.find((parts) => byteLength(writeWith(parts, 1)) <= maxBytes) ?? {
    grants: 0,
    lines: 0,
  };
  return (
    largestThatFits(maxBytes, report.grants.length, (grants) => comment.write({ ...short, grants })) ??
    largestThatFits(maxBytes, comment.entryCount, (entries) => writeWith(first, entries)) ??
    writeWith(first, 0)
  );
}

/** A report as Markdown, in as many bytes as a budget allows. Near its limit a comment is written several times. */
class Comment {
  private readonly links: RepositoryLinks;
  private readonly headline: Headline | undefined;
  private readonly entries: EntryList;
  private readonly sections: readonly Section[];
  private readonly rows = new Map<GrantChange, string>();
  private readonly written = { full: new Map<Entry, string[]>(), short: new Map<Entry, string[]>() };

  constructor(
    private readonly report: Report,
    private readonly options: RenderOptions,
  ) {
    this.links = new RepositoryLinks(report, options);
    this.headline = headlineOf(report);
    this.entries = new EntryList(report);
    this.sections = sectionsOf(report, this.entries);
  }

  get entryCount(): number {
    return this.entries.open.length;
  }

  write(budget: SpaceForEntries): string {
    const { report, options } = this;
    const digest = digestOf(report);
    const lines = [
      ...(options.marker === undefined ? [] : [commentMarker(report.command, options.marker), ""]),
      ...this.head(),
      ...(this.isWhole(budget)
        ? []
        : ["_The report is too long for a comment. The other formats contain all of it._", ""]),
      ...lineSection(incompleteHeading(report), report.incomplete, budget, true),
      ...this.sections.flatMap((section) => (section.count === 0 ? [] : this.section(section, budget))),
      `<sub>${escapeText(provenanceParts(report, options.repository).join(", "))}</sub>`,
      ...(digest === undefined ? [] : [`<sub>digest of the report: ${code(digest)}</sub>`]),
    ];
    return `${lines.join("\n")}\n`;
  }

  private isWhole({ details, lines, entries, grants }: SpaceForEntries): boolean {
    return entries >= this.entryCount && details && grants >= this.report.grants.length && lines > 1000;
  }

  /** The sentence, the commit and the page: what a reader sees without scrolling. */
  private head(): string[] {
    const { report, options, links, headline } = this;
    const { state, line } = verdict(report);
    const stacks = joinStacks(report);
    const of = stacks === undefined ? "" : ` of ${code(stacks, 200)}`;
    const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
    const { commit, pageUrl, runUrl } = options;
    const about = [
      ...(commit === undefined ? [] : [`Commit ${markdownLink(links.commit(), code(commit))}`]),
      ...(pageUrl === undefined ? [] : [markdownLink(pageUrl, "the report as a page")]),
      ...(runUrl === undefined ? [] : [markdownLink(runUrl, "the run and its files")]),
    ];
    const counts = tallies(report).map((tally) => `${tally.label}: ${tallyLine(tally)}.`);
    return [
      `### ${icons[state]} ${title(report)}${of}`,
      "",
      ...(headline === undefined ? [] : [`**${escapeText(headline.main)}**${rest}.`, ""]),
      `**${capitalize(line)}.** ${counts.join(" ")}`,
      "",
      ...(about.length === 0 ? [] : [about.join(" · "), ""]),
    ];
  }

  private section({ heading, count, isOpen, content }: Section, budget: SpaceForEntries): string[] {
    switch (content.kind) {
      case "lines":
        return lineSection(heading, content.lines, budget, isOpen);
      case "entries":
        return isOpen
          ? this.openEntries(heading, content.entries, budget)
          : foldedLines(
              `${heading} (${count})`,
              content.entries
                .slice(0, budget.lines)
                .flatMap((entry) => this.entry(entry, { ...budget, details: false })),
            );
      case "grants":
        return [...this.grants(heading, budget), ...this.diagram(budget)];
      case "trust":
        return foldedLines(
          `${heading} (${count})`,
          content.changes
            .slice(0, budget.lines)
            .flatMap((change) => [
              `- ${escapeText(change.kind)} ${code(change.name)}: affects ${plural(change.grants, "grant")}`,
              ...(budget.details ? change.fields.map((field) => `  - ${fieldLine(field)}`) : []),
            ]),
        );
    }
  }

  private openEntries(heading: string, entries: readonly Entry[], budget: SpaceForEntries): string[] {
    const lines = entries.slice(0, budget.entries).flatMap((entry) => this.entry(entry, budget));
    const hidden = entries.slice(budget.entries).flatMap(({ findings }) => findings);
    if (hidden.length > 0) {
      const which = describeFindings(hidden);
      lines.push(`- … and ${plural(hidden.length, "more finding")}, not shown here: ${which}`);
    }
    return [`#### ${heading}`, "", ...lines, ""];
  }

  private entry(entry: Entry, budget: SpaceForEntries): string[] {
    const written = budget.details ? this.written.full : this.written.short;
    const lines = written.get(entry) ?? this.entryLines(entry, budget.details);
    written.set(entry, lines);
    return lines;
  }

  /** One entry, with what belongs to it where there is room or it is critical. */
  private entryLines(entry: Entry, isFull: boolean): string[] {
    const { findings, message, others, fields, accepts, advice, details, when, who } = entry;
    const [{ severity }] = findings;
    const place = this.place(entry.location);
    const rules = entry.rules.map((finding) => this.rule(finding, formatRule(finding)));
    const item = (line: string): string => `  - ${line}`;
    const head = [
      `- ${severityIcons[severity]} **${severity}** ${rules.join(", ")} ${escapeText(message, 500)}${place === undefined ? "" : ` (${place})`}`,
      ...others.map((other) =>
        item(
          `${severityIcons[other.severity]} ${this.rule(other, other.id)} ${escapeText(other.message, 500)}`,
        ),
      ),
      ...entry.accepted.map((reason) => item(`suppressed: ${escapeText(reason, 500)}`)),
    ];
    if (!isFull && severity !== "critical") return head;
    const fixes = advice.flatMap(({ id, fixes: texts }) =>
      texts.map((text) => `**Fix${advice.length === 1 ? "" : ` for ${id}`}:** ${escapeText(text, 500)}`),
    );
    return [
      ...head,
      ...fields.map((field) => item(fieldLine(field))),
      ...(isFull ? remedyLines(entry) : []),
      ...accepts.map((text) => item(`accepts ${code(text)}`)),
      ...(when === undefined ? [] : [item(`when: ${escapeText(when)}`)]),
      ...(who === undefined ? [] : [item(`who: ${escapeText(who)}`)]),
      ...fixes.map(item),
      ...detailLines(details, isFull ? MOST_DETAILS.all : MOST_DETAILS.few),
    ];
  }

  /** A rule, as a link to what the page says of it. */
  private rule({ id }: Finding, text: string): string {
    const { pageUrl } = this.options;
    const address = pageUrl === undefined || pageUrl.includes("#") ? undefined : `${pageUrl}#rule-${id}`;
    return markdownLink(address, code(text));
  }

  private grants(heading: string, { grants: most }: SpaceForEntries): string[] {
    const { report } = this;
    const chosen = sortGrants(report.grants, report.findings).slice(0, most);
    const shown = changeOrder.flatMap((kind) => chosen.filter(({ change }) => change === kind));
    const hidden = new Set(report.grants);
    for (const change of chosen) hidden.delete(change);
    const lines = [`#### ${heading}`, ""];
    const table = [
      "| Change | Who | Role | Where (and below) | Can do | Source |",
      "| --- | --- | --- | --- | --- | --- |",
      ...shown.map((change) => this.row(change)),
      "",
    ];
    if (shown.length > MOST_OPEN_GRANTS)
      lines.push(...foldedLines(`${plural(shown.length, "change")} of access`, table));
    else if (shown.length > 0) lines.push(...table);
    if (hidden.size > 0) {
      const ranks = describeRanks([...hidden].map(rankGrants(report.findings)));
      lines.push(
        `_${plural(hidden.size, "more change", "more changes")} of access not shown here: ${ranks}._`,
        "",
      );
    }
    return lines;
  }

  private diagram(budget: SpaceForEntries): string[] {
    const diagram = budget.diagram ? renderDiagram(this.report.grants) : undefined;
    return diagram === undefined ? [] : foldedLines("Diagram of the changes", [diagram]);
  }

  private row(change: GrantChange): string {
    const row = this.rows.get(change) ?? this.writeRow(change);
    this.rows.set(change, row);
    return row;
  }

  private writeRow(change: GrantChange): string {
    const { grant, before } = change;
    const { displayName, name } = nameSubject(grant);
    const who = escapeText(displayName, 120);
    const role = code(chooseName(grant.role), 80);
    const isMoved = before !== undefined && before.group.key !== grant.group.key;
    const oldRole =
      before !== undefined && before.role.key !== grant.role.key
        ? struck(code(chooseName(before.role), 80))
        : "";
    const oldGroup = isMoved ? struck(escapeText(before.group.path, 160)) : "";
    const can = [
      ...capabilityWords(change.capabilitiesAdded).map((words) => `+ ${escapeText(words, 160)}`),
      ...capabilityWords(change.capabilitiesRemoved).map((words) => `− ${escapeText(words, 160)}`),
    ];
    const cells = [
      changeWords[change.change],
      name === undefined ? who : `${who}<br>${code(name, 80)}`,
      `${oldRole}${change.change === "lost" ? struck(role).trimEnd() : role}`,
      `${oldGroup}${escapeText(grant.group.path, 160)}${grant.group.isRoot ? " (root)" : ""}`,
      can.length === 0 ? escapeText(change.reason, 200) : can.join("<br>"),
      this.place(grant.location) ?? "",
    ];
    return `| ${cells.join(" | ")} |`;
  }

  /** `index.ts:12`, as a link where the repository is known. */
  private place(location: SourceLocation | undefined): string | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    return markdownLink(this.links.line(location), code(place, 160));
  }
}

function detailLines(details: readonly string[], maxLines: number): string[] {
  if (details.length === 0) return [];
  const shown = details.slice(0, maxLines).map((line) => escapeText(line, 500));
  const left = details.length - shown.length;
  if (left > 0) shown.push(`… and ${plural(left, "more line")}`);
  if (shown.length === 1) return [`  - ${shown.join("")}`];
  return foldedItem(
    `${plural(details.length, "line")} of detail`,
    shown.map((line) => `- ${line}`),
  );
}

function remedyLines({ remedies, findings }: Entry): string[] {
  // Of a review, these are entries of the policy file: the page and --fix offer them, a comment does not.
  const offered = findings[0].drift === undefined ? [] : remedies;
  return offered.flatMap(({ heading, text, language }) =>
    foldedItem(heading, markdownBlock(shorten(text, 4000), language).split("\n")),
  );
}

/** A part of an item that is closed at first. */
function foldedItem(summary: string, lines: readonly string[]): string[] {
  return [
    `  - <details><summary>${summary}</summary>`,
    "",
    ...lines.map((line) => `    ${line}`),
    "",
    "    </details>",
  ];
}

function lineSection(
  heading: string,
  lines: readonly string[],
  budget: SpaceForEntries,
  isOpen: boolean,
): string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, budget.lines).map((line) => `- ${escapeText(line, 500)}`);
  const left = lines.length - shown.length;
  const body =
    left === 0 ? shown : [...shown, `- … and ${left.toLocaleString("en-US")} more, not shown here`];
  return isOpen ? [`#### ${heading}`, "", ...body, ""] : foldedLines(`${heading} (${lines.length})`, body);
}

function foldedLines(summary: string, body: readonly string[]): string[] {
  return ["<details>", `<summary>${summary}</summary>`, "", ...body, "", "</details>", ""];
}

function fieldLine(field: FieldChange): string {
  const { isSet, before, after } = fieldSides(field);
  const value = (text: string | undefined): string => (text === undefined ? "not set" : code(text));
  if (!isSet) return `${code(field.path)}: ${before.map(value).join("")} → ${after.map(value).join("")}`;
  const members = [...after.map((text) => `+ ${value(text)}`), ...before.map((text) => `− ${value(text)}`)];
  return `${code(field.path)}: ${members.join(", ")}`;
}

/** What was before the change. In HTML: a name could end a strikethrough of Markdown. */
const struck = (text: string): string => `<del>${text}</del> `;

/** A link, or its text alone. The address stands in angle brackets, since a name in it could end a link. */
function markdownLink(address: string | undefined, text: string): string {
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
const escapeText = (text: string, limit = LONGEST_VALUE): string => fit(markdown, text, limit);
const code = (text: string, limit = LONGEST_VALUE): string => fit(markdownCode, text, limit);
