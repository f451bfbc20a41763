import type { Report } from "../../report";
import type { GrantChange } from "../../../graph/grant";
import type { RenderOptions } from "../options";
import { changeOrder, groupCapabilities, nameOf, placeOf, subjectOf } from "../words";
import { filterAttributes, fold, severityTag } from "./findings";
import { attributes, joinLines, markup } from "./markup";
import type { Markup } from "./markup";
import type { PageIndex } from "./pageIndex";

const signs: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "−",
  widened: "↑",
  narrowed: "↓",
};

/** What capabilities are about, in few words. */
function areas(capabilities: readonly string[]): string {
  const names = groupCapabilities(capabilities).map((group) => group.replace(/:.*/s, ""));
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")}, …`;
}

function capabilityCell({ capabilitiesAdded, capabilitiesRemoved, reason }: GrantChange): Markup {
  const why = reason === "" ? undefined : markup`<div>${reason}</div>`;
  const sides = [
    { sign: "+", capabilities: capabilitiesAdded },
    { sign: "−", capabilities: capabilitiesRemoved },
  ].filter(({ capabilities }) => capabilities.length > 0);
  if (sides.length === 0) return markup`${why}`;
  const summary = sides.map(
    ({ sign, capabilities }, position) =>
      markup`${position === 0 ? undefined : markup`<br>`}<span class="mono">${sign}${capabilities.length}</span> ${areas(capabilities)}`,
  );
  const items = sides.flatMap(({ sign, capabilities }) =>
    groupCapabilities(capabilities).map((text) => markup`<li>${sign} <span class="mono">${text}</span></li>`),
  );
  return markup`${why}${fold(summary, markup`<ul>${items}</ul>`)}`;
}

/** A path that may break after each of its folders. */
function breakablePath(path: string): Markup[] {
  return path.split("/").map((part, index) => (index === 0 ? markup`${part}` : markup`/<wbr>${part}`));
}

function grantRow(change: GrantChange, index: PageIndex, options: RenderOptions): Markup {
  const { grant, before } = change;
  const { role, group } = grant;
  const { displayName, name } = subjectOf(grant);
  const severity = index.severityOf(grant);
  const place = placeOf(grant.location, options.sourceRoot);
  const values = {
    "data-item": "grant",
    "data-change": change.change,
    "data-severity": severity,
    ...filterAttributes(index, grant, ""),
  };
  const was = (text: string): Markup => markup`<div class="where">was ${text}</div>`;
  const oldRole = before === undefined || before.role.key === role.key ? undefined : was(nameOf(before.role));
  const oldPath = before === undefined || before.group.key === group.key ? undefined : was(before.group.path);
  return markup`<tr${attributes(values)}>${[
    markup`<td><span class="change ${change.change}"><span aria-hidden="true">${signs[change.change]}</span> ${change.change}</span>${
      severity === undefined ? undefined : markup`<br>${severityTag(severity)}`
    }</td>`,
    markup`<th scope="row">${displayName}${name === undefined ? undefined : markup`<div class="where mono">${name}</div>`}</th>`,
    markup`<td><span class="mono">${nameOf(role)}</span>${oldRole}</td>`,
    markup`<td>${group.path}${group.isRoot ? markup` <span class="soft">(root)</span>` : undefined}${oldPath}</td>`,
    markup`<td>${capabilityCell(change)}</td>`,
    markup`<td class="where mono">${place === undefined ? undefined : breakablePath(place)}</td>`,
  ]}</tr>`;
}

const columns = [
  ["change", "Change"],
  ["who", "Who"],
  ["role", "Role"],
  ["where", "Where, and below"],
  ["can", "Why, and capabilities"],
  ["source", "Source"],
] as const;

/** The table of changes of access. */
export function grantTable({ grants }: Report, index: PageIndex, options: RenderOptions): Markup {
  const sorted = changeOrder.flatMap((kind) => grants.filter(({ change }) => change === kind));
  if (sorted.length === 0) return markup`<p class="none">No change of access.</p>`;
  const head = columns.map(([key, name]) => markup`<th scope="col" class="c-${key}">${name}</th>`);
  const rows = sorted.map((change) => grantRow(change, index, options));
  return markup`${[
    markup`<div class="scroll" role="region" aria-label="Table of changes of access" tabindex="0"><table>`,
    markup`<caption class="sr">Who gains and loses which role where</caption>`,
    markup`<thead><tr>${head}</tr></thead><tbody>\n${joinLines(rows)}\n</tbody></table></div>`,
    markup`<button type="button" class="more" id="more-grant" hidden></button>`,
    markup`<p id="no-grant" class="none" hidden>No change of access fits the filter.</p>`,
  ]}`;
}
