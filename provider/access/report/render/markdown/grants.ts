import type { GrantChange } from "../../../graph/grant";
import { capabilityWords, changeOrder, grantHeadings, chooseName, plural, nameSubject } from "../words";
import { describeRanks, rankGrants, sortGrants } from "../../counts";
import { code, fold, escapeText } from "./parts";
import type { CommentContext, RenderBudget } from "./parts";

const changeWords: Readonly<Record<GrantChange["change"], string>> = {
  gained: "➕ gained",
  widened: "⬆️ widened",
  lost: "➖ lost",
  narrowed: "⬇️ narrowed",
};

/** What was before the change. In HTML: a name could end a strikethrough of Markdown. */
const struck = (text: string): string => `<del>${text}</del> `;

function grantRow(change: GrantChange, context: CommentContext): string {
  const { grant, before } = change;
  const { displayName, name } = nameSubject(grant);
  const who =
    name === undefined
      ? escapeText(displayName, 120)
      : `${escapeText(displayName, 120)}<br>${code(name, 80)}`;
  const place = context.place(grant.location);
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
  const what = can.length === 0 ? escapeText(change.reason, 200) : can.join("<br>");
  const cells = [
    changeWords[change.change],
    who,
    `${oldRole}${change.change === "lost" ? struck(role).trimEnd() : role}`,
    `${oldGroup}${escapeText(grant.group.path, 160)}${grant.group.isRoot ? " (root)" : ""}`,
    what,
    place ?? "",
  ];
  return `| ${cells.join(" | ")} |`;
}

export function grantTable(context: CommentContext, budget: RenderBudget): string[] {
  const { report, cache } = context;
  if (report.grants.length === 0) return [];
  const chosen = sortGrants(report.grants, report.findings).slice(0, budget.grants);
  const shown = changeOrder.flatMap((kind) => chosen.filter(({ change }) => change === kind));
  const hidden = new Set(report.grants);
  for (const change of chosen) hidden.delete(change);
  const left = hidden.size;
  const lines = [`#### ${grantHeadings[report.command]}`, ""];
  const table = [
    "| Change | Who | Role | Where (and below) | Can do | Source |",
    "| --- | --- | --- | --- | --- | --- |",
    ...shown.map((change) => cache.row(change, () => grantRow(change, context))),
    "",
  ];
  // A long table would push the risks' neighbours off the screen.
  if (shown.length > 20) lines.push(...fold(`${plural(shown.length, "change")} of access`, table));
  else if (shown.length > 0) lines.push(...table);
  if (left > 0) {
    const ranks = [...hidden].map(rankGrants(report.findings));
    lines.push(
      `_${plural(left, "more change", "more changes")} of access not shown here: ${describeRanks(ranks)}._`,
      "",
    );
  }
  return lines;
}
