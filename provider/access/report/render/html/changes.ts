import type { GrantChange } from "../../../graph/grant";
import { isIndirect } from "../entries";
import { chooseName } from "../words";
import { markup } from "./markup";
import type { Markup, MarkupPart } from "./markup";

export const signs: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "−",
  widened: "↑",
  narrowed: "↓",
};

/** What was: struck, and said to those who cannot see it. */
export const oldText = (text: MarkupPart): Markup =>
  markup`<del><span class="sr">before: </span>${text}</del>`;
export const newText = (text: MarkupPart): Markup =>
  markup`<ins><span class="sr">after: </span>${text}</ins>`;

export const changeTag = (change: GrantChange["change"]): Markup =>
  markup`<span class="change ${change}"><span aria-hidden="true">${signs[change]}</span> ${change}</span>`;

/** The old text struck and the new one, or the text alone where both are equal. */
export function changedText(before: string | undefined, after: string): Markup {
  return before === undefined || before === after
    ? markup`${after}`
    : markup`${oldText(before)} ${newText(after)}`;
}

/** The role of a change: struck where it is lost or replaced. */
export function roleText({ change, grant, before }: GrantChange): Markup {
  const role = chooseName(grant.role);
  if (change === "lost") return oldText(role);
  return changedText(before === undefined ? undefined : chooseName(before.role), role);
}

/** Where a change takes place: the old group struck where a grant moves. */
export function groupText(change: GrantChange): Markup {
  const { grant, before } = change;
  const old = before === undefined || isIndirect(change) ? undefined : before.group.path;
  const root = grant.group.isRoot ? markup` <span class="soft">(root)</span>` : undefined;
  return markup`${changedText(old, grant.group.path)}${root}`;
}
