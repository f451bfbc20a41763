import { compareTexts, addTo } from "../../../../fields/values";
import type { Grant, GrantChange, GroupNode, Scope } from "../../../graph/grant";
import type { Report } from "../../report";
import { listOpenGrants } from "../sections";
import { changeOrder, chooseName } from "../words";
import { plural } from "../../../../text/plain";
import type { PageIndex } from "./context";
import { markup } from "./markup";
import type { Markup } from "./markup";

/** Of the names that a browser offers while one types. */
const MOST_SUGGESTIONS = 500;

const option = (value: string, text: string): Markup => markup`<option value="${value}">${text}</option>`;

const select = (id: string, name: string, options: readonly Markup[]): Markup =>
  markup`<label>${name}<select id="${id}" name="${id}">${options}</select></label>`;

const severityOptions = [
  option("", "any severity"),
  option("low", "low or above"),
  option("medium", "medium or above"),
  option("high", "high or above"),
  option("critical", "critical"),
];

/** What a row, a card or a holder is about. */
interface FilterSubject {
  readonly grants: readonly Grant[];
  readonly groups?: readonly Scope[];
  readonly texts?: readonly (string | undefined)[];
}

/** What the script of the page filters by. */
export function filterAttributes(
  index: PageIndex,
  { grants, groups = [], texts = [] }: FilterSubject,
): Record<string, string | undefined> {
  const names = grants.flatMap(({ subject }) => [subject.displayName, subject.name, subject.uid]);
  const roles = new Set(grants.map(({ role }) => index.roles.get(role.key)?.id));
  const chains = new Set([...grants.map(({ group }) => group), ...groups].map(({ key }) => index.chain(key)));
  const join = (parts: Iterable<string | undefined>): string | undefined =>
    [...new Set(parts)].filter((part) => part !== undefined).join(" ") || undefined;
  return { "data-who": join([...names, ...texts]), "data-role": join(roles), "data-groups": join(chains) };
}

/** The form by which a reader narrows the page down; shown by its script. */
export function filterForm(index: PageIndex): Markup {
  const roles = [...index.roles.values()].sort((a, b) => compareTexts(a.name, b.name));
  const groups = [...index.groups.values()].sort((a, b) => compareTexts(a.path, b.path));
  const people = [...index.people].sort().slice(0, MOST_SUGGESTIONS);
  return markup`${[
    markup`<search class="filters js" hidden><div class="wrap"><details open><summary>Filter</summary><form id="filter" aria-label="Filter">`,
    markup`<label>Person or identity<input id="person" name="person" type="search" list="people" autocomplete="off" spellcheck="false"></label>`,
    markup`<datalist id="people">${people.map((name) => markup`<option value="${name}"></option>`)}</datalist>`,
    select("role", "Role", [option("", "any"), ...roles.map(({ id, name }) => option(id, name))]),
    select("group", "Group and below", [
      option("", "any"),
      ...groups.map(({ key, path }) => option(index.groupId(key), path)),
    ]),
    select("severity", "Severity", severityOptions),
    select("change", "Change", [option("", "any"), ...changeOrder.map((kind) => option(kind, kind))]),
    markup`<button type="reset">Clear</button>`,
    markup`<output id="count" for="person role group severity change" aria-live="polite"></output>`,
    markup`</form></details></div></search>`,
  ]}`;
}

/** From this many groups on, those where nothing changes are hidden at first. */
const LARGE_TREE = 30;

type Counts = Map<GrantChange["change"], number>;

/** What changes at each group itself. */
function countByGroup(report: Report): Map<string, Counts> {
  const found = new Map<string, Counts>();
  for (const { change, grant } of listOpenGrants(report)) {
    const counts: Counts = found.get(grant.group.key) ?? new Map<GrantChange["change"], number>();
    counts.set(change, (counts.get(change) ?? 0) + 1);
    found.set(grant.group.key, counts);
  }
  return found;
}

interface Branch {
  readonly item: Markup;
  readonly changed: boolean;
}

class GroupTree {
  private readonly children = new Map<string | undefined, GroupNode[]>();
  private readonly counts: Map<string, Counts>;
  private readonly drawn = new Set<string>();
  /** How many groups are there in which, and below which, nothing changes. */
  quiet = 0;

  constructor(
    report: Report,
    private readonly index: PageIndex,
  ) {
    this.counts = countByGroup(report);
    for (const group of index.groups.values()) {
      const { parentKey } = group;
      const parent = parentKey !== undefined && index.groups.has(parentKey) ? parentKey : undefined;
      addTo(this.children, parent, group);
    }
  }

  draw(): Markup[] {
    const roots = (this.children.get(undefined) ?? []).map((group) => this.branch(group).item);
    // A group that says it is below itself is in no branch from the top.
    for (const group of this.index.groups.values()) {
      if (!this.drawn.has(group.key)) roots.push(this.branch(group).item);
    }
    return roots;
  }

  private branch(group: GroupNode): Branch {
    const { key, change, path } = group;
    this.drawn.add(key);
    const below = (this.children.get(key) ?? [])
      .filter((child) => !this.drawn.has(child.key))
      .map((child) => this.branch(child));
    const counts = this.counts.get(key);
    const changed = change !== "same" || counts !== undefined || below.some((one) => one.changed);
    if (!changed) this.quiet += 1;
    const delta = changeOrder.flatMap((kind) => {
      const count = counts?.get(kind);
      return count === undefined ? [] : [`${count} ${kind}`];
    });
    const parts = [
      markup`<span data-group="${this.index.groupId(key)}" title="${path}">${chooseName(group)}</span>`,
      change === "same" ? undefined : markup`<span class="state ${change}">${change}</span>`,
      counts === undefined ? undefined : markup`<span class="delta">${delta.join(", ")}</span>`,
    ];
    const inner = below.length === 0 ? undefined : markup`<ul>${below.map(({ item }) => item)}</ul>`;
    const quiet = changed ? undefined : markup` class="quiet"`;
    return { item: markup`<li${quiet}><div class="node">${parts}</div>${inner}</li>`, changed };
  }
}

/** The tree of groups with what changes in each, for the side of the page. */
export function groupNavigation(report: Report, index: PageIndex): Markup {
  if (index.groups.size === 0) return markup`<div></div>`;
  const tree = new GroupTree(report, index);
  const items = tree.draw();
  const unchanged =
    tree.quiet === 0 || index.groups.size < LARGE_TREE
      ? undefined
      : markup`<label class="check js" hidden><input type="checkbox" id="unchanged"> ${plural(tree.quiet, "unchanged group")}</label>`;
  return markup`<nav class="tree" aria-labelledby="tree"><h2 id="tree">Groups <span class="n">${index.groups.size.toLocaleString("en-US")}</span></h2>${unchanged}<ul>${items}</ul></nav>`;
}
