import { markdownBlock, shorten } from "../escape";
import type { Finding, Severity } from "../../../review/finding";
import type { Difference } from "../../report";
import { listRemedies, findLocation, plural, formatRule } from "../words";
import { code, fieldLine, escapeText } from "./parts";
import type { CommentContext, RenderBudget } from "./parts";

const severityIcons: Readonly<Record<Severity, string>> = {
  critical: "🔴",
  high: "🟠",
  medium: "🟡",
  low: "⚪",
};
/** Details that a finding shows where there is room, and where there is little. */
const MOST_DETAILS = { all: 50, few: 5 };

function detailLines({ details }: Finding, maxLines: number): string[] {
  if (details.length === 0) return [];
  const shown = details.slice(0, maxLines).map((line) => escapeText(line, 500));
  const left = details.length - shown.length;
  if (left > 0) shown.push(`… and ${plural(left, "more line")}`);
  if (shown.length === 1) return [`  - ${shown.join("")}`];
  return [
    `  - <details><summary>${plural(details.length, "line")} of detail</summary>`,
    "",
    ...shown.map((line) => `    - ${line}`),
    "",
    "    </details>",
  ];
}

function facts(finding: Finding, difference: Difference | undefined): string[] {
  const { counterexample, advice } = finding;
  return [
    ...(counterexample === undefined ? [] : [`accepts ${code(counterexample)}`]),
    ...(difference?.fields ?? []).map(fieldLine),
    ...(difference?.at === undefined ? [] : [`when: ${escapeText(difference.at)}`]),
    ...(difference?.actor === undefined ? [] : [`who: ${escapeText(difference.actor)}`]),
    ...(advice === undefined ? [] : [`**Fix:** ${escapeText(advice, 500)}`]),
  ].map((line) => `  - ${line}`);
}

function suppressionLines({ suppression }: Finding): string[] {
  if (suppression === undefined) return [];
  const { reason, expires } = suppression;
  return [
    `  - suppressed${expires === undefined ? "" : ` until ${escapeText(expires)}`}: ${escapeText(reason, 500)}`,
  ];
}

/** One finding, with what belongs to it where the budget has room or it is critical. */
export function findingLines(
  finding: Finding,
  difference: Difference | undefined,
  budget: RenderBudget,
  context: CommentContext,
): string[] {
  const { severity, message, suppression } = finding;
  const place = context.place(findLocation(finding));
  const head = `- ${severityIcons[severity]} **${severity}** ${code(formatRule(finding))} ${escapeText(message, 500)}`;
  const lines = [place === undefined ? head : `${head} (${place})`, ...suppressionLines(finding)];
  if (!budget.details && severity !== "critical") return lines;
  lines.push(...facts(finding, difference));
  lines.push(...detailLines(finding, budget.details ? MOST_DETAILS.all : MOST_DETAILS.few));
  if (budget.details && suppression === undefined) lines.push(...answerLines(difference));
  return lines;
}

function answerLines(difference: Difference | undefined): string[] {
  return listRemedies(difference).flatMap(({ heading, text, language }) => {
    const block = markdownBlock(shorten(text, 4000), language).split("\n");
    return [
      `  - <details><summary>${heading}</summary>`,
      "",
      ...block.map((line) => `    ${line}`),
      "",
      "    </details>",
    ];
  });
}
