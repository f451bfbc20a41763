import type { SourceLocation } from "../../../documents/sourceLocation";
import { tupleOf } from "../../../graph/grant";
import type { Grant, GrantChange, GroupNode } from "../../../graph/grant";
import { rank, severities } from "../../../review/finding";
import type { Severity } from "../../../review/finding";
import type { Report } from "../../report";
import { EntryList } from "../entries";
import type { GrantLine } from "../entries";
import type { RenderOptions } from "../options";
import { RepositoryLinks } from "../repositoryLinks";
import { listAcceptedGrants } from "../sections";
import { chooseName, formatLocation, nameSubject } from "../words";
import { markup } from "./markup";
import type { Markup, MarkupPart } from "./markup";

/** What the parts of a page have in common. */
export class PageContext {
  readonly index: PageIndex;
  readonly entries: EntryList;
  readonly links: RepositoryLinks;

  constructor(
    readonly report: Report,
    readonly options: RenderOptions,
  ) {
    this.index = new PageIndex(report);
    this.entries = new EntryList(report);
    this.links = new RepositoryLinks(report, options);
  }

  /** `index.ts:12`, as a link where the repository is known. */
  place(location: SourceLocation | undefined): Markup | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    const parts = place
      .split("/")
      .map((part, index) => (index === 0 ? markup`${part}` : markup`/<wbr>${part}`));
    return linkTo(this.links.line(location), markup`<span class="mono">${parts}</span>`);
  }
}

/** A link to another site, or its text alone. */
export function linkTo(address: string | undefined, text: Markup): Markup {
  return address === undefined ? text : markup`<a href="${address}" rel="noreferrer">${text}</a>`;
}

/** What the rows, the lists of choices and the tree have in common: short keys for roles and groups. */
export class PageIndex {
  readonly roles = new Map<string, { readonly id: string; readonly name: string }>();
  readonly groups = new Map<string, GroupNode>();
  readonly people = new Set<string>();
  private readonly ids = new Map<string, string>();
  /** The rank of the worst finding of a grant. */
  private readonly worst = new Map<string, number>();

  constructor(report: Report) {
    const listed = report.command === "verify" ? [] : report.groups;
    for (const group of listed) this.groups.set(group.key, group);
    const grants = [...new Set([...report.grants, ...listAcceptedGrants(report)])].flatMap(
      ({ grant, before }) => (before === undefined ? [grant] : [grant, before]),
    );
    const all = [...report.findings, ...report.suppressed];
    const found = all.flatMap(({ grant }) => (grant === undefined ? [] : [grant]));
    const concerned = all.flatMap(({ group }) => (group === undefined ? [] : [group]));
    for (const grant of [...grants, ...found]) {
      const { key } = grant.role;
      if (!this.roles.has(key))
        this.roles.set(key, { id: `r${this.roles.size}`, name: chooseName(grant.role) });
      this.people.add(nameSubject(grant).displayName);
    }
    for (const group of [...[...grants, ...found].map((grant) => grant.group), ...concerned]) {
      if (!this.groups.has(group.key)) this.groups.set(group.key, { ...group, change: "same" });
    }
    for (const key of this.groups.keys()) this.ids.set(key, `g${this.ids.size}`);
    for (const finding of report.findings) {
      if (finding.grant === undefined) continue;
      const tuple = tupleOf(finding.grant);
      this.worst.set(tuple, Math.min(this.worst.get(tuple) ?? severities.length, rank(finding)));
    }
  }

  /** The worst severity that findings give these grants. */
  worstOf(grants: readonly Grant[]): Severity | undefined {
    return severities[
      Math.min(...grants.map((grant) => this.worst.get(tupleOf(grant)) ?? severities.length))
    ];
  }

  groupId(key: string): string {
    return this.ids.get(key) ?? "";
  }

  /** The group and those above it, by their short keys. */
  chain(key: string): string {
    const ids: string[] = [];
    const seen = new Set<string>();
    for (
      let at: string | undefined = key;
      at !== undefined && !seen.has(at);
      at = this.groups.get(at)?.parentKey
    ) {
      seen.add(at);
      const id = this.ids.get(at);
      if (id !== undefined) ids.push(id);
    }
    return ids.join(" ");
  }
}

export const severityTag = (severity: Severity): Markup =>
  markup`<span class="tag ${severity}">${severity}</span>`;

export function foldMarkup(summary: MarkupPart, body: MarkupPart, isOpen = false): Markup {
  return markup`<details${isOpen ? markup` open` : undefined}><summary>${summary}</summary>${body}</details>`;
}

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

/** The old text struck and the new one, or the text alone where nothing was before. */
export function changedText(before: string | undefined, after: string): Markup {
  return before === undefined ? markup`${after}` : markup`${oldText(before)} ${newText(after)}`;
}

/** The role of a change, struck where it is lost or replaced, and the group, where the grant moves with the old one. */
export function roleAndGroup({ change, role, group, before, source }: GrantLine): Markup {
  const named = change === "lost" ? oldText(role) : changedText(before.role, role);
  const root = source.grant.group.isRoot ? markup` <span class="soft">(root)</span>` : undefined;
  return markup`<span class="mono">${named}</span> <span class="at">at</span> ${changedText(before.group, group)}${root}`;
}
