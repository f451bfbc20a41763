import { shorten } from "../escape";
import type { Finding, Severity } from "../../../review/finding";
import type { Difference, FieldChange } from "../../report";
import type { RenderOptions } from "../options";
import { listRemedies, findLocation, formatLocation, formatRule } from "../words";
import type { Style, TextPage } from "./textPage";

const severityStyles: Readonly<Record<Severity, Style>> = {
  critical: "red",
  high: "red",
  medium: "yellow",
  low: "cyan",
};

const LABEL = 11;
export const label = (text: string): string => text.padEnd(LABEL);

export function fieldLine({ path, before, after }: FieldChange): string {
  const from = shorten(before ?? "not set", 300);
  return `${path}: ${from} → ${shorten(after ?? "not set", 300)}`;
}

interface Snippet {
  readonly short: string;
  readonly text: string;
}

/** Commands, code and policy entries that settle a finding. What is accepted asks for none. */
export function snippetsOf(
  { suppression, policyEntry }: Finding,
  difference: Difference | undefined,
): Snippet[] {
  if (suppression !== undefined) return [];
  const own = policyEntry === undefined ? [] : [{ short: "suppress", text: policyEntry }];
  return [...listRemedies(difference), ...own];
}

export function findingEntry(
  page: TextPage,
  item: Finding,
  difference: Difference | undefined,
  { sourceRoot, fix }: RenderOptions,
): void {
  const style = severityStyles[item.severity];
  const bold: readonly Style[] = item.severity === "critical" ? [style, "bold"] : [style];
  page.entry(2, label(item.severity), formatRule(item), {
    leadStyles: bold,
    styles: ["bold"],
    tail: formatLocation(findLocation(item), sourceRoot),
  });
  const detail = (name: string, text: string): void =>
    page.entry(2, label(name), text, { leadStyles: ["dim"] });
  page.entry(2, label(""), item.message);
  for (const field of difference?.fields ?? []) page.entry(2 + LABEL, "- ", fieldLine(field));
  for (const line of item.details) page.entry(2 + LABEL, "- ", line);
  if (item.counterexample !== undefined) detail("accepts", item.counterexample);
  if (difference?.at !== undefined) detail("when", difference.at);
  if (difference?.actor !== undefined) detail("who", difference.actor);
  if (item.advice !== undefined) detail("fix", item.advice);
  if (item.suppression !== undefined) {
    const until = item.suppression.expires === undefined ? "" : ` (until ${item.suppression.expires})`;
    detail("suppressed", `${item.suppression.reason}${until}`);
  }
  if (fix !== true) return;
  for (const { short, text } of snippetsOf(item, difference)) {
    page.entry(2, label(""), `${short}:`, { styles: ["dim"] });
    page.verbatim(2 + LABEL + 2, text);
  }
}
