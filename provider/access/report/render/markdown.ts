import { capitalize, getOrCompute } from "../../../fields/values";
import { plural } from "../../../text/plain";
import type { SourceLocation } from "../../documents/engineState";
import type { GrantChange } from "../../graph/grant";
import { isHighOrCritical } from "../../review/finding";
import type { Finding, Severity } from "../../review/finding";
import {
  byteLength,
  chooseShown,
  countUnlisted,
  describeFindings,
  describeRanks,
  largestThatFits,
  rankGrants,
  weighGrants,
  weighToCut,
} from "../fitReport";
import type { FieldChange, Report } from "../report";
import {
  describeChange,
  EntryList,
  digestOf,
  headOf,
  listOpenGrants,
  originLine,
  sectionsOf,
  tallyLine,
} from "./sections";
import type { Block, Entry, Labelled, Head, Section } from "./sections";
import { commentMarker, html, markdown, markdownBlock, markdownCode, shorten } from "./escape";
import type { RenderOptions } from "./renderOptions";
import {
  RepositoryLinks,
  capabilityWords,
  changeWord,
  fieldSides,
  formatLocation,
  formatRule,
  placeOfChange,
} from "./words";

/** GitHub takes 65,536 characters in a comment; these are bytes, which are never fewer. */
const MOST_BYTES_OF_COMMENT = 65_000;
/** What is shown beside as many findings as there is room for: as much as leaves room for one. `lines`: of each list. */
const LEAST_SPACE = { details: "none", lines: 0 } as const;
const SPACE_BESIDE_FIRST = [
  { details: "worst", lines: 10 },
  { details: "worst", lines: 0 },
  LEAST_SPACE,
] as const;
/** A longer table would push the risks' neighbours off the screen: it is closed at first. */
const MOST_OPEN_GRANTS = 20;
/** Lines of details that an entry shows where there is room. */
const MOST_DETAILS = 50;
/** Further findings and fields that an entry shows where there is little. */
const FEW_LINES = 5;
/** Entries that keep the most important of their details where there is no room for those of all. */
const FEW_ENTRIES = 5;
/** Lines that a reader sees of what is critical or high without opening anything: who it is, and what they hold. */
const OPEN_DETAILS = 3;
const LONGEST_VALUE = 300;

const icons = { clean: "✅", findings: "🟡", failing: "🔴", incomplete: "⚠️" } as const;
const severityIcons: Readonly<Record<Severity, string>> = {
  critical: "🔴",
  high: "🟠",
  medium: "🟡",
  low: "⚪",
};
const changeIcons: Readonly<Record<GrantChange["change"], string>> = {
  gained: "➕",
  widened: "⬆️",
  lost: "➖",
  narrowed: "⬇️",
};

/** What is shown of an entry: all of it, its first details and what to do, or its line. */
type EntryLength = "full" | "brief" | "short";

/** How much of the report is shown. What is left out is counted and said. */
interface SpaceForEntries {
  /** Whether all entries are shown with their details, the worst few with some of theirs, or none. */
  readonly details: "all" | "worst" | "none";
  readonly entries: number;
  readonly grants: number;
  /** Entries of each list of lines. */
  readonly lines: number;
}

/**
 * For a comment, an issue or a summary. Where it has no room for all, details go first, but for those of the worst findings,
 * then what matters least: findings, and changes of access by the finding about them. The verdict stays.
 */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const comment = new Comment(report, options);
  const maxBytes = options.maxBytes ?? MOST_BYTES_OF_COMMENT;
  const all: SpaceForEntries = {
    details: "all",
    entries: Infinity,
    grants: Infinity,
    lines: Infinity,
  };
  const steps: readonly SpaceForEntries[] = [all, { ...all, details: "worst", lines: 50 }];
  for (const budget of steps) {
    const text = comment.write(budget);
    if (byteLength(text) <= maxBytes) return text;
  }
  const ranking = comment.rank();
  const writeFirst = (count: number, space: Pick<SpaceForEntries, "details" | "lines">): string => {
    const entries = ranking.slice(0, count).filter(({ isEntry }) => isEntry).length;
    return comment.write({ ...space, entries, grants: count - entries });
  };
  const space = SPACE_BESIDE_FIRST.find((most) => byteLength(writeFirst(1, most)) <= maxBytes) ?? LEAST_SPACE;
  return (
    largestThatFits(maxBytes, ranking.length, (count) => writeFirst(count, space)) ?? writeFirst(0, space)
  );
}

