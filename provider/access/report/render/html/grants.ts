import type { GrantChange } from "../../../graph/grant";
import { isIndirect } from "../causes";
import { changeOrder, grantHeadings, groupCapabilities, nameSubject } from "../words";
import { changeTag, changedText, groupText, roleText } from "./changes";
import type { PageContext } from "./context";
import { filterAttributes } from "./filters";
import { fold, severityTag } from "./findings";
import { attributes, joinLines, markup } from "./markup";
import type { Markup } from "./markup";

/** What capabilities are about, in few words. */
function areas(capabilities: readonly string[]): string {
  const names = groupCapabilities(capabilities).map((group) => group.replace(/:.*/s, ""));
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")}, …`;
}

function capabilityFold({ capabilitiesAdded, capabilitiesRemoved }: GrantChange): Markup | undefined {
  const sides = [
    { sign: "+", capabilities: capabilitiesAdded },
    { sign: "−", capabilities: capabilitiesRemoved },
  ].filter(({ capabilities }) => capabilities.length > 0);
  if (sides.length === 0) return undefined;
  const summary = sides.map(
    ({ sign, capabilities }, position) =>
      markup`${position === 0 ? undefined : markup`<br>`}<span class="mono">${sign}${capabilities.length}</span> ${areas(capabilities)}`,
  );
  const items = sides.flatMap(({ sign, capabilities }) =>
    groupCapabilities(capabilities).map((text) => markup`<li>${sign} <span class="mono">${text}</span></li>`),
  );
  return fold(summary, markup`<ul>${items}</ul>`);
}

/** Changes that a change of their holder's trust makes alike are one row. */
function mergeRows(changes: readonly GrantChange[], { causes }: PageContext): GrantChange[][] {
  const rows: GrantChange[][] = [];
  const merged = new Map<string, GrantChange[]>();
  for (const change of changes) {
    const { grant, capabilitiesAdded, capabilitiesRemoved } = change;
    const isAlike = isIndirect(change) && capabilitiesAdded.length + capabilitiesRemoved.length === 0;
    const cause = isAlike ? causes.ofGrant(change) : undefined;
    const key = JSON.stringify([change.change, grant.subject.key, change.reason]);
    const known = cause === undefined ? undefined : merged.get(key);
    if (known !== undefined) {
      known.push(change);
      continue;
    }
    const row = [change];
    if (cause !== undefined) merged.set(key, row);
    rows.push(row);
  }
  return rows;
}

function holder({ grant, before }: GrantChange): Markup {
  const { displayName, name } = nameSubject(grant);
  const old = before === undefined ? undefined : nameSubject(before).displayName;
  const own = name === undefined ? undefined : markup`<div class="where mono">${name}</div>`;
  return markup`${changedText(old, displayName)}${own}`;
}

const columns = ["Change", "Who", "Role and group", "Why, and capabilities", "Source"] as const;

function cell(column: number, content: Markup): Markup {
  return markup`<td role="cell" data-label="${columns[column]}">${content}</td>`;
}

/** @param row Changes of one holder that are alike. */
function grantRow(row: readonly GrantChange[], context: PageContext): Markup {
  const [first] = row;
  if (first === undefined) return markup``;
  const { index } = context;
  const severity = index.worstOf(row.map(({ grant }) => grant));
  const values = {
    "data-item": "grant",
    "data-count": row.length === 1 ? undefined : String(row.length),
    "data-change": first.change,
    "data-severity": severity,
    ...filterAttributes(index, { grants: row.map(({ grant }) => grant) }),
  };
  const places = [...new Set(row.map(({ grant }) => context.place(grant.location)?.text))];
  const pairs = row.map(
    (change) =>
      markup`<li><span class="mono">${roleText(change)}</span> <span class="at">at</span> ${groupText(change)}</li>`,
  );
  const [why] = row.map(({ reason }) => (reason === "" ? undefined : markup`<div>${reason}</div>`));
  const tag = severity === undefined ? undefined : markup` ${severityTag(severity)}`;
  const source = context.place(first.grant.location);
  return markup`<tr role="row"${attributes(values)}>${[
    cell(0, markup`${changeTag(first.change)}${tag}`),
    markup`<th scope="row" role="rowheader" data-label="${columns[1]}">${holder(first)}</th>`,
    cell(2, markup`<ul>${pairs}</ul>`),
    cell(3, markup`${why}${capabilityFold(first)}`),
    cell(
      4,
      markup`<span class="where">${source}${places.length > 1 ? markup`<br>and ${places.length - 1} more` : undefined}</span>`,
    ),
  ]}</tr>`;
}

/** The table of changes of access. */
export function grantTable(context: PageContext): Markup {
  const { grants, command } = context.report;
  const sorted = changeOrder.flatMap((kind) => grants.filter(({ change }) => change === kind));
  if (sorted.length === 0) return markup`<p class="none">No change of access.</p>`;
  const head = columns.map(
    (name, index) => markup`<th scope="col" role="columnheader" class="c${index}">${name}</th>`,
  );
  const rows = mergeRows(sorted, context).map((row) => grantRow(row, context));
  return markup`${[
    markup`<table role="table" class="grants"><caption class="sr">${grantHeadings[command]}: who, which role, where</caption>`,
    markup`<thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">\n${joinLines(rows)}\n</tbody></table>`,
    markup`<button type="button" class="more" id="more-grant" hidden></button>`,
    markup`<p id="no-grant" class="none" hidden>No change of access matches the filter.</p>`,
  ]}`;
}
