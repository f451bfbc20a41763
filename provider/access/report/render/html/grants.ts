import { compareTexts } from "../../../../fields/values";
import type { Grant, GrantChange, Scope } from "../../../graph/grant";
import { describeChange, isIndirect } from "../entries";
import { chooseName, groupCapabilities, nameSubject, placeOfChange } from "../words";
import {
  changeTag,
  changedText,
  foldMarkup,
  newText,
  oldText,
  roleAndGroup,
  severityTag,
  signs,
} from "./context";
import type { PageContext } from "./context";
import { attributes, joinLines, markup } from "./markup";
import type { Markup } from "./markup";
import { filterAttributes } from "./navigation";

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
  return foldMarkup(summary, markup`<ul>${items}</ul>`);
}

/** Changes that a change of their holder's trust makes alike are one row. */
function mergeRows(changes: readonly GrantChange[], { entries }: PageContext): GrantChange[][] {
  const rows: GrantChange[][] = [];
  const merged = new Map<string, GrantChange[]>();
  for (const change of changes) {
    const { grant, capabilitiesAdded, capabilitiesRemoved } = change;
    const isAlike = isIndirect(change) && capabilitiesAdded.length + capabilitiesRemoved.length === 0;
    const cause = isAlike ? entries.causeOf(change) : undefined;
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

const columns = ["Change", "Who", "Role and group", "Why, and capabilities", "Source"] as const;

function cell(column: number, content: Markup): Markup {
  return markup`<td role="cell" data-label="${columns[column]}">${content}</td>`;
}

/** @param row Changes of one holder that are alike. */
function grantRow(row: readonly GrantChange[], context: PageContext, isFiltered: boolean): Markup {
  const lines = row.map(describeChange);
  const [line] = lines;
  if (line === undefined) return markup``;
  const { index } = context;
  const { source, change, who, name, before } = line;
  const grants = row.map(({ grant }) => grant);
  const severity = index.worstOf(grants);
  const values = {
    "data-item": "grant",
    "data-count": row.length === 1 ? undefined : String(row.length),
    "data-change": change,
    "data-severity": severity,
    ...filterAttributes(index, { grants }),
  };
  const own = name === undefined ? undefined : markup`<div class="where mono">${name}</div>`;
  const reason = source.reason === "" ? undefined : markup`<div>${source.reason}</div>`;
  const places = new Set(row.map((each) => context.place(placeOfChange(context.report.command, each))?.text));
  const more = places.size > 1 ? markup`<br>and ${places.size - 1} more` : undefined;
  return markup`<tr role="row"${isFiltered ? attributes(values) : undefined}>${[
    cell(
      0,
      markup`${changeTag(change)}${severity === undefined ? undefined : markup` ${severityTag(severity)}`}`,
    ),
    markup`<th scope="row" role="rowheader" data-label="${columns[1]}">${changedText(before.who, who)}${own}</th>`,
    cell(2, markup`<ul>${lines.map((each) => markup`<li>${roleAndGroup(each)}</li>`)}</ul>`),
    cell(3, markup`${reason}${capabilityFold(source)}`),
    cell(
      4,
      markup`<span class="where">${context.place(placeOfChange(context.report.command, source))}${more}</span>`,
    ),
  ]}</tr>`;
}

/** @param isFiltered Whether the filter of the page narrows it down. */
export function grantTable(
  grants: readonly GrantChange[],
  heading: string,
  context: PageContext,
  isFiltered: boolean,
): Markup {
  if (grants.length === 0) return markup`<p class="none">No change of access.</p>`;
  const head = columns.map(
    (name, index) => markup`<th scope="col" role="columnheader" class="c${index}">${name}</th>`,
  );
  const rows = mergeRows(grants, context).map((row) => grantRow(row, context, isFiltered));
  return markup`${[
    markup`<table role="table" class="grants"><caption class="sr">${heading}: who, which role, where</caption>`,
    markup`<thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">\n${joinLines(rows)}\n</tbody></table>`,
    isFiltered ? markup`<button type="button" class="more" id="more-grant" hidden></button>` : undefined,
    isFiltered
      ? markup`<p id="no-grant" class="none" hidden>No change of access matches the filter.</p>`
      : undefined,
  ]}`;
}

/** A wider or longer matrix is no overview: the table says more. */
const MOST_GROUPS = 7;
const MOST_HOLDERS = 40;

interface MatrixRow {
  readonly displayName: string;
  readonly name?: string;
  readonly changes: GrantChange[];
  /** The roles in each group, by its key. */
  readonly cells: Map<string, Markup[]>;
}

class AccessMatrix {
  readonly groups = new Map<string, Scope>();
  readonly holders = new Map<string, MatrixRow>();

  constructor(changes: readonly GrantChange[]) {
    for (const change of changes) this.add(change);
  }

  private add(change: GrantChange): void {
    const { grant, before } = change;
    const role = chooseName(grant.role);
    const holder = this.holder(change);
    if (change.change === "lost") this.put(holder, grant, oldText(role), true);
    else if (change.change === "gained") this.put(holder, grant, newText(role));
    else if (before === undefined || isIndirect(change)) {
      const kept = markup`<span class="change ${change.change}"><span aria-hidden="true">${signs[change.change]}</span><span class="sr">${change.change}: </span> ${role}</span>`;
      this.put(holder, grant, kept);
    } else {
      this.put(holder, before, oldText(chooseName(before.role)), true);
      this.put(holder, grant, newText(role));
    }
  }

  private holder(change: GrantChange): MatrixRow {
    const { subject } = change.grant;
    const known = this.holders.get(subject.key) ?? {
      ...nameSubject(change.grant),
      changes: [],
      cells: new Map<string, Markup[]>(),
    };
    known.changes.push(change);
    this.holders.set(subject.key, known);
    return known;
  }

  /** What was before stands above what is new. */
  private put({ cells }: MatrixRow, { group }: Grant, content: Markup, isOld = false): void {
    this.groups.set(group.key, group);
    const known = cells.get(group.key) ?? [];
    cells.set(group.key, isOld ? [content, ...known] : [...known, content]);
  }

  columns(): Scope[] {
    return [...this.groups.values()].sort((a, b) => compareTexts(a.path, b.path));
  }
}

function holderRow(
  { displayName, name, changes, cells }: MatrixRow,
  groups: readonly Scope[],
  context: PageContext,
): Markup {
  const values = {
    "data-item": "holder",
    "data-change": [...new Set(changes.map(({ change }) => change))].join(" "),
    "data-severity": context.index.worstOf(changes.map(({ grant }) => grant)),
    ...filterAttributes(context.index, { grants: changes.map(({ grant }) => grant) }),
  };
  const own = name === undefined ? undefined : markup`<div class="where mono">${name}</div>`;
  const columns = groups.map(({ key, path }) => {
    const roles = cells.get(key);
    if (roles === undefined) return markup`<td role="cell" class="empty"></td>`;
    return markup`<td role="cell" data-label="${path}">${roles.map((role) => markup`<div class="mono">${role}</div>`)}</td>`;
  });
  return markup`<tr role="row"${attributes(values)}><th scope="row" role="rowheader">${displayName}${own}</th>${columns}</tr>`;
}

/** Who holds what in which group, before and after; undefined where that is too much for an overview. */
export function accessMatrix(grants: readonly GrantChange[], context: PageContext): Markup | undefined {
  const matrix = new AccessMatrix(grants);
  const { size } = matrix.holders;
  if (size === 0 || size > MOST_HOLDERS || matrix.groups.size > MOST_GROUPS) return undefined;
  const groups = matrix.columns();
  const head = groups.map(({ path }) => markup`<th scope="col" role="columnheader">${path}</th>`);
  const rows = [...matrix.holders.values()].map((holder) => holderRow(holder, groups, context));
  return markup`${[
    markup`<table role="table" class="matrix"><caption class="sr">Roles before and after, by holder and group</caption>`,
    markup`<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader" class="who">Who</th>${head}</tr></thead>`,
    markup`<tbody role="rowgroup">${rows}</tbody></table>`,
  ]}`;
}