/** A report as Markdown, in as many bytes as a budget allows. Near its limit a comment is written several times. */
class Comment {
  private readonly links: RepositoryLinks;
  private readonly head: Head;
  private readonly sections: readonly Section[];
  private readonly open: readonly Entry[];
  private readonly rankOf: (change: GrantChange) => number;
  private readonly rows = new Map<GrantChange, string>();
  private readonly worst: ReadonlySet<Entry>;
  private readonly written: Readonly<Record<EntryLength, Map<Entry, string[]>>> = {
    full: new Map(),
    brief: new Map(),
    short: new Map(),
  };

  constructor(
    private readonly report: Report,
    private readonly options: RenderOptions,
  ) {
    const entries = new EntryList(report);
    this.links = new RepositoryLinks(report, options);
    this.head = headOf(report, options);
    this.sections = sectionsOf(report, entries);
    this.open = entries.open;
    this.worst = new Set(
      entries.open.filter(({ severity }) => isHighOrCritical(severity ?? "low")).slice(0, FEW_ENTRIES),
    );
    this.rankOf = rankGrants(report.findings);
  }

  /** What is shown open, from what matters most: a finding comes before the changes of access that it is about. */
  rank(): { readonly weight: number; readonly isEntry: boolean }[] {
    const weigh = weighGrants(this.report.findings);
    return [
      ...[...weighToCut(this.open, ({ findings }) => findings).values()].map((weight) => ({
        weight,
        isEntry: true,
      })),
      ...listOpenGrants(this.report).map((change) => ({ weight: weigh(change), isEntry: false })),
    ].sort((a, b) => a.weight - b.weight);
  }

  write(budget: SpaceForEntries): string {
    const { report, options } = this;
    const digest = digestOf(report);
    const [first] = this.open.flatMap(({ rules }) => rules.filter(({ drift }) => drift === undefined));
    const explains = options.pageUrl === undefined && first !== undefined;
    const lines = [
      ...(options.marker === undefined ? [] : [commentMarker(report.command, options.marker), ""]),
      ...this.writeHead(),
      ...(this.isWhole(budget)
        ? []
        : [
            `_The report is too long for a comment. The other formats contain ${countUnlisted(report) > 0 ? "more" : "all"} of it._`,
            "",
          ]),
      ...this.sections.flatMap((section) => (section.count === 0 ? [] : this.section(section, budget))),
      ...(explains
        ? [`<sub>why a rule matters: ${code(`npx --no pulumi-platform explain ${first.id}`)}</sub>`]
        : []),
      `<sub>${escapeText(originLine(this.head.origins))}</sub>`,
      ...(digest === undefined ? [] : [`<sub>digest of the report: ${code(digest)}</sub>`]),
    ];
    return `${lines.join("\n")}\n`;
  }

  private isWhole({ details, lines, entries, grants }: SpaceForEntries): boolean {
    return (
      entries >= this.open.length &&
      details === "all" &&
      grants >= listOpenGrants(this.report).length &&
      lines > 1000
    );
  }

  /** The sentence, the commit and the page: what a reader sees without scrolling. */
  private writeHead(): string[] {
    const { options, links, head } = this;
    const { title, stacks, verdict, headline, tallies } = head;
    const of = stacks === undefined ? "" : ` of ${code(stacks, 200)}`;
    const rest = headline?.rest === undefined ? "" : `, and ${headline.rest}`;
    const { commit, pageUrl, runUrl } = options;
    const about = [
      ...(commit === undefined ? [] : [`Commit ${markdownLink(links.commit(), code(commit))}`]),
      ...(pageUrl === undefined ? [] : [markdownLink(pageUrl, "the report as a page")]),
      ...(runUrl === undefined ? [] : [markdownLink(runUrl, "the run and its files")]),
    ];
    const counts = tallies.map((tally) => `${tally.label}: ${tallyLine(tally)}.`);
    return [
      `### ${icons[verdict.state]} ${title}${of}`,
      "",
      ...(headline === undefined ? [] : [`**${escapeText(headline.main)}**${rest}.`, ""]),
      `**${capitalize(verdict.line)}.** ${counts.join(" ")}`,
      "",
      ...(about.length === 0 ? [] : [about.join(" · "), ""]),
    ];
  }

  private section(section: Section, budget: SpaceForEntries): string[] {
    const { content, place } = section;
    switch (content.kind) {
      case "lines":
        return framed(section, [...shownLines(content.lines, budget), ...codeOf(content.commands)]);
      case "entries":
        return place === "closed"
          ? framed(
              section,
              content.entries
                .slice(0, budget.lines)
                .flatMap((entry) =>
                  this.entry(entry, entry.isAccepted ? { ...budget, details: "none" } : budget),
                ),
            )
          : framed(section, this.openEntries(content.entries, budget));
      case "grants":
        return place === "closed"
          ? framed(
              section,
              writeTable(content.grants.slice(0, budget.lines).map((change) => this.row(change))),
            )
          : framed(section, this.grants(content.grants, budget));
    }
  }

