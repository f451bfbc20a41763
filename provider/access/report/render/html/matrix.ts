import type { Grant, GrantChange, Scope } from "../../../graph/grant";
import { isIndirect } from "../causes";
import { compareTexts } from "../../../../fields/values";
import { chooseName, nameSubject } from "../words";
import { newText, oldText, signs } from "./changes";
import type { PageContext } from "./context";
import { filterAttributes } from "./filters";
import { attributes, markup } from "./markup";
import type { Markup } from "./markup";

/** A wider or longer matrix is no overview: the table says more. */
const MOST_GROUPS = 7;
const MOST_HOLDERS = 40;

interface Holder {
  readonly displayName: string;
  readonly name?: string;
  readonly changes: GrantChange[];
  /** The roles in each group, by its key. */
  readonly cells: Map<string, Markup[]>;
}

class AccessMatrix {
  readonly groups = new Map<string, Scope>();
  readonly holders = new Map<string, Holder>();

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

  private holder(change: GrantChange): Holder {
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
  private put({ cells }: Holder, { group }: Grant, content: Markup, isOld = false): void {
    this.groups.set(group.key, group);
    const known = cells.get(group.key) ?? [];
    cells.set(group.key, isOld ? [content, ...known] : [...known, content]);
  }

  columns(): Scope[] {
    return [...this.groups.values()].sort((a, b) => compareTexts(a.path, b.path));
  }
}

function holderRow(
  { displayName, name, changes, cells }: Holder,
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
export function accessMatrix(context: PageContext): Markup | undefined {
  const matrix = new AccessMatrix(context.report.grants);
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
