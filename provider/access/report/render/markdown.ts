import { capitalize } from "../../../fields/values";
import { plural } from "../../../text/plain";
import type { SourceLocation } from "../../documents/engineState";
import type { GrantChange } from "../../graph/grant";
import { isHighOrCritical } from "../../review/finding";
import type { Finding, Severity } from "../../review/finding";
import { byteLength, firstOfEach, largestThatFits, lengthOfLists } from "../fitReport";
import type { Report } from "../report";
import {
  MOST_OPEN_FINDINGS,
  describeChange,
  EntryList,
  headOf,
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
  fieldLine,
  formatLocation,
  formatRule,
  placeOfChange,
} from "./words";

/** GitHub takes 65,536 characters in a comment; these are bytes, which are never fewer. */
const MOST_BYTES_OF_COMMENT = 65_000;
/** A longer table would push the risks' neighbours off the screen: it is closed at first. */
const MOST_OPEN_GRANTS = 20;
/** Lines of details that an entry shows. */
const MOST_DETAILS = 50;
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

/**
 * For a comment, an issue or a summary. Where it has no room for all, it shows no details, and as many of the first items of each
 * list as there is room for: what matters most. The verdict and the numbers are those of the whole report.
 */
export function renderMarkdown(report: Report, options: RenderOptions): string {
  const maxBytes = options.maxBytes ?? MOST_BYTES_OF_COMMENT;
  const whole = new Comment(report, options).write(report);
  if (byteLength(whole) <= maxBytes) return whole;
  const short = new Comment(report, options, true);
  const writeFirst = (count: number): string => {
    const { first, omitted } = firstOfEach(report, count);
    return short.write(first, omitted);
  };
  return largestThatFits(maxBytes, lengthOfLists(report), writeFirst) ?? writeFirst(0);
}

/** A report as Markdown. */
class Comment {
  private readonly links: RepositoryLinks;
  private readonly head: Head;

  /** @param isShort Whether it shows no details. */
  constructor(
    private readonly report: Report,
    private readonly options: RenderOptions,
    private readonly isShort = false,
  ) {
    this.links = new RepositoryLinks(report, options);
    this.head = headOf(report, options);
  }

  /**
   * @param listed The report, or what of it there is room for.
   * @param omitted What that does not list.
   */
  write(listed: Report, omitted: readonly string[] = []): string {
    const { report, options } = this;
    const { origins, digest } = this.head;
    const entries = new EntryList(listed);
    const [first] = entries.open.flatMap(({ rules }) => rules.filter(({ drift }) => drift === undefined));
    const explains = options.pageUrl === undefined && first !== undefined;
    const leftOut = ["details", ...omitted].join(", ");
    const note = `_The report is too long for a comment, which leaves out ${leftOut}. The other formats contain more of it._`;
    const lines = [
      ...(options.marker === undefined ? [] : [commentMarker(report.command, options.marker), ""]),
      ...this.writeHead(),
      ...(this.isShort ? [note, ""] : []),
      ...sectionsOf(listed, entries).flatMap((section) =>
        section.count === 0 ? [] : framed(section, this.content(section)),
      ),
      ...(explains
        ? [`<sub>why a rule matters: ${code(`npx --no pulumi-platform explain ${first.id}`)}</sub>`]
        : []),
      `<sub>${escapeText(originLine(origins))}</sub>`,
      ...(digest === undefined ? [] : [`<sub>digest of the report: ${code(digest)}</sub>`]),
    ];
    return `${lines.join("\n")}\n`;
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

  private content({ content, place }: Section): string[] {
    switch (content.kind) {
      case "lines":
        return [...content.items.map((line) => `- ${escapeText(line, 500)}`), ...codeOf(content.commands)];
      case "entries":
        return content.items.flatMap((entry) => this.entry(entry));
      case "grants": {
        const table = writeTable(content.items.map((change) => this.row(change)));
        return place === "open" && content.items.length > MOST_OPEN_GRANTS
          ? folded(`${plural(content.items.length, "change")} of access`, table)
          : table;
      }
    }
  }

  /** One entry, with what belongs to it where there is room. */
  private entry({ severity, rules, message, about, location, facts, answers, isAccepted }: Entry): string[] {
    const where = this.placeIn(location);
    const named = rules.map((finding) => this.rule(finding, formatRule(finding))).join(", ");
    const head =
      severity === undefined
        ? `- ${escapeText(message, 500)}: ${about}${where}`
        : `- ${severityIcons[severity]} **${severity}** ${named} ${escapeText(message, 500)}${where}`;
    const isShort = this.isShort || isAccepted;
    return [head, ...[...facts, ...answers].flatMap((block) => this.block(block, isShort, severity))];
  }

  private block(block: Block, isShort: boolean, severity: Severity | undefined): string[] {
    switch (block.kind) {
      case "labelled":
        return labelledLines(block.items.filter(({ label }) => !isShort || label === "suppressed"));
      case "findings": {
        const items = block.items.map(({ finding, location, answers }) => [
          `  - ${severityIcons[finding.severity]} ${this.rule(finding, finding.id)} ${escapeText(finding.message, 500)}${this.placeIn(location)}`,
          ...answers
            .flatMap((answer) => this.block(answer, isShort, finding.severity))
            .map((line) => (line === "" ? line : `  ${line}`)),
        ]);
        const more = items.slice(MOST_OPEN_FINDINGS).flat();
        return [
          ...items.slice(0, MOST_OPEN_FINDINGS).flat(),
          ...(more.length === 0
            ? []
            : foldedItem(
                plural(items.length - MOST_OPEN_FINDINGS, "more finding"),
                more.map((line) => line.slice(2)),
              )),
        ];
      }
      case "fields":
        return isShort
          ? []
          : block.items.map((field) => `  - ${fieldLine(field, code(field.path), code, "−")}`);
      case "lines":
        return isShort
          ? []
          : detailLines(block.items, isHighOrCritical(severity ?? "low") ? OPEN_DETAILS : 0);
      case "code":
        // Entries of the policy file for what rules find: the page and --fix offer them, a comment does not.
        return isShort || block.isOfRule
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

  private row(source: GrantChange): string {
    const { change } = source;
    const { who, name, role, group, before } = describeChange(source);
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

  private placeIn(location: SourceLocation | undefined): string {
    const place = this.place(location);
    return place === undefined ? "" : ` (${place})`;
  }

  /** `index.ts:12`, as a link where the repository is known. */
  private place(location: SourceLocation | undefined): string | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    return markdownLink(this.links.line(location), code(place, 160));
  }
}

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
const codeOf = (commands: readonly string[] = []): string[] =>
  commands.length === 0 ? [] : ["", ...markdownBlock(commands.join("\n"), "sh").split("\n")];

const folded = (summary: string, body: readonly string[]): string[] => [
  "<details>",
  `<summary>${summary}</summary>`,
  "",
  ...body,
  "",
  "</details>",
];

/** @param openLines How many are shown at once; the others, if there are any, are folded together. */
function detailLines(details: readonly string[], openLines: number): string[] {
  const shown = details.slice(0, MOST_DETAILS).map((line) => escapeText(line, 500));
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
