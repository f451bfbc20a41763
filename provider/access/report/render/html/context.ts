import type { SourceLocation } from "../../../documents/sourceLocation";
import type { Grant, GroupNode } from "../../../graph/grant";
import { severities } from "../../../review/finding";
import type { Severity } from "../../../review/finding";
import type { Report } from "../../report";
import { EntryList } from "../entries";
import type { RenderOptions } from "../options";
import { RepositoryLinks } from "../repositoryLinks";
import { chooseName, formatLocation, shownGroups, nameSubject } from "../words";
import { markup } from "./markup";
import type { Markup } from "./markup";

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
  private readonly worst = new Map<string, Severity>();
  private readonly accepted = new Set<string>();

  constructor(report: Report) {
    for (const group of shownGroups(report)) this.groups.set(group.key, group);
    const grants = report.grants.flatMap(({ grant, before }) =>
      before === undefined ? [grant] : [grant, before],
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
    for (const { grant } of report.suppressed)
      if (grant !== undefined) this.accepted.add(PageIndex.tuple(grant));
    for (const { grant, severity } of report.findings) {
      if (grant === undefined) continue;
      const tuple = PageIndex.tuple(grant);
      const known = this.worst.get(tuple);
      if (known === undefined || severities.indexOf(severity) < severities.indexOf(known)) {
        this.worst.set(tuple, severity);
      }
    }
  }

  private static tuple({ subject, role, group }: Grant): string {
    return JSON.stringify([subject.key, role.key, group.key]);
  }

  /** The worst severity that findings give these grants. */
  worstOf(grants: readonly Grant[]): Severity | undefined {
    const found = new Set(grants.map((grant) => this.worst.get(PageIndex.tuple(grant))));
    return severities.find((severity) => found.has(severity));
  }

  /** Whether all that rules find of these grants is accepted by the policy file. */
  isAccepted(grants: readonly Grant[]): boolean {
    return (
      this.worstOf(grants) === undefined && grants.some((grant) => this.accepted.has(PageIndex.tuple(grant)))
    );
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
