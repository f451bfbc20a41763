import type { Grant, Scope } from "../../../graph/grant";
import { changeOrder } from "../words";
import { markup } from "./markup";
import type { Markup } from "./markup";
import type { PageIndex } from "./pageIndex";
import { compareTexts } from "../../../../fields/values";

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
export interface FilterSubject {
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
    markup`<search class="filters js" hidden><div class="wrap"><form id="filter" aria-label="Filter">`,
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
    markup`</form></div></search>`,
  ]}`;
}