  private openEntries(entries: readonly Entry[], budget: SpaceForEntries): string[] {
    const { shown, hidden } = chooseShown(entries, budget.entries, ({ findings }) => findings);
    const lines = shown.flatMap((entry) => this.entry(entry, budget));
    if (hidden.length === 0) return lines;
    return [...lines, `- … and ${describeHidden(hidden.flatMap(({ findings }) => findings))}`];
  }

  private entry(entry: Entry, { details }: Pick<SpaceForEntries, "details">): string[] {
    const length =
      details === "all" ? "full" : details === "worst" && this.worst.has(entry) ? "brief" : "short";
    return getOrCompute(this.written[length], entry, () => this.writeEntry(entry, length));
  }

  /** One entry, with what belongs to it where there is room. */
  private writeEntry(entry: Entry, length: EntryLength): string[] {
    const { severity, rules, message, about, location, facts, answers } = entry;
    const place = this.place(location);
    const where = place === undefined ? "" : ` (${place})`;
    const named = rules.map((finding) => this.rule(finding, formatRule(finding))).join(", ");
    const head =
      severity === undefined
        ? `- ${escapeText(message, 500)}: ${about}${where}`
        : `- ${severityIcons[severity]} **${severity}** ${named} ${escapeText(message, 500)}${where}`;
    return [head, ...[...facts, ...answers].flatMap((block) => this.block(block, length, severity))];
  }

  private block(block: Block, length: EntryLength, severity: Severity | undefined): string[] {
    const most = length === "full" ? Infinity : FEW_LINES;
    switch (block.kind) {
      case "labelled":
        return labelledLines(block.items.filter(({ label }) => length !== "short" || label === "suppressed"));
      case "findings": {
        const { shown, hidden } = chooseShown(block.items, most, ({ finding }) => [finding]);
        return [
          ...shown.flatMap(({ finding, answers }) => [
            `  - ${severityIcons[finding.severity]} ${this.rule(finding, finding.id)} ${escapeText(finding.message, 500)}`,
            ...answers
              .flatMap((answer) => this.block(answer, length, finding.severity))
              .map((line) => (line === "" ? line : `  ${line}`)),
          ]),
          ...(hidden.length === 0
            ? []
            : [`  - … and ${describeHidden(hidden.map(({ finding }) => finding))}`]),
        ];
      }
      case "fields":
        if (length === "short") return [];
        return [
          ...block.items.slice(0, most).map((field) => `  - ${fieldLine(field)}`),
          ...(block.items.length > most
            ? [`  - … and ${plural(block.items.length - most, "more property", "more properties")}`]
            : []),
        ];
      case "lines":
        if (length === "short") return [];
        if (length === "brief") return detailLines(block.items, Infinity, OPEN_DETAILS);
        return detailLines(block.items, isHighOrCritical(severity ?? "low") ? OPEN_DETAILS : 0, MOST_DETAILS);
      case "code":
        // Entries of the policy file for what rules find: the page and --fix offer them, a comment does not.
        return length !== "full" || block.isOfRule
          ? []
          : foldedItem(block.heading, markdownBlock(shorten(block.text, 4000), block.language).split("\n"));
    }
  }

  /** A rule, as a link to what the page says of it. */
  private rule({ id }: Finding, text: string): string {
    const { pageUrl } = this.options;
    const address = pageUrl === undefined || pageUrl.includes("#") ? undefined : `${pageUrl}#rule-${id}`;
    return markdownLink(address, code(text));
  }

  private grants(grants: readonly GrantChange[], { grants: most }: SpaceForEntries): string[] {
    // A report lists first what matters most.
    const [shown, hidden] = [grants.slice(0, most), grants.slice(most)];
    const table = writeTable(shown.map((change) => this.row(change)));
    const lines =
      shown.length > MOST_OPEN_GRANTS
        ? folded(`${plural(shown.length, "change")} of access`, table)
        : shown.length > 0
          ? table
          : [];
    if (hidden.length === 0) return lines;
    const ranks = describeRanks(hidden.map(this.rankOf));
    const more = plural(hidden.length, "more change", "more changes");
    return [...lines, "", `_${more} of access not shown here: ${ranks}._`];
  }

  private row(change: GrantChange): string {
    return getOrCompute(this.rows, change, () => this.writeRow(change));
  }

  private writeRow(source: GrantChange): string {
    const { change, who, name, role, group, before } = describeChange(source);
    const can = [
      ...capabilityWords(source.capabilitiesAdded).map((words) => `+ ${escapeText(words, 160)}`),
      ...capabilityWords(source.capabilitiesRemoved).map((words) => `− ${escapeText(words, 160)}`),
    ];
    const oldRole = before.role === undefined ? "" : `${struck(code(before.role, 80))} `;
    const oldGroup = before.group === undefined ? "" : `${struck(escapeText(before.group, 160))} `;
    const cells = [
      `${changeIcons[change]} ${changeWord(source)}`,
      name === undefined ? escapeText(who, 120) : `${escapeText(who, 120)}<br>${code(name, 80)}`,
      `${oldRole}${change === "lost" ? struck(code(role, 80)) : code(role, 80)}`,
      `${oldGroup}${escapeText(group, 160)}${source.grant.group.isRoot ? " (root)" : ""}`,
      can.length === 0 ? escapeText(source.reason, 200) : can.join("<br>"),
      this.place(placeOfChange(this.report.command, source)) ?? "",
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

const describeHidden = (findings: readonly Finding[]): string =>
  `${plural(findings.length, "more finding")}, not shown here: ${describeFindings(findings)}`;

function labelledLines(rows: readonly Labelled[]): string[] {
  return rows.flatMap(({ label, texts }) => {
    // A link leads to the reason, or `explain` says it.
    if (label === "why") return [];
    const write = label === "accepts" ? code : (text: string) => escapeText(text, 500);
    return texts.map((text) => `  - **${capitalize(label)}:** ${write(text)}`);
  });
}

const writeTable = (rows: readonly string[]): string[] => [
  "| Change | Who | Role | Where (and below) | Can do | Source |",
  "| --- | --- | --- | --- | --- | --- |",
  ...rows,
];

/** A section with its heading, or closed at first. */
function framed({ heading, count, of, place }: Section, body: readonly string[]): string[] {
  const name = `${heading} (${count.toLocaleString("en-US")}${of === undefined ? "" : ` ${of}`})`;
  return place === "closed" ? [...folded(name, body), ""] : [`#### ${name}`, "", ...body, ""];
}

/** Commands to copy. */
const codeOf = (commands: readonly string[]): string[] =>
  commands.length === 0 ? [] : ["", ...markdownBlock(commands.join("\n"), "sh").split("\n")];

function shownLines(lines: readonly string[], budget: SpaceForEntries): string[] {
  const shown = lines.slice(0, budget.lines).map((line) => `- ${escapeText(line, 500)}`);
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, `- … and ${left.toLocaleString("en-US")} more, not shown here`];
}

const folded = (summary: string, body: readonly string[]): string[] => [
  "<details>",
  `<summary>${summary}</summary>`,
  "",
  ...body,
  "",
  "</details>",
];

/**
 * @param openLines How many are shown at once; the others, if there are any, are folded together.
 * @param mostLines How many are shown at all.
 */
function detailLines(details: readonly string[], openLines: number, mostLines: number): string[] {
  const shown = details.slice(0, mostLines).map((line) => escapeText(line, 500));
  const left = details.length - shown.length;
  if (left > 0) shown.push(`… and ${plural(left, "more line")}`);
  // One line is no longer than what would fold it.
  const most = shown.length === openLines + 1 ? shown.length : openLines;
  const [open, inside] = [shown.slice(0, most), shown.slice(most)];
  const lines = open.map((line) => `  - ${line}`);
  if (inside.length === 0) return lines;
  const count = plural(details.length - open.length, open.length === 0 ? "line" : "more line");
  return [
    ...lines,
    ...foldedItem(
      `${count} of detail`,
      inside.map((line) => `- ${line}`),
    ),
  ];
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

function fieldLine(field: FieldChange): string {
  const { isSet, before, after } = fieldSides(field);
  const value = (text: string | undefined): string => (text === undefined ? "not set" : code(text));
  if (!isSet) return `${code(field.path)}: ${before.map(value).join("")} → ${after.map(value).join("")}`;
  const members = [...after.map((text) => `+ ${value(text)}`), ...before.map((text) => `− ${value(text)}`)];
  return `${code(field.path)}: ${members.join(", ")}`;
}

/** What was before the change. In HTML: a name could end a strikethrough of Markdown. */
const struck = (text: string): string => `<del>${text}</del>`;

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
